"""Base classes of the AST passes: a post-order walk that creates new nodes and never mutates old ones.

    class LowerBreak(Pass):
        name = "lower_break"

        def function(self, node): …          # called for each user function, inner ones first

A pass object serves one run over one tree. `context` describes the code. `names` generates names that are unused in
the outermost function."""

from __future__ import annotations

import builtins
import operator
from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, NoReturn

import gast

from ..analysis.binding_time import FRAME_ATTRIBUTES, FRAME_READERS, BindingTimes
from ..analysis.container_types import LIST_DISPLAYS, LISTS
from ..errors import ConversionError, Diagnostic
from ..options.features import Feature
from ..options.loop_options import looks_like_directive
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


class Context(NamedTuple):
    """The properties of the code that the caller of the pipeline provides."""

    filename: str = "<unknown>"
    source: str = ""  # source of the file, for carets in error messages
    is_library: Callable[[str], bool] = lambda name: (
        False
    )  # does this global name a module that is not converted?
    # Does this global name refer to the builtin?
    is_builtin: Callable[[str], bool] = lambda name: name in BUILTINS
    # Does this name, or chain of attributes, refer to `set_loop_options`?
    is_directive: Callable[[str], bool] = looks_like_directive
    features: frozenset[Feature] = NO_FEATURES
    ag: str = "ag__"  # name of the operator module in generated code


class FreshNames:
    """The generator of fresh names for one outermost function, and facts about its code."""

    def __init__(self, function: gast.AST) -> None:
        below = walk(function)[1:]
        self.kinds = {*map(type, below)}  # node types in the function, initially or created by passes
        self.used, self.bound = _names_in([function, *below])
        self.generated: set[str] = set()
        self.lists: dict[int, gast.AST] = {}  # names at which a list is read, by id
        self._last: dict[str, int] = {}  # last suffix of each base
        # Most functions neither suspend themselves nor read their own frame; passes then skip the check.
        self.plain = not (self.used & (FRAME_READERS | FRAME_ATTRIBUTES | {"await"}))
        self.walrus = ":=" in self.used
        self.mentions = Counter(n.id for n in below if type(n) is gast.Name) if self.walrus else Counter()
        self.movable = self.plain and not self.walrus  # all code may move into functions and lambdas
        self.items = "[]=" in self.used
        self.has_functions = not self.kinds.isdisjoint(DEFINITIONS)  # nested functions
        # Without these the function cannot have created a list.
        self.makes_lists = self.items or not (
            self.used.isdisjoint(LISTS) and self.kinds.isdisjoint((*LIST_DISPLAYS, gast.Match))
        )

    def fresh(self, base: str) -> str:
        """Return `base`, or `base_1`, `base_2`, … if that name is taken."""
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
        """Release a fresh name that is not used."""
        self.used.discard(name)
        self.generated.discard(name)
        base, _, number = name.rpartition("_")
        if number.isdigit():
            self._last[base] = int(number)
        else:
            self._last.pop(name, None)


class Registry:
    """The `FreshNames` of each outermost function, keyed by its source position, which all passes keep.

    The registry also caches the binding times of each function, as long as no pass has changed it."""

    def __init__(self) -> None:
        self.known: dict[tuple[Any, ...], FreshNames] = {}
        self._staging: dict[int, tuple[gast.AST, BindingTimes]] = {}

    def staging(self, function: gast.AST, plain: bool) -> BindingTimes:
        known = self._staging.get(id(function))
        if known is None:  # keep the node, so that its id is not reused
            known = self._staging[id(function)] = function, BindingTimes(function, plain)
        return known[1]

    def of(self, function: gast.AST) -> FreshNames:
        key = (type(function), getattr(function, "name", ""), function.lineno, function.col_offset)
        if key not in self.known:
            self.known[key] = FreshNames(function)
        return self.known[key]


class _Methods(dict[type, Callable[[Any, Any], Any]]):
    """A cache from node type to the visitor method of a class of passes; it also covers lists of nodes."""

    def __init__(self, owner: type[TreePass]) -> None:
        super().__init__({list: owner.visit_all})
        self.owner = owner

    def __missing__(self, kind: type) -> Callable[[Any, Any], Any]:
        self[kind] = getattr(self.owner, f"visit_{kind.__name__}", self.owner.children)
        return self[kind]


