"""Items of a select proxy for a list or dict: see `select_proxy.py`.

    row = rows[0] if x > 0 else rows[1]         row[1]          (rows[0][1], rows[1][1])[index]
    row[1] = y                                  rows[0][1] = y if index is 0, ...

Mutations that change the length of a candidate are refused. These classes come after the user's class in the
MRO, so that methods which the user's class overrides are used.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from ..diagnostics import ambiguous
from .select_proxy import ITEM_MIXINS, choice_of, replaced, select_object


def _refuse(what: str) -> Callable[..., NoReturn]:
    def refused(self: Any, *_: Any, **__: Any) -> NoReturn:
        raise ambiguous(choice_of(self).name, what)

    return refused


def _on_copy(function: Callable[..., Any], taken: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return an operation that works on a plain copy of the current contents."""

    def operation(self: Any, *others: Any) -> Any:
        mine = taken(self)
        return function(mine, *(mine if other is self else _plain(taken, other) for other in others))

    return operation


def _plain(taken: Callable[[Any], Any], other: Any) -> Any:
    return taken(other) if isinstance(other, (ListItems, DictItems)) else other


class ListItems(list[Any]):
    """The list methods of a select proxy."""

    __slots__ = ()

    def __len__(self) -> int:
        choice = choice_of(self)
        lengths = {list.__len__(one) for one in choice.objects}
        if len(lengths) > 1:
            raise ambiguous(choice.name, "have different lengths")
        return lengths.pop()

    def __getitem__(self, key: Any) -> Any:
        choice = choice_of(self)
        if isinstance(key, slice):
            return [self[at] for at in range(*key.indices(len(self)))]
        return select_object(choice.number, [one[key] for one in choice.objects], f"{choice.name}[{key!r}]")

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, slice):
            places, values = range(*key.indices(len(self))), list(value)
            if len(places) != len(values):
                raise ambiguous(choice_of(self).name, "change in length")
            for place, one in zip(places, values, strict=True):
                self[place] = one
            return
        choice = choice_of(self)
        old = [one[key] for one in choice.objects]
        for one, new in zip(choice.objects, replaced(choice, old, value, key), strict=True):
            one[key] = new

    def __iter__(self) -> Iterator[Any]:
        at = 0
        while at < len(self):
            yield self[at]
            at += 1

    def __reversed__(self) -> Iterator[Any]:
        return iter([*self][::-1])

    def __radd__(self, other: Any) -> Any:
        return [*other, *self] if isinstance(other, list) else NotImplemented

    def copy(self) -> Any:
        return [*self]

    def reverse(self) -> None:
        self[:] = [*self][::-1]

    def sort(self, *args: Any, **kwargs: Any) -> None:
        self[:] = sorted(self, *args, **kwargs)


def _items_of(value: Any) -> Any:
    return [*value]


for _name in ("add", "mul", "eq", "ne", "lt", "le", "gt", "ge", "contains"):
    setattr(ListItems, f"__{_name}__", _on_copy(getattr(operator, _name), _items_of))
setattr(ListItems, "__rmul__", _on_copy(operator.mul, _items_of))  # noqa: B010  (as those above)
for _name in ("index", "count", "__repr__"):
    setattr(ListItems, _name, _on_copy(getattr(list, _name), _items_of))
for _name in ("append", "extend", "insert", "pop", "remove", "clear", "__delitem__", "__iadd__", "__imul__"):
    setattr(ListItems, _name, _refuse("change in length"))


class DictItems(dict[Any, Any]):
    """The dict methods of a select proxy."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        choice = choice_of(self)
        first, *others = ([*dict.keys(one)] for one in choice.objects)
        if any(keys != first for keys in others):
            raise ambiguous(choice.name, "have different keys")
        return iter(first)

    def __len__(self) -> int:
        return sum(1 for _ in self)  # `len([*self])` would call `__len__` again

    def __contains__(self, key: Any) -> bool:
        choice = choice_of(self)
        found = {dict.__contains__(one, key) for one in choice.objects}
        if len(found) > 1:
            raise ambiguous(choice.name, f"differ in whether they have {key!r}")
        return found.pop()

    def __getitem__(self, key: Any) -> Any:
        if key not in self:
            if hasattr(choice_of(self).objects[0], "__missing__"):
                raise ambiguous(choice_of(self).name, f"get {key!r} for the first time")
            raise KeyError(key)
        choice = choice_of(self)
        return select_object(choice.number, [one[key] for one in choice.objects], f"{choice.name}[{key!r}]")

    def __setitem__(self, key: Any, value: Any) -> None:
        choice = choice_of(self)
        if key not in self:
            raise ambiguous(choice.name, f"get {key!r} for the first time")
        old = [one[key] for one in choice.objects]
        for one, new in zip(choice.objects, replaced(choice, old, value, key), strict=True):
            one[key] = new

    def get(self, key: Any, default: Any = None) -> Any:
        return self[key] if self.__contains__(key) else default

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            self[key] = default  # raises the error
        return self[key]

    def update(self, *args: Any, **kwargs: Any) -> None:
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __ior__(self, other: Any) -> Any:  # type: ignore[misc]
        self.update(other)
        return self

    def __ror__(self, other: Any) -> Any:
        return {**other, **_mapping_of(self)} if isinstance(other, dict) else NotImplemented

    def copy(self) -> Any:
        return _mapping_of(self)


def _mapping_of(value: Any) -> dict[Any, Any]:
    return {key: value[key] for key in value}


for _name in ("__or__", "__eq__", "__ne__"):
    setattr(DictItems, _name, _on_copy(getattr(operator, _name), _mapping_of))
for _name in ("keys", "values", "items", "__reversed__", "__repr__"):
    setattr(DictItems, _name, _on_copy(getattr(dict, _name), _mapping_of))
for _name in ("pop", "popitem", "clear", "__delitem__"):
    setattr(DictItems, _name, _refuse("change in length"))

ITEM_MIXINS.update({list: ListItems, dict: DictItems})
