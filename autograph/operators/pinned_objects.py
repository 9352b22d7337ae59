"""Keep the identity of Python objects with items that a staged block assigns.

    if c:                       (x, y) = ag__.cond(c, if_true, ag__.keep, (x, y),
        x[i] = y        ==>                        places=(ag__.item(lambda: x, lambda: i),))
        y = 0

If `x` is a backend's value, assigning an item gives `x` another value: `x` is state, and there is no location. If `x`
is a Python object, such as a list, its other references must see the change. Then `x` is *held* out of the state, and
the item is the location.

A block gets a copy of an unescaped list (`ag__.own_list`), so that it may change the list and stay pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..side_effects.custom_setters import sets_items
from ..side_effects.locations import Cell, Item, Location
from ..staging import PYTHON, Maybe, MutableValue, State, UnescapedList, backends

LocationMaker = Callable[[], Location]


class ItemMaker:
    """A factory for the location `base()[key()]`, or of all items of `base()`; `owner` creates that of
    `base()`."""

    def __init__(
        self, base: Callable[[], Any], key: Callable[[], Any] | None, owner: LocationMaker | None
    ) -> None:
        self.base, self.key, self.owner = base, key, owner

    def __call__(self) -> Location:
        if self.key is not None:
            return Item(self.base, self.key)
        from .container_location import ContainerItems  # few blocks change the length of a container

        return ContainerItems(self.base)

    @property
    def variable(self) -> str:
        """The variable at the base of the location; empty if there is none."""
        return self.owner.variable if isinstance(self.owner, ItemMaker) else variable_of(self.base)


class ListMaker:
    """A marker that a variable of the state holds an unescaped list: not a location, but an object to copy."""

    def __init__(self, read: Callable[[], Any]) -> None:
        self.read = read

    def __call__(self) -> Location:
        raise AssertionError("a list that a function makes for itself is not a location")


class PinnedObjects:
    """The state and locations of a staged block, after Python objects are removed from the state."""

    def __init__(
        self, makers: Sequence[LocationMaker], state: State, takes: Sequence[str], gives: Sequence[str]
    ) -> None:
        lists = {variable_of(maker.read) for maker in makers if isinstance(maker, ListMaker)}
        self.makers, variables = _settled([maker for maker in makers if not isinstance(maker, ListMaker)])
        self.objects = {
            name: value for name, value in zip(takes, state, strict=True) if name in variables
        }  # the variables that are held, and their values
        self.takes = [name in self.objects for name in takes]
        self.gives = [name in self.objects for name in gives]
        self._copied = [name in lists for name in takes]
        marked = [
            UnescapedList(value) if is_own and type(value) is list else value
            for value, is_own in zip(state, self._copied, strict=True)
        ]
        self.state = _without(marked, self.takes)
        self.names = _without(gives, self.gives)
        self._results = [name for name in gives if name in self.objects]
        # Objects of classes with a custom item setter: the setter may change anything, so its effects are
        # searched.
        self.callers = [(name, value) for name, value in self.objects.items() if sets_items(value)]

    def block(self, function: Callable[..., Any], before: int = 0) -> Callable[..., State]:
        """Return a branch or body as the backend calls it; `before` arguments precede the state, such as an
        item."""

        def without_held(*values: Any) -> State:
            results = function(*values[:before], *self._whole(values[before:])) or ()
            return _without(results, self.gives)

        return without_held if self.objects or any(self._copied) else function

    def test(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the test of a loop as the backend calls it."""
        return (lambda *values: function(*self._whole(values))) if self.objects else function

    def _whole(self, values: State) -> State:
        whole = _with(values, list(self.objects.values()), self.takes)
        pairs = zip(whole, self._copied, strict=True)
        return tuple(_copy(value) if is_copied else value for value, is_copied in pairs)

    def leave(self, results: State) -> State:
        """Return all results: the backend's and the held objects."""
        return _with(_unmarked(results), [self.objects[name] for name in self._results], self.gives)


def _unmarked(values: State) -> State:
    """Return the results with each `UnescapedList` converted to a list."""
    return tuple([list(value) if type(value) is UnescapedList else value for value in values])


def _copy(value: Any) -> Any:
    """Return a copy to work on; a backend's value without a `copy` method is immutable."""
    copy = value.copy() if hasattr(type(value), "copy") else value
    if isinstance(copy, MutableValue):
        copy.is_own = True
    return copy


def _without(values: Sequence[Any], marks: Sequence[bool]) -> tuple[Any, ...]:
    """Return the values that are not marked."""
    return tuple(value for value, mark in zip(values, marks, strict=True) if not mark)


def _with(values: Sequence[Any], marked: Sequence[Any], marks: Sequence[bool]) -> tuple[Any, ...]:
    """Return the values merged with `marked`, which go to the marked positions."""
    own, others = iter(values), iter(marked)
    return tuple(next(others) if mark else next(own) for mark in marks)


def _settled(makers: Sequence[LocationMaker]) -> tuple[tuple[LocationMaker, ...], set[str]]:
    """Return the actual locations, and the variables that are held for them."""
    left: list[LocationMaker] = []
    held: set[str] = set()
    for maker in makers:
        chosen: LocationMaker | None = maker
        # Items of a backend's value cannot be locations: the value is assigned as a whole.
        while isinstance(chosen, ItemMaker) and _is_backends(chosen.base()):
            chosen = chosen.owner
        if chosen is None:
            continue
        left.append(chosen)
        if isinstance(chosen, ItemMaker):
            held.add(chosen.variable)
    return tuple(maker for maker in left if _cell_of(maker) not in held), held


def _is_backends(value: Any) -> bool:
    value = value.value if isinstance(value, Maybe) else value
    return backends[type(value)] is not PYTHON


def _cell_of(maker: Any) -> str | None:
    """Return the variable that a maker creates a location of."""
    return variable_of(maker.args[0]) if getattr(maker, "func", None) is Cell else None


def variable_of(read: Callable[[], Any]) -> str:
    """Return the variable that a generated lambda reads; "" if it reads more than one name.

    >>> x = y = None
    >>> variable_of(lambda: x), variable_of(lambda: x[y])
    ('x', '')
    """
    names = (*read.__code__.co_freevars, *read.__code__.co_names)
    return names[0] if len(names) == 1 else ""
