"""Initializers: the first values of weights.

>>> get("ones")([2]).numpy().tolist(), Constant(3.0)([1]).numpy().tolist()
([1.0, 1.0], [3.0])
>>> GlorotUniform(seed=1)([2]).numpy()
array([ 0.9271029 , -0.09802794], dtype=float32)

An initializer with a seed gives the same numbers each time; one without has drawn its seed when it was made, from
Python's `random`, which `keras.utils.set_random_seed` starts. The numbers are those of Keras 3 on TensorFlow.
"""

from __future__ import annotations

import math
from typing import Any

from agc import runtime as tf

from ..core.missing_names import explain as _explain
from . import random, settings
from .registry import Room


class Initializer:
    """Base class: `__call__(shape, dtype=None)` gives a tensor. A subclass with arguments has a `get_config`."""

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        raise NotImplementedError("Initializer subclasses must implement the `__call__()` method.")

    def get_config(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Initializer:
        return cls(**config)

    def clone(self) -> Initializer:
        return type(self).from_config(self.get_config())


def _dtype(dtype: Any) -> Any:
    return tf.as_dtype(dtype or settings.floatx())


class Zeros(Initializer):
    """All 0."""

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        return tf.zeros(shape, _dtype(dtype))


class Ones(Initializer):
    """All 1."""

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        return tf.ones(shape, _dtype(dtype))


class Constant(Initializer):
    """All `value`, or an array that fits the shape by broadcasting."""

    def __init__(self, value: Any = 0.0) -> None:
        self.value = value

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        return tf.broadcast_to(tf.cast(self.value, _dtype(dtype)), shape)

    def get_config(self) -> dict[str, Any]:
        return {"value": self.value}


class Identity(Initializer):
    """`gain` on the diagonal of a matrix, 0 elsewhere."""

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        if len(shape) != 2:
            raise ValueError(
                "Identity matrix initializer can only be used for 2D matrices. "
                f"Received: shape={shape} of rank {len(shape)}."
            )
        return self.gain * tf.eye(shape[0], shape[1], dtype=_dtype(dtype))

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain}


class RandomInitializer(Initializer):
    """Base class of those with a seed."""

    def __init__(self, seed: Any = None) -> None:
        self._given_seed = seed
        self.seed = random.make_default_seed() if seed is None else seed

    def get_config(self) -> dict[str, Any]:
        return {"seed": self._given_seed}


class RandomNormal(RandomInitializer):
    """Normal numbers with this mean and standard deviation."""

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: Any = None) -> None:
        super().__init__(seed)
        self.mean, self.stddev = mean, stddev

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        return random.normal(shape, self.mean, self.stddev, _dtype(dtype), self.seed)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "mean": self.mean, "stddev": self.stddev}


class TruncatedNormal(RandomNormal):
    """Normal numbers, none further than two deviations from the mean."""

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        return random.truncated_normal(shape, self.mean, self.stddev, _dtype(dtype), self.seed)


class RandomUniform(RandomInitializer):
    """Numbers in [minval, maxval), each as likely as another."""

    def __init__(self, minval: float = -0.05, maxval: float = 0.05, seed: Any = None) -> None:
        super().__init__(seed)
        self.minval, self.maxval = minval, maxval

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        return random.uniform(shape, self.minval, self.maxval, _dtype(dtype), self.seed)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "minval": self.minval, "maxval": self.maxval}


