"""Variables that may have no value, and what a block assigns in place."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..errors import leave_no_trace
from ..side_effects.locations import Attribute, Cell
from ..staging import Undefined, ld
from .pinned_objects import ItemMaker, ListMaker, PlaceMaker


def ld_cell(read: Callable[[], Any], name: str) -> Any:
    """`ld` for a variable that a closure shares: unbound, it is an error of the function it belongs to."""
    try:
        value = read()
    except NameError:
        value = Undefined(name)
    try:
        return ld(value, name)
    except NameError as error:
        leave_no_trace(error)
        raise


def cell(get: Callable[[], Any], put: Callable[[Any], None]) -> PlaceMaker:
    """The variable that `get` reads and `put` assigns, as a place of a block."""
    return partial(Cell, get, put)


def attr(base: Callable[[], Any], key: str) -> PlaceMaker:
    """The attribute `key` of `base()`, as a place of a block."""
    return partial(Attribute, base, key)


def item(base: Callable[[], Any], key: Callable[[], Any], of: PlaceMaker | None = None) -> PlaceMaker:
    """`base()[key()]`, as a place of a block; `of` is the place of `base()`, for a base that never changes."""
    return ItemMaker(base, key, of)


def own_list(read: Callable[[], Any]) -> PlaceMaker:
    """Among the places of a block: the variable that `read` reads holds a list which nobody else knows."""
    return ListMaker(read)


def items(base: Callable[[], Any], of: PlaceMaker | None = None) -> PlaceMaker:
    """Whatever items of `base()` a block assigns, as one place."""
    return ItemMaker(base, None, of)
