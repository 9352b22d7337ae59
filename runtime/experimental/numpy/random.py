"""The module `tf.experimental.numpy.random`: NumPy's older random functions.

The numbers are those of TensorFlow's generators, not NumPy's.

>>> seed(5)
>>> uniform(0.0, 2.0, (2,)).shape
TensorShape([2])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ...core.missing_names import explain as _explain
from ...core.tensor import Tensor
from ...kernels.random import seeds as _seeds
from ...ops.arrays import reshape as _reshape
from ...ops.arrays.shape_arithmetic import broadcast_dynamic_shape as _broadcast
from ...ops.arrays.shape_ops import shape as _shape_of
from ...ops.math.cast import cast as _cast
from ...ops.random import stateful as _stateful
from ...ops.random import stateful_distributions as _distributions
from .promotion import Rules as _Rules
from .promotion import asarray as _asarray
from .promotion import default_dtype as _default_dtype
from .promotion import read_dtype as _read_dtype

__all__ = ["poisson", "rand", "randint", "randn", "random", "seed", "standard_normal", "uniform"]


def _sizes(size: Any) -> Any:
    return () if size is None else _reshape.reshape(_asarray(size, dtypes.int32), [-1])


def _float() -> Any:
    return dtypes.float32 if _Rules.mode in ("all", "safe") else dtypes.float64


def seed(s: int) -> None:
    """Set the seed of all random operations, as tf.random.set_seed does.

    >>> seed(7)
    >>> first = rand(2).numpy()
    >>> seed(7)
    >>> bool((rand(2).numpy() == first).all())
    True
    """
    _seeds.set_seed(int(s))


def uniform(low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    """Return numbers from [low, high), of the shape `size` or of the bounds' common shape.

    >>> uniform(0.0, [1.0, 5.0]).shape
    TensorShape([2])
    """
    first, last = (_asarray(bound, _float()) for bound in (low, high))
    shape = _broadcast(_shape_of(first), _shape_of(last)) if size is None else _sizes(size)
    return _stateful.uniform(shape, first, last, dtype=_float())


def random(size: Any = None) -> Any:
    """Return numbers from [0, 1).

    >>> random((2, 3)).dtype
    tf.float64
    """
    return uniform(0.0, 1.0, () if size is None else size)


def rand(*size: int) -> Any:
    """Return numbers from [0, 1), of the shape of the arguments.

    >>> rand(2, 3).shape
    TensorShape([2, 3])
    """
    return uniform(0.0, 1.0, size)


def standard_normal(size: Any = None) -> Any:
    """Return numbers from the standard normal distribution.

    >>> standard_normal((2, 3)).shape
    TensorShape([2, 3])
    """
    return _stateful.normal(_sizes(size), dtype=_float())


def randn(*args: int) -> Any:
    """Return numbers from the standard normal distribution, of the shape of the arguments.

    >>> randn(2, 3).shape
    TensorShape([2, 3])
    """
    return standard_normal(args)


def randint(low: int, high: int | None = None, size: Any = None, dtype: Any = np.int64) -> Tensor:
    """Return integers from [low, high), or from [0, low) without `high`.

    >>> numbers = randint(5, 8, 100).numpy()
    >>> sorted(set(numbers.tolist()))
    [5, 6, 7]
    """
    low, high = (0, low) if high is None else (low, high)
    wanted = _read_dtype(dtype)
    drawn = wanted if wanted in (dtypes.int32, dtypes.int64) else dtypes.int64
    return _cast(_stateful.uniform(_sizes(size), low, high, dtype=drawn), wanted)


def poisson(lam: Any = 1.0, size: Any = None) -> Tensor:
    """Return integers from the Poisson distribution, of the shape `size` or of `lam`.

    >>> poisson([2.0, 5.0])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([...])>
    """
    rates = _asarray(lam, _float())
    shape = _sizes(size)
    if size is not None and rates.shape.rank:
        rates, shape = _reshape.broadcast_to(rates, shape), ()
    return _cast(_distributions.poisson(shape, rates, dtype=_float()), _default_dtype(0))


_explain(__name__, "experimental.numpy.random")
