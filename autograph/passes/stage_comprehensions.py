"""Let a backend go through the items of a comprehension, and decide which are in it.

    [f(x) for x in t]           ==>  ag__.listed(t)(lambda items: [f(x) for x in items])
    [f(x) for x in t if x > 0]  ==>  ag__.selected(t, lambda items: [ag__.only(x > 0, lambda: f(x)) for x in items])
    sum(f(x) for x in t)        ==>  sum(ag__.listed(t)(lambda items: (f(x) for x in items)))

What is provably Python stays: items that are spelled out, conditions that compare nothing, and comprehensions that a
lambda cannot hold (`:=`, `await`). So do elements that call functions of the user's, for which another frame may be
one too many: over a tensor of known length they are laid out item by item. So do sets and dicts, which cannot hold
what a backend computes, and more than one `for`."""

from __future__ import annotations

from typing import Any

import gast

from ..analyses.staticness import is_text, static
from ..syntax.nodes import lambda_of, load
from ..syntax.template import Template
from ..syntax.tree import SUSPENSIONS, at, contains, evolve, inside, root
from .expressions import ExpressionPass

LISTED = Template("$ag.listed($items)($build)")
SELECTED = Template("$ag.selected($items, $build)")
ONLY = Template("$ag.only($test, lambda: $element)")

# Built-in functions and methods that give Python's own items, and built-in functions that use a generator up.
PYTHON_ITEMS = frozenset(
    {"items", "keys", "values", "split", "splitlines", "listdir", "sorted", "dict", "list"}
)
USERS = frozenset({"sum", "any", "all", "min", "max"})
ORDERINGS = (gast.Lt, gast.LtE, gast.Gt, gast.GtE, gast.Eq, gast.NotEq)


class StageComprehensions(ExpressionPass):
    name = "stage_comprehensions"
    concerns = frozenset({gast.ListComp, gast.GeneratorExp})

    def visit_ListComp(self, node: Any) -> Any:
        new = self.children(node)
        if not self.active or not self.is_staged(node):
            return new
        return (
            self.selected(new)
            if self.has_choice(node)
            else self.written(LISTED, new, new.elt, [*new.generators[0].ifs])
        )

    def visit_Call(self, node: Any) -> Any:
        new = self.children(node)
        if not self.active or len(node.args) != 1 or not isinstance(node.args[0], gast.GeneratorExp):
            return new
        name = getattr(node.func, "id", None)
        if name not in USERS or not self.context.is_builtin(name):
            return new
        if not self.is_staged(node.args[0]) or node.args[0].generators[0].ifs:
            return new
        argument = new.args[0]
        return evolve(new, args=[self.written(LISTED, argument, argument.elt, [])])

    def is_staged(self, node: Any) -> bool:
        """Whether a backend may have a say in the comprehension."""
        if len(node.generators) != 1 or node.generators[0].is_async:
            return False
        parts = [node.elt, node.generators[0].target, *node.generators[0].ifs]
        if contains(parts, (*SUSPENSIONS, gast.NamedExpr)) or self.names.used & {"super", "__class__"}:
            return False
        if self.has_choice(node):
            return True
        return (
            not node.generators[0].ifs
            and _may_be_staged(node.generators[0].iter)
            and not self.calls(node.elt)
        )

    def calls(self, element: Any) -> bool:
        """Whether an element calls a function that may call this one: then another frame would be one too many."""
        called = (node.func for node in inside(element) if isinstance(node, gast.Call))
        return not all(map(self.is_harmless, called))

    def is_harmless(self, func: Any) -> bool:
        name = root(func)
        if name is None or name in self.names.bound:
            return False
        return self.context.is_builtin(name) or self.context.is_library(name)

    def has_choice(self, node: Any) -> bool:
        return any(map(_compares, node.generators[0].ifs))

    def selected(self, node: Any) -> Any:
        """A list with a condition."""
        tests = node.generators[0].ifs
        test = tests[0] if len(tests) == 1 else at(gast.BoolOp(gast.And(), list(tests)), tests[0])
        element = ONLY.expression(node.elt, ag=self.context.ag, test=test, element=node.elt)
        return self.written(SELECTED, node, element, [])

    def written(self, shape: Template, node: Any, element: gast.expr, ifs: list[gast.expr]) -> Any:
        (generator,) = node.generators
        name = self.names.fresh("items")
        self.names.release(name)  # the lambda's own
        inner = evolve(generator, iter=at(load(name), generator.iter), ifs=ifs)
        build = lambda_of([name], evolve(node, elt=element, generators=[inner]))
        return shape.expression(node, ag=self.context.ag, items=generator.iter, build=build)


def _compares(test: gast.expr) -> bool:
    """Whether a condition compares values, as conditions on tensors do."""
    return not static(test) and any(
        isinstance(node, gast.Compare) and isinstance(node.ops[0], ORDERINGS) and not static(node)
        for node in inside(test)
    )


def _may_be_staged(items: gast.expr) -> bool:
    if isinstance(items, gast.Call):
        name = getattr(items.func, "id", None) or getattr(items.func, "attr", None)
        constant = bool(items.args) and all(isinstance(argument, gast.Constant) for argument in items.args)
        return name not in PYTHON_ITEMS and not constant
    return isinstance(items, (gast.Name, gast.Attribute, gast.Subscript, gast.BinOp)) and not is_text(items)
