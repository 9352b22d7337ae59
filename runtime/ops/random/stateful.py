"""Stateful random numbers: equal to TensorFlow's for equal seeds.

    uniform([2], seed=1)      selects a stream by its seeds        (agc.runtime.kernels.random.seeds)
                              takes words of 32 bits from it     (agc.runtime.kernels.random.philox)
                              converts the words to numbers       (agc.runtime.kernels.random.distributions)

An operation in a graph holds its seeds and the number of its stream. Every run of the graph advances the
stream.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import Any, NoReturn

from ... import dtypes, errors
from ...core.conversion import convert_to_tensor
from ...core.export import export, export_member
from ...ir.graph import Constant
from ...ir.traits import DRAWS_RANDOM
from ...ir.value_types import TensorType
from ...kernels.random import distributions, permutations, seeds
from ..framework.attribute_parsers import DType
from ..framework.op import Input, Ints, Name, Op, Same, op
from ..framework.op_families import REAL, require_dtype
from ..framework.static_values import checked_dims, checked_size, dims, size

Array = Any

_FLOATS = dict.fromkeys((dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64))
_NUMBERS = (int, float)
_ACCEPTED = _FLOATS | dict.fromkeys((dtypes.int32, dtypes.int64))


@export("random.uniform")
def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Return uniformly distributed numbers in [minval, maxval); integers need `maxval`, for others it is 1.

    >>> seeds.set_seed(5)
    >>> uniform([3], maxval=10, dtype=int)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 1, 8], dtype=int32)>
    """
    kind = dtypes.as_dtype(dtype)
    if kind not in _ACCEPTED:
        _refuse_dtype(kind, _ACCEPTED)
    if kind in _FLOATS:
        return stretched(random_uniform(shape, kind, *seeds.pair(seed), name), minval, maxval)
    if maxval is None:
        raise ValueError(f"Must specify maxval for integer dtype {kind!r}")
    low, high = convert_to_tensor(minval, kind), convert_to_tensor(maxval, kind)
    return random_integers(shape, low, high, *seeds.pair(seed), name)


def stretched(unit: Any, minval: Any, maxval: Any) -> Any:
    """Return numbers in [minval, maxval) for numbers in [0, 1); `maxval` is 1 by default."""
    above = 1 if maxval is None else maxval
    if type(minval) in _NUMBERS and type(above) in _NUMBERS and minval == 0 and above == 1:
        return unit
    low, high = convert_to_tensor(minval, unit.dtype), convert_to_tensor(above, unit.dtype)
    return unit * (high - low) + low


def truncated_normals(source: Any, sizes: tuple[int, ...], dtype: dtypes.DType) -> Array:
    return distributions.truncated_normal(source, math.prod(sizes), dtype).reshape(sizes)


