"""Heap walk: visit all objects that code can reach, and take snapshots of their contents.

    while i < n:           names in the block's code   net, step, i
        net.step(i)        net is an object            a snapshot of its attributes is taken
        i += 1             Net.step is code as well    and adds names: total, LOG, ...

The walk goes by name: an attribute or global variable is followed only if some reachable code contains its
name. Where code reaches attributes in other ways, such as `getattr`, all of them are followed.
"""

from __future__ import annotations

import functools
import gc
import io
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Set
from contextvars import ContextVar
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from .. import policy
from ..analysis import bytecode_effects
from ..errors import is_block, is_own_file
from . import container_snapshots, snapshots
from .class_traits import ATOMS, ClassTraits, Kinds
from .iterator_position import IteratorPosition, is_iterator, iterator_parts
from .pickled_state import ObjectState, has_state
from .process_state import is_of_process
from .snapshots import AccessPath, ObjectSnapshot
from .stored_attributes import StoredAttributes, fixed

_FUNCTION_CLASSES = (FunctionType, staticmethod, classmethod, property, functools.cached_property)

_ANNOTATING = frozenset({"__annotate__", "__annotate_func__"})
"""Annotation functions of Python 3.14. They run lazily, and hold the namespace of the class."""

_PROXIES = weakref.ProxyType, weakref.CallableProxyType
_VIEWS: tuple[type, ...] = types.MappingProxyType, type({}.keys()), type({}.values()), type({}.items())

_FILES = io.TextIOWrapper, io.BufferedIOBase, io.RawIOBase
# With these names, code reaches all variables of its module.
_EVERYTHING = frozenset({"globals", "exec", "eval"})
LARGEST_ARRAY = 1 << 26  # bytes

Follow = Callable[["HeapWalker", Any, AccessPath], None]


