"""Outlining: generate the functions that blocks become, with state as parameters and results.

    y = y + x                     def if_true(y):
                                      y = y + x
                          ==>         return (y,)

    total = 0                     def if_false():            `total` is a cell: a closure captures it
    stop = True                       nonlocal total
                          ==>         total = 0
                                      return (True,)         `stop` is generated: no other code reads it

In a method, `super()` gets explicit arguments."""

from __future__ import annotations

from typing import Any

import gast

from ..syntax.node_builders import group, load, parameter, returning
from ..syntax.tree_queries import (
    Statements,
    at,
    blocks,
    contains,
    is_call_of,
    is_compound,
    parameters,
    with_blocks,
)
from .base import TreePass
from .block_locations import FUNCTION, BlockLocations
from .explicit_super import SpellOutSuper


class BlockFunctions:
    """The generator of the outlined functions of one user function."""

    def __init__(self, owner: TreePass, node: Any, locations: BlockLocations) -> None:
        self.names = owner.names
        self.ag = owner.context.ag
        self.locations = locations
        self.supers: SpellOutSuper | None = None
        first = parameters(node)
        if "super" in owner.names.used and first:
            self.supers = SpellOutSuper(owner.context, owner.registry)
            self.supers.first = first[0].id

    def function(
        self, name: str, takes: list[str], body: Statements, cells: list[str], origin: gast.stmt
    ) -> gast.stmt:
        """Return `def name(takes): body`, with declarations of the cells that it assigns."""
        body = [_without_annotation(child, cells) for child in body if not isinstance(child, gast.Pass)]
        head = [at(self.locations.declaration(cell), origin) for cell in cells]
        (function,) = FUNCTION(
            origin,
            name=name,
            parameters=[parameter(taken) for taken in takes],
            body=[*head, *self.moved(body)] or [at(gast.Pass(), origin)],
        )
        return function

    def giving(self, body: Statements, results: list[str]) -> Statements:
        """Return the body with a `return` of its results at the end.

        Results of an inner block, and a value assigned to a generated variable, are returned without an assignment."""
        last = body[-1] if body else None
        if not results or isinstance(last, gast.Raise):
            return body
        values = group([load(name) for name in results])
        if last is None:
            return [returning(values)]
        values = at(values, last)  # the values may become the body of a lambda
        if self.assigns_call(last, results):
            return [*body[:-1], at(returning(last.value), last)]
        if self.assigns_generated(last, results):
            values.elts[results.index(last.targets[0].id)] = last.value
            body = body[:-1]
        return [*body, at(returning(values), last)]

    def assigns_call(self, last: Any, results: list[str]) -> bool:
        """Return whether a statement assigns exactly these results of an operator: `(y, z) = ag__.cond(…)`."""
        if not isinstance(last, gast.Assign) or not isinstance(last.targets[0], gast.Tuple):
            return False
        names = [getattr(element, "id", None) for element in last.targets[0].elts]  # None of `self.x`
        return is_call_of(last.value, self.ag) and names == results

    def assigns_generated(self, last: Any, results: list[str]) -> bool:
        """Return whether a statement assigns a generated variable that is returned once: `stop = True`."""
        return (
            isinstance(last, gast.Assign)
            and isinstance(last.targets[0], gast.Name)
            and last.targets[0].id in self.names.generated
            and results.count(last.targets[0].id) == 1
            and not (self.names.walrus and contains(last.value, gast.NamedExpr))
        )

    def moved(self, code: Any) -> Any:
        """Prepare code that moves into a generated function."""
        if self.supers is None:
            return code
        return self.supers.visit_all(code) if isinstance(code, list) else self.supers.visit(code)


def only_gives(body: Statements) -> bool:
    """Return whether a branch only returns names and constants, so that a lambda is enough."""
    if len(body) != 1 or not isinstance(body[0], gast.Return):
        return False
    values = body[0].value
    return isinstance(values, gast.Tuple) and all(
        isinstance(value, (gast.Name, gast.Constant)) for value in values.elts
    )


def _without_annotation(statement: Any, cells: list[str]) -> Any:
    """Return `x: int = 1` as `x = 1` if `x` is a cell: Python forbids an annotation together with `nonlocal`."""
    if cells and is_compound(statement):
        parts = ([_without_annotation(child, cells) for child in part] for part in blocks(statement))
        return with_blocks(statement, parts)
    if (
        isinstance(statement, gast.AnnAssign)
        and isinstance(statement.target, gast.Name)
        and statement.target.id in cells
    ):
        return at(gast.Assign([statement.target], statement.value, None), statement)
    return statement
