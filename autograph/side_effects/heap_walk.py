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
from .custom_setters import has_buffer
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
        self, roots: Iterable[tuple[Any, AccessPath]], names: Set[str] = frozenset(), reflects: bool = False
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
        for value, path in roots:
            self.push(value, path)
        self._search()

    def push(self, value: Any, path: AccessPath) -> None:
        """Enqueue `value`, unless it is immutable."""
        if self.is_open(value):
            self._queue.append((value, path))

    def is_open(self, value: Any) -> bool:
        """Return whether `value` may contain something mutable."""
        return type(value) not in ATOMS and self._kinds[type(value)].is_open

    def _search(self) -> None:
        followed = -1, False
        while self._queue or followed != (len(self.names), self.reflects):
            while self._queue:
                value, path = self._queue.popleft()
                self._visit(value, path)
            self._stored.take_snapshots(self.names)
            followed = len(self.names), self.reflects
            for parts, path, on_follow in self._named:
                for name in list(parts) if self.reflects else [*(parts.keys() & self.names)]:
                    if on_follow is not None:
                        on_follow(name)
                    self.push(parts.pop(name), AccessPath(path, ".", name))

    def _visit(self, value: Any, path: AccessPath) -> None:
        number = id(value)
        if number in self.visited:
            known = self.records.get(number)
            labels = self.also.get(number) if known is None else known.labels
            if labels is not None:
                labels.add(path.label)
            return
        cls: Any = type(value)
        kind = self._kinds[cls]
        if not kind.is_open:
            return
        self.visited[number] = value
        follow = _follow_of(cls)
        if follow is not None:
            follow(self, value, path)
        elif kind.is_users and cls in self._without_memory:
            pass
        elif is_iterator(value):
            self.records[number] = IteratorPosition(value, path)
            self._items(iterator_parts(value), path)
            return
        elif isinstance(value, memoryview):
            self.records[number] = ObjectState(value, path)
            if has_buffer(value):
                self.push(value.obj, path)
            return
        elif has_buffer(value):
            self._buffer(value, path)
        elif not hasattr(cls, "__buffer__"):
            self._without_memory.add(cls)
        role = _role_of(cls)
        if role == "file":
            self.files.append(value)
        elif role == "state" and not is_of_process(value):
            self.records[number, ""] = ObjectState(value, path)
        if kind.is_object:
            self.also[number] = {path.label}
            self._object(value, kind, path)

    # Objects that have parts without names

    def _buffer(self, value: Any, path: AccessPath) -> None:
        if _is_array(value):
            self.records[id(value)] = container_snapshots.BufferSnapshot(value, path)
        if "O" in memoryview(value).format:
            self._items(value.ravel().tolist(), path)  # a NumPy array
        self.push(getattr(value, "base", None), path)

    def _referents(self, view: Any, path: AccessPath) -> None:
        """Visit the container of a view."""
        self._items(gc.get_referents(view), path)

    def _reference(self, reference: weakref.ref[Any], path: AccessPath) -> None:
        self.push(reference(), path)

    def _proxy(self, proxy: Any, path: AccessPath) -> None:
        try:
            target = proxy.__init__.__self__  # any bound method refers to the target
        except (ReferenceError, AttributeError):
            return
        self.push(target, path)

    def _context_variable(self, variable: ContextVar[Any], path: AccessPath) -> None:
        record = self.records[id(variable)] = snapshots.context_variable(variable, path)
        self.push(record.saved, path)

    def _list(self, items: Any, path: AccessPath) -> None:
        record = self.records[id(items)] = container_snapshots.Sequence(items, path)
        self._items(record.saved, path)

    def _items(self, items: Iterable[Any], path: AccessPath) -> None:
        for index, item in enumerate(items):
            kind = type(item)
            if kind not in ATOMS and not (kind is tuple and ATOMS.issuperset(map(type, item))):
                self._queue.append((item, AccessPath(path, "[", index)))

    def _dict(self, mapping: Any, path: AccessPath) -> None:
        record = self.records[id(mapping)] = container_snapshots.Entries(mapping, path, mapping, "[")
        for key, item in record.saved.items():
            for part in (key, item):
                if type(part) not in ATOMS:
                    self._queue.append((part, AccessPath(path, "[", key)))

    def _set(self, members: Any, path: AccessPath) -> None:
        self.records[id(members)] = container_snapshots.Members(members, path)
        self._items(list(members), path)

    # Functions and code

    def _function(self, function: FunctionType, path: AccessPath) -> None:
        code, closure = function.__code__, function.__closure__
        if closure is None and is_own_file(code.co_filename):
            return  # a function of this package, such as `keep`
        is_users = policy.is_user_code(function)
        self._stored.register(function, path)
        for name, shared in zip(code.co_freevars, closure or (), strict=True):
            self._cell(
                shared, AccessPath(None, "", name) if is_users else AccessPath(path, "@", name), is_users
            )
        if not is_block(code):  # user code cannot reach the attributes of a generated function
            self._dict_of(function, path)
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self.push(default, AccessPath(None, "", function.__name__))
        if is_users:
            self._code(code, function.__globals__)
        if function.__kwdefaults__ and "__kwdefaults__" in self.names:
            self.push(function.__kwdefaults__, AccessPath(path, ".", "__kwdefaults__"))

    def _cell(self, shared: CellType, path: AccessPath, is_users: bool) -> None:
        if id(shared) in self.visited:
            return
        self.visited[id(shared)] = shared
        record = snapshots.cell(shared, path)
        if is_users:
            self.records[id(shared)] = record
        self.push(record.saved, path)

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
            self.push(record.saved, record.path)

    def _method(self, method: MethodType, path: AccessPath) -> None:
        self.push(method.__func__, path)
        self.push(method.__self__, AccessPath(None, "", "self"))

    def _bound(self, method: Any, path: AccessPath) -> None:
        """Visit the object of a built-in method used as a value, such as `log.append`."""
        if not isinstance(method.__self__, ModuleType | type | None):
            self.push(method.__self__, path)

    def _partial(self, partial: functools.partial[Any], path: AccessPath) -> None:
        self.push(partial.func, path)
        self._items((*partial.args, *partial.keywords.values()), path)
        if not is_own_file(getattr(getattr(partial.func, "__code__", None), "co_filename", "")):
            for name in ("func", "args"):
                self.records[id(partial), name] = fixed(partial, AccessPath(path, ".", name))
            keywords = container_snapshots.Entries(partial.keywords, path, partial.keywords, "[")
            self.records[id(partial.keywords)] = keywords
            if policy.attributes_of(partial):
                self._dict_of(partial, path, follow_all=True)

    def _wrapper(self, wrapper: Any, path: AccessPath) -> None:
        for part in ("__func__", "fget", "fset", "fdel", "func"):
            self.push(getattr(wrapper, part, None), path)

    # Objects that have named parts

    def _module(self, module: ModuleType, path: AccessPath) -> None:
        is_librarys = policy.is_library_module(module)
        self._stored.register(module, path, not is_librarys)
        if is_librarys:
            members = policy.attributes_of(module)
            for name in members.keys() & self.names:
                if isinstance(members[name], type):
                    self._stored.register(members[name], AccessPath(path, ".", name))
        else:
            variables = vars(module)
            self._named.append((dict(variables), path, functools.partial(self._global, variables)))

    def _class(self, owner: type, path: AccessPath) -> None:
        for base in policy.bases_of(owner):
            if base is owner or id(base) not in self.visited:
                self.visited[id(base)] = base
                is_users = policy.is_user_class(base)
                if is_users or base is owner:
                    self._stored.register(base, AccessPath(None, "", base.__name__), is_users)
                if is_users:
                    self._class_itself(base, path)
        self.push(type(owner), path)

    def _class_itself(self, owner: type, path: AccessPath) -> None:
        members = dict(vars(owner))
        for name in [name for name in members if name.startswith("__") and name.endswith("__")]:
            member = members.pop(name)
            if isinstance(member, _FUNCTION_CLASSES) and name not in _ANNOTATING:
                self.push(member, AccessPath(path, ".", name))

        def on_follow(name: str) -> None:
            if not isinstance(vars(owner).get(name), (*_FUNCTION_CLASSES, types.MemberDescriptorType)):
                at = AccessPath(AccessPath(None, "", owner.__name__), ".", name)
                self.records[id(owner), name] = snapshots.class_attribute(owner, at)

        self._named.append((members, path, on_follow))

    def _object(self, value: Any, kind: ClassTraits, path: AccessPath) -> None:
        """Visit an instance of a user's class, or of a container that is written in Python."""
        if kind.is_users:
            self._stored.register_instance(value, path)
        else:
            self._stored.register(value, path)
        if kind.is_users:
            self.push(type(value), path)
        elif not kind.is_container:
            if kind.is_cache:
                self.caches.append(value)
                self.push(getattr(value, "__wrapped__", None), path)
            return
        self._dict_of(value, path, follow_all=kind.is_container, attribute=kind.attribute)
        for name, member in kind.slots:
            at = AccessPath(path, ".", name)
            record = self.records[id(value), name] = snapshots.slot(value, member, at)
            self.push(record.saved, at)

    def _dict_of(self, value: Any, path: AccessPath, follow_all: bool = False, attribute: str = ".") -> None:
        try:
            attributes = value.__dict__ if follow_all else object.__getattribute__(value, "__dict__")
        except AttributeError:
            return
        if isinstance(attributes, dict) and id(attributes) not in self.records:
            record = self.records[id(attributes)] = container_snapshots.Entries(
                attributes, path, attributes, attribute, type(value)
            )
            if follow_all:
                for name, part in record.saved.items():
                    self.push(part, AccessPath(path, attribute, name))
            else:
                self._named.append((dict(record.saved), path, None))


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
