"""Operations with effects: variables, checks, printing, files."""

from __future__ import annotations

import zlib
from typing import Any

from ..body import Body
from ..nodes import NodeResult
from ..rule_registry import RefusedByRuleError, direct, refuse, writes
from .shapes import cast

direct(
    """
    is_initialized=VarIsInitializedOp matching_files=MatchingFiles read_file=ReadFile timestamp=Timestamp
    write_file=WriteFile
    """
)

refuse("numpy_function py_function stateless_numpy_function", "Python code cannot be part of a file")
refuse("write_summary", "summaries are written by the process that runs the graph")
refuse("placeholder", "a placeholder of TensorFlow 1; give the inputs as arguments of a function")
refuse(
    "dataset dataset_cardinality dataset_handle iterator iterator_advance iterator_current iterator_handle "
    "iterator_next iterator_next_as_optional optional_from_value optional_get_value optional_has_value optional_none",
    "a dataset is a Python object of the process",
)
refuse(
    "check_keys export_table find_in_mutable_table insert_into_table remove_from_table table_size",
    "a mutable table consists of variables of varying size; a static table can be written",
)


@writes("read_variable")
def read(to: Body, variable: NodeResult) -> Any:
    return to.ReadVariableOp(variable, dtype=variable.spec.content.dtype)


@writes("assign_variable")
def _(to: Body, variable: NodeResult, value: NodeResult) -> Any:
    to.AssignVariableOp(variable, value)
    return value


@writes("assign_add_variable")
def _(to: Body, variable: NodeResult, value: NodeResult) -> Any:
    to.AssignAddVariableOp(variable, value)
    return read(to, variable)


@writes("assign_sub_variable")
def _(to: Body, variable: NodeResult, value: NodeResult) -> Any:
    to.AssignSubVariableOp(variable, value)
    return read(to, variable)


@writes("scatter_variable")
def _(to: Body, variable: NodeResult, indices: NodeResult, updates: NodeResult, how: str, nd: bool) -> Any:
    if nd and how in ("mul", "div"):
        raise RefusedByRuleError(f"TensorFlow has no update of elements by `{how}`")
    to.add(f"ResourceScatter{'Nd' if nd else ''}{how.capitalize()}", variable, indices, updates)
    return read(to, variable)


@writes("scattered")
def _(to: Body, tensor: NodeResult, indices: NodeResult, updates: NodeResult, how: str, nd: bool) -> Any:
    nodes = {"add": "Add", "sub": "Sub", "max": "Max", "min": "Min", "update": "Update"}
    if how not in nodes:
        raise RefusedByRuleError(f"TensorFlow has no update of a tensor by `{how}`")
    if not nd:
        shape = to.ConcatV2(
            [to.Shape(indices), to.StridedSlice(to.Shape(tensor), [1], [0], [1], end_mask=1)], 0
        )
        updates, indices = to.BroadcastTo(updates, shape), to.ExpandDims(indices, -1)
    return to.add(f"TensorScatter{nodes[how]}", tensor, indices, updates)


@writes("counted")
def _(to: Body, value: NodeResult, limit: int) -> Any:
    to.Assert(to.Less(value, limit), [f"Reached limit of {limit}"])
    return to.Identity(value)


@writes("assert")
def _(
    to: Body, condition: NodeResult, data: list[NodeResult], message: str, error: Any, summarize: int
) -> Any:
    return to.Assert(condition, [message, *data], summarize=summarize or 3)


def _placeholder(pieces: Any) -> str:
    """Return a text that the pieces do not contain."""
    found = "{}"
    while any(found in piece for piece in pieces):
        found = f"{{{found}}}"
    return found


def _formatted(to: Body, inputs: list[NodeResult], pieces: Any, summarize: int) -> Any:
    """Return the pieces with the inputs between them."""
    if not inputs:
        return to.const("".join(pieces))
    mark = _placeholder(pieces)
    return to.StringFormat(inputs, template=mark.join(pieces), placeholder=mark, summarize=summarize)


@writes("print")
def _(
    to: Body, inputs: list[NodeResult], pieces: Any, end: str, summarize: int, stream: str, forms: Any
) -> Any:
    if any(forms):
        raise RefusedByRuleError("a format specifier such as {x:.3f}")
    return to.PrintV2(_formatted(to, inputs, pieces, summarize), output_stream=stream, end=end)


@writes("raise")
def _(to: Body, values: list[NodeResult], error: str, pieces: Any, forms: Any, blueprint: Any) -> Any:
    """Fail with the text of the exception; TensorFlow has a single class of errors for it."""
    name = getattr(error, "__name__", str(error))
    first, *others = pieces or ("",)
    text = [f"{name}: {first}" if pieces else name, *others]
    return to.Assert(to.const(False), [_formatted(to, values[: len(others)], text, 3)])


@writes("generator_state")
def _(to: Body, variable: NodeResult, blocks: NodeResult) -> Any:
    """Add to the lower half of a number of 128 bits, and carry to the upper half."""
    state = read(to, variable)
    low, high, key = to.Unpack(state, num=3, axis=0)
    moved = to.AddV2(low, cast(to, to.Reshape(blocks, []), "int64"))
    least = to.const(-(2**63), "int64")
    carry = to.Less(to.BitwiseXor(moved, least), to.BitwiseXor(low, least))
    to.AssignVariableOp(variable, to.Pack([moved, to.AddV2(high, cast(to, carry, "int64")), key], axis=0))
    return state


@writes("find_in_table")
def _(to: Body, keys: NodeResult, default: NodeResult, table: Any) -> Any:
    """Share a table by a name of its content; initializing it again has no effect."""
    content = to.content(table.keys), to.content(table.values)
    checksum = zlib.crc32(content[1], zlib.crc32(content[0]))
    rows = to.const(table.keys), to.const(table.values)
    handle = to.HashTableV2(
        shared_name=f"table_{checksum:08x}_{len(table.keys)}",
        key_dtype=rows[0].dtype,
        value_dtype=rows[1].dtype,
    )
    to.InitializeTableV2(handle, *rows)
    return to.LookupTableFindV2(handle, keys, default)
