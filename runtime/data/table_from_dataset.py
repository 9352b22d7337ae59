"""Tables that are filled from the elements of a dataset: `tf.data.experimental.table_from_dataset` and others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import dtypes, errors
from ..core.tensor_spec import TensorSpec
from ..lookup.initializers import Array, TableInitializer
from ..lookup.static_hash_table import StaticHashTable
from ..lookup.table import LookupTable
from ..lookup.vocabulary_table import StaticVocabularyTable
from .dataset import Dataset

_FORM = (
    "Datasets used to initialize lookup tables must produce elements in the form (key, value), where the keys and "
    "values are scalar tensors. However, the given dataset produces"
)


class HasherSpec(NamedTuple):
    """The name of a hash function, and its key."""

    hasher: str
    key: Any


FAST_HASH = HasherSpec("fasthash", None)


class DatasetInitializer(TableInitializer):
    """Keys and values that are the elements of a dataset: pairs of scalars.

    Raises ValueError for a dataset of other elements.

    >>> from agc.runtime import data, lookup
    >>> pairs = data.Dataset.from_tensor_slices((["a", "b"], [1, 2]))
    >>> lookup.StaticHashTable(DatasetInitializer(pairs), -1).lookup(["b"]).numpy().tolist()
    [2]
    """

    def __init__(self, dataset: Dataset) -> None:
        spec = dataset.element_spec
        parts = spec if isinstance(spec, tuple) else (spec,)
        for part in parts:
            if not isinstance(part, TensorSpec):
                raise ValueError(f"{_FORM} non-Tensor keys of type {type(part)}.")
            if part.shape.rank != 0:
                raise ValueError(f"{_FORM} non-scalar key Tensors of rank {part.shape.rank}.")
        if len(parts) != 2:
            raise ValueError(f"{_FORM} elements of {len(parts)} components.")
        self._dataset = dataset
        super().__init__(parts[0].dtype, parts[1].dtype)

    def rows(self) -> tuple[Array, Array]:
        rows = [(key.numpy(), value.numpy()) for key, value in self._dataset]
        kinds = self.key_dtype.numpy_dtype, self.value_dtype.numpy_dtype
        keys, values = (np.array([row[i] for row in rows], kind) for i, kind in enumerate(kinds))
        return keys, values


def table_from_dataset(
    dataset: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: Any = None,
    hasher_spec: Any = FAST_HASH,
    key_dtype: Any = dtypes.string,
    name: str | None = None,
) -> LookupTable:
    """Return a table of the pairs (key, value) in a dataset.

    Args:
        dataset: pairs of scalars.
        num_oov_buckets: the number of ids for other keys; with it the values are int64 ids from 0.
        vocab_size: the number of elements to use; all by default.
        default_value: the value of other keys without buckets; by default -1, or "" for strings.
        hasher_spec: the hash function of the buckets; there is only the fast one.
        key_dtype: the dtype of keys to look up.

    Raises ValueError for a dataset of other elements and numbers out of range, UnimplementedError for another hash.

    >>> from agc.runtime import data
    >>> pairs = data.Dataset.from_tensor_slices((["a", "b"], [1, 2]))
    >>> table_from_dataset(pairs, vocab_size=1, default_value=0).lookup(["a", "b"]).numpy().tolist()
    [1, 0]
    """
    if not isinstance(dataset, Dataset):
        raise ValueError(f"`dataset` must be a tf.data.Dataset of pairs, not {dataset!r}")
    if num_oov_buckets < 0:
        raise ValueError(f"`num_oov_buckets` must be greater than or equal to 0, got {num_oov_buckets}.")
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"`vocab_size` must be greater than 0, got {vocab_size}.")
    if hasher_spec.hasher != FAST_HASH.hasher:
        raise errors.UnimplementedError(f"there is no hash function {hasher_spec.hasher!r}, only 'fasthash'")
    rows = DatasetInitializer(dataset if vocab_size is None else dataset.take(vocab_size))
    if num_oov_buckets:
        return StaticVocabularyTable(rows, num_oov_buckets, key_dtype, name)
    if default_value is None:
        default_value = "" if rows.value_dtype is dtypes.string else -1
    return StaticHashTable(rows, default_value, name)


def index_table_from_dataset(
    dataset: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: Any = FAST_HASH,
    key_dtype: Any = dtypes.string,
    name: str | None = None,
) -> LookupTable:
    """Return a table from the elements of a dataset, scalars, to their numbers from 0; see `table_from_dataset`.

    >>> from agc.runtime import data
    >>> words = data.Dataset.from_tensor_slices(["x", "y"])
    >>> index_table_from_dataset(words, num_oov_buckets=3).lookup(["y", "z"]).numpy().tolist()
    [1, 3]
    """
    if not isinstance(dataset, Dataset):
        raise ValueError(f"`dataset` must be a tf.data.Dataset of scalars, not {dataset!r}")
    numbered = dataset.enumerate().map(lambda number, key: (key, number))
    return table_from_dataset(
        numbered, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype, name
    )
