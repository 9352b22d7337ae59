"""Adam and its kin: steps by moving averages of the gradient and of its square (Kingma and Ba, 2014).

>>> v = tf.Variable(1.0)
>>> Adam(0.1).apply_gradients([(tf.constant(2.0), v)])
>>> round(float(v), 5)
0.9
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agc import runtime as tf

from .base import Optimizer
from .rows import each


class _Moments(Optimizer):
    """Base class: two averages for each variable."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon
        self._momentums: list[Any] = []
        self._velocities: list[Any] = []

    second = "velocity"

    def build(self, variables: Sequence[Any]) -> None:
        super().build(variables)
        for variable in variables:
            self._momentums.append(self.add_variable_from_reference(variable, "momentum"))
            self._velocities.append(self.add_variable_from_reference(variable, self.second))

    def _powers(self, dtype: Any) -> tuple[Any, Any]:
        """What the averages lack, having started at 0: the powers of both betas."""
        step = tf.cast(self.iterations + 1, dtype)
        return tf.cast(self.beta_1, dtype) ** step, tf.cast(self.beta_2, dtype) ** step

    def _averaged(self, gradient: Any, variable: Any) -> tuple[Any, Any]:
        """Both averages, with this gradient."""
        place = self._get_variable_index(variable)
        m, v = self._momentums[place], self._velocities[place]
        m.assign_add((gradient - m) * (1.0 - self.beta_1))
        v.assign_add((each(tf.square, gradient) - v) * (1.0 - self.beta_2))
        return m, v

    def get_config(self) -> dict[str, Any]:
        own = {"beta_1": self.beta_1, "beta_2": self.beta_2, "epsilon": self.epsilon}
        return {**super().get_config(), **own}


class Adam(_Moments):
    """Steps of the average gradient, by the root of the average square.

    Args:
        beta_1, beta_2: what stays of the averages in a step.
        epsilon: keeps the division away from 0.
        amsgrad: divide by the largest average so far.
        kwargs: the arguments of `Optimizer`.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, **kwargs)
        self.amsgrad = amsgrad
        self._largest: list[Any] = []

    def build(self, variables: Sequence[Any]) -> None:
        super().build(variables)
        if self.amsgrad:
            self._largest = self.add_optimizer_variables(variables, "velocity_hat")

    def _corrected(self, learning_rate: Any) -> Any:
        power_1, power_2 = self._powers(learning_rate.dtype)
        return learning_rate * tf.sqrt(1.0 - power_2) / (1.0 - power_1)

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        rate = self._once(learning_rate, lambda: self._corrected(learning_rate))
        m, v = self._averaged(gradient, variable)
        if self.amsgrad:
            largest = self._largest[self._get_variable_index(variable)]
            largest.assign(tf.maximum(largest, v))
            v = largest
        variable.assign_sub(m * rate / (tf.sqrt(v) + self.epsilon))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "amsgrad": self.amsgrad}


class AdamW(Adam):
    """Adam with weight decay, which does not go through the averages (Loshchilov and Hutter, 2017)."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        weight_decay: float = 0.004,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        **kwargs: Any,
    ) -> None:
        if weight_decay is None:
            raise ValueError("Argument `weight_decay` must be a float. Received: weight_decay=None")
        super().__init__(learning_rate, beta_1, beta_2, epsilon, amsgrad, weight_decay=weight_decay, **kwargs)


class Adamax(_Moments):
    """Adam with the largest gradient in place of the average square."""

    second = "norm"

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        rate = self._once(learning_rate, lambda: learning_rate / (1.0 - self._powers(learning_rate.dtype)[0]))
        place = self._get_variable_index(variable)
        m, u = self._momentums[place], self._velocities[place]
        m.assign_add((gradient - m) * (1.0 - self.beta_1))
        u.assign(tf.maximum(self.beta_2 * u, tf.convert_to_tensor(each(tf.abs, gradient))))
        variable.assign_sub(rate * m / (u + self.epsilon))


class Nadam(_Moments):
    """Adam that looks ahead by the momentum (Dozat, 2015)."""

    def build(self, variables: Sequence[Any]) -> None:
        super().build(variables)
        self._u_product: Any = self.add_variable((), "ones", variables[0].dtype)

    def _factors(self, learning_rate: Any) -> tuple[Any, ...]:
        dtype = learning_rate.dtype
        step = tf.cast(self.iterations + 1, dtype)
        decay = tf.cast(0.96, dtype)
        u, u_next = (self.beta_1 * (1.0 - 0.5 * decay**t) for t in (step, step + 1.0))
        self._u_product.assign(self._u_product * tf.cast(u, self._u_product.dtype))
        product = tf.cast(self._u_product, dtype)
        of_average, of_gradient = u_next / (1.0 - product * u_next), (1.0 - u) / (1.0 - product)
        return of_average, of_gradient, 1.0 - self._powers(dtype)[1]

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        of_average, of_gradient, seen = self._once(learning_rate, lambda: self._factors(learning_rate))
        m, v = self._averaged(gradient, variable)
        ahead = m * of_average + gradient * of_gradient
        variable.assign_sub(ahead * learning_rate / (tf.sqrt(v / seen) + self.epsilon))
