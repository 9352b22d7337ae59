"""Check that a call of an operation, as read from a file or from text, conforms to the operation's declaration.

    reverse tensor [axis=(0,)]         the declaration: `tensor: Input`, `axis: Axes`
        operands                       one tensor
        attributes                     `axis`, which its reader returns unchanged

Tracing creates only such calls, but a file may contain anything. Executors trust the declarations, so calls
are checked first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ... import dtypes
from ...ir.graph import Operand
from ...ir.op_def import OpDef
from ...ir.value_types import ListType, TensorType, VariableType
from .attribute_parsers import is_literal, read_object, read_results

_KINDS: dict[str, tuple[type, str]] = {"Ref": (VariableType, "a variable"), "Array": (ListType, "a list")}
_TENSOR: tuple[type, str] = (TensorType, "a tensor")


def checked_attributes(op: OpDef, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes, checked by their readers, with defaults filled in.

    Raises ValueError, which names the attribute.
    """
    readers = {name: reader for _, name, reader in op.attribute_parameters}
    unknown = given.keys() - readers.keys()
    if unknown:
        raise ValueError(f"{op.name} has no attribute {min(unknown)!r}")
    missing = readers.keys() - given.keys() - op.defaults.keys() - op.optional
    if missing:
        raise ValueError(f"{op.name} lacks its attribute `{min(missing)}`")
    return {
        name: _checked(op, name, reader, given[name]) if name in given else reader(op.defaults[name])
        for name, reader in readers.items()
        if name in given or name in op.defaults
    }


def check_results(op: OpDef, attrs: Mapping[str, Any], count: int) -> None:
    """Raise ValueError if an attribute requires more than `count` results, before the rule creates all of them."""
    for _, name, reader in op.attribute_parameters:
        if reader is read_results and attrs[name] > count:
            raise ValueError(f"{op.name} gives {attrs[name]} results by its `{name}`, not {count}")


def _checked(op: OpDef, name: str, reader: Any, value: Any) -> Any:
    """Return one attribute's value, or raise ValueError.

    A value that the reader would convert is rejected: tracing writes values that are already converted.
    """
    try:
        if reader is read_object and value is not None:
            raise ValueError("it exists only while the program runs")
        read = reader(value)
        if not is_literal(read) or not (read == value or (read != read and value != value)):
            raise ValueError(f"{_short(value)} is not such a value")
    except Exception as error:  # a reader may raise any exception for an unexpected value
        raise ValueError(f"{op.name}, `{name}`: {error}") from None
    return read


def check_operands(op: OpDef, operands: Sequence[Operand]) -> None:
    """Raise ValueError for operands with a number, kinds or dtypes other than those of the declaration."""
    kinds = _kinds_of(op, len(operands))
    same: dtypes.DType | None = None
    of_list: dtypes.DType | None = None
    for kind, operand in zip(kinds, operands, strict=True):
        wanted, what = _KINDS.get(kind, _TENSOR)
        spec = operand.spec
        if type(spec) is not wanted:
            raise ValueError(f"{op.name} takes {what} where it is given {spec}")
        if kind == "Same":
            same = same or operand.dtype
            _check_dtype(op, operand, same)
        elif kind == "Inputs":
            of_list = of_list or operand.dtype
            _check_dtype(op, operand, of_list)
        elif kind == "Ints" and not operand.dtype.is_integer:
            raise ValueError(f"{op.name} takes integers where it is given {spec}")


def _check_dtype(op: OpDef, operand: Operand, wanted: dtypes.DType) -> None:
    if operand.dtype is not wanted:
        raise ValueError(f"{op.name} takes tensors of one dtype, not {wanted.name} and {operand.dtype.name}")


def _kinds_of(op: OpDef, count: int) -> list[str]:
    """Return the kind of each of `count` operands; the operands of a list have the list's kind."""
    kinds = [kind for _, kind in op.operand_parameters]
    position = op.group
    if position is not None and count >= len(kinds) - 1:
        kinds[position : position + 1] = [kinds[position]] * (count - len(kinds) + 1)
    if len(kinds) != count:
        raise ValueError(f"{op.name} takes {len(kinds)} operands, not {count}")
    return kinds


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
