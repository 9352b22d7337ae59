"""The backend of autograph for an array library: control flow on traced values becomes its operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agc.autograph import staging
from agc.autograph.staging import State

from . import conditionals, failures, loops
from .builtins import ITERATION
from .items import Items, items_of
from .library import Library

Branch = Callable[..., State]
Names = tuple[str, ...]
Options = Mapping[str, Any]


class ArrayBackend:
    """Stages on the traced values of one library; see `agc.autograph.staging.Backend`."""

    lasting: tuple[type, ...] = ()

    def __init__(
        self,
        library: Library,
        builtins: Mapping[Callable[..., Any], Callable[..., Any]],
        set_item: Callable[[Any, Any, Any], Any],
    ) -> None:
        self.library, self.builtins, self._set_item = library, builtins, set_item

    def owns(self, value: Any) -> bool:
        return failures.is_active(self.library) and not self.library.is_concrete(value)

    def cond(self, test: Any, then: Branch, orelse: Branch, state: State, names: Names) -> State:
        return conditionals.cond(test, then, orelse, state, names)

    def while_loop(
        self, test: Callable[..., Any], body: Branch, state: State, names: Names, options: Options
    ) -> State:
        return loops.while_loop(test, body, state, names, options)

    def for_loop(
        self, items: Any, body: Branch, state: State, names: Names, until: str | None, options: Options
    ) -> State:
        return loops.for_loop(items_of(items), body, state, names, until, options)

    def logical(self, op: str, first: Any, rest: Callable[[], Any] | None) -> Any:
        return conditionals.logical(op, first, rest)

    def check(self, test: Any, message: Callable[[], Any] | None) -> None:
        failures.check(conditionals.truth(test, "assert"), message)

    def length(self, value: Any) -> int | None:
        return value.shape[0] if getattr(value, "ndim", 0) else None

    def is_(self, value: Any, truth: bool) -> Any:
        return False  # an array is not one of Python's two truth values

    def set_item(self, target: Any, key: Any, value: Any) -> Any:
        return self._set_item(target, key, value)


class ItemsBackend(ArrayBackend):
    """Stages loops over items of a length that any of the libraries has traced."""

    def __init__(self) -> None:
        self.builtins = ITERATION

    def owns(self, value: Any) -> bool:
        return failures.is_running()

    def length(self, value: Items) -> int | None:
        return value.count if isinstance(value.count, int) else None


staging.register(ItemsBackend(), Items, always=False)