def _around(name: str, draw: Callable[..., Any], manual: str) -> Callable[..., Any]:
    """Declare a function that draws numbers, scales and shifts them."""

    def drawn(
        shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, seed: int | None = None,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        kind = dtypes.as_dtype(dtype)
        if kind not in _FLOATS:
            _refuse_dtype(kind, _FLOATS)
        numbers = draw(shape, kind, *seeds.pair(seed), name)
        if type(mean) in _NUMBERS and type(stddev) in _NUMBERS and mean == 0 and stddev == 1:
            return numbers
        scale, center = (x if type(x) is float else convert_to_tensor(x, kind) for x in (stddev, mean))
        return numbers * scale + center

    return export_member(drawn, manual, export=(f"random.{name}",))


@export("random.shuffle")
def shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Any:
    """Shuffle the rows of `value`.

    >>> seeds.set_seed(5)
    >>> shuffle([1, 2, 3, 4])
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([3, 1, 2, 4], dtype=int32)>
    """
    return random_shuffle(value, *seeds.pair(seed), name)


@export("random.categorical")
def categorical(
    logits: Any, num_samples: Any, dtype: Any = None, seed: int | None = None, name: str | None = None
) -> Any:
    """Draw `num_samples` indices for each row of unnormalized log-probabilities.

    >>> seeds.set_seed(5)
    >>> categorical([[0.0, 0.0]], 3)
    <tf.Tensor: shape=(1, 3), dtype=int64, numpy=array([[0, 0, 1]])>
    """
    kind = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    return random_categorical(logits, num_samples, kind, *seeds.pair(seed), name)


def _refuse_dtype(dtype: dtypes.DType, accepted: Collection[dtypes.DType]) -> NoReturn:
    names = ", ".join(map(repr, accepted))
    raise ValueError(f"Argument `dtype` got invalid value {dtype}. Accepted dtypes are ({names}).")


def _stream_of(name: str, label: str, draw: Callable[..., Array], manual: str) -> Op:
    """Declare an operation that draws numbers of a shape and dtype from its stream."""

    def rule(shape: Ints, dtype: DType, seed: int, seed2: int, stream: int, name: Name = None) -> TensorType:
        return TensorType(dtype, dims(shape))

    def kernel(shape: Array, dtype: dtypes.DType, seed: int, seed2: int, stream: int) -> Array:
        return draw(seeds.stream(f"{label} {dtype.name}", seed, seed2, stream), checked_dims(shape), dtype)

    def specialized(inputs: list[Any], dtype: dtypes.DType, seed: int, seed2: int, stream: int) -> Any:
        """Return the kernel for one shape."""
        if type(inputs[0]) is not Constant:
            return None
        sizes, kind = checked_dims(inputs[0].value), f"{label} {dtype.name}"
        return lambda shape: draw(seeds.stream(kind, seed, seed2, stream), sizes, dtype)

    rule.__name__ = rule.__qualname__ = name
    rule.__doc__ = manual
    operation = Op(rule, stateful=True, traits=DRAWS_RANDOM)
    operation.kernel(kernel)
    operation.specialize(specialized)
    return operation


random_uniform = _stream_of("random_uniform", "uniform", distributions.uniforms, """Return uniform numbers in [0, 1).

    >>> seeds.set_seed(None)
    >>> random_uniform([2], float, 7, 1, 0)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0.46037483, 0.9285182 ], dtype=float32)>
    """)  # fmt: skip
random_normal = _stream_of("random_normal", "normal", distributions.normals, """Return standard normal numbers.

    >>> seeds.set_seed(None)
    >>> random_normal([2], float, 7, 1, 0)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([-0.5408054,  1.122033 ], dtype=float32)>
    """)  # fmt: skip
random_truncated_normal = _stream_of("random_truncated_normal", "truncated", truncated_normals, """Return numbers.

    They are normal, truncated to [-2, 2].

    >>> seeds.set_seed(None)
    >>> random_truncated_normal([2], float, 7, 1, 0)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([-0.5408054,  1.122033 ], dtype=float32)>
    """)  # fmt: skip
normal = _around("normal", random_normal, """Return normal numbers with this mean and standard deviation.

    >>> seeds.set_seed(5)
    >>> normal([2], dtype=float)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([-0.18030666, -0.95028627], dtype=float32)>
    """)  # fmt: skip
truncated_normal = _around("truncated_normal", random_truncated_normal, """Return numbers as `normal` does.

    They are truncated to two standard deviations around the mean.

    >>> seeds.set_seed(5)
    >>> truncated_normal([1])
    <tf.Tensor: shape=(1,), dtype=float32, numpy=array([-0.18030666], dtype=float32)>
    """)  # fmt: skip


@op(stateful=True, traits=DRAWS_RANDOM)
def random_integers(
    shape: Ints, minval: Same, maxval: Same, seed: int, seed2: int, stream: int, name: Name = None
) -> TensorType:
    """Return uniformly distributed integers in [minval, maxval).

    >>> seeds.set_seed(None)
    >>> random_integers([3], 0, 10, 7, 1, 0)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([8, 1, 3], dtype=int32)>
    """
    return TensorType(minval.dtype, dims(shape))


@random_integers.kernel
def _(shape: Array, minval: Array, maxval: Array, seed: int, seed2: int, stream: int) -> Array:
    sizes, low, high = checked_dims(shape), int(minval), int(maxval)
    if low >= high:
        raise errors.InvalidArgumentError(f"Need minval < maxval, got {low} >= {high}")
    dtype = dtypes.of_array(minval)
    source = seeds.stream(f"integers {dtype.name}", seed, seed2, stream)
    return distributions.integers(source, sizes, low, high, dtype)


random_integers.no_gradient("the drawn integers are discrete")


@op(stateful=True, traits=DRAWS_RANDOM)
def random_shuffle(value: Input, seed: int, seed2: int, stream: int, name: Name = None) -> TensorType:
    """Shuffle the rows of `value`.

    >>> seeds.set_seed(None)
    >>> random_shuffle([1, 2, 3], 7, 1, 0)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 3, 2], dtype=int32)>
    """
    return TensorType(value.dtype, value.shape)


@random_shuffle.kernel
def _(value: Array, seed: int, seed2: int, stream: int) -> Array:
    count = value.shape[0] if value.ndim else 0
    if count < 2:
        return value
    source = seeds.stream(f"shuffle {value.dtype}", seed, seed2, stream)
    return value[permutations.shuffled(source, count)]


@op(stateful=True, traits=DRAWS_RANDOM)
def random_categorical(
    logits: Input, num_samples: Ints, dtype: DType, seed: int, seed2: int, stream: int, name: Name = None
) -> TensorType:
    """Draw indices for each row of unnormalized log-probabilities `logits`.

    >>> seeds.set_seed(None)
    >>> random_categorical([[0.0, 9.0]], 3, int, 7, 1, 0)
    <tf.Tensor: shape=(1, 3), dtype=int32, numpy=array([[1, 1, 1]], dtype=int32)>
    """
    require_dtype(logits, REAL, "categorical, argument `logits`,")
    if logits.shape is not None and len(logits.shape) != 2:
        raise ValueError(f"logits should be a matrix, got shape {logits.shape}")
    return TensorType(dtype, (logits.shape and logits.shape[0], size(num_samples, "num_samples")))


@random_categorical.kernel
def _(logits: Array, num_samples: Array, dtype: dtypes.DType, seed: int, seed2: int, stream: int) -> Array:
    source = seeds.stream(f"categorical {dtype.name}", seed, seed2, stream)
    return distributions.categories(source, logits, checked_size(num_samples, "num_samples")).astype(
        dtype.numpy_dtype
    )
