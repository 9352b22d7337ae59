"""Operator constants: converted code has the operators as a constant, so that it needs no name for them.

    ag__.cond(…)    ==>    "\\0agc.autograph.operators\\0".cond(…)    ==>    <module agc.autograph.operators>.cond(…)
    the tree               the compiled code, as cached on disk              the code that runs

A global variable would be visible to the program: in `vars(module)`, and to `from module import *`.
"""

from __future__ import annotations

from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..syntax.gast_bridge import NewNodes

_OPERATORS = "\0agc.autograph.operators\0"


def without_name(new: NewNodes, ag: str) -> None:
    """Replace the name of the operators by a constant, in the generated nodes."""
    import ast  # already loaded by the code that made the tree

    from ..syntax.tree_queries import position

    for node in new[ast.Attribute]:
        if type(node.value) is ast.Name and node.value.id == ag:
            constant = ast.Constant(_OPERATORS)
            constant.__dict__.update(position(node.value))
            node.value = constant


def with_operators(code: CodeType, operators: ModuleType) -> CodeType:
    """Return the code with the operators in place of that constant."""
    nested = [code]
    for part in nested:  # the list grows during iteration; recursion would fail at some 300 nested lambdas
        nested += [constant for constant in part.co_consts if isinstance(constant, CodeType)]
    new: dict[int, CodeType] = {}
    for part in reversed(nested):
        constants = [_constant(constant, operators, new) for constant in part.co_consts]
        new[id(part)] = part.replace(co_consts=tuple(constants))
    return new[id(code)]


def _constant(constant: Any, operators: ModuleType, new: dict[int, CodeType]) -> Any:
    if isinstance(constant, CodeType):
        return new[id(constant)]
    return operators if isinstance(constant, str) and constant == _OPERATORS else constant
