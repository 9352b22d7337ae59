"""Select proxy: an object that represents one of several existing objects, selected by the graph.

    acc = a if x > 0 else b         `acc` means (a, b)[index], and holds nothing itself
    acc.total                       (a.total, b.total)[index], which the graph selects
    acc.total = y                   a.total = y if index is 0, b.total = y if it is 1

So a mutation through one alias is observed through all others. The proxy class derives from the class of the
objects, so that methods, properties and `isinstance` work as in user code. See `select_proxy_items.py` for
items.
"""

from __future__ import annotations

import abc
import copy
import functools
from collections.abc import Callable, Iterable, Sequence
from types import MappingProxyType, MemberDescriptorType
from typing import Any, NamedTuple, NoReturn

from ... import policy
from ...staging import PYTHON, Backend, backends, is_chosen, is_opaque_leaf, settled
from .. import mutable_values
from ..diagnostics import ambiguous
from ..value_identity import same

_MISSING = object()
_IMMUTABLE = (int, float, complex, str, bytes, type(None))
_HOOKS = frozenset({"__getattribute__", "__setattr__", "__delattr__"})
_PYTHONS = frozenset({object, list, dict})


class Select(NamedTuple):
    """The candidates of a proxy and the index of the selected one; `name` is the user's name for the proxy."""

    number: Any
    objects: tuple[Any, ...]
    name: str


def choice_of(value: Any) -> Select:
    """Return the candidates of a proxy; an ordinary object is its own only candidate."""
    if not is_chosen(type(value)):
        return Select(0, (value,), "")
    found: Select = object.__getattribute__(value, "__chosen__")
    return found


def can_be_chosen(kinds: Iterable[type]) -> bool:
    """Return whether a proxy can represent objects of these classes.

    They must be one class, in which nothing but items and attributes matters.
    """
    own = {kind.__chosen_from__ if is_chosen(kind) else kind for kind in kinds}  # type: ignore[attr-defined]
    only: Any = own.pop() if len(own) == 1 else None
    return only is not None and _is_fit(only)


@functools.lru_cache(maxsize=1024)
def _is_fit(kind: Any) -> bool:
    if kind in (list, dict):
        return True
    if not policy.is_user_class(kind) or is_opaque_leaf(kind) or backends[kind] is not PYTHON:
        return False
    if type(kind) not in (type, abc.ABCMeta) or issubclass(kind, (tuple, *_IMMUTABLE, BaseException)):
        return False
    own = [base for base in policy.bases_of(kind) if base not in _PYTHONS]
    return all(base.__flags__ & _IS_HEAP and not _HOOKS & vars(base).keys() for base in own)


_IS_HEAP = 1 << 9  # a class that was made at run time, not built into Python


def chosen(number: Any, values: Sequence[Any], name: str) -> Any:
    """Return the element of `values` at index `number`: a proxy, or the object if there is only one.

    All values are objects that a proxy can represent.
    """
    objects: list[Any] = []
    number = select_object(number, [number_in(value, objects) for value in values], name)
    if isinstance(number, int):
        return objects[number]
    return make_select_proxy(number, objects, name)


def number_in(value: Any, objects: list[Any]) -> Any:
    """Return the index of `value` in `objects`; append its candidates that are missing there."""
    choice = choice_of(value)
    numbers = []
    for one in choice.objects:
        found = next((at for at, other in enumerate(objects) if other is one), len(objects))
        if found == len(objects):
            objects.append(one)
        numbers.append(found)
    if numbers == list(range(len(numbers))):
        return choice.number
    return select_object(choice.number, numbers, choice.name)


def make_select_proxy(number: Any, objects: Sequence[Any], name: str) -> Any:
    """Return a proxy that represents the element of `objects` at index `number`."""
    if not can_be_chosen(map(type, objects)):
        raise ambiguous(name, "are of different classes, or of a class that a proxy cannot represent")
    kind: Any = type(objects[0])
    kind = _class_of(kind)
    new = _base_of(kind).__new__(kind)
    object.__setattr__(new, "__chosen__", Select(number, tuple(objects), name))
    return new


def _base_of(kind: Any) -> Any:
    """Return the built-in class that creates the instances of a class."""
    return next(base for base in (list, dict, object) if issubclass(kind, base))


def select_object(number: Any, values: Sequence[Any], name: str) -> Any:
    """Return the element of `values` at index `number`."""
    if isinstance(number, int):
        return values[number]
    first = values[0]
    if all(same(first, value) for value in values):
        return first
    if can_be_chosen(map(type, values)):
        return chosen(number, values, name)
    if all(_is_like(value, first) for value in values):
        columns = enumerate(zip(*values, strict=True))
        parts = [select_object(number, column, f"{name}[{at}]") for at, column in columns]
        return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
    if not all(isinstance(value, _IMMUTABLE) or backends[type(value)] is not PYTHON for value in values):
        raise ambiguous(name, "are of different types, or of a type that the graph cannot select between")
    return _selected(backends[type(number)], number, values, name)


def _is_like(value: Any, first: Any) -> bool:
    """Return whether two values are tuples of the same class and length."""
    return type(value) is type(first) and isinstance(value, tuple) and len(value) == len(first)


