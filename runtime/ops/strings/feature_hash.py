"""The operation that hashes combinations of features, with TensorFlow's hash function and equal results."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ...core import shapes
from ...ir.traits import LENIENT
from ...ir.value_types import TensorType
from ..framework.op import Name, Tensors, op
from ..framework.op_families import require_dtype
from .farmhash import mixed, of_strings

Array = Any

HASH_KEY = 0xDECAFCAFFE
"""The first hash, if the caller gives none."""

_FEATURES = frozenset({dtypes.string, dtypes.int32, dtypes.int64})
_FACTOR = np.uint64(0xC6A4A7935BD1E995)


@op(traits=LENIENT)
def hash_features(features: Tensors, num_buckets: int, hash_key: int, name: Name = None) -> TensorType:
    """Return one number for the elements of all `features` at the same place: strings or integers.

    The numbers are below `num_buckets`, or below 2**63 - 1 if that is 0.

    >>> hash_features([["a", "b"], [7, 7]], 100, HASH_KEY).numpy().tolist()
    [56, 76]
    """
    if num_buckets < 0:
        raise ValueError(f"Value for attr 'num_buckets' of {num_buckets} must be at least minimum 0")
    shape: shapes.Dims = None
    for feature in features:
        require_dtype(feature, _FEATURES, "hash_features")
        shape = shapes.merge(shape, feature.shape)
    return TensorType(dtypes.int64, shape)


@hash_features.kernel
def _(features: list[Array], num_buckets: int, hash_key: int) -> Array:
    total = np.full(np.shape(features[0]), hash_key, np.uint64)
    with np.errstate(over="ignore"):
        for feature in features:
            total = _joined(total, _numbers(np.asarray(feature)))
    return (total % np.uint64(num_buckets or np.iinfo(np.int64).max)).astype(np.int64)


def _numbers(feature: Array) -> Array:
    if feature.dtype.kind == "O":
        return of_strings(feature.reshape(-1)).reshape(feature.shape)
    return feature.astype(np.int64).view(np.uint64)


def _joined(first: Array, second: Array) -> Array:
    """Return the fingerprint of two fingerprints."""
    joined = first ^ _FACTOR ^ (mixed(second * _FACTOR) * _FACTOR)
    return mixed(mixed(joined * _FACTOR) * _FACTOR)


hash_features.no_gradient("hashes are discrete")
