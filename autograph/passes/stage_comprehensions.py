"""Let a backend iterate over the items of a comprehension and evaluate its conditions.

    [f(x) for x in t]            ==>  ag__.listed(t)(lambda items: [f(x) for x in items])
    [f(x) for x in t if x > 0]   ==>  ag__.selected(t, lambda items: [ag__.only(x > 0, lambda: f(x)) for x in items])
    [x * y for x in s for y in t]
            ==>  ag__.joined(s, lambda items: [ag__.listed(t)(lambda items: [x * y for y in items]) for x in items])
    sum(f(x) for x in t)         ==>  sum(ag__.gone_through(t)(lambda items: (f(x) for x in items)))
    any(f(x) for x in t)         ==>  any(ag__.tested(t, 'any')(lambda items: (f(x) for x in items)))
    all(x < n for x in t if x)   ==>  all(ag__.tested(t, 'all')(lambda items: (x < n if x else True for x in items)))
    any(f(x, y) for x in s for y in t)      ==>  any(ag__.tested(s, 'any')(lambda items: (any(…) for x in items)))
    {f(x) for x in t if x > 0}   ==>  {f(x) for x in ag__.known(t, 'set') if ag__.decided(x > 0, 'set')}

Provably static parts stay: items that are literals or strings, and conditions that only Python decides. Sets and dicts
cannot hold values that a backend computes. A lambda cannot contain `await`, `super()`, or `:=` of a variable that other
code mentions. In such comprehensions, staged items and conditions are errors."""

from __future__ import annotations

from collections import Counter
from typing import Any

import gast

from ..analysis.binding_time import among_numbers, is_text, static
from ..syntax.node_builders import lambda_of, load, text
from ..syntax.template import Template
from ..syntax.tree_queries import SUSPENSIONS, at, contains, evolve, inside, walk
from .expression_pass import ExpressionPass

LISTED = Template("$ag.listed($items)($build)")
GONE_THROUGH = Template("$ag.gone_through($items)($build)")
ANY = Template("$ag.tested($items, 'any')($build)")
ALL = Template("$ag.tested($items, 'all')($build)")
SELECTED = Template("$ag.selected($items, $build)")
JOINED = Template("$ag.joined($items, $build)")
ONLY = Template("$ag.only($test, lambda: $element)")
PART = Template("$ag.part($test, lambda: $inner)")
KNOWN = Template("$ag.known($items, $kind)")
DECIDED = Template("$ag.decided($test, $kind)")

# Functions and methods that return Python items or strings, and tests that apply to strings and files only.
PYTHON_ITEMS = frozenset({"items", "keys", "values", "dict"})
TEXTS = frozenset(
    {"keys", "split", "splitlines", "listdir", "iterdir", "glob", "readlines", "walk", "fields"}
)
QUESTIONS = frozenset({
    "startswith", "endswith", "strip", "lstrip", "rstrip", "isdigit", "isalpha", "isalnum", "isidentifier",
    "isspace", "isupper", "islower", "match", "search", "fullmatch", "exists", "isfile", "isdir", "is_file",
    "is_dir", "hasattr", "callable", "issubclass", "isinstance",
})  # fmt: skip
# Builtins that consume a generator, by the form that it gets. `any` and `all` may stop before its end.
USERS = {
    **dict.fromkeys(("sum", "min", "max", "sorted"), GONE_THROUGH),
    "any": ANY,
    "all": ALL,
    **dict.fromkeys(("list", "tuple"), LISTED),
}
ORDERINGS = (gast.Lt, gast.LtE, gast.Gt, gast.GtE, gast.Eq, gast.NotEq)
PARTS = (gast.Name, gast.Attribute, gast.Subscript, gast.BinOp)


