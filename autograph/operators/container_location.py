"""The contents of a list or dict as a location, for blocks that compute the keys of the items they assign.

    if c:                          places=(ag__.items(lambda: xs),)
        k = f()           ==>
        xs[k] = y                  initial = [xs[0], xs[1], …];  after the block xs[:] = the backend's result

Nested lists and dicts are carried too; they stay the same objects.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..side_effects.custom_setters import sets_items
from ..side_effects.locations import Location, text_of


class ContainerItems(Location):
    """All items of `base()`, which is evaluated once, when the block starts."""

    reads_copy = True

    def __init__(self, base: Callable[[], Any]) -> None:
        self.base = base()
        self.name = text_of(base)
        self._container = _Container(self.base)

    def calls_setter(self) -> bool:
        return sets_items(self.base)

    def read(self) -> Any:
        return self._container.read()

    def write(self, value: Any) -> None:
        self._container.write(value)


class _Container:
    """A list or dict with its nested lists and dicts; other values have no contents to carry."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.inner = {key: _Container(item) for key, item in _items(value) if _is_container(item)}

    def read(self) -> Any:
        """Return a copy of the contents."""
        found = {key: self._inside(key, item) for key, item in _items(self.value)}
        return list(found.values()) if isinstance(self.value, list) else found

    def _inside(self, key: Any, item: Any) -> Any:
        inner = self.inner.get(key)
        return inner.read() if inner is not None and inner.value is item else item

    def write(self, contents: Any) -> None:
        for key, inner in self.inner.items():
            inner.write(contents[key])
        found = [self.inner[key].value if key in self.inner else item for key, item in _items(contents)]
        if isinstance(self.value, list):
            self.value[:] = found
        elif isinstance(self.value, dict):
            keys = list(contents)
            self.value.clear()
            self.value.update(zip(keys, found, strict=True))


def _is_container(item: Any) -> bool:
    """Return whether an item is a list or dict."""
    return isinstance(item, (list, dict))


def _items(value: Any) -> Any:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()
