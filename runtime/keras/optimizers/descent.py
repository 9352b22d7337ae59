"""Optimizers that go against the gradient, or its sign, with momentum: SGD and Lion.

>>> v = tf.Variable(1.0)
>>> SGD(0.1).apply_gradients([(tf.constant(2.0), v)])
>>> round(float(v), 6)
0.8
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agc import runtime as tf

from .base import Optimizer
from .rows import take_away


class SGD(Optimizer):
    """Gradient descent. With `momentum`, a step also goes on in the direction of the ones before.

    Args:
        momentum: what is kept of the last step, in [0, 1].
        nesterov: look ahead by the momentum.
        kwargs: the arguments of `Optimizer`.
    """

    def __init__(
        self, learning_rate: Any = 0.01, momentum: float = 0.0, nesterov: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        if not isinstance(momentum, (int, float)) or not 0 <= momentum <= 1:
            raise ValueError("`momentum` must be a float between [0, 1].")
        self.momentum, self.nesterov = float(momentum), nesterov
        self._momentums: list[Any] = []

    def build(self, variables: Sequence[Any]) -> None:
        super().build(variables)
        if self.momentum:
            self._momentums = self.add_optimizer_variables(variables, "momentum")

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        step = gradient * learning_rate
        if not self.momentum:
            take_away(variable, step)
            return
        before = self._momentums[self._get_variable_index(variable)]
        momentum = before * self.momentum - step
        before.assign(momentum)
        variable.assign_add(momentum * self.momentum - step if self.nesterov else momentum)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "momentum": self.momentum, "nesterov": self.nesterov}


class Lion(Optimizer):
    """Steps of one size in each element, by the sign of a moving average of gradients (Chen et al., 2023)."""

    def __init__(
        self, learning_rate: Any = 0.001, beta_1: float = 0.9, beta_2: float = 0.99, **kwargs: Any
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        if not 0 < beta_1 <= 1:
            raise ValueError(f"Argument `beta_1` must be in the [0, 1] range. Received: beta_1={beta_1}")
        self.beta_1, self.beta_2 = beta_1, beta_2
        self._momentums: list[Any] = []

    def build(self, variables: Sequence[Any]) -> None:
        super().build(variables)
        self._momentums = self.add_optimizer_variables(variables, "momentum")

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        average = self._momentums[self._get_variable_index(variable)]
        direction = tf.sign(average * self.beta_1 + gradient * (1.0 - self.beta_1))
        variable.assign_sub(learning_rate * direction)
        average.assign(average * self.beta_2 + gradient * (1.0 - self.beta_2))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "beta_1": self.beta_1, "beta_2": self.beta_2}
