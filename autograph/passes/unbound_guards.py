"""Check reads of variables that may hold `Undefined`, so that they fail as they do in Python.

    print(y)      ==>     print(ag__.ld(y, 'y'))
    y += 1        ==>     ag__.ld(y, 'y')
                          y += 1
    del y         ==>     y = ag__.Undefined('y')
    print(z)      ==>     print(ag__.ld_cell(lambda: z, 'z'))      if a closure shares z

Variables that a backend leaves undefined in a graph are checked in the same way when the graph runs.
"""

from __future__ import annotations

from typing import Any

import gast

from ..syntax.template import Template
from ..syntax.tree_queries import BLOCK_FIELDS, Statements, at, evolve
from .base import Context, Registry, TreePass

CHECKED = Template("$ag.ld($name, $text)")
CHECKED_CELL = Template("$ag.ld_cell(lambda: $name, $text)")
UNDEFINED = Template("$name = $ag.Undefined($text)")
UNBINDING = Template("""
    $name = $error
    try:
        $body
    finally:
        $name = $ag.Undefined($text)
""")


class Guard(TreePass):
    """A pass over expressions and single statements of one function."""

    name = "guard"

    def __init__(
        self, context: Context, registry: Registry, unproven: set[int], guarded: frozenset[str]
    ) -> None:
        super().__init__(context, registry)
        self.unproven = unproven
        self.guarded = guarded  # `del` of these assigns `Undefined`
        self.undefinable = guarded  # may hold `Undefined`

    def visit_Name(self, node: gast.Name) -> gast.expr:
        if id(node) not in self.unproven or not isinstance(node.ctx, gast.Load):
            return node
        return self.checked(node)

    def visit_AugAssign(self, node: Any) -> Any:
        new = self.children(node)
        if id(node.target) not in self.unproven:
            return new
        return [at(gast.Expr(self.checked(node.target)), node), new]

    def visit_Delete(self, node: Any) -> Any:
        targets = [self.visit(target) for target in _flat(node.targets)]
        result: Statements = []
        for target in targets:
            if id(target) in self.unproven:
                result.append(at(gast.Expr(self.checked(target)), node))
            if isinstance(target, gast.Name) and target.id in self.guarded:
                result += self.undefined(target.id, node)
            else:
                result.append(at(gast.Delete([target]), node))
        return result

    def visit_FunctionDef(self, node: Any) -> Any:
        """Visit decorators and defaults of a nested function; its body has names of its own."""
        return evolve(node, decorator_list=self.visit_all(node.decorator_list), args=self.visit(node.args))

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_ClassDef(self, node: Any) -> Any:
        """Visit a class body, which reads the function's variables but binds and unbinds its own."""
        guarded, self.guarded = self.guarded, frozenset()
        body = self.visit_all(node.body)
        self.guarded = guarded
        bases, keywords = self.visit_all(node.bases), self.visit_all(node.keywords)
        return evolve(
            node,
            body=body,
            bases=bases,
            keywords=keywords,
            decorator_list=self.visit_all(node.decorator_list),
        )

    def handler(self, node: Any, body: Statements) -> Any:
        """Rewrite `except … as e` with a guarded `e`: at its end the name must become `Undefined`."""
        if node.name is None or node.name.id not in self.guarded:
            return evolve(node, body=body)
        error = evolve(node.name, id=self.names.fresh("error"))
        name = node.name.id
        body = UNBINDING(
            node, name=name, error=error.id, body=body, ag=self.context.ag, text=_text(name, node)
        )
        return evolve(node, name=error, body=body)

    def checked(self, name: gast.Name) -> gast.expr:
        read = evolve(name, ctx=gast.Load())
        shape = CHECKED if name.id in self.undefinable else CHECKED_CELL
        return shape.expression(name, ag=self.context.ag, name=read, text=_text(name.id, name))

    def undefined(self, name: str, origin: gast.AST) -> Statements:
        return UNDEFINED(origin, name=name, ag=self.context.ag, text=_text(name, origin))

    def outside_blocks(self, statement: Any) -> Any:
        """Return a compound statement with its expressions checked, and its statement lists unchanged."""
        own = BLOCK_FIELDS[type(statement)]
        changes = {}
        for field in statement._fields:
            value = getattr(statement, field)
            if field in own and field not in ("handlers", "cases"):
                continue
            if field in ("handlers", "cases"):
                changes[field] = [self.outside_blocks(part) for part in value]
            elif isinstance(value, gast.AST):
                changes[field] = self.visit(value)
            elif isinstance(value, list):
                changes[field] = self.visit_all(value)
        return evolve(statement, **changes)


def _flat(targets: list[gast.expr]) -> list[gast.expr]:
    result: list[gast.expr] = []
    for target in targets:
        result += _flat(target.elts) if isinstance(target, (gast.Tuple, gast.List)) else [target]
    return result


def _text(name: str, origin: gast.AST) -> gast.expr:
    return at(gast.Constant(name, None), origin)
