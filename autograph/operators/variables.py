"""Variables that may have no value, and what a block assigns in place."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..errors import leave_no_trace
from ..places import Attribute, Cell, Item
from ..staging import Undefined, ld
from .branches import PlaceMaker


def ld_cell(read: Callable[[], Any], name: str) -> Any:
    """`ld` for a variable that a closure shares: unbound, it is an error of the function it belongs to."""
    try:
        value = read()
    except NameError:
        value = Undefined(name)
    try:
        return ld(value, name)
    except UnboundLocalError as error:
        leave_no_trace(error)
        raise


def cell(get: Callable[[], Any], put: Callable[[Any], None]) -> PlaceMaker:
    """The variable that `get` reads and `put` assigns, as a place of a block."""
    return partial(Cell, get, put)


def attr(base: Callable[[], Any], key: str) -> PlaceMaker:
    """The attribute `key` of `base()`, as a place of a block."""
    return partial(Attribute, base, key)


def item(base: Callable[[], Any], key: Callable[[], Any]) -> PlaceMaker:
    """`base()[key()]`, as a place of a block."""
    return partial(Item, base, key)
