"""`tf.lookup.StaticVocabularyTable`: ids of a vocabulary; other keys are hashed to the buckets after it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..core.export import export
from ..core.tensor import EagerTensor, Tensor
from ..ops.arrays.where_ops import where
from ..ops.math.cast import cast
from ..ops.strings.hash_buckets import to_hash_bucket_fast
from ..ops.strings.strings import as_string
from .static_hash_table import StaticHashTable
from .table import LookupTable, on_values


@export("lookup.StaticVocabularyTable")
class StaticVocabularyTable(LookupTable):
    """A table from keys to int64 ids; a key that is not in the vocabulary gets an id by its hash.

    Args:
        initializer: an initializer with int64 values; None for a table of buckets only.
        num_oov_buckets: the number of ids after the vocabulary's, for other keys; at least 1.
        lookup_key_dtype: the dtype of keys to look up; by default the initializer's, string without one.
        experimental_is_anonymous: accepted, without effect.

    Raises ValueError without buckets, TypeError for values that are not int64 or keys that do not fit.

    >>> from agc.runtime import lookup, constant, int64
    >>> words = lookup.KeyValueTensorInitializer(["emerson", "lake", "palmer"], [0, 1, 2], value_dtype=int64)
    >>> StaticVocabularyTable(words, 5).lookup(constant(["lake", "king", "crimson"])).numpy().tolist()
    [1, 6, 7]
    """

    def __init__(
        self,
        initializer: Any,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        if num_oov_buckets <= 0:
            raise ValueError("`num_oov_buckets` must be > 0; use StaticHashTable.")
        stored = dtypes.string if initializer is None else initializer.key_dtype
        if initializer is not None and initializer.value_dtype is not dtypes.int64:
            raise TypeError(f"Invalid `value_dtype`, expected int64 but got {initializer.value_dtype.name}.")
        super().__init__(lookup_key_dtype or stored, dtypes.int64, name)
        if initializer is not None and stored.is_integer != self.key_dtype.is_integer:
            kind = "integer" if stored.is_integer else "string"
            raise TypeError(f"Invalid `key_dtype`, expected {kind} but got {self.key_dtype.name}.")
        self._table = None if initializer is None else StaticHashTable(initializer, -1)
        self._num_oov_buckets = num_oov_buckets

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of ids: keys of the vocabulary, and buckets."""
        return EagerTensor(np.array(self._vocabulary_size() + self._num_oov_buckets, np.int64))

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """Return the id of each key in a dense, ragged or sparse tensor.

        Raises TypeError for keys of another dtype than the table's.
        """
        return on_values(self._ids, keys, self.key_dtype)

    def _ids(self, keys: Tensor) -> Tensor:
        texts = as_string(keys) if keys.dtype.is_integer else keys
        buckets = to_hash_bucket_fast(texts, self._num_oov_buckets) + np.int64(self._vocabulary_size())
        if self._table is None:
            return buckets  # type: ignore[no-any-return]
        ids = self._table.lookup(cast(keys, self._table.key_dtype) if keys.dtype.is_integer else keys)
        return where(ids >= 0, ids, buckets)  # type: ignore[no-any-return]

    def _vocabulary_size(self) -> int:
        return 0 if self._table is None else int(self._table.size())