def _selected(backend: Backend, number: Any, values: Sequence[Any], name: str) -> Any:
    """Return the element of `values` at index `number`, which the graph selects.

    The most frequent value needs no comparison.
    """
    counts = [sum(same(value, other) for other in values) for value in values]
    rest = values[max(range(len(values)), key=counts.__getitem__)]
    for at, value in enumerate(values):
        if not same(value, rest):
            (rest,) = backend.cond(number == at, _giving(value), _giving(rest), (), (name,))
    return rest


def _giving(value: Any) -> Any:
    return lambda: (value,)


class SelectProxy:
    """The base class before the user's class in the MRO: attributes are those of the candidates."""

    __slots__ = ()
    __chosen_from__: Any

    def __init_subclass__(cls) -> None:
        """Do nothing: the `__init_subclass__` of the user's classes must not run for a proxy class."""

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return type(self).__chosen_from__
        choice = choice_of(self)
        if name == "__dict__":
            names = dict.fromkeys(name for one in choice.objects for name in _dict_of(one))
            return MappingProxyType({name: getattr(self, name) for name in names})
        if not _is_held(choice, name):
            return object.__getattribute__(self, name)
        values = [getattr(one, name, _MISSING) for one in choice.objects]
        if any(value is _MISSING for value in values):
            raise ambiguous(choice.name, f"differ in whether they have `{name}`")
        return select_object(choice.number, values, f"{choice.name}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        choice = choice_of(self)
        member = _member(choice, name)
        if hasattr(type(member), "__set__") and not isinstance(member, MemberDescriptorType):
            object.__setattr__(self, name, value)  # a property, called with this proxy
            return
        old = [getattr(one, name, _MISSING) for one in choice.objects]
        if any(other is _MISSING for other in old):
            raise ambiguous(choice.name, f"get `{name}` for the first time")
        for one, new in zip(choice.objects, replaced(choice, old, value, name), strict=True):
            setattr(one, name, new)

    def __delattr__(self, name: str) -> None:
        raise ambiguous(choice_of(self).name, f"lose `{name}`")

    def __copy__(self) -> Any:
        return _copy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return copy.deepcopy(_copy(self), memo)

    def __rebuilt__(self, parts: Iterable[Any]) -> Any:
        """Return an ordinary object with these parts, for libraries that map a function over pytrees."""
        new = _copy(self)
        keys = _sorted_keys(new) if isinstance(new, dict) else [*mutable_values.parts(new)]
        for key, part in zip(keys, parts, strict=True):
            mutable_values.put(new, key, part)
        return new

    def __chosen_copy__(self) -> Any:
        return _copy(self, lambda part: settled(part) if is_chosen(type(part)) else part)


def replaced(choice: Select, old: Sequence[Any], value: Any, what: Any) -> list[Any]:
    """Return the new value for each candidate when the selected one gets `value` in place of the `old` ones."""
    name = f"{choice.name}.{what}"
    return [
        select_object(choice.number, [value if at == own else before for at in range(len(old))], name)
        for own, before in enumerate(old)
    ]


def _is_held(choice: Select, name: str) -> bool:
    """Return whether an attribute is stored in the objects themselves, rather than in their class."""
    member = _member(choice, name)
    if isinstance(member, (MemberDescriptorType, functools.cached_property)):
        return True
    return not hasattr(type(member), "__set__") and any(name in _dict_of(one) for one in choice.objects)


def _member(choice: Select, name: str) -> Any:
    bases = policy.bases_of(type(choice.objects[0]))
    return next((vars(base)[name] for base in bases if name in vars(base)), None)


def _dict_of(value: Any) -> dict[str, Any]:
    try:
        found: dict[str, Any] = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return found


def _copy(value: Any, part_of: Callable[[Any], Any] = lambda part: part) -> Any:
    """Return an ordinary object with the current contents of the selected one, mapped by `part_of`."""
    choice = choice_of(value)
    kind = type(choice.objects[0])
    new: Any = _base_of(kind).__new__(kind)
    if isinstance(new, list):
        list.extend(new, map(part_of, value))
    elif isinstance(new, dict):
        dict.update(new, {key: part_of(value[key]) for key in value})
    members = (name for base in policy.bases_of(kind) for name in vars(base))
    slots = [name for name in members if isinstance(_member(choice, name), MemberDescriptorType)]
    for name in (*slots, *_dict_of(choice.objects[0])):
        object.__setattr__(new, name, part_of(getattr(value, name)))
    return new


def _sorted_keys(value: dict[Any, Any]) -> list[Any]:
    try:
        return sorted(value)
    except TypeError:
        return [*value]


def _no_identity(self: Any, *_: Any) -> NoReturn:
    raise ambiguous(choice_of(self).name, "are compared or hashed by identity")


ITEM_MIXINS: dict[type, type] = {}
"""Base classes for proxies of lists and dicts, by the container; `select_proxy_items` registers them."""


@functools.lru_cache(maxsize=1024)
def _class_of(kind: Any) -> Any:
    """Return the proxy class for objects of class `kind`."""
    members: dict[str, Any] = {
        "__slots__": ("__chosen__",),
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "__chosen_from__": kind,
        "__new__": lambda cls, *args, **kwargs: kind(*args, **kwargs),  # for `type(self)(...)` in a method
    }
    if kind.__eq__ is object.__eq__:
        members.update(__eq__=_no_identity, __ne__=_no_identity, __hash__=_no_identity)
    items = [mixin for container, mixin in ITEM_MIXINS.items() if issubclass(kind, container)]
    bases = tuple(base for base in (SelectProxy, kind, *items) if base not in (list, dict))
    return type(kind)(kind.__name__, bases, members)
