"""The table of rules that write agc's operations as nodes of TensorFlow's graphs.

DIRECT      cumsum(x, axis)         ==>     Cumsum(x, axis), a row `cumsum=Cumsum(x,axis)`
@writes     reduce_sum(x, axis)     ==>     the nodes that the rule makes: Sum(x, [axis])
REFUSED     ctc_beam_search         ==>     the reason for which it cannot be written

A rule takes the `Body`, the inputs, and the attributes by name. It returns a result, or a list of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ...ir.op_def import OpDef
from .body import Body

RULES: dict[str, Callable[..., Any]] = {}
"""Rules by the name of the operation."""

DIRECT: dict[str, DirectRow] = {}
"""The operations that are one node with the same operands and attributes."""

STRUCTURES: dict[OpDef, Callable[..., Any]] = {}
"""The rules of operations with regions, which take the `FunctionWriter` and the operation."""

REFUSED: dict[str, str] = {}
"""Reasons by the name of the operation."""

CHANGED_NUMBERS: set[str] = set()
"""Random operations: they are written, but TensorFlow draws other numbers."""

_ROW = re.compile(r"(\w+)=(\w+)(?:\(([\w,=]*)\))?")


class DirectRow(NamedTuple):
    """A node that has the operands of an operation, in this order, and its attributes by name."""

    node: str
    operands: Sequence[str]
    """The operands of the node if they differ: operands and attributes of the operation."""
    renamed: Mapping[str, str]
    """The attributes with other names, by those of the node."""

    def write(self, to: Body, operands: Mapping[str, Any], attributes: Mapping[str, Any]) -> Any:
        """Add the node for operands and attributes of the operation."""
        given = {**operands, **attributes}
        inputs = [given.pop(name) for name in self.operands or operands]
        renamed = {new: given.pop(old) for new, old in self.renamed.items()}
        return to.add(self.node, *inputs, **renamed, **given)


class RefusedByRuleError(Exception):
    """Raised by a rule for arguments that TensorFlow's operations do not take."""


def writes(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the rule for the operations with these names."""

    def register(rule: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            assert name not in RULES, name
            RULES[name] = rule
        return rule

    return register


def writes_regions(op: OpDef) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the rule for an operation with regions."""

    def register(rule: Callable[..., Any]) -> Callable[..., Any]:
        STRUCTURES[op] = rule
        return rule

    return register


def direct(table: str) -> None:
    """Register operations that are one node of TensorFlow: rows between spaces.

    add=AddV2                   the same operands, and the same attributes by name
    split=Split(axis,value)     other operands, which may be attributes of the operation
    cast=Cast(x,DstT=dtype)     an attribute with another name
    """
    for row in table.split():
        match = _ROW.fullmatch(row)
        assert match is not None, row
        name, node, given = match.groups()
        parts = [part.rpartition("=") for part in given.split(",")] if given else []
        operands = [old for new, _, old in parts if not new]
        DIRECT[name] = DirectRow(node, operands, {new: old for new, _, old in parts if new})


def refuse(names: str, reason: str) -> None:
    """Register operations that cannot be written."""
    REFUSED.update(dict.fromkeys(names.split(), reason))