class HeapWalker:
    """The snapshots of all objects reachable from `roots`, for code that contains `names`."""

    def __init__(
        self,
        roots: Iterable[tuple[Any, AccessPath]],
        names: Set[str] = frozenset(),
        reflects: bool = False,
    ) -> None:
        self.also: dict[int, set[str]] = {}  # id → labels of an object without a snapshot in this walk
        self.records: dict[Any, ObjectSnapshot] = {}
        self.codes: dict[int, CodeType] = {}
        self.names = set(names)
        self.globals: dict[int, dict[str, Any]] = {}  # id of code → its global variables
        self.caches: list[Any] = []  # functions with `lru_cache`
        self.files: list[Any] = []
        self.reflects = reflects
        self._kinds = Kinds()
        self._without_memory: set[type] = set()
        self._stored = StoredAttributes(self.records)
        self.visited: dict[
            int, Any
        ] = {}  # keeps visited objects alive, so that no other object gets their ids
        self._queue: deque[tuple[Any, AccessPath]] = deque()
        # Objects with named parts: the parts to follow once some code contains their names.
        self._named: list[tuple[dict[str, Any], AccessPath, Callable[[str], None] | None]] = []
        for value, trail in roots:
            self.push(value, trail)
        self._search()

    def push(self, value: Any, trail: AccessPath) -> None:
        """Enqueue `value`, unless it is immutable."""
        if self.is_open(value):
            self._queue.append((value, trail))

    def is_open(self, value: Any) -> bool:
        """Return whether `value` may contain something mutable."""
        return type(value) not in ATOMS and self._kinds[type(value)].is_open

    def _search(self) -> None:
        followed = -1, False
        while self._queue or followed != (len(self.names), self.reflects):
            while self._queue:
                value, trail = self._queue.popleft()
                self._visit(value, trail)
            self._stored.note(self.names)
            followed = len(self.names), self.reflects
            for parts, trail, noted in self._named:
                for name in list(parts) if self.reflects else [*(parts.keys() & self.names)]:
                    if noted is not None:
                        noted(name)
                    self.push(parts.pop(name), AccessPath(trail, ".", name))

    def _visit(self, value: Any, trail: AccessPath) -> None:
        number = id(value)
        if number in self.visited:
            known = self.records.get(number)
            labels = self.also.get(number) if known is None else known.labels
            if labels is not None:
                labels.add(trail.label)
            return
        cls: Any = type(value)
        kind = self._kinds[cls]
        if not kind.is_open:
            return
        self.visited[number] = value
        follow = _follow_of(cls)
        if follow is not None:
            follow(self, value, trail)
        elif kind.is_users and cls in self._without_memory:
            pass
        elif is_iterator(value):
            self.records[number] = IteratorPosition(value, trail)
            self._items(iterator_parts(value), trail)
            return
        elif isinstance(value, memoryview):
            self.records[number] = ObjectState(value, trail)
            if _has_memory(value):
                self.push(value.obj, trail)
            return
        elif _has_memory(value):
            self._buffer(value, trail)
        elif not hasattr(cls, "__buffer__"):
            self._without_memory.add(cls)
        role = _role_of(cls)
        if role == "file":
            self.files.append(value)
        elif role == "state" and not is_of_process(value):
            self.records[number, ""] = ObjectState(value, trail)
        if kind.is_object:
            self.also[number] = {trail.label}
            self._object(value, kind, trail)

    # Objects that have parts without names

    def _buffer(self, value: Any, trail: AccessPath) -> None:
        if _is_array(value):
            self.records[id(value)] = container_snapshots.BufferSnapshot(value, trail)
        if "O" in memoryview(value).format:
            self._items(value.ravel().tolist(), trail)  # a NumPy array
        self.push(getattr(value, "base", None), trail)

    def _referents(self, view: Any, trail: AccessPath) -> None:
        """Visit the container of a view."""
        self._items(gc.get_referents(view), trail)

    def _reference(self, reference: weakref.ref[Any], trail: AccessPath) -> None:
        self.push(reference(), trail)

    def _proxy(self, proxy: Any, trail: AccessPath) -> None:
        try:
            target = proxy.__init__.__self__  # any bound method refers to the target
        except (ReferenceError, AttributeError):
            return
        self.push(target, trail)

    def _context_variable(self, variable: ContextVar[Any], trail: AccessPath) -> None:
        record = self.records[id(variable)] = snapshots.context_variable(variable, trail)
        self.push(record.kept, trail)

    def _list(self, items: Any, trail: AccessPath) -> None:
        record = self.records[id(items)] = container_snapshots.Sequence(items, trail)
        self._items(record.kept, trail)

    def _items(self, items: Iterable[Any], trail: AccessPath) -> None:
        for index, item in enumerate(items):
            kind = type(item)
            if kind not in ATOMS and not (kind is tuple and ATOMS.issuperset(map(type, item))):
                self._queue.append((item, AccessPath(trail, "[", index)))

    def _dict(self, mapping: Any, trail: AccessPath) -> None:
        record = self.records[id(mapping)] = container_snapshots.Entries(mapping, trail, mapping, "[")
        for key, item in record.kept.items():
            for part in (key, item):
                if type(part) not in ATOMS:
                    self._queue.append((part, AccessPath(trail, "[", key)))

    def _set(self, members: Any, trail: AccessPath) -> None:
        self.records[id(members)] = container_snapshots.Members(members, trail)
        self._items(list(members), trail)

    # Functions and code

    def _function(self, function: FunctionType, trail: AccessPath) -> None:
        code, closure = function.__code__, function.__closure__
        if closure is None and is_own_file(code.co_filename):
            return  # a function of this package, such as `keep`
        is_users = policy.is_user_code(function)
        self._stored.bear(function, trail)
        for name, shared in zip(code.co_freevars, closure or (), strict=True):
            self._cell(
                shared, AccessPath(None, "", name) if is_users else AccessPath(trail, "@", name), is_users
            )
        if not is_block(code):  # user code cannot reach the attributes of a generated function
            self._dict_of(function, trail)
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self.push(default, AccessPath(None, "", function.__name__))
        if is_users:
            self._code(code, function.__globals__)
        if function.__kwdefaults__ and "__kwdefaults__" in self.names:
            self.push(function.__kwdefaults__, AccessPath(trail, ".", "__kwdefaults__"))

    def _cell(self, shared: CellType, trail: AccessPath, is_users: bool) -> None:
        if id(shared) in self.visited:
            return
        self.visited[id(shared)] = shared
        record = snapshots.cell(shared, trail)
        if is_users:
            self.records[id(shared)] = record
        self.push(record.kept, trail)

    def _code(self, code: CodeType, variables: dict[str, Any]) -> None:
        if id(code) in self.codes:
            return
        self.codes[id(code)] = code
        self.globals[id(code)] = variables
        known = bytecode_effects.facts(code)
        names = known.names | known.stored
        self.names |= names
        self.reflects |= known.reflects
        named: Set[str] = (variables.keys() & known.names) | known.globals_set
        if not _EVERYTHING.isdisjoint(known.names):
            named = known.names | variables.keys()
        for name in named:
            self._global(variables, name)

    def _global(self, variables: dict[str, Any], name: str) -> None:
        key = id(variables), name
        if key not in self.records:
            record = self.records[key] = snapshots.global_variable(variables, AccessPath(None, "", name))
            self.push(record.kept, record.trail)

    def _method(self, method: MethodType, trail: AccessPath) -> None:
        self.push(method.__func__, trail)
        self.push(method.__self__, AccessPath(None, "", "self"))

    def _bound(self, method: Any, trail: AccessPath) -> None:
        """Visit the object of a built-in method used as a value, such as `log.append`."""
        if not isinstance(method.__self__, ModuleType | type | None):
            self.push(method.__self__, trail)

    def _partial(self, partial: functools.partial[Any], trail: AccessPath) -> None:
        self.push(partial.func, trail)
        self._items((*partial.args, *partial.keywords.values()), trail)
        if not is_own_file(getattr(getattr(partial.func, "__code__", None), "co_filename", "")):
            for name in ("func", "args"):
                self.records[id(partial), name] = fixed(partial, AccessPath(trail, ".", name))
            keywords = container_snapshots.Entries(partial.keywords, trail, partial.keywords, "[")
            self.records[id(partial.keywords)] = keywords
            if policy.attributes_of(partial):
                self._dict_of(partial, trail, follow_all=True)

    def _wrapper(self, wrapper: Any, trail: AccessPath) -> None:
        for part in ("__func__", "fget", "fset", "fdel", "func"):
            self.push(getattr(wrapper, part, None), trail)

    # Objects that have named parts

    def _module(self, module: ModuleType, trail: AccessPath) -> None:
        is_librarys = policy.is_library_module(module)
        self._stored.bear(module, trail, not is_librarys)
        if is_librarys:
            members = policy.attributes_of(module)
            for name in members.keys() & self.names:
                if isinstance(members[name], type):
                    self._stored.bear(members[name], AccessPath(trail, ".", name))
        else:
            variables = vars(module)
            self._named.append((dict(variables), trail, functools.partial(self._global, variables)))

    def _class(self, owner: type, trail: AccessPath) -> None:
        for base in policy.bases_of(owner):
            if base is owner or id(base) not in self.visited:
                self.visited[id(base)] = base
                is_users = policy.is_user_class(base)
                if is_users or base is owner:
                    self._stored.bear(base, AccessPath(None, "", base.__name__), is_users)
                if is_users:
                    self._class_itself(base, trail)
        self.push(type(owner), trail)

    def _class_itself(self, owner: type, trail: AccessPath) -> None:
        members = dict(vars(owner))
        for name in [name for name in members if name.startswith("__") and name.endswith("__")]:
            member = members.pop(name)
            if isinstance(member, _FUNCTION_CLASSES) and name not in _ANNOTATING:
                self.push(member, AccessPath(trail, ".", name))

        def noted(name: str) -> None:
            if not isinstance(vars(owner).get(name), (*_FUNCTION_CLASSES, types.MemberDescriptorType)):
                at = AccessPath(AccessPath(None, "", owner.__name__), ".", name)
                self.records[id(owner), name] = snapshots.class_attribute(owner, at)

        self._named.append((members, trail, noted))

    def _object(self, value: Any, kind: ClassTraits, trail: AccessPath) -> None:
        """Visit an instance of a user's class, or of a container that is written in Python."""
        if kind.is_users:
            self._stored.bear_instance(value, trail)
        else:
            self._stored.bear(value, trail)
        if kind.is_users:
            self.push(type(value), trail)
        elif not kind.is_container:
            if kind.is_cache:
                self.caches.append(value)
                self.push(getattr(value, "__wrapped__", None), trail)
            return
        self._dict_of(value, trail, follow_all=kind.is_container, attribute=kind.attribute)
        for name, member in kind.slots:
            at = AccessPath(trail, ".", name)
            record = self.records[id(value), name] = snapshots.slot(value, member, at)
            self.push(record.kept, at)

    def _dict_of(self, value: Any, trail: AccessPath, follow_all: bool = False, attribute: str = ".") -> None:
        try:
            attributes = value.__dict__ if follow_all else object.__getattribute__(value, "__dict__")
        except AttributeError:
            return
        if isinstance(attributes, dict) and id(attributes) not in self.records:
            record = self.records[id(attributes)] = container_snapshots.Entries(
                attributes, trail, attributes, attribute, type(value)
            )
            if follow_all:
                for name, part in record.kept.items():
                    self.push(part, AccessPath(trail, attribute, name))
            else:
                self._named.append((dict(record.kept), trail, None))


