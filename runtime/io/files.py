"""Functions of `tf.io` composed of operations: `decode_csv`, `write_file`.

>>> [column.numpy().tolist() for column in decode_csv(["1,a", "2,b"], [0, ""])]
[[1, 2], [b'a', b'b']]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.export import export
from ..core.tensor import Tensor
from ..ops.state import file_io
from ..ops.strings.decode_csv import csv_columns


@export("io.decode_csv")
def decode_csv(
    records: Any,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """Return the columns of records of comma-separated values, a tensor each, with the shape of `records`.

    Args:
        records: strings, one for each record.
        record_defaults: for each column the default of an empty field, float32, float64, int32, int64 or string; a
            list of it, or an empty tensor of that dtype for a required field.
        field_delim: the character between fields.
        use_quote_delim: whether fields may be quoted.
        na_value: a text that counts as empty, too.
        select_cols: the indices of the columns to return; all by default.

    Raises InvalidArgumentError for records with another number of fields, and for fields of other dtypes.

    >>> import agc.runtime as tf
    >>> number, word = tf.io.decode_csv(["1,one", "2,"], record_defaults=[[0], ["?"]])
    >>> number.numpy().tolist(), word.numpy().tolist()
    ([1, 2], [b'one', b'?'])
    """
    return list(
        csv_columns(
            records, list(record_defaults), field_delim, use_quote_delim, na_value, select_cols, name=name
        )
    )


@export("io.write_file")
def write_file(filename: Any, contents: Any, name: str | None = None) -> None:
    """Write a file with these contents, replacing an existing one; its directory is made, too.

    >>> import agc.runtime as tf
    >>> import tempfile
    >>> path = f"{tempfile.mkdtemp()}/new/a.txt"
    >>> tf.io.write_file(path, "text")
    >>> tf.io.read_file(path).numpy()
    b'text'
    """
    file_io.write_file(filename, contents, name=name)
