"""Seeds for layers and initializers, and the numbers drawn with them: the same as those of Keras 3 on TensorFlow.

>>> SeedGenerator(seed=1).next().numpy().tolist()
[1, 0]
>>> uniform([2], seed=1).shape
TensorShape([2])
"""

from __future__ import annotations

import random as python_random
from typing import Any

import numpy as np
from agc import runtime as tf

from ..core.missing_names import explain as _explain
from ..ir.builder import eagerly
from . import settings


def make_default_seed() -> int:
    """A seed for what was given none: Python's `random` draws it, and `set_random_seed` decides it."""
    return python_random.randint(1, int(1e9))


def set_random_seed(seed: int) -> None:
    """Set the seeds of Python, NumPy and `tf.random`: layers made after it start with the same weights each time."""
    if not isinstance(seed, int):
        raise ValueError(
            f"Expected `seed` argument to be an integer. Received: seed={seed} (of type {type(seed)})"
        )
    python_random.seed(seed)
    np.random.seed(seed)
    tf.random.set_seed(seed)


class SeedGenerator:
    """A variable of two integers that makes a new seed for each draw: the seed, and how many were drawn.

    Args:
        seed: an integer; by default a random one.
    """

    def __init__(self, seed: int | None = None, name: str | None = None) -> None:
        self.name = name or "seed_generator"
        self._initial_seed = seed
        chosen = make_default_seed() if seed is None else seed
        if not isinstance(chosen, int) or chosen < 0:
            raise ValueError(f"Argument `seed` must be a non-negative integer. Received: seed={seed}")
        with eagerly():
            self.state = tf.Variable(
                [chosen, 0], trainable=False, name="seed_generator_state", dtype=tf.int64
            )

    def next(self) -> Any:
        """The present seed; the next one is another."""
        seed = tf.identity(self.state)
        self.state.assign_add([0, 1])
        return seed

    def get_config(self) -> dict[str, Any]:
        return {"seed": self._initial_seed}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> SeedGenerator:
        return cls(**config)


def draw_seed(seed: Any) -> Any:
    """Two integers from a SeedGenerator, an integer or None."""
    if isinstance(seed, SeedGenerator):
        state = seed.next()
    else:
        state = tf.constant([make_default_seed() if seed is None else int(seed), 0], tf.int64)
    return state % (2**31 - 2)


def normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None) -> Any:
    """Numbers from the normal distribution."""
    kind = dtype or settings.floatx()
    return tf.random.stateless_normal(shape, draw_seed(seed), mean, stddev, kind)


def uniform(shape: Any, minval: float = 0.0, maxval: float = 1.0, dtype: Any = None, seed: Any = None) -> Any:
    """Numbers in [minval, maxval), each as likely as another."""
    kind = dtype or settings.floatx()
    return tf.random.stateless_uniform(shape, draw_seed(seed), minval, maxval, kind)


def truncated_normal(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """Numbers from the normal distribution, none further than two deviations away."""
    kind = dtype or settings.floatx()
    return tf.random.stateless_truncated_normal(shape, draw_seed(seed), mean, stddev, kind)


def dropout(inputs: Any, rate: float, noise_shape: Any = None, seed: Any = None) -> Any:
    """The inputs, of which this share is 0 and the others are larger, so that the expected sum stays.

    `noise_shape` has 1, or None for the input's own size, for each dimension: along those of 1 the same are dropped.
    """
    inputs = tf.convert_to_tensor(inputs)
    sizes = tf.shape(inputs)
    if noise_shape is not None:
        sizes = tf.stack([sizes[i] if size is None else size for i, size in enumerate(noise_shape)])
    drawn = tf.random.stateless_uniform(sizes, draw_seed(seed), dtype=inputs.dtype)
    kept = tf.broadcast_to(drawn >= rate, tf.shape(inputs))
    return tf.where(kept, inputs * (1.0 / (1.0 - rate)), tf.zeros_like(inputs))


_explain(__name__)