class TreePass:
    """A tree rewriter that works bottom-up; unchanged nodes are shared with the old tree."""

    name: ClassVar[str]
    erases: ClassVar[type | None] = None  # a jump that must not leave a staged block after the pass
    # The pass has nothing to do in a function without one of these; empty: unknown.
    concerns: ClassVar[frozenset[type]] = frozenset()
    # Node types in the `concerns` of other passes that this pass creates.
    emits: ClassVar[frozenset[type]] = frozenset()
    passed_over: ClassVar[frozenset[type]] = frozenset(
        {gast.Constant}
    )  # leaves that the pass skips, with all below
    _methods: ClassVar[_Methods]

    def __init__(self, context: Context, registry: Registry) -> None:
        self.context = context
        self.registry = registry
        self.names: FreshNames = None  # type: ignore[assignment]  # set on entry of each outermost function

    def __init_subclass__(cls) -> None:
        cls._methods = _Methods(cls)
        cls.passed_over = frozenset(
            kind for kind in {*cls.passed_over, type(None)} if not hasattr(cls, f"visit_{kind.__name__}")
        )

    def run(self, tree: gast.Module) -> gast.Module:
        body = self.visit_all(tree.body)
        return tree if body is tree.body else evolve(tree, body=body)

    def is_concerned(self) -> bool:
        """Return whether the pass may have to change the current outermost function."""
        return not self.concerns or not self.names.kinds.isdisjoint(self.concerns)

    def visit(self, node: Any) -> Any:
        """Return the new node, a list of nodes that replaces a statement, or the node itself."""
        return self._methods[type(node)](self, node)

    def children(self, node: Any) -> Any:
        """Return the node with its children visited."""
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
        """Return the list with each node visited; the same list if nothing changed."""
        methods, passed_over = self._methods, self.passed_over
        if passed_over.issuperset(map(type, nodes)):
            return nodes
        new = [node if type(node) in passed_over else methods[type(node)](self, node) for node in nodes]
        if new == nodes:  # nodes compare by identity
            return nodes
        result: list[Any] = []
        for part in new:
            result += part if type(part) is list else [part]
        return result

    def fail(
        self, node: gast.AST, code: str, title: str, label: str = "", why: str = "", fix: str = ""
    ) -> NoReturn:
        """Raise a conversion error for the code at `node`."""
        raise ConversionError(self.diagnostic(node, code, title, label, why, fix))

    def diagnostic(
        self, node: gast.AST, code: str, title: str, label: str = "", why: str = "", fix: str = ""
    ) -> Diagnostic:
        """Return the diagnostic for the code at `node`."""
        where = where_of(node, self.context.filename, self.context.source)
        return Diagnostic(code, title, where, label=label, why=why, fix=fix)


class FunctionPass(TreePass):
    """A pass over statements only: `function` is called with each user function, inner ones first."""

    def run(self, tree: gast.Module) -> gast.Module:
        body = self.statements(tree.body, outermost=True)
        return tree if body is tree.body else evolve(tree, body=body)

    def statements(self, body: Statements, outermost: bool) -> Statements:
        new = [self.statement_of(statement, outermost) for statement in body]
        return body if new == body else new

    def statement_of(self, statement: Any, outermost: bool) -> Any:
        """Apply the pass to every function definition in `statement`."""
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
            assert not any(isinstance(jump, self.erases) for jump in left), (
                f"{self.name} left a jump in the code"
            )
        return after

    def function(self, node: Any) -> Any:
        raise NotImplementedError

    def walk(self, body: Statements, *facts: Any) -> Statements:
        """Return the statements that `statement` gives for each statement; the same list if nothing changes."""
        new = [part for statement in body for part in self.statement(statement, *facts)]
        return body if len(new) == len(body) and all(map(operator.is_, new, body)) else new

    def statement(self, statement: Any, *facts: Any) -> Statements:
        """Return the statements in place of one."""
        raise NotImplementedError

    def with_walked_blocks(self, statement: Any, *facts: Any) -> Any:
        return with_blocks(statement, [self.walk(part, *facts) for part in blocks(statement)])

    def staging(self, function: Any) -> BindingTimes:
        """Return the binding times of the function's blocks."""
        return self.registry.staging(function, self.names.plain)


def left_alone(function: gast.AST) -> bool:
    """Return whether a decorator is `do_not_convert`, with any prefix or arguments."""
    for decorator in function.decorator_list:
        mark = decorator.func if isinstance(decorator, gast.Call) else decorator
        name = mark.attr if isinstance(mark, gast.Attribute) else getattr(mark, "id", None)
        if name == "do_not_convert":
            return True
    return False


def _names_in(nodes: list[Any]) -> tuple[set[str], set[str]]:
    """Return all identifiers in the nodes of a function, nested functions included, and those that are bound.

    Markers record other properties: 'await' for anything that suspends the function, ':=' for a walrus, '[]='
    for an assigned item."""
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
    gast.ExceptHandler: lambda node: [node.name.id] if node.name else [],
    gast.alias: lambda node: [(node.asname or node.name).partition(".")[0]],
    gast.MatchAs: lambda node: [node.name] if node.name else [],
    gast.MatchStar: lambda node: [node.name] if node.name else [],
    gast.MatchMapping: lambda node: [node.rest] if node.rest else [],
}
