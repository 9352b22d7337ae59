"""`tf.lookup.experimental.MutableHashTable` and `DenseHashTable`: tables that programs and graphs change.

Two variables hold the rows; checkpoints and saved models store them like other variables.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..core.variable import Variable
from ..ir.builder import current, eagerly
from ..ops.lookup.mutable_table import (
    check_keys,
    export_table,
    find_in_mutable_table,
    insert_into_table,
    remove_from_table,
    table_size,
)
from .table import LookupTable, dense_keys, on_values


@export("lookup.experimental.MutableHashTable")
class MutableHashTable(LookupTable):
    """A table that starts empty.

    Args:
        key_dtype: string, int32 or int64.
        value_dtype: any dtype.
        default_value: the value of keys that the table lacks; its shape is that of all values.
        checkpoint: whether checkpoints contain the rows.
        experimental_is_anonymous: accepted, without effect.

    >>> from agc.runtime import int64, string
    >>> table = MutableHashTable(string, int64, default_value=-1)
    >>> table.insert(["a", "b"], [1, 2])
    >>> table.remove(["a"])
    >>> table.lookup(["a", "b"]).numpy().tolist(), int(table.size())
    ([-1, 2], 1)
    """

    _key_shape: tuple[int, ...] = ()

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        name: str | None = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(key_dtype, value_dtype, None)
        with eagerly():
            self.default_value = convert_to_tensor(default_value, self.value_dtype)
            self._keys = _column(self.key_dtype, self._key_shape, f"{name}_keys")
            self._values = _column(self.value_dtype, self.default_value.shape.sizes, f"{name}_values")
        self._is_saved = checkpoint

    def __children__(self) -> dict[str, Any]:
        return {"table-keys": self._keys, "table-values": self._values} if self._is_saved else {}

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of keys, an int64 scalar."""
        return table_size(self._keys, name=name)  # type: ignore[no-any-return]

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Return the keys and their values, in the same order."""
        keys, values = export_table(self._keys, self._values, name=name)
        return keys, values

    def lookup(self, keys: Any, dynamic_default_values: Any = None, name: str | None = None) -> Any:
        """Return the value of each key in a dense, ragged or sparse tensor.

        Args:
            dynamic_default_values: replaces the table's default value: one value, or one for each key.

        Raises TypeError for keys of another dtype than the table's.
        """
        default = self.default_value
        if dynamic_default_values is not None:
            default = convert_to_tensor(dynamic_default_values, self.value_dtype)
        return on_values(
            lambda dense: find_in_mutable_table(
                self._keys, self._values, self._checked(dense), default, name=name
            ),
            keys,
            self.key_dtype,
        )

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Any:
        """Add keys with their values, or replace the values of keys; the last of equal keys counts.

        Raises ValueError or InvalidArgumentError when the values do not have the shape of the keys and of one value,
        ValueError for other dtypes than the table's.
        """
        given = self._checked(convert_to_tensor(keys, self.key_dtype))
        new = convert_to_tensor(values, self.value_dtype)
        return _effect(insert_into_table(self._keys, self._values, given, new, name=name))

    def remove(self, keys: Any, name: str | None = None) -> Any:
        """Remove keys; those that the table lacks have no effect. Raises TypeError for keys of another dtype."""
        given = dense_keys(keys, self.key_dtype)
        return _effect(remove_from_table(self._keys, self._values, self._checked(given), name=name))

    def _checked(self, keys: Tensor) -> Tensor:
        return keys


@export("lookup.experimental.DenseHashTable")
class DenseHashTable(MutableHashTable):
    """A table with two reserved keys; a key may be a vector, of the shape of `empty_key`.

    Args:
        key_dtype, value_dtype, default_value, checkpoint: as for `MutableHashTable`.
        empty_key, deleted_key: two different keys that are not used: InvalidArgumentError for them.
        initial_num_buckets: a power of 2, at least 4; without effect, since the table grows.
        experimental_is_anonymous: accepted, without effect.

    `export` returns the rows that are filled; TensorFlow's returns all buckets.

    >>> from agc.runtime import int64
    >>> table = DenseHashTable(int64, int64, -1, empty_key=[0, 0], deleted_key=[-1, -1])
    >>> table.insert([[1, 2], [3, 4]], [7, 8])
    >>> table.lookup([[3, 4], [5, 6]]).numpy().tolist()
    [8, -1]
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        initial_num_buckets: int | None = None,
        name: str | None = "MutableDenseHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        with eagerly():
            self._reserved = [convert_to_tensor(key, key_dtype) for key in (empty_key, deleted_key)]
        empty, deleted = (key._array for key in self._reserved)  # type: ignore[attr-defined]
        if np.array_equal(empty, deleted):
            raise errors.InvalidArgumentError("Empty and deleted keys cannot be equal")
        if empty.shape != deleted.shape or empty.ndim > 1:
            raise errors.InvalidArgumentError(
                "Empty and deleted keys must be scalars or vectors of one length"
            )
        count = initial_num_buckets
        if count is not None and (count < 4 or count & (count - 1)):
            raise errors.InvalidArgumentError(
                f"Number of buckets must be at least 4 and a power of 2, got: {count}"
            )
        self._key_shape = empty.shape
        super().__init__(key_dtype, value_dtype, default_value, name, checkpoint)

    def _checked(self, keys: Tensor) -> Tensor:
        return check_keys(keys, *self._reserved)  # type: ignore[no-any-return]

    insert_or_assign = MutableHashTable.insert
    erase = MutableHashTable.remove


def _column(dtype: dtypes.DType, shape: Any, name: str) -> Variable:
    empty = np.empty((0, *shape), dtype.numpy_dtype)
    return Variable(empty, trainable=False, name=name, dtype=dtype, shape=(None, *shape))


def _effect(result: Tensor) -> Tensor | None:
    """Return the tensor that a session can run, in a graph; None in eager code."""
    return result if current() is not None else None
