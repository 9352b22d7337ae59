"""Everything that a staged block may change: what its code can reach, and what that held when the block began.

    while i < n:           the block's code names      net, step, i
        net.step(i)        net is an object            what its attributes hold is noted
        i += 1             Net.step is code as well    and names more: total, LOG, ...

The search goes by name: an attribute of which no code within reach speaks is not followed, nor is a global
variable. Where code reaches attributes in other ways, such as `getattr`, all of them are followed."""

from __future__ import annotations

import functools
import types
from collections import deque
from collections.abc import Callable, Iterable
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from .. import policy
from ..analyses import effects
from ..staging import PYTHON, backends
from . import records
from .fingerprints import Progress, is_iterator
from .records import Record, Trail

_ATOMS: frozenset[type] = frozenset(
    {
        int,
        float,
        complex,
        bool,
        str,
        bytes,
        type(None),
        type(...),
        type(NotImplemented),
        range,
        slice,
        CodeType,
    }
    | {types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType, object}
    | {types.MethodDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType}
)
_FUNCTION_CLASSES = (FunctionType, staticmethod, classmethod, property, functools.cached_property)

_EVERYTHING = frozenset({"globals", "exec", "eval"})  # with these, code reaches all variables of its module
# What these modules define are containers: code reaches the items without a word of the attributes.
_CONTAINERS = frozenset({"collections", "weakref", "_weakrefset", "_thread", "types"})
LARGEST_ARRAY = 1 << 26  # bytes

Follow = Callable[["Survey", Any, Trail], None]


