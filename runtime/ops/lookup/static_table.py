"""The operation that looks keys up in a table that never changes; the table is an attribute.

find_in_table ["b", "z"], -1 [table=a->10, b->20]          [20, -1]
"""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core import shapes
from ...ir import attribute_json
from ...ir.batching import Batch
from ...ir.value_types import TensorType
from ...kernels.hash_index import HashIndex
from ..framework.attribute_parsers import LITERALS, READERS
from ..framework.op import Input, Name, op
from ..framework.op_families import require_dtype


def _read_table(value: Any) -> HashIndex:
    if not isinstance(value, HashIndex):
        raise TypeError(f"expected the rows of a table, got {value!r}")
    return value


READERS["HashIndex"] = _read_table
LITERALS.add(HashIndex)
attribute_json.declare(HashIndex, "table", lambda table: (table.keys, table.values))


@op(element_operands=1)
def find_in_table(keys: Input, default: Input, table: HashIndex, name: Name = None) -> TensorType:
    """Return the value of each key; `default` for keys that the table lacks.

    >>> import numpy as np
    >>> find_in_table([7, 8], 0, HashIndex(np.array([7], np.int32), np.array([1], np.int32))).numpy().tolist()
    [1, 0]
    """
    dtype = dtypes.of_array(table.values)
    require_dtype(keys, frozenset({dtypes.of_array(table.keys)}), "find_in_table")
    require_dtype(default, frozenset({dtype}), "find_in_table")
    if default.shape not in (None, ()):
        raise ValueError(
            f"find_in_table takes a scalar default, not one of shape {shapes.show(default.shape)}"
        )
    return TensorType(dtype, keys.shape)


find_in_table.kernel(lambda keys, default, table: table.find(keys, default))


@find_in_table.batching
def _(batch: Batch) -> Any:
    keys, default = batch.arguments
    return None if default.has_rows else batch.call(keys.tensor, default.tensor)


find_in_table.no_gradient("values of a table are found by discrete keys")
