"""`Optimizer`: from gradients to new values of variables.

>>> class Descent(Optimizer):
...     def update_step(self, gradient, variable, learning_rate):
...         variable.assign_sub(learning_rate * gradient)
>>> v = tf.Variable([1.0, 2.0])
>>> Descent(learning_rate=0.5).apply_gradients([(tf.constant([1.0, 1.0]), v)])
>>> v.numpy().tolist()
[0.5, 1.5]
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from agc import runtime as tf

from ...core import trackable
from ...ir.builder import eagerly
from .. import initializers
from ..naming import auto_name, snake_case
from ..registry import serialized
from ..variables import Weight, made
from .rows import as_gradient, each, elements, put_in
from .schedules import LearningRateSchedule, deserialize


class Optimizer(tf.Module):
    """Base class: a subclass has `update_step`, and `build`, which makes a variable or more for each variable.

    Args:
        learning_rate: a number, a LearningRateSchedule or a function without arguments.
        weight_decay: the share of each variable, by the learning rate, that every step takes away.
        clipnorm: no gradient is longer. `clipvalue`: no element is larger. `global_clipnorm`: all gradients
            together are not longer. At most one of them.
        use_ema: keep a moving average of the variables, which `finalize_variable_values` gives them;
            `ema_momentum` is what stays of it in a step, `ema_overwrite_frequency` gives it them every so many steps.
        loss_scale_factor: what the loss was multiplied by; gradients are divided by it.
        gradient_accumulation_steps: apply the mean of so many gradients, once for all of them.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        loss_scale_factor: float | None = None,
        gradient_accumulation_steps: int | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        learning_rate = kwargs.pop("lr", learning_rate)  # TensorFlow 2.3's spelling
        if kwargs:
            raise ValueError(f"Argument(s) not recognized: {kwargs}")
        if sum(given is not None for given in (clipnorm, clipvalue, global_clipnorm)) > 1:
            raise ValueError(
                "Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set. "
                f"Received: clipnorm={clipnorm}, clipvalue={clipvalue}, global_clipnorm={global_clipnorm}."
            )
        for what, value in (("clipnorm", clipnorm), ("global_clipnorm", global_clipnorm)):
            if value is not None and value <= 0:
                raise ValueError(f"`{what}` should be a positive number. Received: {what}={value}")
        if use_ema and not 0 <= ema_momentum <= 1:
            raise ValueError(
                f"`ema_momentum` must be in the range [0, 1]. Received: ema_momentum={ema_momentum}"
            )
        if gradient_accumulation_steps is not None and gradient_accumulation_steps < 2:
            raise ValueError(
                "`gradient_accumulation_steps` must be an integer >= 2. "
                f"Received: gradient_accumulation_steps={gradient_accumulation_steps}"
            )
        self._name = name or auto_name(snake_case(type(self).__name__))
        self.weight_decay = weight_decay
        self.clipnorm, self.clipvalue, self.global_clipnorm = clipnorm, clipvalue, global_clipnorm
        self.use_ema, self.ema_momentum = use_ema, ema_momentum
        self.ema_overwrite_frequency = ema_overwrite_frequency
        self.loss_scale_factor = loss_scale_factor
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self.built = False
        self._trainable_variables: list[Any] = []
        self._places: dict[int, int] = {}
        self._undecayed: list[str] = []
        self._undecayed_variables: list[Any] = []
        self._undecayed_ids: set[int] = set()
        self._memo: tuple[Any, Any] | None = None
        self._variables: list[Any] = []
        self._iterations: Any = made(
            initializers.Zeros(), (), tf.int64, "iteration", self.name, trainable=False
        )
        self._learning_rate: Any = None
        self._variables = [self._iterations]
        self.learning_rate = learning_rate

    # The step's number and size

    @property
    def iterations(self) -> Any:
        """How many steps have been made: a variable, unless gradients are accumulated."""
        if self.gradient_accumulation_steps:
            return self._iterations // self.gradient_accumulation_steps
        return self._iterations

    @iterations.setter
    def iterations(self, variable: Any) -> None:
        if self.built:
            raise RuntimeError(
                "Cannot set `iterations` to a new Variable after the Optimizer weights have been created"
            )
        self._variables[0] = self._iterations = variable

    @property
    def learning_rate(self) -> Any:
        """The size of the next step: a variable, unless a schedule or a function gives it."""
        if isinstance(self._learning_rate, LearningRateSchedule):
            return self._learning_rate(self.iterations)
        is_function = callable(self._learning_rate) and not isinstance(self._learning_rate, tf.Variable)
        return self._learning_rate() if is_function else self._learning_rate

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        if callable(value) and not isinstance(value, tf.Variable):
            self._drop_learning_rate_variable()
            self._learning_rate = value
        elif isinstance(self._learning_rate, Weight):
            self._learning_rate.assign(tf.cast(value, self._learning_rate.dtype))
        elif callable(self._learning_rate):
            raise TypeError(
                "This optimizer was created with a `LearningRateSchedule` object as its `learning_rate` constructor "
                "argument, hence its learning rate is not settable. If you need the learning rate to be settable, "
                "you should instantiate the optimizer with a float `learning_rate` argument."
            )
        else:
            start = initializers.Constant(value.numpy() if isinstance(value, tf.Variable) else value)
            self._learning_rate = made(start, (), None, "learning_rate", self.name, trainable=False)
            self._variables = [self._variables[0], self._learning_rate, *self._variables[1:]]

    lr = learning_rate

    def _drop_learning_rate_variable(self) -> None:
        if isinstance(self._learning_rate, Weight):
            self._variables = [v for v in self._variables if v is not self._learning_rate]

    # Variables

    @property
    def variables(self) -> list[Any]:  # type: ignore[override]
        """The step's number, the learning rate, and what belongs to each trained variable."""
        return list(self._variables)

    weights = variables

    def __children__(self) -> dict[str, Any]:
        """What checkpoints follow: the variables by their numbers."""
        return {f"variable_{i}": variable for i, variable in enumerate(self._variables)}

    def add_variable(
        self, shape: Any = (), initializer: Any = "zeros", dtype: Any = None, name: str | None = None
    ) -> Weight:
        """A variable of the optimizer's own."""
        chosen = initializers.get(initializer)
        own = made(chosen, tuple(shape), dtype, name or auto_name("variable"), self.name, trainable=False)
        self._variables.append(own)
        trackable.announce(self, f"variable_{len(self._variables) - 1}", own)
        return own

    def add_variable_from_reference(
        self, reference_variable: Any, name: str | None = None, initializer: Any = "zeros"
    ) -> Weight:
        """A variable of the optimizer's own with the shape and dtype of a trained one."""
        path = getattr(reference_variable, "path", reference_variable.name.replace(":", "_"))
        own = f"{path}_{name or 'momentum'}".replace("/", "_")
        return self.add_variable(tuple(reference_variable.shape), initializer, reference_variable.dtype, own)

    def add_optimizer_variables(
        self, trained: Sequence[Any], name: str, initializer: Any = "zeros"
    ) -> list[Any]:
        """One such variable for each trained one."""
        return [self.add_variable_from_reference(variable, name, initializer) for variable in trained]

    def build(self, variables: Sequence[Any]) -> None:
        """Make what belongs to each of these variables, which are those to be trained."""
        if self.use_ema:
            self._averages = self.add_optimizer_variables(variables, "average")
            for variable, average in zip(variables, self._averages, strict=True):
                average.assign(variable)
        if self.gradient_accumulation_steps:
            self._accumulated = self.add_optimizer_variables(variables, "gradient_accumulator")
        self._trainable_variables = list(variables)
        self._look_up()
        self.built = True

    def _look_up(self) -> None:
        """Tables of the variables by identity, which the variables of a copy do not share."""
        variables = self._trainable_variables
        self._places = {id(variable): i for i, variable in enumerate(variables)}
        excluded = [variable for variable in variables if self._is_excluded(variable)]
        self._undecayed_ids = {id(variable) for variable in (*excluded, *self._undecayed_variables)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._look_up()

    def _get_variable_index(self, variable: Any) -> int:
        """Which of the trained variables this is."""
        return self._places[id(variable)]

    # Steps

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Any]], name: str | None = None) -> Any:
        """Make a step: pairs of a gradient and its variable."""
        pairs = list(grads_and_vars)
        self.apply([gradient for gradient, _ in pairs], [variable for _, variable in pairs])

    def apply(self, grads: Sequence[Any], trainable_variables: Sequence[Any] | None = None) -> Any:
        """Make a step: gradients, and their variables in the same order (default: those it was built with).

        Raises ValueError when there is no gradient at all, or a variable that it was not built with.
        """
        grads = list(grads)
        given = list(self._trainable_variables if trainable_variables is None else trainable_variables)
        if not given:
            return
        if not self.built:
            with eagerly():  # also while a function is traced: its graph makes and restores nothing
                self.build(given)
        strange = next((v for v in given if id(v) not in self._places), None)
        if strange is not None:
            raise ValueError(
                f"Unknown variable: {strange!r}. This optimizer can only be called for the variables it was originally "
                "built with. When working with a new set of variables, you should recreate a new optimizer instance."
            )
        pairs = _with_gradients(grads, given)
        if self.gradient_accumulation_steps:
            self._accumulate(pairs)
        else:
            self._step(pairs)
            self._iterations.assign_add(1)

    def _accumulate(self, pairs: list[tuple[Any, Any]]) -> None:
        steps = self.gradient_accumulation_steps or 1
        sums = [(self._accumulated[self._get_variable_index(variable)], variable) for _, variable in pairs]
        is_last = tf.equal((self._iterations + 1) % steps, 0)

        def step() -> Any:
            self._step(
                [
                    ((total + gradient) / steps, v)
                    for (gradient, v), (total, _) in zip(pairs, sums, strict=True)
                ]
            )
            for total, _ in sums:
                total.assign(tf.zeros_like(total))
            return tf.constant(True)

        def wait() -> Any:
            for (gradient, _), (total, _) in zip(pairs, sums, strict=True):
                put_in(total, gradient)
            return tf.constant(False)

        tf.cond(is_last, step, wait)
        self._iterations.assign_add(1)

    def _step(self, pairs: list[tuple[Any, Any]]) -> None:
        gradients = [gradient for gradient, _ in pairs]
        if self.loss_scale_factor is not None:
            gradients = [gradient / self.loss_scale_factor for gradient in gradients]
        gradients = self._clipped(gradients)
        rate = tf.cast(self.learning_rate, pairs[0][1].dtype)
        if self.weight_decay is not None:
            for _, variable in pairs:
                if id(variable) not in self._undecayed_ids:
                    variable.assign(variable - variable * (rate * self.weight_decay))
        for gradient, (_, variable) in zip(gradients, pairs, strict=True):
            own_rate = rate if variable.dtype == rate.dtype else tf.cast(rate, variable.dtype)
            self.update_step(gradient, variable, own_rate)
        self._memo = None
        if self.use_ema:
            self._average([variable for _, variable in pairs])
        for _, variable in pairs:
            if variable.constraint is not None:
                variable.assign(variable.constraint(tf.identity(variable)))

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Change one variable."""
        raise NotImplementedError(f"{type(self).__name__} does not implement update_step()")

    def _once(self, learning_rate: Any, compute: Callable[[], Any]) -> Any:
        """What is the same for all variables of a step, which the tensor of the learning rate stands for."""
        if self._memo is None or self._memo[0] is not learning_rate:
            self._memo = learning_rate, compute()
        return self._memo[1]

    def _clipped(self, gradients: list[Any]) -> list[Any]:
        if self.clipnorm is not None:
            return [_with_norm(g, tf.sqrt(_squares(g)), self.clipnorm) for g in gradients]
        if self.clipvalue is not None:
            return [each(self._within, g) for g in gradients]
        if self.global_clipnorm is not None:
            norm = tf.sqrt(tf.add_n([_squares(g) for g in gradients]))
            return [_with_norm(tf.convert_to_tensor(g), norm, self.global_clipnorm) for g in gradients]
        return gradients

    def _within(self, x: Any) -> Any:
        bound = self.clipvalue or 0.0
        return tf.clip_by_value(x, -bound, bound)

    def _average(self, variables: list[Any]) -> None:
        for variable in variables:
            average = self._averages[self._get_variable_index(variable)]
            is_first = tf.cast(tf.equal(self._iterations, 0), variable.dtype)
            momentum = self.ema_momentum * (1 - is_first)
            average.assign(momentum * average + (1 - momentum) * variable)
        if self.ema_overwrite_frequency:
            is_time = tf.equal((self._iterations + 1) % self.ema_overwrite_frequency, 0)
            for variable in variables:
                average = self._averages[self._get_variable_index(variable)]
                variable.assign(tf.where(is_time, tf.identity(average), tf.identity(variable)))

    def finalize_variable_values(self, var_list: Iterable[Any]) -> None:
        """With `use_ema`: give these variables their averages."""
        if self.use_ema:
            for variable in var_list:
                variable.assign(self._averages[self._get_variable_index(variable)])

    def scale_loss(self, loss: Any) -> Any:
        """The loss, by `loss_scale_factor`."""
        return loss if self.loss_scale_factor is None else loss * self.loss_scale_factor

    def minimize(self, loss: Any, var_list: Any, tape: Any = None, name: str | None = None) -> Any:
        """A step against the gradient of `loss`: a function without arguments, or a tensor that `tape` has watched."""
        if callable(loss):
            with tf.GradientTape() as tape:
                loss = loss()
        if tape is None:
            raise ValueError("`tape` is required when a `Tensor` loss is passed")
        variables = var_list() if callable(var_list) else list(var_list)
        self.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))

    def exclude_from_weight_decay(
        self, var_list: Sequence[Any] | None = None, var_names: Sequence[str] | None = None
    ) -> None:
        """Variables, or patterns that their names match, which `weight_decay` leaves alone. Call it before `build`."""
        if self.built:
            raise ValueError(
                "`exclude_from_weight_decay()` can only be configured before the optimizer is built."
            )
        self._undecayed_variables = list(var_list or ())
        self._undecayed = list(var_names or ())

    def _is_excluded(self, variable: Any) -> bool:
        name = getattr(variable, "path", variable.name)
        return any(re.search(pattern, name) for pattern in self._undecayed)

    # Saving

    def get_weights(self) -> list[Any]:
        """The values of the optimizer's variables."""
        return [variable.numpy() for variable in self.variables]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Set the values of the optimizer's variables."""
        if len(weights) != len(self._variables):
            raise ValueError(
                f"You called `set_weights(weights)` on optimizer {self.name} with a weight list of length "
                f"{len(weights)}, but the optimizer was expecting {len(self._variables)} weights."
            )
        for variable, value in zip(self._variables, weights, strict=True):
            variable.assign(value)

    def get_config(self) -> dict[str, Any]:
        rate = self._learning_rate
        if isinstance(rate, LearningRateSchedule):
            rate = serialized(rate)
        elif isinstance(rate, tf.Variable):
            rate = float(rate.numpy())
        return {
            "name": self.name,
            "learning_rate": rate,
            "weight_decay": self.weight_decay,
            "clipnorm": self.clipnorm,
            "global_clipnorm": self.global_clipnorm,
            "clipvalue": self.clipvalue,
            "use_ema": self.use_ema,
            "ema_momentum": self.ema_momentum,
            "ema_overwrite_frequency": self.ema_overwrite_frequency,
            "loss_scale_factor": self.loss_scale_factor,
            "gradient_accumulation_steps": self.gradient_accumulation_steps,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Optimizer:
        config = dict(config)
        if isinstance(config.get("learning_rate"), dict):
            config["learning_rate"] = deserialize(config["learning_rate"], custom_objects)
        return cls(**config)


def _squares(gradient: Any) -> Any:
    return tf.reduce_sum(tf.square(elements(gradient)))


def _with_norm(gradient: Any, norm: Any, bound: float) -> Any:
    """The gradient, shortened by as much as `norm` is above `bound`."""
    return gradient * (bound / tf.maximum(norm, bound))


def _with_gradients(gradients: list[Any], variables: list[Any]) -> list[tuple[Any, Any]]:
    """The pairs of those that have a gradient, each of them a tensor or rows."""
    if len(gradients) != len(variables):
        raise ValueError(
            f"There are {len(gradients)} gradients for {len(variables)} variables: one is needed for each"
        )
    pairs = [(g, v) for g, v in zip(gradients, variables, strict=True) if g is not None]
    if not pairs:
        raise ValueError("No gradients provided for any variable.")
    if len(pairs) < len(variables):
        missing = [v.name for g, v in zip(gradients, variables, strict=True) if g is None]
        warnings.warn(
            f"Gradients do not exist for variables {missing} when minimizing the loss. If using `model.compile()`, "
            "did you forget to provide a `loss` argument?",
            stacklevel=3,
        )
    return [(as_gradient(gradient), variable) for gradient, variable in pairs]
