"""The module `tf.keras.optimizers.schedules`: learning rates that change from step to step.

>>> ExponentialDecay(0.1, decay_steps=10, decay_rate=0.5)(20).numpy()
np.float32(0.025)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from agc import runtime as tf

from ...core.missing_names import explain as _explain
from ..registry import Room


class LearningRateSchedule:
    """Base class: `__call__(step)` gives the learning rate of a step."""

    def __call__(self, step: Any) -> Any:
        raise NotImplementedError(
            f"Learning rate schedule {type(self).__name__} must override `__call__(self, step)`."
        )

    def get_config(self) -> dict[str, Any]:
        raise NotImplementedError(
            f"Learning rate schedule {type(self).__name__} must override `get_config()`."
        )

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> LearningRateSchedule:
        return cls(**config)


def _number(value: Any) -> Any:
    return tf.cast(value, tf.float32)


class _Decay(LearningRateSchedule):
    """Base class: the arguments are attributes by their names."""

    arguments: tuple[str, ...]

    def get_config(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.arguments}


class ExponentialDecay(_Decay):
    """`initial_learning_rate * decay_rate ** (step / decay_steps)`; with `staircase` by whole numbers of steps."""

    arguments = ("initial_learning_rate", "decay_steps", "decay_rate", "staircase", "name")

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        decay_rate: Any,
        staircase: bool = False,
        name: str = "ExponentialDecay",
    ) -> None:
        _positive(decay_steps=decay_steps)
        self.initial_learning_rate, self.decay_steps, self.decay_rate = (
            initial_learning_rate,
            decay_steps,
            decay_rate,
        )
        self.staircase, self.name = staircase, name

    def __call__(self, step: Any) -> Any:
        done = _number(step) / _number(self.decay_steps)
        done = tf.floor(done) if self.staircase else done
        return _number(self.initial_learning_rate) * _number(self.decay_rate) ** done


class InverseTimeDecay(_Decay):
    """`initial_learning_rate / (1 + decay_rate * step / decay_steps)`."""

    arguments = ExponentialDecay.arguments

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        decay_rate: Any,
        staircase: bool = False,
        name: str = "InverseTimeDecay",
    ) -> None:
        _positive(decay_steps=decay_steps)
        self.initial_learning_rate, self.decay_steps, self.decay_rate = (
            initial_learning_rate,
            decay_steps,
            decay_rate,
        )
        self.staircase, self.name = staircase, name

    def __call__(self, step: Any) -> Any:
        done = _number(step) / _number(self.decay_steps)
        done = tf.floor(done) if self.staircase else done
        return _number(self.initial_learning_rate) / (1.0 + _number(self.decay_rate) * done)


class PiecewiseConstantDecay(_Decay):
    """`values[i]` up to the step `boundaries[i]`, the last of them from there on."""

    arguments = ("boundaries", "values", "name")

    def __init__(
        self, boundaries: Sequence[Any], values: Sequence[Any], name: str = "PiecewiseConstant"
    ) -> None:
        if len(boundaries) != len(values) - 1:
            raise ValueError(
                "The length of boundaries should be 1 less than the length of values. Received: "
                f"boundaries={boundaries} of length {len(boundaries)}, and values={values} of length {len(values)}."
            )
        self.boundaries, self.values, self.name = boundaries, values, name

    def __call__(self, step: Any) -> Any:
        step = tf.convert_to_tensor(step)
        edges = tf.cast(self.boundaries, step.dtype)
        place = tf.reduce_sum(tf.cast(step > edges, tf.int32))
        return tf.gather(_number(list(self.values)), place)


class PolynomialDecay(_Decay):
    """From `initial_learning_rate` to `end_learning_rate` in `decay_steps`, by a power of what is left.

    With `cycle`, the way there is made longer, to the next whole number of `decay_steps`, each time it is over.
    """

    arguments = ("initial_learning_rate", "decay_steps", "end_learning_rate", "power", "cycle", "name")

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        end_learning_rate: Any = 0.0001,
        power: Any = 1.0,
        cycle: bool = False,
        name: str = "PolynomialDecay",
    ) -> None:
        _positive(decay_steps=decay_steps)
        self.initial_learning_rate, self.decay_steps = initial_learning_rate, decay_steps
        self.end_learning_rate, self.power, self.cycle, self.name = end_learning_rate, power, cycle, name

    def __call__(self, step: Any) -> Any:
        done, whole = _number(step), _number(self.decay_steps)
        if self.cycle:
            whole *= tf.maximum(1.0, tf.math.ceil(done / whole))
        else:
            done = tf.minimum(done, whole)
        start, end = _number(self.initial_learning_rate), _number(self.end_learning_rate)
        return (start - end) * (1.0 - done / whole) ** _number(self.power) + end


class CosineDecay(_Decay):
    """From `initial_learning_rate` to its share `alpha` in `decay_steps`, by half a cosine wave.

    With `warmup_target`, the rate first rises to that in a straight line, in `warmup_steps`.
    """

    arguments = ("initial_learning_rate", "decay_steps", "alpha", "name", "warmup_target", "warmup_steps")

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        alpha: Any = 0.0,
        name: str = "CosineDecay",
        warmup_target: Any = None,
        warmup_steps: Any = 0,
    ) -> None:
        _positive(decay_steps=decay_steps)
        self.initial_learning_rate, self.decay_steps, self.alpha = initial_learning_rate, decay_steps, alpha
        self.name, self.warmup_target, self.warmup_steps = name, warmup_target, warmup_steps

    def _decayed(self, done: Any, start: Any) -> Any:
        share = tf.minimum(done / _number(self.decay_steps), 1.0)
        wave = 0.5 * (1.0 + tf.cos(math.pi * share))
        return start * ((1.0 - _number(self.alpha)) * wave + _number(self.alpha))

    def __call__(self, step: Any) -> Any:
        done, start = _number(step), _number(self.initial_learning_rate)
        if self.warmup_target is None:
            return self._decayed(done, start)
        rise, top = _number(self.warmup_steps), _number(self.warmup_target)
        rising = start + (top - start) * tf.math.divide_no_nan(done, rise)
        return tf.where(done < rise, rising, self._decayed(tf.maximum(done - rise, 0.0), top))


class CosineDecayRestarts(_Decay):
    """Half a cosine wave after another: each takes `t_mul` times as long and starts at `m_mul` times the rate."""

    arguments = ("initial_learning_rate", "first_decay_steps", "t_mul", "m_mul", "alpha", "name")

    def __init__(
        self,
        initial_learning_rate: Any,
        first_decay_steps: Any,
        t_mul: Any = 2.0,
        m_mul: Any = 1.0,
        alpha: Any = 0.0,
        name: str = "SGDRDecay",
    ) -> None:
        _positive(first_decay_steps=first_decay_steps)
        self.initial_learning_rate, self.first_decay_steps = initial_learning_rate, first_decay_steps
        self.t_mul, self.m_mul, self.alpha, self.name = t_mul, m_mul, alpha, name

    def __call__(self, step: Any) -> Any:
        done = _number(step) / _number(self.first_decay_steps)
        longer = _number(self.t_mul)
        if self.t_mul == 1.0:
            wave = tf.floor(done)
            share = done - wave
        else:
            wave = tf.floor(tf.math.log(1.0 - done * (1.0 - longer)) / tf.math.log(longer))
            before = (1.0 - longer**wave) / (1.0 - longer)
            share = (done - before) / longer**wave
        height = 0.5 * _number(self.m_mul) ** wave * (1.0 + tf.cos(math.pi * share))
        alpha = _number(self.alpha)
        return _number(self.initial_learning_rate) * ((1.0 - alpha) * height + alpha)


def _positive(**values: Any) -> None:
    for name, value in values.items():
        if isinstance(value, (int, float)) and value <= 0:
            raise ValueError(f"Argument `{name}` must be > 0. Received: {name}={value}")


_room = Room(
    "learning rate schedule",
    "keras.optimizers.schedules",
    [
        ExponentialDecay, InverseTimeDecay, PiecewiseConstantDecay, PolynomialDecay, CosineDecay, CosineDecayRestarts,
    ],
)  # fmt: skip

serialize, deserialize = _room.serialize, _room.deserialize

__all__ = [
    "CosineDecay", "CosineDecayRestarts", "ExponentialDecay", "InverseTimeDecay", "LearningRateSchedule",
    "PiecewiseConstantDecay", "PolynomialDecay", "deserialize", "serialize",
]  # fmt: skip

_explain(__name__)