class Survey:
    """The records of all objects within reach of the functions and values `roots`."""

    def __init__(self, roots: Iterable[tuple[str, Any]]) -> None:
        self.records: dict[Any, Record] = {}
        self.codes: dict[int, CodeType] = {}
        self._names: set[str] = set()
        self._reflects = False
        self._seen: dict[int, Any] = {}  # keeps what was seen alive, so that no other object gets its number
        self._queue: deque[tuple[Any, Trail]] = deque()
        # What has named parts: the parts that are still to be followed, once some code names them
        self._named: list[tuple[dict[str, Any], Trail, Callable[[str], None] | None]] = []
        for name, value in roots:
            self.push(value, Trail(None, "", name))
        self._search()

    def push(self, value: Any, trail: Trail) -> None:
        """Look at a value later, unless there is nothing to be changed in it."""
        if type(value) not in _ATOMS:
            self._queue.append((value, trail))

    def changed(self) -> list[Record]:
        """The records that do not hold any more."""
        return [record for record in self.records.values() if record.has_changed()]

    def restore(self) -> None:
        """Make everything what it was."""
        for record in self.records.values():
            record.restore()

    def _search(self) -> None:
        followed = -1, False
        while self._queue or followed != (len(self._names), self._reflects):
            while self._queue:
                value, trail = self._queue.popleft()
                self._visit(value, trail)
            followed = len(self._names), self._reflects
            for parts, trail, noted in self._named:
                for name in list(parts) if self._reflects else [*(parts.keys() & self._names)]:
                    if noted is not None:
                        noted(name)
                    self.push(parts.pop(name), Trail(trail, ".", name))

    def _visit(self, value: Any, trail: Trail) -> None:
        number = id(value)
        if number in self._seen:
            known = self.records.get(number)
            if known is not None:
                known.labels.add(trail.label)
            return
        kind = type(value)
        if backends[kind] is not PYTHON:
            return
        self._seen[number] = value
        for base, follow in _FOLLOW:
            if isinstance(value, base):
                follow(self, value, trail)
                break
        else:
            if is_iterator(value):
                self.records[number] = Progress(value, trail)
                return
            if isinstance(value, memoryview):
                self.push(value.obj, trail)
                return
            if _is_array(value):
                self.records[number] = records.Buffer(value, trail)
                return
        if kind not in _BUILT_IN and not isinstance(value, _PLAIN_KINDS):
            self._object(value, kind, trail)

    # What has parts without names

    def _list(self, items: Any, trail: Trail) -> None:
        record = self.records[id(items)] = records.Sequence(items, trail)
        self._items(record.kept, trail)

    def _items(self, items: Iterable[Any], trail: Trail) -> None:
        for index, item in enumerate(items):
            kind = type(item)
            if kind not in _ATOMS and not (kind is tuple and _ATOMS.issuperset(map(type, item))):
                self._queue.append((item, Trail(trail, "[", index)))

    def _dict(self, mapping: Any, trail: Trail) -> None:
        record = self.records[id(mapping)] = records.Entries(mapping, trail, mapping, "[")
        for key, item in record.kept.items():
            for part in (key, item):
                if type(part) not in _ATOMS:
                    self._queue.append((part, Trail(trail, "[", key)))

    def _set(self, members: Any, trail: Trail) -> None:
        self.records[id(members)] = records.Members(members, trail)
        self._items(list(members), trail)

    # Code

    def _function(self, function: FunctionType, trail: Trail) -> None:
        is_users = policy.is_user_code(function)
        for name, shared in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self._cell(shared, Trail(None, "", name), is_users)
        self._dict_of(function, trail)
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self.push(default, Trail(None, "", function.__name__))
        if is_users:
            self._code(function.__code__, function.__globals__)

    def _cell(self, shared: CellType, trail: Trail, is_users: bool) -> None:
        if id(shared) in self._seen:
            return
        self._seen[id(shared)] = shared
        record = records.cell(shared, trail)
        if is_users:
            self.records[id(shared)] = record
        self.push(record.kept, trail)

    def _code(self, code: CodeType, variables: dict[str, Any]) -> None:
        if id(code) in self.codes:
            return
        self.codes[id(code)] = code
        known = effects.facts(code)
        self._names |= known.names
        self._reflects |= known.reflects
        names = known.names if _EVERYTHING.isdisjoint(known.names) else known.names | variables.keys()
        for name in names:
            if name in variables or name in known.globals_set:
                self._global(variables, name)

    def _global(self, variables: dict[str, Any], name: str) -> None:
        key = id(variables), name
        if key not in self.records:
            record = self.records[key] = records.global_variable(variables, Trail(None, "", name))
            self.push(record.kept, record.trail)

    def _method(self, method: MethodType, trail: Trail) -> None:
        self.push(method.__func__, trail)
        self.push(method.__self__, Trail(None, "", "self"))

    def _partial(self, partial: functools.partial[Any], trail: Trail) -> None:
        self.push(partial.func, trail)
        self._items((*partial.args, *partial.keywords.values()), trail)

    def _wrapper(self, wrapper: Any, trail: Trail) -> None:
        for part in ("__func__", "fget", "fset", "fdel", "func"):
            self.push(getattr(wrapper, part, None), trail)

    # What has named parts

    def _module(self, module: ModuleType, trail: Trail) -> None:
        if not policy.is_library_module(module):
            variables = vars(module)
            self._named.append((dict(variables), trail, functools.partial(self._global, variables)))

    def _class(self, owner: type, trail: Trail) -> None:
        for base in policy.bases_of(owner):
            if base is owner or id(base) not in self._seen:
                self._seen[id(base)] = base
                if policy.is_user_class(base):
                    self._class_itself(base, trail)
        self.push(type(owner), trail)

    def _class_itself(self, owner: type, trail: Trail) -> None:
        members = dict(vars(owner))
        for name in [name for name in members if name.startswith("__") and name.endswith("__")]:
            member = members.pop(name)
            if isinstance(member, _FUNCTION_CLASSES):
                self.push(member, Trail(trail, ".", name))

        def noted(name: str) -> None:
            if not isinstance(vars(owner).get(name), (*_FUNCTION_CLASSES, types.MemberDescriptorType)):
                at = Trail(Trail(None, "", owner.__name__), ".", name)
                self.records[id(owner), name] = records.class_attribute(owner, at)

        self._named.append((members, trail, noted))

    def _object(self, value: Any, kind: type, trail: Trail) -> None:
        """An instance of a user's class, or of a container that is written in Python."""
        bases = policy.bases_of(kind)
        is_container = any(base.__module__ in _CONTAINERS for base in bases)
        if policy.is_user_class(kind):
            self.push(kind, trail)
        elif not is_container:
            self.push(getattr(value, "__wrapped__", None) if kind is _CACHE else None, trail)
            return
        self._dict_of(value, trail, follow_all=is_container)
        for base in bases:
            for name, member in vars(base).items():
                if isinstance(member, types.MemberDescriptorType) and policy.is_user_class(base):
                    at = Trail(trail, ".", name)
                    record = self.records[id(value), name] = records.slot(value, member, at)
                    self.push(record.kept, at)

    def _dict_of(self, value: Any, trail: Trail, follow_all: bool = False) -> None:
        try:
            attributes = value.__dict__ if follow_all else object.__getattribute__(value, "__dict__")
        except AttributeError:
            return
        if isinstance(attributes, dict) and id(attributes) not in self.records:
            record = self.records[id(attributes)] = records.Entries(
                attributes, trail, attributes, ".", type(value)
            )
            if follow_all:
                for name, part in record.kept.items():
                    self.push(part, Trail(trail, ".", name))
            else:
                self._named.append((dict(record.kept), trail, None))


def _is_array(value: Any) -> bool:
    """Whether a value is memory that code may write to, and not too much of it to be copied."""
    try:
        view = memoryview(value)
    except (TypeError, ValueError, BufferError):
        return False
    return not view.readonly and view.nbytes <= LARGEST_ARRAY


_FOLLOW: tuple[tuple[Any, Follow], ...] = (
    (FunctionType, Survey._function),
    (MethodType, Survey._method),
    (ModuleType, Survey._module),
    (type, Survey._class),
    ((list, deque), Survey._list),
    (dict, Survey._dict),
    (set, Survey._set),
    ((tuple, frozenset), Survey._items),
    (functools.partial, Survey._partial),
    (_FUNCTION_CLASSES[1:], Survey._wrapper),
)
_CACHE = type(functools.lru_cache(len))
_BUILT_IN = frozenset({list, dict, set, tuple, frozenset, deque})
_PLAIN_KINDS = (FunctionType, MethodType, ModuleType, type)
