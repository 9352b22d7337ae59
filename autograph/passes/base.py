"""What every pass is made of: a post-order walk that gives new nodes and never changes old ones.

    class LowerBreak(Pass):
        name = "lower_break"

        def function(self, node): …          # called for each user function, inner ones first

A pass is made for one run over one tree. `context` is what the caller knows; `names` gives names that are
free in the outermost function that is being rewritten."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import gast

from ..analysis.binding_time import FRAME_ATTRIBUTES, FRAME_READERS, BindingTimes
from ..analysis.container_types import LIST_DISPLAYS, LISTS
from ..errors import ConversionError, Diagnostic
from ..options.features import Feature
from ..syntax.positions import where_of
from ..syntax.tree_queries import (
    ASYNC,
    BLOCK_FIELDS,
    DEFINITIONS,
    INNER,
    SUSPENSIONS,
    Statements,
    blocks,
    evolve,
    walk,
    with_blocks,
)

BUILTINS = frozenset(vars(builtins))
NO_FEATURES: frozenset[Feature] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Context:
    """What the caller of the pipeline knows about the code."""

    filename: str = "<unknown>"
    source: str = ""  # whole text of the file, for carets in errors
    is_library: Callable[[str], bool] = lambda name: False  # is this global a module that is not converted?
    # Does this global name mean the builtin?
    is_builtin: Callable[[str], bool] = lambda name: name in BUILTINS
    # Does this name, or chain of attributes, stand for `set_loop_options`?
    is_directive: Callable[[str], bool] = lambda dotted: looks_like_directive(dotted)
    features: frozenset[Feature] = NO_FEATURES
    ag: str = "ag__"  # what generated code calls the module of operators


def looks_like_directive(dotted: str) -> bool:
    """Whether a name reads like that of `set_loop_options`, when it is not known what it stands for."""
    return dotted == "set_loop_options" or dotted.endswith("experimental.set_loop_options")


class Names:
    """Fresh names for one outermost function, and which names were made so."""

    def __init__(self, function: gast.AST) -> None:
        below = walk(function)[1:]
        self.kinds = {*map(type, below)}  # of the nodes that it had, or that passes have made
        self.used, self.bound = _names_in([function, *below])
        self.generated: set[str] = set()
        self.lists: dict[int, gast.AST] = {}  # by id, the names that are read where they hold a list
        self._last: dict[str, int] = {}  # the number that a base got last
        # Most functions neither suspend themselves nor read their own frame; then no pass has to look.
        self.plain = not (self.used & (FRAME_READERS | FRAME_ATTRIBUTES | {"await"}))
        self.walrus = ":=" in self.used
        self.movable = self.plain and not self.walrus  # into functions and lambdas, all of it
        self.items = "[]=" in self.used
        self.has_functions = not self.kinds.isdisjoint(DEFINITIONS)  # inside it
        # Without one of these it has no list that it may have made itself.
        self.makes_lists = self.items or not (
            self.used.isdisjoint(LISTS) and self.kinds.isdisjoint((*LIST_DISPLAYS, gast.Match))
        )

    def fresh(self, base: str) -> str:
        """`base`, or `base_1`, `base_2`, … if that is taken."""
        number = self._last.get(base, 0)
        name = f"{base}_{number}" if number else base
        while name in self.used:
            number += 1
            name = f"{base}_{number}"
        self._last[base] = number
        self.used.add(name)
        self.generated.add(name)
        return name

    def release(self, name: str) -> None:
        """Give back a name that came out unused."""
        self.used.discard(name)
        self.generated.discard(name)
        base, _, number = name.rpartition("_")
        if number.isdigit():
            self._last[base] = int(number)
        else:
            self._last.pop(name, None)


class Registry:
    """The `Names` of each outermost function, which is known by its position from pass to pass.

    Also which blocks of a function are staged, as long as no pass has changed it."""

    def __init__(self) -> None:
        self.known: dict[tuple[Any, ...], Names] = {}
        self._staging: dict[int, tuple[gast.AST, BindingTimes]] = {}

    def staging(self, function: gast.AST, plain: bool) -> BindingTimes:
        known = self._staging.get(id(function))
        if known is None:  # the node is kept, so that its id stays its own
            known = self._staging[id(function)] = function, BindingTimes(function, plain)
        return known[1]

    def of(self, function: gast.AST) -> Names:
        key = (type(function), getattr(function, "name", ""), function.lineno, function.col_offset)
        if key not in self.known:
            self.known[key] = Names(function)
        return self.known[key]


class _Methods(dict[type, Callable[[Any, Any], Any]]):
    """By the kind of a node, the method with which a class of passes visits it; also for a list of nodes."""

    def __init__(self, owner: type[Pass]) -> None:
        super().__init__({list: owner.visit_all})
        self.owner = owner

    def __missing__(self, kind: type) -> Callable[[Any, Any], Any]:
        self[kind] = getattr(self.owner, f"visit_{kind.__name__}", self.owner.children)
        return self[kind]


class Pass:
    """Rebuilds a tree from the leaves up; nodes that do not change are shared with the old tree."""

    name: ClassVar[str]
    erases: ClassVar[type | None] = None  # a jump that must not leave a staged block after the pass
    # There is nothing to do without one of these; empty: unknown.
    concerns: ClassVar[frozenset[type]] = frozenset()
    # Of the kinds that concern other passes, those that it makes.
    emits: ClassVar[frozenset[type]] = frozenset()
    passed_over: ClassVar[frozenset[type]] = frozenset({gast.Constant})  # nothing to do there, nor below
    _methods: ClassVar[_Methods]

    def __init__(self, context: Context, registry: Registry) -> None:
        self.context = context
        self.registry = registry
        self.names: Names = None  # type: ignore[assignment]  # set on entry of each outermost function

    def __init_subclass__(cls) -> None:
        cls._methods = _Methods(cls)
        cls.passed_over = frozenset(
            kind for kind in {*cls.passed_over, type(None)} if not hasattr(cls, f"visit_{kind.__name__}")
        )

    def run(self, tree: gast.Module) -> gast.Module:
        body = self.visit_all(tree.body)
        return tree if body is tree.body else evolve(tree, body=body)

    def is_concerned(self) -> bool:
        """Whether a pass has anything to do in an outermost function."""
        return not self.concerns or not self.names.kinds.isdisjoint(self.concerns)

    def visit(self, node: Any) -> Any:
        """The new node, a list of nodes in place of a statement, or the node itself."""
        return self._methods[type(node)](self, node)

    def children(self, node: Any) -> Any:
        """The node with its children visited."""
        changes: dict[str, Any] = {}
        values, methods, passed_over = node.__dict__, self._methods, self.passed_over
        for field in INNER[type(node)]:
            value = values.get(field)
            kind = type(value)
            if kind not in passed_over:
                new = methods[kind](self, value)
                if new is not value:
                    changes[field] = new
        return evolve(node, **changes) if changes else node

    def visit_all(self, nodes: list[Any]) -> list[Any]:
        """The list with each node visited; the very same list if nothing changed."""
        methods, passed_over = self._methods, self.passed_over
        if passed_over.issuperset(map(type, nodes)):
            return nodes
        new = [node if type(node) in passed_over else methods[type(node)](self, node) for node in nodes]
        if new == nodes:  # nodes are compared by identity
            return nodes
        result: list[Any] = []
        for part in new:
            result += part if type(part) is list else [part]
        return result

    def fail(
        self, node: gast.AST, code: str, title: str, label: str = "", why: str = "", fix: str = ""
    ) -> NoReturn:
        """Refuse the code at `node`."""
        raise ConversionError(self.diagnostic(node, code, title, label, why, fix))

    def diagnostic(
        self, node: gast.AST, code: str, title: str, label: str = "", why: str = "", fix: str = ""
    ) -> Diagnostic:
        """What is wrong with the code at `node`."""
        where = where_of(node, self.context.filename, self.context.source)
        return Diagnostic(code, title, where, label=label, why=why, fix=fix)


class FunctionPass(Pass):
    """A pass over statements only: `function` gets each user function, after the functions inside it."""

    def run(self, tree: gast.Module) -> gast.Module:
        body = self.statements(tree.body, outermost=True)
        return tree if body is tree.body else evolve(tree, body=body)

    def statements(self, body: Statements, outermost: bool) -> Statements:
        new = [self.statement_of(statement, outermost) for statement in body]
        return body if new == body else new

    def statement_of(self, statement: Any, outermost: bool) -> Any:
        """A statement of which the functions are done that it is, or that are in it."""
        if isinstance(statement, DEFINITIONS):
            return statement if left_alone(statement) else self.definition(statement, outermost)
        if type(statement) not in BLOCK_FIELDS:
            return statement
        return with_blocks(statement, [self.statements(part, outermost) for part in blocks(statement)])

    def definition(self, function: Any, outermost: bool) -> Any:
        if outermost:
            self.names = self.registry.of(function)
            if not self.is_concerned():
                return function
        before = function
        if self.names.has_functions:
            body = self.statements(function.body, outermost=False)
            before = evolve(function, body=body) if body is not function.body else function
        after = self.function(before)
        if after is not before:
            self.names.kinds |= self.emits
        if self.erases is not None and after is not before:
            left = self.staging(after).jumps
            assert not any(isinstance(jump, self.erases) for jump in left), f"{self.name} left a jump behind"
        return after

    def function(self, node: Any) -> Any:
        raise NotImplementedError

    def staging(self, function: Any) -> BindingTimes:
        """Which blocks of the function are staged."""
        return self.registry.staging(function, self.names.plain)


def left_alone(function: gast.AST) -> bool:
    """Whether a decorator says `do_not_convert`, with whatever prefix or arguments."""
    for decorator in function.decorator_list:
        mark = decorator.func if isinstance(decorator, gast.Call) else decorator
        name = mark.attr if isinstance(mark, gast.Attribute) else getattr(mark, "id", None)
        if name == "do_not_convert":
            return True
    return False


def _names_in(nodes: list[Any]) -> tuple[set[str], set[str]]:
    """Every identifier that the nodes of a function mention, nested functions included, and those that are bound.

    Stand-ins tell what else there is: 'await' for anything that suspends the function, ':=' for a walrus,
    '[]=' for an item that is assigned.
    """
    names: set[str] = set()
    bound: set[str] = set()
    for node in nodes:
        kind = type(node)
        if kind is gast.Name:
            (names if type(node.ctx) is gast.Load else bound).add(node.id)
        elif kind is gast.Attribute:
            if node.attr in FRAME_ATTRIBUTES:
                names.add(node.attr)
        elif kind in _BINDERS:
            bound.update(_BINDERS[kind](node))
        elif kind in _TELLING:
            names.update(_TELLING[kind](node))
    return names | bound, bound


_TELLING: dict[type, Callable[[Any], list[str]]] = {
    **dict.fromkeys((gast.Global, gast.Nonlocal), lambda node: node.names),
    gast.Subscript: lambda node: ["[]="] if type(node.ctx) is gast.Store else [],
    gast.NamedExpr: lambda node: [":="],
    **dict.fromkeys((*SUSPENSIONS, *ASYNC), lambda node: ["await"]),
    gast.comprehension: lambda node: ["await"] if node.is_async else [],
}
_BINDERS: dict[type, Callable[[Any], list[str]]] = {
    gast.FunctionDef: lambda node: [node.name],
    gast.AsyncFunctionDef: lambda node: [node.name],
    gast.ClassDef: lambda node: [node.name],
    gast.alias: lambda node: [(node.asname or node.name).partition(".")[0]],
    gast.MatchAs: lambda node: [node.name] if node.name else [],
    gast.MatchStar: lambda node: [node.name] if node.name else [],
    gast.MatchMapping: lambda node: [node.rest] if node.rest else [],
}
