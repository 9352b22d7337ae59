"""Select indices: where a block's state or results hold one of several objects, the backend carries an index.

    for p in ...:                        objects of `best`      [a, b, c], all from before the loop
        if p.x > best.x:          ==>    state of the loop      best = 0, then 1 or 2: the graph selects
            best = p                     in the body, after it  a select proxy made of both

An equal copy of the object may not do: the object is mutated later, and an alias observes that. Or the backend does
not take such objects apart. See `select_proxy.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...staging import Undefined, is_chosen
from . import select_proxy_items  # noqa: F401  (registers the proxies of lists and dicts)
from .object_paths import OpaqueLeaf, Path, at, is_within, opaque_leaf_class, references
from .select_proxy import can_be_chosen, choice_of, make_select_proxy, number_in


class ObjectIndex:
    """The paths that lead to such objects, and the candidates at each path."""

    def __init__(self) -> None:
        self.objects: dict[Path, list[Any]] = {}
        self._opaque: dict[int, OpaqueLeaf] = {}
        self._never: set[Path] = set()  # the paths at which a trace has found a new object

    def covers(self, path: Path) -> bool:
        """Return whether `path` leads to such an object, or into one."""
        return any(is_within(path, way) for way in self.objects)

    def add(
        self, given: Mapping[Path, Sequence[Any]], knows: Callable[[Any], bool], also_one: bool = False
    ) -> bool:
        """Carry the objects at these paths by index; return whether that is possible for any.

        With `also_one` a path may have a single candidate.
        """
        ways = [path for path in given if path not in self._never and not self.covers(path)]
        fit = [path for path in ways if _are_fit(given[path], knows, also_one)]
        for path in fit:
            self.objects[path] = []
            for value in given[path]:
                number_in(value, self.objects[path])
        return bool(fit)

    def hidden(self, values: Sequence[Any]) -> dict[Path, Any]:
        """Return the indices that the backend gets in place of objects in `values`; add new candidates.

        A select proxy is passed on as an opaque leaf.
        """
        hidden: dict[Path, Any] = {}
        for path, objects in self.objects.items():
            value = at(values, path)
            if value is not None and not isinstance(value, Undefined):
                hidden[path] = number_in(value, objects)
        for path, value in references(values):
            if is_chosen(type(value)) and not self.covers(path):
                kind: Any = type(value)
                hidden[path] = self._opaque.setdefault(id(value), opaque_leaf_class(kind)(value))
        return hidden

    def way_to(self, value: Any) -> Path | None:
        """Return a path at which `value` is one of the candidates."""
        ways = (path for path, objects in self.objects.items() if any(one is value for one in objects))
        return next(ways, None)

    def drop_new(self, values: Sequence[Any], knows: Callable[[Any], bool]) -> bool:
        """Stop carrying indices where `values` hold a new object; return whether there is such a path."""
        found = {path: choice_of(at(values, path)).objects for path in self.objects}
        new = [
            path for path, objects in found.items() if not all(one is None or knows(one) for one in objects)
        ]
        self._never.update(new)
        for path in new:
            del self.objects[path]
        return bool(new)

    def counts(self) -> list[int]:
        return [len(objects) for objects in self.objects.values()]

    def shown(self, values: Sequence[Any], name_of: Callable[[Path], str]) -> dict[Path, Any]:
        """Return the objects that replace the indices and opaque leaves which the backend got."""
        shown: dict[Path, Any] = {}
        for path, objects in self.objects.items():
            number = at(values, path)
            if isinstance(number, int):
                shown[path] = objects[number]
            elif number is not None and not isinstance(number, Undefined):
                shown[path] = make_select_proxy(number, objects, name_of(path))
        if self._opaque:
            shown.update((path, one.value) for path, one in references(values) if isinstance(one, OpaqueLeaf))
        return shown


def _are_fit(values: Sequence[Any], knows: Callable[[Any], bool], also_one: bool) -> bool:
    if any(value is None for value in values):
        return False
    if not also_one and all(value is values[0] for value in values):
        return False
    objects = [one for value in values for one in choice_of(value).objects]
    return can_be_chosen(map(type, objects)) and all(map(knows, objects))