class VarianceScaling(RandomInitializer):
    """Numbers whose variance is `scale / n`, where `n` is how many inputs or outputs a unit has.

    Args:
        mode: which `n`: "fan_in", "fan_out", "fan_avg".
        distribution: "truncated_normal", "untruncated_normal" or "uniform".
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: Any = None,
    ) -> None:
        if scale <= 0.0:
            raise ValueError(f"Argument `scale` must be positive float. Received: scale={scale}")
        distribution = "truncated_normal" if distribution == "normal" else distribution
        for what, given, allowed in (
            ("mode", mode, ("fan_in", "fan_out", "fan_avg")),
            ("distribution", distribution, ("uniform", "truncated_normal", "untruncated_normal")),
        ):
            if given not in allowed:
                raise ValueError(
                    f"Invalid `{what}` argument: {given}. Please use one of {', '.join(allowed)}"
                )
        super().__init__(seed)
        self.scale, self.mode, self.distribution = scale, mode, distribution

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        fan_in, fan_out = _fans(tuple(shape))
        fans = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}
        variance = self.scale / max(1.0, fans[self.mode])
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return random.uniform(shape, -limit, limit, _dtype(dtype), self.seed)
        if self.distribution == "untruncated_normal":
            return random.normal(shape, 0.0, math.sqrt(variance), _dtype(dtype), self.seed)
        # The standard deviation of normal numbers, of which those beyond 2 are left out, is .8796…
        deviation = math.sqrt(variance) / 0.87962566103423978
        return random.truncated_normal(shape, 0.0, deviation, _dtype(dtype), self.seed)

    def get_config(self) -> dict[str, Any]:
        own = {"scale": self.scale, "mode": self.mode, "distribution": self.distribution}
        return {**super().get_config(), **own}


def _fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """How many inputs and outputs a unit has whose weights have this shape."""
    if len(shape) < 2:
        size = shape[0] if shape else 1
        return size, size
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


class _Scaled(VarianceScaling):
    """A VarianceScaling with a name of its own."""

    usual: tuple[float, str, str]

    def __init__(self, seed: Any = None) -> None:
        super().__init__(*self.usual, seed=seed)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self._given_seed}


class GlorotUniform(_Scaled):
    """Uniform between ±sqrt(6 / (inputs + outputs)) (Glorot and Bengio, 2010)."""

    usual = (1.0, "fan_avg", "uniform")


class GlorotNormal(_Scaled):
    """Truncated normal, with variance 2 / (inputs + outputs)."""

    usual = (1.0, "fan_avg", "truncated_normal")


class HeUniform(_Scaled):
    """Uniform between ±sqrt(6 / inputs) (He et al., 2015)."""

    usual = (2.0, "fan_in", "uniform")


class HeNormal(_Scaled):
    """Truncated normal, with variance 2 / inputs."""

    usual = (2.0, "fan_in", "truncated_normal")


class LecunUniform(_Scaled):
    """Uniform between ±sqrt(3 / inputs)."""

    usual = (1.0, "fan_in", "uniform")


class LecunNormal(_Scaled):
    """Truncated normal, with variance 1 / inputs."""

    usual = (1.0, "fan_in", "truncated_normal")


class Orthogonal(RandomInitializer):
    """A matrix with orthogonal rows or columns, times `gain` (Saxe et al., 2013)."""

    def __init__(self, gain: float = 1.0, seed: Any = None) -> None:
        super().__init__(seed)
        self.gain = gain

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        if len(shape) < 2:
            raise ValueError(
                f"The tensor to initialize must be at least two-dimensional. Received: shape={shape}"
            )
        rows, columns = math.prod(shape[:-1]), shape[-1]
        drawn = random.normal((max(rows, columns), min(rows, columns)), dtype=_dtype(dtype), seed=self.seed)
        q, r = tf.linalg.qr(drawn)
        q *= tf.sign(tf.linalg.diag_part(r))  # makes the decomposition, and so the matrix, unique
        return self.gain * tf.reshape(tf.transpose(q) if rows < columns else q, shape)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "gain": self.gain}


_room = Room(
    "initializer",
    "keras.initializers",
    [
        Zeros, Ones, Constant, Identity, RandomNormal, TruncatedNormal, RandomUniform, VarianceScaling, GlorotUniform,
        GlorotNormal, HeUniform, HeNormal, LecunUniform, LecunNormal, Orthogonal,
    ],
)  # fmt: skip
_room.add(Zeros, "zero")
_room.add(Ones, "one")
_room.add(RandomNormal, "normal")
_room.add(RandomUniform, "uniform")
_room.add(Identity, "IdentityInitializer")
_room.add(Orthogonal, "OrthogonalInitializer")

get, serialize, deserialize = _room.get, _room.serialize, _room.deserialize

zeros, ones, constant, identity, orthogonal = Zeros, Ones, Constant, Identity, Orthogonal
random_normal, random_uniform, truncated_normal = RandomNormal, RandomUniform, TruncatedNormal
variance_scaling, glorot_uniform, glorot_normal = VarianceScaling, GlorotUniform, GlorotNormal
he_uniform, he_normal, lecun_uniform, lecun_normal = HeUniform, HeNormal, LecunUniform, LecunNormal
IdentityInitializer, OrthogonalInitializer = Identity, Orthogonal

_explain(__name__)
