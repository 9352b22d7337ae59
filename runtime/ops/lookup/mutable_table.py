"""Operations on tables that change. Two variables hold the keys and values, in the same order.

table.insert(["c"], [3])          keys ["a", "b"]  values [1, 2]     ==>    ["a", "b", "c"]  [1, 2, 3]

The index of the rows is cached at the variable of the keys, for as long as the variables hold its arrays: a
checkpoint that assigns them makes it stale. The variables of a table are read by these operations only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...ir.traits import IDEMPOTENT, KEEPS_VARIABLES
from ...ir.value_types import TensorType
from ...kernels.hash_index import HashIndex
from ..framework.op import Input, Name, Ref, Same, op
from ..framework.op_families import require_dtype

Array = Any
KEYS = frozenset({dtypes.string, dtypes.int32, dtypes.int64})
"""The dtypes of keys."""


def _index(keys: Any, values: Any) -> HashIndex:
    index: HashIndex | None = vars(keys).get("_hash_index")
    if index is None or index.keys is not keys._array or index.values is not values._array:
        index = keys._hash_index = HashIndex(keys._array, values._array)
    return index


def _parts(table: Any, values: Any) -> tuple[Any, Any]:
    """Return the variables themselves: a session passes proxies of them."""
    return getattr(table, "_variable", table), getattr(values, "_variable", values)


def _shape_of_keys(table: Any, keys: Any) -> shapes.Dims:
    """Return the shape of the keys without the axis of vectors. Raises for vectors of another length, and dtypes."""
    require_dtype(keys, frozenset({table.spec.content.dtype}), "a lookup table")
    own: shapes.Dims = table.spec.content.shape[1:]
    if keys.shape is None or not own:
        return keys.shape  # type: ignore[no-any-return]
    if not shapes.compatible(keys.shape[-1:], own):
        raise ValueError(f"Expected keys of shape [..., {own[0]}], not {shapes.show(keys.shape)}")
    return keys.shape[:-1]  # type: ignore[no-any-return]


@op(stateful=True, traits=KEEPS_VARIABLES)
def find_in_mutable_table(
    table: Ref, values: Ref, keys: Input, default: Input, name: Name = None
) -> TensorType:
    """Return the value of each key; `default`, one or one for each key, for keys that the table lacks.

    >>> from agc.runtime import Variable
    >>> find_in_mutable_table(Variable([7]), Variable([1]), [7, 8], 0).numpy().tolist()
    [1, 0]
    """
    content: TensorType = values.spec.content
    shape = _shape_of_keys(table, keys)
    require_dtype(default, frozenset({content.dtype}), "a lookup table")
    return TensorType(content.dtype, None if shape is None else (*shape, *content.shape[1:]))  # type: ignore[index]


@find_in_mutable_table.kernel
def _(table: Any, values: Any, keys: Array, default: Array) -> Array:
    return _index(*_parts(table, values)).find(keys, default)


@op(stateful=True)
def insert_into_table(table: Ref, values: Ref, keys: Input, new: Input, name: Name = None) -> TensorType:
    """Add keys and their values, or replace the values of keys in the table; return the number of rows.

    >>> from agc.runtime import Variable
    >>> table, values = Variable([7], shape=[None]), Variable([1], shape=[None])
    >>> insert_into_table(table, values, [8, 7], [2, 3]).numpy(), values.numpy().tolist()
    (np.int64(2), [3, 2])
    """
    shape = _shape_of_keys(table, keys)
    require_dtype(new, frozenset({values.spec.content.dtype}), "a lookup table")
    if shape is not None:
        _check_values((*shape, *values.spec.content.shape[1:]), new.shape)
    return TensorType(dtypes.int64, ())


def _check_values(wanted: Any, given: Any) -> None:
    if not shapes.compatible(wanted, given):
        raise ValueError(f"Expected shape {shapes.show(wanted)} for value, got {shapes.show(given)}")


@insert_into_table.kernel
def _(table: Any, values: Any, keys: Array, new: Array) -> Array:
    table, values = _parts(table, values)
    index = _index(table, values)
    own = index.keys.ndim - 1
    _check_values(np.shape(keys)[: np.ndim(keys) - own] + index.values.shape[1:], np.shape(new))
    index.insert(keys, new)
    table._array, values._array = index.keys, index.values
    return np.array(len(index), np.int64)


@op(stateful=True)
def remove_from_table(table: Ref, values: Ref, keys: Input, name: Name = None) -> TensorType:
    """Remove keys and their values; keys that the table lacks have no effect. Return the number of rows.

    >>> from agc.runtime import Variable
    >>> int(remove_from_table(Variable([7, 8], shape=[None]), Variable([1, 2], shape=[None]), [8, 9]))
    1
    """
    _shape_of_keys(table, keys)
    return TensorType(dtypes.int64, ())


@remove_from_table.kernel
def _(table: Any, values: Any, keys: Array) -> Array:
    table, values = _parts(table, values)
    index = _index(table, values)
    index.remove(keys)
    table._array, values._array = index.keys, index.values
    return np.array(len(index), np.int64)


@op(stateful=True, traits=KEEPS_VARIABLES)
def table_size(table: Ref, name: Name = None) -> TensorType:
    """Return the number of keys.

    >>> from agc.runtime import Variable
    >>> int(table_size(Variable([7, 8])))
    2
    """
    return TensorType(dtypes.int64, ())


table_size.kernel(lambda table: np.array(len(table._array), np.int64))


@op(stateful=True, traits=KEEPS_VARIABLES | IDEMPOTENT)
def check_keys(keys: Same, empty: Same, deleted: Same, name: Name = None) -> TensorType:
    """Return `keys`; InvalidArgumentError if one of them is reserved by the table.

    >>> check_keys([1, 2], 0, -1).numpy().tolist()
    [1, 2]
    """
    require_dtype(keys, KEYS, "check_keys")
    for reserved in (empty, deleted):
        if reserved.shape is not None and len(reserved.shape) > 1:
            raise ValueError(f"a key is a scalar or a vector, not of shape {shapes.show(reserved.shape)}")
        if (
            reserved.shape
            and keys.shape is not None
            and not shapes.compatible(keys.shape[-1:], reserved.shape)
        ):
            raise ValueError(
                f"Expected keys of shape [..., {reserved.shape[0]}], not {shapes.show(keys.shape)}"
            )
    spec: TensorType = keys.spec
    return spec


@check_keys.kernel
def _(keys: Array, empty: Array, deleted: Array) -> Array:
    for what, reserved in (("empty_key", empty), ("deleted_key", deleted)):
        same = np.equal(keys, reserved)
        if (same.all(-1) if np.ndim(reserved) else same).any():
            raise errors.InvalidArgumentError(f"Using the {what} as a table key is not allowed")
    return keys


@op(stateful=True, traits=KEEPS_VARIABLES)
def export_table(table: Ref, values: Ref, name: Name = None) -> tuple[TensorType, TensorType]:
    """Return copies of the keys and of the values, in the same order.

    >>> from agc.runtime import Variable
    >>> [part.numpy().tolist() for part in export_table(Variable([7]), Variable([1]))]
    [[7], [1]]
    """
    return table.spec.content, values.spec.content


export_table.kernel(lambda table, values: (np.array(table._array), np.array(values._array)))


for _op in (
    check_keys,
    find_in_mutable_table,
    insert_into_table,
    remove_from_table,
    export_table,
    table_size,
):
    _op.no_gradient("values of a table are found by discrete keys")
