"""Base class of the passes over expressions. They change the code of functions and lambdas only.

Code at module level and in class bodies runs once, at definition, and stays unchanged. The same holds for decorators,
annotations, and functions decorated with `do_not_convert`."""

from __future__ import annotations

from typing import Any

import gast

from ..syntax.tree_queries import evolve, parameters
from .base import TreePass, left_alone


class ExpressionPass(TreePass):
    """A pass over expressions; `active` is true inside of a function."""

    passed_over = frozenset(
        {gast.Constant, gast.Name, gast.Import, gast.ImportFrom, gast.Global, gast.Nonlocal, gast.Pass}
        | {gast.TypeAlias}
    )
    active = False
    first: str | None = None  # first parameter of the enclosing function

    def visit_FunctionDef(self, node: Any) -> Any:
        if left_alone(node):
            return node
        changes = {"args": self.signature(node.args)}
        outermost = self.names is None
        if outermost:
            self.names = self.registry.of(node)
            if not self.is_concerned():
                self.names = None  # type: ignore[assignment]
                return _changed(node, changes)
        before = self.active, self.first
        names = parameters(node)
        self.active, self.first = True, names[0].id if names else None
        changes["body"] = self.visit_all(node.body)
        self.active, self.first = before
        if outermost:
            self.names.kinds |= self.emits
            self.names = None  # type: ignore[assignment]
        return _changed(node, changes)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_Lambda(self, node: Any) -> Any:
        args = self.signature(node.args)
        outermost = self.names is None
        if outermost:
            self.names = self.registry.of(node)
        before, self.active = self.active, True
        body = self.visit(node.body)
        self.active = before
        if outermost:
            self.names = None  # type: ignore[assignment]
        return _changed(node, {"args": args, "body": body})

    def visit_ClassDef(self, node: Any) -> Any:
        bases, keywords = self.visit_all(node.bases), self.visit_all(node.keywords)
        before, self.active = self.active, False
        body = self.visit_all(node.body)
        self.active = before
        return _changed(node, {"bases": bases, "keywords": keywords, "body": body})

    def signature(self, args: Any) -> Any:
        """Visit the defaults, which the enclosing function evaluates; annotations stay unchanged."""
        if not args.defaults and not args.kw_defaults:
            return args
        defaults = self.visit_all(args.defaults)
        kw_defaults = self.visit_all(args.kw_defaults)
        return _changed(args, {"defaults": defaults, "kw_defaults": kw_defaults})

    def visit_AnnAssign(self, node: Any) -> Any:
        value = self.visit(node.value) if node.value is not None else None
        return _changed(node, {"target": self.visit(node.target), "value": value})


def _changed(node: Any, fields: dict[str, Any]) -> Any:
    """Return the node with these fields; the node itself if nothing changes."""
    values = node.__dict__
    for field, value in fields.items():
        if values.get(field) is not value:
            return evolve(node, **fields)
    return node
