"""Operators for variables that may be unbound, and for locations that a block assigns in place."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..errors import leave_no_trace
from ..side_effects.locations import Attribute, Cell
from ..staging import Undefined, ld
from .pinned_objects import ItemMaker, ListMaker, LocationMaker


def ld_cell(read: Callable[[], Any], name: str) -> Any:
    """Return `ld` of a variable that a closure captures; if unbound, raise the error of the function that
    owns it."""
    try:
        value = read()
    except NameError:
        value = Undefined(name)
    try:
        return ld(value, name)
    except NameError as error:
        leave_no_trace(error)
        raise


def cell(get: Callable[[], Any], put: Callable[[Any], None]) -> LocationMaker:
    """Return a maker of the location of the variable that `get` reads and `put` assigns."""
    return partial(Cell, get, put)


def attr(base: Callable[[], Any], key: str) -> LocationMaker:
    """Return a maker of the location of the attribute `key` of `base()`."""
    return partial(Attribute, base, key)


def item(base: Callable[[], Any], key: Callable[[], Any], of: LocationMaker | None = None) -> LocationMaker:
    """Return a maker of the location `base()[key()]`; `of` makes that of `base()`, for an immutable base."""
    return ItemMaker(base, key, of)


def own_list(read: Callable[[], Any]) -> LocationMaker:
    """Return a marker, among the locations, that the variable in `read` holds an unescaped list."""
    return ListMaker(read)


def items(base: Callable[[], Any], of: LocationMaker | None = None) -> LocationMaker:
    """Return a maker of one location for all items of `base()` that a block assigns."""
    return ItemMaker(base, None, of)
