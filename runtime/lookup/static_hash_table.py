"""`tf.lookup.StaticHashTable`: a table that is filled once; graphs hold its rows as a constant."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import EagerTensor, Tensor
from ..ir.builder import eagerly
from ..kernels.hash_index import HashIndex
from ..ops.lookup.static_table import find_in_table
from .table import LookupTable, on_values

Array = Any


@export("lookup.StaticHashTable")
class StaticHashTable(LookupTable):
    """A table whose initializer gives its keys and values.

    Args:
        initializer: `KeyValueTensorInitializer`, `TextFileInitializer`, or a subclass with `initialize(table)`.
        default_value: the value of keys that the table lacks, a scalar.
        experimental_is_anonymous: accepted, without effect.

    Raises FailedPreconditionError when a key has two different values, TypeError for keys that are no strings and no
    integers.

    >>> from agc.runtime.lookup import KeyValueTensorInitializer
    >>> table = StaticHashTable(KeyValueTensorInitializer([1, 2], ["one", "two"]), "many")
    >>> table[[2, 3]].numpy().tolist(), int(table.size())
    ([b'two', b'many'], 2)
    """

    def __init__(
        self,
        initializer: Any,
        default_value: Any,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(initializer.key_dtype, initializer.value_dtype, name)
        with eagerly():
            self.default_value = convert_to_tensor(default_value, self.value_dtype)
        if self.default_value.shape.rank != 0:
            raise ValueError(f"Shapes {self.default_value.shape} and () are not compatible")
        empty = (np.empty(0, dtype.numpy_dtype) for dtype in (self.key_dtype, self.value_dtype))
        self._rows = HashIndex(*empty)
        initializer.initialize(self)

    def fill(self, keys: Array, values: Array) -> None:
        """Set the rows of the table; initializers call this method."""
        rows = HashIndex(keys, values)
        if len(rows) < len(keys):
            _check_equal_values(rows, keys, values)
            rows = HashIndex(keys[np.unique(rows.rows_of(keys))], values[np.unique(rows.rows_of(keys))])
        self._rows = rows

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of keys, an int64 scalar."""
        return EagerTensor(np.array(len(self._rows), np.int64))

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Return the keys and their values, in the same order."""
        return EagerTensor(self._rows.keys), EagerTensor(self._rows.values)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """Return the value of each key in a dense, ragged or sparse tensor, or the default value.

        Raises TypeError for keys of another dtype than the table's.
        """
        return on_values(
            lambda dense: find_in_table(dense, self.default_value, self._rows, name=name),
            keys,
            self.key_dtype,
        )


def _check_equal_values(rows: HashIndex, keys: Array, values: Array) -> None:
    for key, value, kept in zip(keys, values, rows.values[rows.rows_of(keys)], strict=True):
        if value != kept:
            raise errors.FailedPreconditionError(
                f"HashTable has different value for same key. Key {_text(key)} has {_text(value)} and "
                f"trying to add value {_text(kept)}"
            )


def _text(item: Any) -> str:
    return item.decode(errors="replace") if isinstance(item, bytes) else str(item)
