"""Rewrite assignments to items so that they also work for immutable values, such as tensors.

    x[i] = f(a)                   x = ag__.put(f(a), x, i)
    x[a:b] = 0                    x = ag__.put(0, x, ag__.at[a:b])
    x[i] += 1                     x = ag__.put_updated('+=', lambda: 1, x, i)
    x[i], x[j] = x[j], x[i]       (item, item_1) = (x[j], x[i])
                                  x = ag__.put(item, x, i)
                        ==>       x = ag__.put(item_1, x, j)

In plain Python the assignment is the same, and `x` stays the same object. The value is the first argument because
Python evaluates it first. Not rewritten are variables that always hold Python containers, items with a string key, and
variables of other scopes. A parameter of which the function only assigns items is not rewritten either: its new value
would be lost, so a tensor raises an error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from ..analysis.binding_time import is_text, reads_own_frame
from ..analysis.container_types import Containers
from ..syntax.expressions import UPDATES
from ..syntax.node_builders import as_load, load, store, text
from ..syntax.template import Template
from ..syntax.tree_queries import (
    SUSPENSIONS,
    Statements,
    at,
    contains,
    evolve,
    inside,
    is_compound,
    parameters,
    walk,
)
from .base import FunctionPass

PUT = Template("$target = $ag.put($value, $base, $keys)")
PUT_UPDATED = Template("$target = $ag.put_updated($symbol, lambda: $value, $base, $keys)")
AT = Template("$ag.at")

SIMPLE = (gast.Name, gast.Constant)


class StageItems(FunctionPass):
    name = "stage_items"

    def is_concerned(self) -> bool:
        return self.names.items

    def function(self, node: Any) -> Any:
        inner = inside(node.body)
        if not any(map(_is_item, inner)) or (not self.names.plain and reads_own_frame(node.body)):
            return node
        self.containers = Containers(node, self.context.is_builtin)
        self.lost = _lost(node, inner)
        self.kept = self.containers.python | self.lost
        body = self.walk(node.body)
        return node if body is node.body else evolve(node, body=body)

    def statement(self, statement: Any) -> Statements:
        if isinstance(statement, gast.Assign):
            return self.assignment(statement)
        if isinstance(statement, gast.AugAssign):
            return self.update(statement)
        if not is_compound(statement):
            return [statement]
        return [self.with_walked_blocks(statement)]

    def assignment(self, statement: gast.Assign) -> Statements:
        if not any(self.mentions(target) for target in statement.targets):
            return [statement]
        if len(statement.targets) == 1:
            return self.stored(statement.targets[0], statement.value, statement)
        # `a = x[i] = value`: the value is evaluated once, and targets are assigned from left to right.
        value, before = self.once(statement.value, statement)
        parts = [self.stored(target, value, statement) for target in statement.targets]
        return before + [new for part in parts for new in part]

    def once(self, value: Any, origin: Any) -> tuple[gast.expr, Statements]:
        if isinstance(value, SIMPLE):
            return value, []
        name = self.names.fresh("item")
        return load(name), [at(gast.Assign([store(name)], value, None), origin)]

    def stored(self, target: Any, value: gast.expr, origin: Any) -> Statements:
        """Return statements that assign `value` to `target`."""
        if isinstance(target, (gast.Tuple, gast.List)) and self.mentions(target):
            return self.unpacked(target, value, origin)
        base, keys = self.path(target)
        if base is None:
            return [at(gast.Assign([target], value, None), origin)]
        return PUT(
            origin, target=store(base.id), ag=self.context.ag, value=value, base=as_load(base), keys=keys
        )

    def unpacked(self, target: Any, value: gast.expr, origin: Any) -> Statements:
        """Unpack into temporaries from the first item target on, then assign in Python's order."""
        elements: list[gast.expr] = []
        after: Statements = []
        for element in target.elts:
            if not after and not self.mentions(element):
                elements.append(element)
                continue
            name = self.names.fresh("item")
            inner = element.value if isinstance(element, gast.Starred) else element
            elements.append(gast.Starred(store(name), gast.Store()) if inner is not element else store(name))
            after += self.stored(inner, load(name), origin)
        unpacking = gast.Assign([gast.Tuple(elements, gast.Store())], value, None)
        return [at(unpacking, origin), *after]

    def update(self, statement: Any) -> Statements:
        base, keys = self.path(statement.target)
        if base is None or contains(statement.value, (*SUSPENSIONS, gast.NamedExpr)):
            return [statement]
        return PUT_UPDATED(
            statement,
            target=store(base.id),
            ag=self.context.ag,
            symbol=text(UPDATES[type(statement.op).__name__]),
            value=statement.value,
            base=as_load(base),
            keys=keys,
        )

    # Targets

    def mentions(self, target: Any) -> bool:
        """Return whether a target contains an item assignment to rewrite."""
        if isinstance(target, gast.Starred):
            return self.mentions(target.value)
        if isinstance(target, (gast.Tuple, gast.List)):
            return any(map(self.mentions, target.elts))
        return self.path(target)[0] is not None

    def path(self, target: Any) -> tuple[gast.Name | None, list[gast.expr]]:
        """Return the variable and the keys of `x[i]…`; None and no keys if the target stays unchanged."""
        keys: list[gast.expr] = []
        base = target
        while isinstance(base, gast.Subscript):
            keys.insert(0, base.slice)
            base = base.value
        if not keys or not isinstance(base, gast.Name) or not self.is_ours(base.id, keys):
            return None, []
        return base, [self.key(key) for key in keys]

    def is_ours(self, name: str, keys: list[gast.expr]) -> bool:
        """Return whether an assignment to an item of this variable is rewritten."""
        if name not in self.containers.local or is_text(keys[-1]):
            return False
        if len(keys) == 1:
            return name not in self.kept and not contains(keys, (gast.NamedExpr, *SUSPENSIONS))
        # The keys of a longer path are evaluated before the first item is read.
        return name not in self.lost and all(isinstance(key, SIMPLE) for key in keys)

    def key(self, key: Any) -> gast.expr:
        """Return a key as an argument: `ag__.at[a:b]` for one that is only valid in brackets."""
        if not contains(key, (gast.Slice, gast.Starred)):
            return key
        return gast.Subscript(AT.expression(key, ag=self.context.ag), key, gast.Load())


def _lost(function: Any, inner: Sequence[Any]) -> set[str]:
    """Return the parameters whose new value would be lost: the function, with the nodes `inner`, uses nothing but
    their items."""
    for node in inner:
        if isinstance(node, (gast.Yield, gast.YieldFrom)) or (isinstance(node, gast.Return) and node.value):
            return set()
    looked_at: set[int] = set()
    for node in inner:
        if isinstance(node, gast.Subscript):
            looked_at.add(id(node.value))
        elif isinstance(node, gast.Call) and getattr(node.func, "id", None) == "len":
            looked_at.update(map(id, node.args))
    used = {
        node.id
        for node in walk(function)
        if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load) and id(node) not in looked_at
    }
    return {name.id for name in parameters(function)} - used


def _is_item(node: gast.AST) -> bool:
    return isinstance(node, gast.Subscript) and isinstance(node.ctx, gast.Store)
