"""Optimizers with a step for each element, by how large its gradients were: Adagrad, RMSprop, Adadelta, Ftrl.

>>> v = tf.Variable(1.0)
>>> RMSprop(0.1).apply_gradients([(tf.constant(2.0), v)])
>>> round(float(v), 5)
0.68377
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agc import runtime as tf

from .. import initializers
from .base import Optimizer
from .rows import each, put_in, take_away


class Adagrad(Optimizer):
    """Steps by the root of the sum of all squares (Duchi et al., 2011)."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.initial_accumulator_value, self.epsilon = initial_accumulator_value, epsilon
        self._accumulators: list[Any] = []

    def build(self, variables: Sequence[Any]) -> None:
        super().build(variables)
        start = initializers.Constant(self.initial_accumulator_value)
        self._accumulators = self.add_optimizer_variables(variables, "accumulator", start)

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        total = self._accumulators[self._get_variable_index(variable)]
        put_in(total, each(tf.square, gradient))
        take_away(variable, gradient * learning_rate / tf.sqrt(total + self.epsilon))

    def get_config(self) -> dict[str, Any]:
        own = {"initial_accumulator_value": self.initial_accumulator_value, "epsilon": self.epsilon}
        return {**super().get_config(), **own}


class RMSprop(Optimizer):
    """Steps by the root of a moving average of squares (Hinton, 2012).

    Args:
        rho: what stays of the average in a step.
        momentum: what is kept of the last step.
        centered: divide by the variance rather than the square.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.rho, self.momentum, self.epsilon, self.centered = rho, momentum, epsilon, centered
        self._velocities: list[Any] = []
        self._momentums: list[Any] = []
        self._average_gradients: list[Any] = []

    def build(self, variables: Sequence[Any]) -> None:
        super().build(variables)
        self._velocities = self.add_optimizer_variables(variables, "velocity")
        if self.momentum > 0:
            self._momentums = self.add_optimizer_variables(variables, "momentum")
        if self.centered:
            self._average_gradients = self.add_optimizer_variables(variables, "average_gradient")

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        place = self._get_variable_index(variable)
        average = self._velocities[place]
        average.assign(self.rho * average + each(tf.square, gradient) * (1.0 - self.rho))
        spread = average + self.epsilon
        if self.centered:
            mean = self._average_gradients[place]
            mean.assign(self.rho * mean + gradient * (1.0 - self.rho))
            spread = average - tf.square(mean) + self.epsilon
        step = gradient * learning_rate * tf.math.rsqrt(spread)
        if self.momentum > 0:
            last = self._momentums[place]
            last.assign(self.momentum * last + step)
            step = tf.identity(last)
        take_away(variable, step)

    def get_config(self) -> dict[str, Any]:
        own = {"rho": self.rho, "momentum": self.momentum, "epsilon": self.epsilon, "centered": self.centered}
        return {**super().get_config(), **own}


class Adadelta(Optimizer):
    """Steps as large as those before, by how gradients compare with theirs (Zeiler, 2012)."""

    def __init__(
        self, learning_rate: Any = 0.001, rho: float = 0.95, epsilon: float = 1e-7, **kwargs: Any
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.rho, self.epsilon = rho, epsilon
        self._gradients: list[Any] = []
        self._steps: list[Any] = []

    def build(self, variables: Sequence[Any]) -> None:
        super().build(variables)
        for variable in variables:
            self._gradients.append(self.add_variable_from_reference(variable, "accumulated_grad"))
            self._steps.append(self.add_variable_from_reference(variable, "accumulated_delta_var"))

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        place = self._get_variable_index(variable)
        gradients, steps = self._gradients[place], self._steps[place]
        gradients.assign(self.rho * gradients + each(tf.square, gradient) * (1.0 - self.rho))
        step = gradient * tf.sqrt(steps + self.epsilon) / tf.sqrt(gradients + self.epsilon)
        steps.assign(self.rho * steps + each(tf.square, step) * (1.0 - self.rho))
        take_away(variable, step * learning_rate)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "rho": self.rho, "epsilon": self.epsilon}


class Ftrl(Optimizer):
    """Follow the regularized leader: many weights stay 0 (McMahan et al., 2013)."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.learning_rate_power = _checked("learning_rate_power", learning_rate_power, -learning_rate_power)
        self.initial_accumulator_value = _checked("initial_accumulator_value", initial_accumulator_value)
        self.l1_regularization_strength = _checked("l1_regularization_strength", l1_regularization_strength)
        self.l2_regularization_strength = _checked("l2_regularization_strength", l2_regularization_strength)
        self.l2_shrinkage_regularization_strength = _checked(
            "l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength
        )
        self.beta = beta
        self._accumulators: list[Any] = []
        self._linears: list[Any] = []

    def build(self, variables: Sequence[Any]) -> None:
        super().build(variables)
        start = initializers.Constant(self.initial_accumulator_value)
        for variable in variables:
            self._accumulators.append(self.add_variable_from_reference(variable, "accumulator", start))
            self._linears.append(self.add_variable_from_reference(variable, "linear"))

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        place = self._get_variable_index(variable)
        accumulator, linear = self._accumulators[place], self._linears[place]
        l1, power = self.l1_regularization_strength, -self.learning_rate_power
        l2 = self.l2_regularization_strength + self.beta / (2.0 * learning_rate)
        shrunk = gradient + 2.0 * self.l2_shrinkage_regularization_strength * variable
        before, total = accumulator**power, accumulator + each(tf.square, gradient)
        linear.assign_add(shrunk - (total**power - before) / learning_rate * variable)
        quadratic = total**power / learning_rate + 2.0 * l2
        variable.assign((tf.clip_by_value(linear, -l1, l1) - linear) / quadratic)
        accumulator.assign(total)

    def get_config(self) -> dict[str, Any]:
        own = {
            "learning_rate_power": self.learning_rate_power,
            "initial_accumulator_value": self.initial_accumulator_value,
            "l1_regularization_strength": self.l1_regularization_strength,
            "l2_regularization_strength": self.l2_regularization_strength,
            "l2_shrinkage_regularization_strength": self.l2_shrinkage_regularization_strength,
            "beta": self.beta,
        }
        return {**super().get_config(), **own}


def _checked(name: str, value: float, positive: float | None = None) -> float:
    if (value if positive is None else positive) < 0.0:
        bound = "positive or zero" if positive is None else "negative or zero"
        raise ValueError(f"`{name}` needs to be {bound}. Received: {name}={value}.")
    return value