class StageComprehensions(ExpressionPass):
    name = "stage_comprehensions"
    concerns = frozenset({gast.ListComp, gast.GeneratorExp, gast.SetComp, gast.DictComp})
    emits = frozenset({gast.BoolOp, gast.IfExp, gast.UnaryOp})

    def visit_ListComp(self, node: Any) -> Any:
        new = self.children(node)
        if not self.active or not self.is_concerned_with(node):
            return new
        if not self.is_movable(node):
            return self.guarded(node, new, "list")
        return self.written(new, list(node.generators), LISTED)

    def visit_Call(self, node: Any) -> Any:
        new = self.children(node)
        name = getattr(node.func, "id", None)
        if not self.active or name not in USERS or name in self.names.bound:
            return new
        if not self.context.is_builtin(name) or not node.args:
            return new
        first = node.args[0]
        if (
            not isinstance(first, gast.GeneratorExp)
            or not self.is_concerned_with(first)
            or not self.is_movable(first)
        ):
            return new
        argument = self.written(new.args[0], list(first.generators), USERS[name])
        return evolve(new, args=[argument, *new.args[1:]])

    def visit_SetComp(self, node: Any) -> Any:
        new = self.children(node)
        if not self.active or node.generators[0].is_async:
            return new
        return self.guarded(node, new, "set" if isinstance(node, gast.SetComp) else "dict")

    visit_DictComp = visit_SetComp  # noqa: N815

    def guarded(self, old: Any, new: Any, kind: str) -> Any:
        """Return the comprehension, which raises an error if a backend stages its items or conditions."""
        generators = [self.checked(*pair, kind) for pair in zip(old.generators, new.generators, strict=True)]
        return evolve(new, generators=generators)

    def checked(self, old: Any, new: Any, kind: str) -> Any:
        items, ag = new.iter, self.context.ag
        if _may_be_staged(old.iter):
            items = KNOWN.expression(items, ag=ag, items=items, kind=text(kind))
        ifs = [
            DECIDED.expression(test, ag=ag, test=test, kind=text(kind))
            if _may_decide(before, old.iter)
            else test
            for before, test in zip(old.ifs, new.ifs, strict=True)
        ]
        return evolve(new, iter=items, ifs=ifs)

    def is_concerned_with(self, node: Any) -> bool:
        """Return whether a backend may have the items or decide the conditions of the comprehension."""
        if any(each.is_async for each in node.generators):
            return False
        return any(_chooses(each) or _may_be_staged(each.iter) for each in node.generators)

    def is_movable(self, node: Any) -> bool:
        """Return whether a lambda can contain the comprehension."""
        first, *others = node.generators
        if "super" in self.names.used and _calls_super([node.elt, *first.ifs, *others]):
            return False
        if self.names.movable:
            return True
        parts = [node.elt, *node.generators]
        if not contains(parts, gast.NamedExpr):
            return not contains(parts, SUSPENSIONS)
        return self.names.plain and self.keeps_variables(node)

    def keeps_variables(self, node: Any) -> bool:
        """Return whether only the comprehension itself mentions the variables that it assigns by `:=`."""
        if not self.names.kinds.isdisjoint((gast.Global, gast.Nonlocal)):
            return False
        below = walk(node)
        mentions = Counter(part.id for part in below if isinstance(part, gast.Name))
        assigned = {part.target.id for part in below if isinstance(part, gast.NamedExpr)}
        return all(mentions[name] == self.names.mentions[name] for name in assigned)

    def written(self, node: Any, before: list[Any], plain: Template) -> Any:
        """Return the comprehension (or generator) as a call; `before` holds the original `for` parts."""
        first, *others = node.generators
        tests = first.ifs
        test = None
        if tests:
            test = tests[0] if len(tests) == 1 else at(gast.BoolOp(gast.And(), list(tests)), tests[0])
        if others:
            inner = self.written(evolve(node, generators=others), before[1:], plain)
            if plain in (ANY, ALL):
                truth = gast.Call(at(load("all" if plain is ALL else "any"), node), [inner], [])
                return self.built(plain, node, _decisive(test, at(truth, node), plain is ALL), [])
            if test is not None:
                inner = PART.expression(node.elt, ag=self.context.ag, test=test, inner=inner)
            return self.built(JOINED, node, inner, [])
        if not _chooses(before[0]):
            return self.built(plain, node, node.elt, tests)
        if plain in (ANY, ALL):
            return self.built(plain, node, _decisive(test, _as_truth(node.elt), plain is ALL), [])
        element = ONLY.expression(node.elt, ag=self.context.ag, test=test, element=node.elt)
        return self.built(SELECTED, node, element, [])

    def built(self, shape: Template, node: Any, element: gast.expr, ifs: list[gast.expr]) -> Any:
        generator = node.generators[0]
        name = self.names.fresh("items")
        self.names.release(name)  # the lambda's own parameter
        inner = evolve(generator, iter=at(load(name), generator.iter), ifs=ifs)
        build = lambda_of([name], evolve(node, elt=element, generators=[inner]))
        return shape.expression(node, ag=self.context.ag, items=generator.iter, build=build)


def _decisive(test: gast.expr | None, truth: gast.expr, is_all: bool) -> Any:
    """Return what decides in the place of an element with a condition: one that is left out does not decide."""
    if test is None:
        return truth
    return at(gast.IfExp(test, truth, at(gast.Constant(is_all, None), truth)), truth)


def _as_truth(element: gast.expr) -> gast.expr:
    if isinstance(element, gast.Compare):
        return element
    return at(gast.UnaryOp(gast.Not(), at(gast.UnaryOp(gast.Not(), element), element)), element)


def _chooses(generator: Any) -> bool:
    return any(_may_decide(test, generator.iter) for test in generator.ifs)


def _calls_super(parts: list[gast.AST]) -> bool:
    """Return whether a `super()` needs the frame of its method, of which a lambda has another one."""
    return any(
        isinstance(node, gast.Call) and _called(node.func) == "super" and not node.args
        for node in inside(parts)
    )


def _may_decide(test: gast.expr, items: gast.expr) -> bool:
    """Return whether a backend may evaluate a condition: it compares values, or tests the truth of one."""
    if static(test):
        return False
    return any(
        isinstance(node, gast.Compare) and not static(node) and (_orders(node) or among_numbers(node))
        for node in inside(test)
    ) or (not _gives_texts(items) and _is_truth(test))


def _orders(test: gast.Compare) -> bool:
    return isinstance(test.ops[0], ORDERINGS)


def _is_truth(test: gast.expr) -> bool:
    match test:
        case gast.UnaryOp(op=gast.Not(), operand=operand):
            return _is_truth(operand)
        case gast.BoolOp(values=values):
            return any(map(_is_truth, values))
        case gast.Call(func=func):
            return _called(func) not in QUESTIONS
    return isinstance(test, PARTS)


def _called(func: gast.expr) -> str | None:
    return getattr(func, "id", None) or getattr(func, "attr", None)


def _gives_texts(items: gast.expr) -> bool:
    return is_text(items) or (isinstance(items, gast.Call) and _called(items.func) in TEXTS)


def _may_be_staged(items: gast.expr) -> bool:
    if isinstance(items, gast.Call):
        constant = bool(items.args) and all(isinstance(argument, gast.Constant) for argument in items.args)
        return _called(items.func) not in PYTHON_ITEMS | TEXTS and not constant
    return isinstance(items, PARTS) and not is_text(items)
