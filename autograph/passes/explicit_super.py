"""Add explicit arguments to `super()` in code that moves into a generated function, which has no `self`.

    super().call(x)   ==>   super(__class__, self).call(x)

`__class__` is the implicit closure cell of methods.
"""

from __future__ import annotations

from typing import Any

import gast

from ..syntax.node_builders import load
from ..syntax.template import Template
from ..syntax.tree_queries import at
from .base import TreePass

SUPER = Template("super(__class__, $first)")


class SpellOutSuper(TreePass):
    """A pass over the code of one function; `first` is the name of that function's first parameter."""

    name = "spell_out_super"
    first: str = ""

    def visit_Call(self, node: Any) -> Any:
        named = isinstance(node.func, gast.Name) and node.func.id == "super"
        if named and not node.args and not node.keywords:
            first = at(load(self.first), node)
            return SUPER.expression(node, first=first)
        return self.children(node)

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = visit_FunctionDef  # noqa: N815
