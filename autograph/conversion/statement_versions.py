"""Statement multiversioning: both versions of the statements in a function that may begin a graph while it runs.

    VersionedBlock(                    if ag__.building:
        (t,) = ag__.cond(x > 0, …))        (t,) = ag__.cond(x > 0, …)
                               ==>     else:
                                           if x > 0:
                                               t = x

`passes/version_choices.py` made the marks, in which the passes have left the converted version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ..syntax.gast_bridge import Translation
from ..syntax.tree_queries import Statements, at, evolve, inside, is_call_of, place_in, walk, with_children
from ..syntax.versioned import VERSIONED


class StatementVersions:
    """The user's versions of the statements of one function, by the places of their marks."""

    def __init__(self, own: Statements, ag: str, test: Callable[[Any], Any]) -> None:
        """Collect the versions; `test(node)` returns the test of a choice at the place of a node."""
        self.ag, self.test = ag, test
        self.versions = {_place(node): _content(node) for node in inside(own) if isinstance(node, VERSIONED)}

    def resolved(self, node: Any) -> Any:
        """Return the choice between both versions in a mark; None if the node is no mark.

        If the versions are equal, or only the converted one is right, the result is the converted version.
        """
        if not isinstance(node, VERSIONED):
            return None
        converted = _content(node)
        below = walk(node)
        # The code after it relies on `Undefined` in variables that the user's version would leave unbound.
        if any(is_call_of(part, self.ag, "Undefined") for part in below):
            return converted
        own = self.versions.get(_place(node))
        if own is None:  # in a nested function that the conversion does not change
            return converted
        own = _Checked(below, self.ag).visit(own)
        if _is_same(converted, own):
            return converted
        choice = gast.If if isinstance(converted, list) else gast.IfExp
        return at(choice(self.test(node), converted, own), node)


def without_marks(tree: Any, translation: Translation) -> Any:
    """Return a changed tree without marks: with the one version of code that is in them."""

    def visit(node: Any) -> Any:
        if translation.came_in(node):
            return node
        return _content(node) if isinstance(node, VERSIONED) else with_children(node, visit)

    return visit(tree)


def _content(mark: Any) -> Any:
    """Return the statements in a mark, or the expression."""
    return mark.__dict__[mark._fields[0]]


class _Checked:
    """Checks reads in the user's version of statements that their converted version checks."""

    def __init__(self, converted: list[Any], ag: str) -> None:
        self.checks: dict[tuple[int, ...], Any] = {}
        for call in converted:
            if is_call_of(call, ag, "ld", "ld_cell"):
                read = call.args[0]
                name = read.body if isinstance(read, gast.Lambda) else read
                if "end_col_offset" in name.__dict__:  # it is the user's
                    self.checks[place_in(name.__dict__)] = call

    def visit(self, node: Any) -> Any:
        if not self.checks:
            return node
        if isinstance(node, list):
            return with_children(gast.Module(node, []), self.visit).body
        if isinstance(node, gast.Name):
            return self.check(node) or node if isinstance(node.ctx, gast.Load) else node
        new = with_children(node, self.visit)
        if isinstance(node, gast.AugAssign) and (check := self.check(node.target)):
            return [at(gast.Expr(check), node), new]
        return self.deleted(node, new) if isinstance(node, gast.Delete) else new

    def deleted(self, node: Any, new: Any) -> Statements:
        """Return the statements that check and delete each target."""
        result: Statements = []
        for target, after in zip(node.targets, new.targets, strict=True):
            if isinstance(target, gast.Name) and (check := self.check(target)):
                result.append(at(gast.Expr(check), node))
            result.append(at(gast.Delete([after]), node))
        return result

    def check(self, name: Any) -> Any:
        """Return the checked read of a name; None if it needs no check."""
        values = name.__dict__
        found = self.checks.get(place_in(values)) if "end_col_offset" in values else None
        return found and evolve(found)


def _place(node: Any) -> tuple[type, tuple[int, ...]]:
    return type(node), place_in(node.__dict__)


def _is_same(one: Any, other: Any) -> bool:
    """Return whether two trees are equal but for positions."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if not isinstance(one, gast.AST):
        return bool(one == other)
    return all(_is_same(one.__dict__.get(field), other.__dict__.get(field)) for field in one._fields)