def _has_memory(value: Any) -> bool:
    try:
        memoryview(value)
    except (TypeError, ValueError, BufferError):
        return False
    return True


def _is_array(value: Any) -> bool:
    """Return whether `value` is writable memory that is small enough to be copied."""
    view = memoryview(value)
    return not view.readonly and view.nbytes <= LARGEST_ARRAY


_FOLLOW: tuple[tuple[Any, Follow], ...] = (
    (FunctionType, HeapWalker._function),
    (MethodType, HeapWalker._method),
    ((types.BuiltinFunctionType, types.MethodWrapperType), HeapWalker._bound),
    (ModuleType, HeapWalker._module),
    (type, HeapWalker._class),
    ((list, deque), HeapWalker._list),
    (dict, HeapWalker._dict),
    (set, HeapWalker._set),
    ((tuple, frozenset), HeapWalker._items),
    (weakref.ref, HeapWalker._reference),
    (_PROXIES, HeapWalker._proxy),
    (_VIEWS, HeapWalker._referents),
    (ContextVar, HeapWalker._context_variable),
    (functools.partial, HeapWalker._partial),
    (_FUNCTION_CLASSES[1:], HeapWalker._wrapper),
)


@functools.lru_cache(maxsize=1024)
def _role_of(cls: type) -> str:
    """Return the role of instances of a class: a file, an object with readable state, or neither."""
    if issubclass(cls, _FILES) and not issubclass(cls, io.BytesIO):
        return "file"
    return "state" if has_state(cls) else ""


@functools.lru_cache(maxsize=1024)
def _follow_of(cls: Any) -> Follow | None:
    """Return the method that visits instances of a class."""
    return next((follow for base, follow in _FOLLOW if issubclass(cls, base)), None)
