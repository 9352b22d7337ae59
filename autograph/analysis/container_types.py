"""Find the local variables of a function that hold only Python containers.

    d = {}                     `d` holds a dict on every path
    if c: d = dict(a=1)
    xs = f()                   `xs` may hold anything, as does every parameter

Most functions have no such variable, so the analyses that walk the whole function run lazily."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import gast

from ..syntax.tree_queries import inside, parameters
from .scopes import Found, scan

# Calls that return a new container for any argument: built-in functions, and classes of `collections`.
LISTS = frozenset({"list", "sorted"})
MAKERS = frozenset({"dict", "set", "frozenset", "tuple", "bytearray", *LISTS})
COLLECTIONS = frozenset({"defaultdict", "deque", "Counter", "OrderedDict", "ChainMap"})
LIST_DISPLAYS = (gast.List, gast.ListComp)
DISPLAYS = (gast.Dict, gast.Set, gast.Tuple, gast.DictComp, gast.SetComp, *LIST_DISPLAYS)

# A variable and the expression that it is bound to, or None if the binding is not a plain assignment.
Binding = tuple[str, gast.AST | None]


class Containers:
    """The bindings of one function's variables."""

    def __init__(self, function: Any, is_builtin: Callable[[str], bool]) -> None:
        self._body: list[gast.stmt] = function.body
        self._is_builtin = is_builtin
        self.bindings: dict[str, list[gast.AST | None]] = {}
        for name, value in (*_parameters(function), *_bindings(function.body)):
            self.bindings.setdefault(name, []).append(value)

    @cached_property
    def _found(self) -> Found:
        found = Found()
        for statement in self._body:
            scan(statement, found)
        return found

    @property
    def captured(self) -> set[str]:
        """The variables that nested functions capture."""
        return self._found.captured

    @cached_property
    def local(self) -> set[str]:
        """The variables that no other function binds."""
        declared: set[str] = set()
        for node in inside(self._body):
            if isinstance(node, (gast.Global, gast.Nonlocal)):
                declared.update(node.names)
        return self.bindings.keys() - declared - self._found.rebound

    @cached_property
    def python(self) -> set[str]:
        """The `local` variables that hold containers only."""
        return {name for name in self.local if all(map(self.is_container, self.bindings[name]))}

    def is_container(self, value: gast.AST | None) -> bool:
        """Return whether an expression always evaluates to a Python container."""
        if isinstance(value, gast.Call) and _called(value) in COLLECTIONS:
            return True
        return self.is_builtin_container(value)

    def is_builtin_container(self, value: gast.AST | None) -> bool:
        """Return whether an expression always evaluates to a container of a class without Python code."""
        return isinstance(value, DISPLAYS) or self._calls_builtin(value, MAKERS)

    def is_list(self, value: gast.AST | None) -> bool:
        """Return whether an expression always evaluates to a new list."""
        return isinstance(value, LIST_DISPLAYS) or self._calls_builtin(value, LISTS)

    def _calls_builtin(self, value: gast.AST | None, names: frozenset[str]) -> bool:
        return (
            isinstance(value, gast.Call)
            and isinstance(value.func, gast.Name)
            and value.func.id in names
            and value.func.id not in self.bindings
            and self._is_builtin(value.func.id)
        )


def _called(call: Any) -> str | None:
    return getattr(call.func, "id", None) or getattr(call.func, "attr", None)


def _parameters(function: Any) -> Iterator[Binding]:
    return ((name.id, None) for name in parameters(function))


def _paired(node: Any) -> Iterator[tuple[gast.Name, gast.AST | None]]:
    """Yield the names that an assignment binds, each with its value; also for `xs, ys = [], []`."""
    single = len(node.targets) == 1
    for target in node.targets:
        if isinstance(target, gast.Name):
            yield target, node.value if single else None
        elif single and isinstance(target, (gast.Tuple, gast.List)) and isinstance(node.value, type(target)):
            parts = [*target.elts, *node.value.elts]
            if len(target.elts) == len(node.value.elts) and not any(
                isinstance(part, gast.Starred) for part in parts
            ):
                pairs = zip(target.elts, node.value.elts, strict=True)
                yield from ((name, value) for name, value in pairs if isinstance(name, gast.Name))


def _bindings(body: list[gast.stmt]) -> Iterator[Binding]:
    """Yield every binding of a name by the statements of a function and by their parts."""
    plain: set[int] = set()
    for node in inside(body):
        if type(node) not in _BINDING:
            continue
        if isinstance(node, gast.Name):
            if isinstance(node.ctx, gast.Store) and id(node) not in plain:
                yield node.id, None
        elif isinstance(node, gast.Assign):
            for target, value in _paired(node):
                plain.add(id(target))
                yield target.id, value
        elif isinstance(node, gast.AnnAssign) and isinstance(node.target, gast.Name):
            plain.add(id(node.target))
            if node.value is not None:
                yield node.target.id, node.value
        elif isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
            plain.add(id(node.target))
            yield node.target.id, node  # of a list: the same list
        elif isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
            yield node.name, None
        elif isinstance(node, gast.alias):
            yield (node.asname or node.name).partition(".")[0], None
        elif isinstance(node, (gast.MatchAs, gast.MatchStar)) and node.name:
            yield node.name, None
        elif isinstance(node, gast.MatchMapping) and node.rest:
            yield node.rest, None


_BINDING = frozenset(
    {gast.Name, gast.Assign, gast.AnnAssign, gast.AugAssign, gast.FunctionDef, gast.AsyncFunctionDef}
    | {gast.ClassDef, gast.alias, gast.MatchAs, gast.MatchStar, gast.MatchMapping}
)
