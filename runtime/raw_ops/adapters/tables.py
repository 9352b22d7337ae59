"""Adapters of raw operations that make lookup tables and fill them."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf

from ...lookup.initializers import TableInitializer


class _Later(TableInitializer):
    """An initializer that leaves the table empty."""

    def initialize(self, table: Any) -> None:
        pass


def _default(dtype: Any) -> Any:
    return tf.constant("" if tf.as_dtype(dtype) is tf.string else 0, dtype)


def static_table(key_dtype: Any, value_dtype: Any) -> Any:
    """Return a table without rows, until it is initialized."""
    return tf.lookup.StaticHashTable(_Later(key_dtype, value_dtype), _default(value_dtype))


def mutable_table(key_dtype: Any, value_dtype: Any) -> Any:
    """Return a table that starts empty."""
    return tf.lookup.experimental.MutableHashTable(key_dtype, value_dtype, _default(value_dtype))


def import_rows(table: Any, keys: Any, values: Any) -> Any:
    """Replace the rows of a table."""
    keys, values = tf.convert_to_tensor(keys), tf.convert_to_tensor(values)
    if not isinstance(table, tf.lookup.StaticHashTable):
        return table.insert(keys, values)
    if not (hasattr(keys, "numpy") and hasattr(values, "numpy")):
        raise tf.errors.UnimplementedError("a static table is initialized in a graph; do it in eager code")
    return table.fill(keys.numpy().reshape(-1), values.numpy().reshape(-1))


def import_file(
    table: Any, filename: Any, key_index: int, value_index: int, vocab_size: int, delimiter: str, offset: int
) -> Any:
    """Set the rows of a table to those of a text file."""
    path = bytes(tf.convert_to_tensor(filename).numpy()).decode()
    reader = tf.lookup.TextFileInitializer(
        path, table.key_dtype, key_index, table.value_dtype, value_index, None if vocab_size < 0 else vocab_size,
        delimiter, value_index_offset=offset,
    )  # fmt: skip
    return import_rows(table, *map(tf.constant, reader.rows()))
