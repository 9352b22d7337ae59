"""Random numbers of many distributions from a given state of the random bits, equal to TensorFlow's.

    seed     of two integers: scrambled to the initial state         stateless_gamma, stateless_shuffle, …
             of three, a state: the counter and the key                 the state of a generator or stream

>>> full_integers([2], [1, 2], dtypes.int32).numpy().tolist()
[1105988140, 1738052849]
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...core.export import export
from ...core.tensor import EagerTensor, Tensor
from ...ir.builder import current
from ...ir.traits import LENIENT, TOTAL
from ...ir.value_types import TensorType
from ...kernels.random import distributions, permutations, rejection_samplers, seeds
from ..arrays.reshape import fitted
from ..framework.attribute_parsers import DType
from ..framework.op import Input, Ints, Name, Same, op
from ..framework.op_families import FLOATS, INTEGERS, NUMERIC, Array, require_dtype
from ..framework.static_values import checked_dims, checked_size, dims, integer, size
from ..math.arithmetic import divide_no_nan
from ..math.cast import cast
from ..math.elementwise import exp, log
from ..math.error_and_gamma import lgamma
from ..math.special import igamma_slope
from .stateless import seeded, stream_of

_PARTS = (1 << 64) - 1


@op(stateful=True)
def stream_state(
    count: Ints, kind: str, seed: int, seed2: int, stream: int, per_output: int = 256, name: Name = None
) -> TensorType:
    """Return the state of an operation's stream, and advance the stream by `count` outputs.

    >>> stream_state(3, "example", 7, 1, 0).numpy().tolist()
    [0, 1, 7]
    """
    integer(count)  # raises unless it is a scalar
    return TensorType(dtypes.int64, (3,))


@stream_state.kernel
def _(count: Array, kind: str, seed: int, seed2: int, stream: int, per_output: int) -> Array:
    source = seeds.stream(kind, seed, seed2, stream)
    first = source.reserve(int(np.prod(count, dtype=np.int64)) * per_output)
    parts = first & _PARTS, first >> 64, source.key
    return np.array(parts, np.uint64).view(np.int64)


@op(traits=TOTAL)
def full_integers(shape: Ints, seed: Input, dtype: DType, name: Name = None) -> TensorType:
    """Return integers, uniform over the range of their dtype.

    >>> full_integers([2], [1, 2], dtypes.uint32).numpy().tolist()
    [1105988140, 1738052849]
    """
    if dtype not in (dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64):
        raise ValueError(f"dtype must be int32, int64, uint32 or uint64, not {dtype.name}")
    return seeded(TensorType(dtype, dims(shape)), seed)


@full_integers.kernel
def _(shape: Array, seed: Array, dtype: dtypes.DType) -> Array:
    sizes = checked_dims(shape)
    count = math.prod(sizes)
    drawn = distributions.any_integers(distributions.words(stream_of(seed), count, dtype), dtype)
    return drawn[:count].reshape(sizes)


def _ending(shape: Any, last: shapes.Dims, dtype: dtypes.DType, seed: Any) -> TensorType:
    """Return the TensorType of samples; their shape must end with that of the parameters."""
    sizes = dims(shape)
    _check_ending(sizes, last)
    return seeded(TensorType(dtype, sizes), seed)


def _check_ending(sizes: shapes.Dims, last: shapes.Dims) -> None:
    if sizes is None or last is None:
        return
    if len(sizes) < len(last) or not shapes.compatible(sizes[len(sizes) - len(last) :], last):
        raise ValueError(
            f"Shape passed in must end with broadcasted shape: {shapes.show(sizes)} does not end with "
            f"{shapes.show(last)}"
        )


def check_ending(shape: Tensor, *parameters: Tensor) -> None:
    """Raise an error for a known shape that does not end with the broadcast shape of the parameters.

    >>> from agc.runtime import constant
    >>> check_ending(constant([2, 3]), constant([1, 2, 3]))
    """
    last: shapes.Dims = ()
    for parameter in parameters:
        last = shapes.broadcast(last, shapes.as_dims(parameter.shape))
    if isinstance(shape, EagerTensor):
        try:
            _check_ending(checked_dims(shape._array), last)
        except ValueError as error:
            raise (errors.InvalidArgumentError(str(error)) if current() is None else error) from None


def _samples(sizes: tuple[int, ...], last: tuple[int, ...]) -> int:
    """Return the number of samples for each parameter."""
    _check_ending(sizes, last)
    return math.prod(sizes[: len(sizes) - len(last)])


def _laid_out(rows: Array, sizes: tuple[int, ...], dtype: dtypes.DType) -> Array:
    """Convert samples from parameter-major to sample-major order; infinities become the largest integer."""
    flat = np.moveaxis(rows, 0, -1).reshape(sizes)
    if dtype.is_integer:
        flat = np.nan_to_num(flat, nan=0.0, posinf=float(np.iinfo(dtype.numpy_dtype).max))
    return flat.astype(dtype.numpy_dtype)


@op
def gamma_variates(shape: Ints, seed: Input, alpha: Input, name: Name = None) -> TensorType:
    """Draw numbers from gamma distributions of scale 1; `shape` ends with that of `alpha`.

    >>> gamma_variates([2], [1, 2], 2.0).numpy().tolist()
    [2.8172736167907715, 1.9241365194320679]
    """
    require_dtype(alpha, FLOATS, "random_gamma")
    return _ending(shape, alpha.shape, alpha.dtype, seed)


@gamma_variates.kernel
def _(shape: Array, seed: Array, alpha: Array) -> Array:
    sizes = checked_dims(shape)
    rows = rejection_samplers.gamma(stream_of(seed), alpha, _samples(sizes, np.shape(alpha)))
    return _laid_out(rows, sizes, dtypes.of_array(alpha))


@gamma_variates.gradient
def _(dy: Any, y: Any, shape: Any, seed: Any, alpha: Any) -> Any:
    return None, None, fitted(dy * gamma_slope(alpha, y), alpha)


def gamma_slope(alpha: Any, x: Any) -> Any:
    """Return the derivative by `alpha` of gamma variates `x`, whose quantiles are held constant.

    This is implicit reparameterization (Figurnov and others, 2018).
    """
    a, y = cast(alpha, dtypes.float64), cast(x, dtypes.float64)  # the terms of the density cancel
    density = exp((a - 1) * log(y) - y - lgamma(a))
    return cast(divide_no_nan(-igamma_slope(a, y), density), x.dtype)


@op
def poisson_variates(shape: Ints, seed: Input, lam: Input, dtype: DType, name: Name = None) -> TensorType:
    """Draw numbers from Poisson distributions; `shape` ends with that of `lam`.

    >>> poisson_variates([4], [1, 2], 3.0, dtypes.int32).numpy().tolist()
    [5, 5, 4, 6]
    """
    require_dtype(lam, NUMERIC - {dtypes.complex64, dtypes.complex128}, "random_poisson")
    return _ending(shape, lam.shape, dtype, seed)


@poisson_variates.kernel
def _(shape: Array, seed: Array, lam: Array, dtype: dtypes.DType) -> Array:
    sizes = checked_dims(shape)
    rows = rejection_samplers.poisson(stream_of(seed), lam, _samples(sizes, np.shape(lam)))
    return _laid_out(rows, sizes, dtype)


poisson_variates.no_gradient("the drawn integers are discrete")


@op
def binomial_variates(
    shape: Ints, seed: Input, counts: Input, probs: Input, dtype: DType, name: Name = None
) -> TensorType:
    """Draw numbers from binomial distributions; `shape` ends with that of `counts` and `probs`, broadcast.

    >>> binomial_variates([4], [1, 2], 10.0, 0.3, dtypes.int32).numpy().tolist()
    [5, 5, 5, 4]
    """
    for operand in (counts, probs):
        require_dtype(operand, FLOATS | INTEGERS, "random_binomial")
    return _ending(shape, shapes.broadcast(counts.shape, probs.shape), dtype, seed)


@binomial_variates.kernel
def _(shape: Array, seed: Array, counts: Array, probs: Array, dtype: dtypes.DType) -> Array:
    sizes, (count, prob) = checked_dims(shape), np.broadcast_arrays(counts, probs)
    rows = rejection_samplers.binomial(stream_of(seed), count, prob, _samples(sizes, count.shape))
    return _laid_out(rows, sizes, dtype)


binomial_variates.no_gradient("the drawn integers are discrete")


@op
def bounded_normals(
    shape: Ints, seed: Input, means: Same, stddevs: Same, minvals: Same, maxvals: Same, name: Name = None
) -> TensorType:
    """Draw numbers from truncated normal distributions; `shape` ends with that of the parameters, broadcast.

    >>> bounded_normals([2], [1, 2], 0.0, 1.0, 3.0, 5.0).numpy().tolist()
    [3.0513298511505127, 3.001145601272583]
    """
    require_dtype(means, FLOATS, "parameterized_truncated_normal")
    both = shapes.broadcast(
        shapes.broadcast(means.shape, stddevs.shape), shapes.broadcast(minvals.shape, maxvals.shape)
    )
    return _ending(shape, both, means.dtype, seed)


@bounded_normals.kernel
def _(shape: Array, seed: Array, means: Array, stddevs: Array, minvals: Array, maxvals: Array) -> Array:
    sizes, parameters = checked_dims(shape), np.broadcast_arrays(means, stddevs, minvals, maxvals)
    flat = tuple(part.reshape(-1) for part in parameters)
    dtype = dtypes.of_array(means)
    rows = rejection_samplers.between(stream_of(seed), flat, _samples(sizes, parameters[0].shape), dtype)  # type: ignore[arg-type]
    return _laid_out(rows, sizes, dtype)


bounded_normals.no_gradient("TensorFlow has none")


@op
def seeded_shuffle(value: Input, seed: Input, name: Name = None) -> TensorType:
    """Shuffle the rows of `value` in the order that the seed determines.

    >>> seeded_shuffle([0, 1, 2, 3, 4, 5, 6, 7], [1, 2]).numpy().tolist()
    [4, 2, 1, 7, 3, 6, 0, 5]
    """
    if value.shape == ():
        raise ValueError("stateless_shuffle takes a tensor of at least rank 1")
    return seeded(TensorType(value.dtype, value.shape), seed)


seeded_shuffle.kernel(lambda value, seed: value[permutations.shuffled(stream_of(seed), len(value))])
seeded_shuffle.no_gradient("TensorFlow has none")


@op
def seeded_categorical(
    logits: Input, num_samples: Ints, seed: Input, dtype: DType, name: Name = None
) -> TensorType:
    """Draw indices for each row of unnormalized log-probabilities `logits`.

    >>> seeded_categorical([[0., 1., 2.]], 4, [1, 2], dtypes.int64).numpy().tolist()
    [[2, 2, 1, 2]]
    """
    require_dtype(logits, FLOATS, "stateless_categorical")
    if logits.shape is not None and len(logits.shape) != 2:
        raise ValueError(f"logits should be a matrix, got shape {shapes.show(logits.shape)}")
    return seeded(
        TensorType(dtype, (logits.shape and logits.shape[0], size(num_samples, "num_samples"))), seed
    )


@seeded_categorical.kernel
def _(logits: Array, num_samples: Array, seed: Array, dtype: dtypes.DType) -> Array:
    return distributions.categories(stream_of(seed), logits, checked_size(num_samples, "num_samples")).astype(
        dtype.numpy_dtype
    )


seeded_categorical.no_gradient("the drawn integers are discrete")


@export("random_index_shuffle")
@op(traits=LENIENT)
def random_index_shuffle(
    index: Ints, seed: Ints, max_index: Ints, rounds: int = 4, name: Name = None
) -> TensorType:
    """Return the position of `index` in a pseudorandom permutation of 0, 1, … `max_index`, by three seed numbers.

    Args:
        index: a scalar or a vector.
        seed: a vector of three numbers, or a matrix with such a row for each index.
        max_index: a scalar or a vector.
        rounds: the number of rounds of the cipher: even, at least 4.

    >>> random_index_shuffle([0, 1, 2, 3], [1, 2, 3], 9).numpy().tolist()
    [2, 0, 6, 4]
    """
    if rounds < 4 or rounds % 2:
        raise ValueError(f"rounds must be an even number from 4 on, not {rounds}")
    if seed.shape is not None and (not 1 <= len(seed.shape) <= 2 or seed.shape[-1] not in (None, 3)):
        raise ValueError(f"seed must have shape [3] or [n, 3], not {shapes.show(seed.shape)}")
    if seed.shape is None:
        return TensorType(index.dtype, None)
    return TensorType(index.dtype, _together(index.shape, seed.shape[:-1], max_index.shape))


def _together(*found: shapes.Dims) -> shapes.Dims:
    whole: shapes.Dims = ()
    for part in found:
        if part is not None and len(part) > 1:
            raise ValueError(
                f"index and max_index must be scalars or vectors, not of shape {shapes.show(part)}"
            )
        whole = shapes.broadcast(whole, part)
    return whole


@random_index_shuffle.kernel
def _(index: Array, seed: Array, max_index: Array, rounds: int) -> Array:
    sizes = np.broadcast_shapes(np.shape(index), np.shape(seed)[:-1], np.shape(max_index))
    keys = np.broadcast_to(seed, (*sizes, 3)).reshape(-1, 3)
    flattened = (np.broadcast_to(part, sizes).reshape(-1) for part in (index, max_index))
    numbers, tops = flattened
    if np.any(numbers < 0) or np.any(numbers > tops):
        raise errors.InvalidArgumentError("index must be in [0, max_index]")
    return permutations.permuted(numbers, keys, tops, rounds).astype(index.dtype).reshape(sizes)
