"""The base class of lookup tables: conversion of keys, and lookup in ragged and sparse tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.tensor import Tensor
from ..core.tracked_object import TrackableResource
from ..ops.lookup.mutable_table import KEYS
from ..ragged.tensor import RaggedTensor
from ..sparse.tensor import SparseTensor


class LookupTable(TrackableResource):
    """A table from keys of one dtype to values of one dtype. It counts as an object with children for saving."""

    _is_leaf_of_nests = True

    def __init__(self, key_dtype: Any, value_dtype: Any, name: str | None) -> None:
        self.key_dtype = dtypes.as_dtype(key_dtype)
        self.value_dtype = dtypes.as_dtype(value_dtype)
        self.name = name
        if self.key_dtype not in KEYS:
            raise TypeError(f"Keys of a lookup table are string, int32 or int64, not {self.key_dtype.name}")

    def __children__(self) -> dict[str, Any]:
        return {}

    @property
    def resource_handle(self) -> Any:
        """The table, which operations of `tf.raw_ops` take as their `table_handle`."""
        return self

    lookup: Callable[..., Any]

    def __getitem__(self, keys: Any) -> Any:
        """Return the value of each key."""
        return self.lookup(keys)


def on_values(lookup: Callable[[Tensor], Tensor], keys: Any, dtype: dtypes.DType) -> Any:
    """Return the values of keys: for ragged and sparse keys, those of their values, in the same places.

    Raises TypeError for keys of another dtype.
    """
    if isinstance(keys, SparseTensor):
        return SparseTensor(keys.indices, on_values(lookup, keys.values, dtype), keys.dense_shape)
    if isinstance(keys, RaggedTensor):
        return keys.with_flat_values(on_values(lookup, keys.flat_values, dtype))
    return lookup(dense_keys(keys, dtype))


def dense_keys(keys: Any, dtype: dtypes.DType) -> Tensor:
    """Return keys as a tensor of `dtype`. Raises TypeError for a tensor of another dtype."""
    if isinstance(keys, Tensor) and keys.dtype is not dtype:
        raise TypeError(f"Dtype of argument `keys` must be {dtype.name}, received: {keys.dtype.name}")
    return convert_to_tensor(keys, dtype)
