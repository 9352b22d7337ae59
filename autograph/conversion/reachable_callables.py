"""Reachable callables: the functions and classes that may run when a function is called.

    @tf.function                     names      scores, Angle, sorted
    def best(scores):                follows    Angle: methods that are named, the names in these, the bases, …
        a = Angle(scores)     ==>    uncalled   Angle.__init__ (Python calls it), by_size (sorted calls it)
        return sorted(a, key=by_size)

A function is followed through its globals, closure, defaults and arguments, an object through its attributes.
`uncalled` are the functions that converted code does not call: special methods, functions held by a descriptor or a
library's wrapper, and values that are passed on.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    NoneType,
)
from typing import Any

from .. import policy
from ..errors import is_own_file
from ..introspection.code_objects import CodeMap, nested_code_objects
from ..staging import PYTHON, backends
from ..syntax import source

_ENOUGH = 50_000  # visited objects
_ENOUGH_IN_ONE = 1_000  # visited parts of one container

_ATOMS = frozenset(
    {int, float, complex, bool, str, bytes, NoneType, range, slice, BuiltinFunctionType, CodeType}
)
_CONTAINERS = (list, tuple, set, frozenset, deque)
_WRAPPERS = (FunctionType, MethodType, functools.partial, staticmethod, classmethod, property, dict)

# Special methods whose results do not depend on the value of a tensor.
_PLAIN = frozenset(
    f"__{name}__"
    for name in (
        "repr", "str", "format", "del", "hash", "dir", "sizeof", "reduce", "reduce_ex", "getstate", "setstate",
        "getnewargs", "getnewargs_ex", "copy", "deepcopy", "class_getitem", "init_subclass", "set_name",
        "subclasshook", "instancecheck", "subclasscheck", "prepare", "fspath", "mro_entries", "buffer",
    )
)  # fmt: skip
# Attributes in which wrappers hold a function: properties, partial methods, cached properties, decorators.
_HELD = ("__wrapped__", "__func__", "func", "fget", "fset", "fdel", "dispatcher", "registry")


class CodeNames:
    """The names in a function, and those of them that it uses for more than a call."""

    def __init__(self, code: CodeType) -> None:
        names = {name for inner in nested_code_objects(code) for name in inner.co_names}
        self.all = frozenset(names.union(code.co_freevars))
        self._passed_on: frozenset[str] | None = None

    def passed_on(self, f: FunctionType) -> frozenset[str]:
        """Return the names that `f` uses for more than a call; computed lazily."""
        if self._passed_on is None:
            # Without source a function is not converted, so nothing that it calls is called by converted
            # code.
            self._passed_on = frozenset(_passed_on(f)) if source.exists(f) else self.all
        return self._passed_on


_names: CodeMap[CodeNames] = CodeMap()


class ReachableCallables:
    """A walk over the callables reachable from some roots."""

    def __init__(self) -> None:
        self.uncalled: dict[FunctionType, None] = {}
        self._seen: dict[int, Any] = {}  # by id; keeps the objects alive, so that ids stay unique
        self._pending: list[Any] = []
        self._named: set[str] = set()  # by the followed functions
        self._waiting: dict[str, list[Any]] = {}  # methods that no followed function has named yet
        self._by_name: dict[str, list[Any]] = {}  # methods, and functions that are attributes
        self._followed: list[FunctionType] = []  # not yet searched for names that they pass on
        self._passed_on: set[str] = set()

    def look(self, roots: Iterable[Any]) -> list[FunctionType]:
        """Return the newly found functions that converted code does not call itself."""
        known = len(self.uncalled)
        for root in roots:
            self._see(root)
        while self._pending and len(self._seen) < _ENOUGH:
            self._follow(self._pending.pop())
            if not self._pending and self._by_name:
                self._see_passed_on()
        return list(self.uncalled)[known:]

    def _see_passed_on(self) -> None:
        """Visit the callables whose names the followed functions use for more than a call."""
        while self._followed:
            f = self._followed.pop()
            self._passed_on |= names_of(f).passed_on(f)
        for name in self._passed_on & self._by_name.keys():
            for function in self._by_name.pop(name):
                self._see(function, held=True)

    def _see(self, value: Any, held: bool = False) -> None:
        if not _is_open(type(value)):
            return
        if held:
            value = self._hold(value)
        if id(value) not in self._seen:
            self._seen[id(value)] = value
            self._pending.append(value)

    def _hold(self, value: Any) -> Any:
        """Record a function that code other than converted code calls."""
        if _is(value, (staticmethod, classmethod)):
            value = value.__func__
        function = value.__func__ if _is(value, MethodType) else value
        if _is(function, functools.partial):
            self._see(function.func, held=True)
        elif _is(function, FunctionType) and policy.is_user_code(function):
            self.uncalled[function] = None
        return value

    def _follow(self, value: Any) -> None:
        if _is(value, FunctionType):
            self._function(value)
        elif _is(value, MethodType):
            self._see(value.__func__)
            self._see(value.__self__)
        elif _is(value, type):
            self._class(value)
        elif _is(value, (dict, MappingProxyType)):
            self._some(value.values())
        elif _is(value, _CONTAINERS):
            self._some(value)
        if not _is(value, (type, FunctionType, MethodType, ModuleType)):
            self._object(value)

    def _some(self, values: Iterable[Any]) -> None:
        for value in list(islice(values, _ENOUGH_IN_ONE)):
            self._see(value)

    def _function(self, f: FunctionType) -> None:
        cells = [(name, cell) for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)]
        if is_own_file(f.__code__.co_filename):
            return
        if not policy.is_user_code(f):
            # A library's wrapper calls the functions that it holds.
            for value in (*_contents(cells), *vars(f).values()):
                if _is(value, (*_WRAPPERS, MappingProxyType)):
                    self._held_in(value)
            return
        if policy.is_excluded(f.__code__):
            return
        names = names_of(f)
        self._followed.append(f)
        for name in names.all - self._named:
            self._named.add(name)
            for method in self._waiting.pop(name, ()):
                self._see(method)
        for name, value in [*_globals(f, names.all), *_named(cells)]:
            if _is_open(type(value)):
                self._see(value, held=_is(value, _WRAPPERS) and name in names.passed_on(f))
        for value in (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()):
            self._see(value, held=True)
        self._some(vars(f).values())

    def _held_in(self, value: Any) -> None:
        for part in value.values() if _is(value, (dict, MappingProxyType)) else (value,):
            if _is(part, _WRAPPERS):
                self._see(part, held=True)

    def _class(self, cls: type) -> None:
        bases = policy.bases_of(cls)
        libraries = {name for base in bases if not policy.is_user_class(base) for name in vars(base)}
        self._see(type(cls))
        for base in bases:
            if not policy.is_user_class(base):
                continue
            for name, member in list(vars(base).items()):
                special = name.startswith("__") and name.endswith("__")
                if special and name in _PLAIN:
                    continue
                is_method = _is(member, (FunctionType, staticmethod, classmethod))
                function = member if _is(member, FunctionType) else getattr(member, "__func__", member)
                if is_method:
                    self._by_name.setdefault(name, []).append(function)
                if special or name in libraries or not is_method:
                    self._see(function, held=True)
                elif name in self._named:
                    self._see(function)
                else:
                    self._waiting.setdefault(name, []).append(function)

    def _object(self, value: Any) -> None:
        cls = type(value)
        if policy.is_user_class(cls):
            self._see(cls)
            for name, part in _attributes(value):
                if _is(part, (FunctionType, MethodType, functools.partial)):
                    self._by_name.setdefault(name, []).append(part)
                self._see(part)
            return
        # A library's object may hold user code: a property, a cache, a partial, a traced function.
        python_function = getattr(value, "python_function", None) if policy.is_own_class(cls) else None
        if python_function is not None:
            self._see(python_function)
        elif _is(value, functools.partial):
            self._see(value.func)
            self._some(value.args)
            self._some(value.keywords.values())
        elif callable(value) or hasattr(cls, "__get__"):
            for name in _HELD:
                self._held_in(getattr(value, name, None))


def _is(value: Any, kinds: type | tuple[type, ...]) -> bool:
    """Return `isinstance(value, kinds)` by the actual type: `__class__` may run user code."""
    return issubclass(type(value), kinds)


def _is_open(kind: type) -> bool:
    """Return whether a value of this type may lead to callables."""
    try:
        return kind not in _ATOMS and backends[kind] is PYTHON
    except TypeError:  # a class made unhashable by its metaclass
        return True


def _contents(cells: Iterable[tuple[str, Any]]) -> Iterator[Any]:
    return (value for _, value in _named(cells))


def _named(cells: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    for name, cell in cells:
        try:
            yield name, cell.cell_contents
        except ValueError:  # a variable without a value
            continue


def _globals(f: FunctionType, names: frozenset[str]) -> Iterator[tuple[str, Any]]:
    """Yield the global variables that a function names, also those of user modules that it names."""
    space = f.__globals__
    package = space.get("__package__")
    for name in names:
        value: Any = space.get(name)
        if value is None:  # possibly imported by the function itself
            value = sys.modules.get(name) or sys.modules.get(f"{package}.{name}")
        if _is(value, ModuleType):
            if not policy.is_library_module(value):
                known = policy.attributes_of(value)
                yield from ((key, known[key]) for key in names if key in known)
        elif value is not None:
            yield name, value


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of an object, without running properties or `__getattr__`."""
    yield from list(policy.attributes_of(value).items())
    for base in policy.bases_of(type(value)):
        for name, member in vars(base).items():
            if type(member) is MemberDescriptorType:
                try:
                    yield name, member.__get__(value)
                except AttributeError:  # not set
                    continue


def names_of(f: FunctionType) -> CodeNames:
    """Return the names in a function and all functions inside it."""
    code = f.__code__
    known = _names.get(code)
    if known is None:
        known = _names[code] = CodeNames(code)
    return known


def _passed_on(f: FunctionType) -> Iterator[str]:
    """Yield the names that a function uses for more than a call: `key` in `sorted(xs, key=key)`."""
    node = source.find(f).node
    pending: list[Any] = [*node.body] if isinstance(node.body, list) else [node.body]
    called = set()
    while pending:
        part = pending.pop()
        kind = type(part)
        if kind is ast.Name:
            if part not in called and type(part.ctx) is ast.Load:
                yield part.id
            continue
        if kind is ast.Call:
            called.add(part.func)
        elif kind is ast.Attribute and part not in called and type(part.ctx) is ast.Load:
            yield part.attr
        pending += ast.iter_child_nodes(part)
