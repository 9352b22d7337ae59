"""Operations that hash strings, with TensorFlow's hash functions and equal results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import dtypes
from ...core.export import export
from ...ir.value_types import TensorType
from ...kernels.strings.hashes import Words, hash64, hashed, siphash
from ..framework.attribute_parsers import Axes
from ..framework.op import Input, Name, op
from ..framework.op_families import STRINGS, require_dtype
from .farmhash import fingerprints

Array = Any


def _bucket(input: Any, num_buckets: int, name: str) -> TensorType:
    require_dtype(input, STRINGS, name)
    if num_buckets < 1:
        raise ValueError(f"Value for attr 'num_buckets' of {num_buckets} must be at least minimum 1")
    return TensorType(dtypes.int64, input.shape)


@export("strings.to_hash_bucket")
@op(element_operands=1)
def to_hash_bucket(input: Input, num_buckets: int, name: Name = None) -> TensorType:
    """Return a deterministic number from 0 to `num_buckets` - 1 for each string.

    New programs should use `to_hash_bucket_fast`, which has a better distribution.

    >>> to_hash_bucket(["Hello", "TensorFlow"], 3).numpy().tolist()
    [2, 0]
    """
    return _bucket(input, num_buckets, "to_hash_bucket")


@to_hash_bucket.kernel
def _(input: Array, num_buckets: int) -> Array:
    return _buckets(hash64, input, num_buckets)


@export("strings.to_hash_bucket_fast")
@op(element_operands=1)
def to_hash_bucket_fast(input: Input, num_buckets: int, name: Name = None) -> TensorType:
    """Return a number from 0 to `num_buckets` - 1 for each string, by FarmHash's fingerprint.

    An attacker can construct strings that collide; `to_hash_bucket_strong` prevents that.

    >>> to_hash_bucket_fast(["Hello", "TensorFlow"], 3).numpy().tolist()
    [0, 2]
    """
    return _bucket(input, num_buckets, "to_hash_bucket_fast")


@to_hash_bucket_fast.kernel
def _(input: Array, num_buckets: int) -> Array:
    return _buckets(fingerprints, input, num_buckets)


@export("strings.to_hash_bucket_strong")
@op(element_operands=1)
def to_hash_bucket_strong(input: Input, num_buckets: int, key: Axes, name: Name = None) -> TensorType:
    """Return a number from 0 to `num_buckets` - 1 for each string, by SipHash with a key of two 64-bit integers.

    >>> to_hash_bucket_strong(["Hello", "TF"], 3, [1, 2]).numpy().tolist()
    [2, 0]
    """
    if not isinstance(key, Sequence) or len(key) != 2:
        raise ValueError(f"Key must have 2 elements, not {key}")
    return _bucket(input, num_buckets, "to_hash_bucket_strong")


@to_hash_bucket_strong.kernel
def _(input: Array, num_buckets: int, key: tuple[int, int]) -> Array:
    return _buckets(lambda rows: siphash(rows, *key), input, num_buckets)


def _buckets(function: Callable[[Array], Words], input: Array, num_buckets: int) -> Array:
    items = np.asarray(input, object)
    numbers = hashed(function, items.ravel()) % np.uint64(num_buckets)
    return numbers.astype(np.int64).reshape(items.shape)
