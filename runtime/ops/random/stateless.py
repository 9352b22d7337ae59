"""Stateless random numbers: determined by the seed alone, and equal to TensorFlow's.

stateless_uniform([2], seed=[1, 2])      the seed, scrambled, is the key and counter of a stream
                                         that is converted to numbers as by `uniform`
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import dtypes, errors
from ...core import late_binding
from ...core.conversion import convert_to_tensor
from ...core.export import export, export_member
from ...ir.traits import TOTAL
from ...ir.value_types import TensorType
from ...kernels.random import distributions, seed_hash
from ...kernels.random.philox import Stream
from ..framework.attribute_parsers import DType
from ..framework.op import Input, Ints, Name, Op, Same, op
from ..framework.op_families import wrong
from ..framework.static_values import checked_dims, dims
from .stateful import stretched, truncated_normals

Array = Any

_WHOLE = (dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64)
_FLOATS = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)


@export("random.stateless_uniform")
def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Any:
    """Return uniform numbers in [minval, maxval), deterministic in the seed; `maxval` is 1 by default for floats.

    If both bounds are None, integers are uniform over the whole range of their dtype.

    Args:
        seed: two integers.
        alg: accepted for compatibility; the algorithm is Philox.

    >>> stateless_uniform([3], seed=[1, 2], maxval=10, dtype=int)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 9, 4], dtype=int32)>
    """
    kind = dtypes.as_dtype(dtype)
    seed = seed_of_two(seed)
    if kind.is_integer and minval is None and maxval is None:
        _check(kind, alg, _WHOLE)
        return late_binding.stateless_distributions.full_integers(shape, seed, kind, name)
    if kind in (dtypes.uint32, dtypes.uint64):
        raise ValueError(
            f"Argument `dtype` got invalid value {kind!r} when argument `minval` is not None. Unsigned integers are "
            "drawn with `minval` and `maxval` None only"
        )
    _check(kind, alg, (*_FLOATS, dtypes.int32, dtypes.int64))
    if maxval is None and kind.is_integer:
        raise ValueError(f"Must specify maxval for integer dtype {kind!r}")
    minval = 0 if minval is None else minval
    if kind.is_integer:
        low, high = convert_to_tensor(minval, kind), convert_to_tensor(maxval, kind)
        return stateless_random_integers(shape, seed, low, high, name)
    return stretched(stateless_random_uniform(shape, seed, kind, name), minval, maxval)


def _around(name: str, draw: Callable[..., Any], manual: str) -> Callable[..., Any]:
    """Declare a function that draws numbers, scales and shifts them."""

    def drawn(
        shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
        name: str | None = None, alg: str = "auto_select",
    ) -> Any:  # fmt: skip
        kind = dtypes.as_dtype(dtype)
        _check(kind, alg, _FLOATS)
        numbers = draw(shape, seed_of_two(seed), kind, name)
        return numbers * convert_to_tensor(stddev, kind) + convert_to_tensor(mean, kind)

    return export_member(drawn, manual, export=(f"random.{name}",))


def _check(dtype: dtypes.DType, alg: str, accepted: tuple[dtypes.DType, ...]) -> None:
    if dtype not in accepted:
        names = ", ".join(map(repr, accepted))
        raise ValueError(f"Argument `dtype` got invalid value {dtype}. Accepted dtypes are ({names}).")
    if alg not in ("auto_select", "philox"):
        raise ValueError(
            f"Argument `alg` got unsupported value {alg!r}. Supported are 'philox' and 'auto_select'."
        )


def seeded(spec: TensorType, seed: Any) -> TensorType:
    if seed.dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"seed must be int32 or int64, not {seed.dtype.name}")
    if seed.shape not in (None, (None,), (2,), (3,)):
        raise ValueError(f"seed must have shape [2], not {list(seed.shape)}")
    return spec


def seed_of_two(seed: Any) -> Any:
    """Convert a user's seed to a tensor; raise an error if its static shape is not [2]."""
    tensor = convert_to_tensor(seed)
    if tensor.shape.sizes not in (None, (None,), (2,)):
        raise wrong(f"seed must have shape [2], not {tensor.shape}")
    return tensor


def _resumed(low: int, high: int, key: int) -> Stream:
    """Return the stream with this key at this counter."""
    stream = Stream(key, 0)
    stream.counter = high << 64 | low
    return stream


def stream_of(seed: Array) -> Stream:
    """Return the stream of a seed.

    A seed of three numbers is the state of a generator or of another stream: the counter (its lower half
    first) and the key.
    """
    parts = seed.tolist()
    if len(parts) == 3:
        return _resumed(*(part & (1 << 64) - 1 for part in parts))
    return seed_hash.stream(*parts)


@op
def stateless_random_integers(
    shape: Ints, seed: Input, minval: Same, maxval: Same, name: Name = None
) -> TensorType:
    """Return uniformly distributed integers in [minval, maxval).

    >>> stateless_random_integers([4], [1, 2], 0, 10)
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([0, 9, 4, 9], dtype=int32)>
    """
    return seeded(TensorType(minval.dtype, dims(shape)), seed)


@stateless_random_integers.kernel
def _(shape: Array, seed: Array, minval: Array, maxval: Array) -> Array:
    low, high = int(minval), int(maxval)
    if low >= high:
        raise errors.InvalidArgumentError(f"Need minval < maxval, got {low} >= {high}")
    return distributions.integers(stream_of(seed), checked_dims(shape), low, high, dtypes.of_array(minval))


def _seeded_by(name: str, draw: Callable[..., Array], manual: str) -> Op:
    """Declare an operation that draws numbers of a shape and dtype from the stream of a seed."""

    def rule(shape: Ints, seed: Input, dtype: DType, name: Name = None) -> TensorType:
        return seeded(TensorType(dtype, dims(shape)), seed)

    rule.__name__ = rule.__qualname__ = f"stateless_random_{name}"
    rule.__doc__ = manual
    operation = Op(rule, traits=TOTAL)
    operation.kernel(lambda shape, seed, dtype: draw(stream_of(seed), checked_dims(shape), dtype))
    return operation


stateless_random_uniform = _seeded_by("uniform", distributions.uniforms, """Return uniform numbers in [0, 1).

    >>> stateless_random_uniform([2], [7, 1], float)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0.04012072, 0.54234695], dtype=float32)>
    """)  # fmt: skip
stateless_random_normal = _seeded_by("normal", distributions.normals, """Return standard normal numbers.

    >>> stateless_random_normal([3], [1, 2], float)
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([0.5441101 , 0.20738031, 0.07356432], dtype=float32)>
    """)  # fmt: skip
stateless_random_truncated_normal = _seeded_by("truncated_normal", truncated_normals, """Return normal numbers.

    They are truncated to [-2, 2].

    >>> stateless_random_truncated_normal([3], [5, 6], float)
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([ 1.0239844 , -0.53878856,  1.2795534 ], dtype=float32)>
    """)  # fmt: skip
stateless_normal = _around("stateless_normal", stateless_random_normal, """Return normal numbers by the seed alone.

    >>> stateless_normal([1], seed=[1, 2]).shape
    TensorShape([1])
    """)  # fmt: skip
stateless_truncated_normal = _around("stateless_truncated_normal", stateless_random_truncated_normal, """Return numbers.

    They are normal, truncated to two standard deviations around the mean, and determined by the seed alone.

    >>> stateless_truncated_normal([1], seed=[1, 2]).shape
    TensorShape([1])
    """)  # fmt: skip
