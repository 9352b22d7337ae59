"""The operators as a constant of converted code, so that it needs no name for them.

    ag__.cond(…)    ==>    "\\0agc.autograph.operators\\0".cond(…)    ==>    <module agc.autograph.operators>.cond(…)
    the tree               the compiled code, as it is kept on disk         the code that runs

A global would be seen by the program: in `vars(module)`, and in whatever says `from module import *`.
"""

from __future__ import annotations

from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..syntax.gast_bridge import NewNodes

_OPERATORS = "\0agc.autograph.operators\0"


def without_name(new: NewNodes, ag: str) -> None:
    """Put a constant in the place of the name of the operators, in the nodes that are not the user's."""
    import ast  # whoever has a tree has loaded it, and what is about trees

    from ..syntax.tree_queries import position

    for node in new[ast.Attribute]:
        if type(node.value) is ast.Name and node.value.id == ag:
            constant = ast.Constant(_OPERATORS)
            constant.__dict__.update(position(node.value))
            node.value = constant


def with_operators(code: CodeType, operators: ModuleType) -> CodeType:
    """The code with the operators themselves as that constant."""
    nested = [code]
    for part in nested:  # the list grows meanwhile; recursion would end at some 300 lambdas inside each other
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
