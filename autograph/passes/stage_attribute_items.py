"""Rewrite assignments to items of an attribute so that they also work for immutable values.

    self.w[i] = v             ==>     ag__.within(self, 'w')[i] = v
    self.w[i] += 1            ==>     ag__.within(self, 'w')[i] += 1
    self.w[i][j] = v          ==>     ag__.within(self, 'w', i)[j] = v
    self.w['name'] = v        stays: a string is never a key of such a value

In plain Python `within` returns `self.w` itself. `stage_items` handles items of variables."""

from __future__ import annotations

from typing import Any

import gast

from ..analysis.binding_time import is_text
from ..syntax.node_builders import as_load, text
from ..syntax.template import Template
from ..syntax.tree_queries import evolve, root
from .expression_pass import ExpressionPass
from .stage_items import SIMPLE

WITHIN = Template("$ag.within($base, $name, $keys)")


class StageAttributeItems(ExpressionPass):
    name = "stage_attribute_items"

    def is_concerned(self) -> bool:
        return self.names.items

    def visit_Subscript(self, node: Any) -> Any:
        new = self.children(node)
        if not self.active or not isinstance(node.ctx, gast.Store) or is_text(node.slice):
            return new
        base: Any = new.value
        keys: list[gast.expr] = []
        while isinstance(base, gast.Subscript):
            keys.insert(0, base.slice)
            base = base.value
        if keys and not all(isinstance(key, SIMPLE) for key in [*keys, node.slice]):
            return new
        if not isinstance(base, gast.Attribute) or self.is_left_alone(base):
            return new
        within = WITHIN.expression(
            new.value, ag=self.context.ag, base=as_load(base.value), name=text(base.attr), keys=keys
        )
        return evolve(new, value=within)

    def is_left_alone(self, base: gast.Attribute) -> bool:
        """Return whether `base` is a private name, which Python mangles in code only, or belongs to a
        library."""
        name = root(base)
        is_private = base.attr.startswith("__") and not base.attr.endswith("__")
        return is_private or (
            name is not None and name not in self.names.bound and self.context.is_library(name)
        )
