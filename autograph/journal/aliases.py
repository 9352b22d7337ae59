"""A list, a dict or an object with fields in a block's state stays one object, whoever else knows it.

    d = self.totals            the backend carries the items of `d`, and packs them into a new dict for each trace:
    while i < n:               these are poured into the one dict that there is, so that `self.totals` is `d`
        d = add(d, i)   ==>    in the block as well; and after it, so are the backend's results

A block that changes such an object, and binds the variable to something else, cannot be carried."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..staging import State, Undefined
from .mutables import copied, has_fields, is_mutable, parts, put, refill
from .sameness import same

Path = tuple[int, ...]
Held = dict[Path, list[tuple[Any, dict[Any, Any]]]]
"""Where a container of the state is, and what it and the containers in it held."""


class Aliases:
    """The containers in a block's state: at the top of it, or in tuples there.

    In a choice one of the runs takes place; in a loop perhaps none does. `knows` says whether an object was there
    before the block.
    """

    def __init__(self, initial: State, is_choice: bool, knows: Callable[[Any], bool]) -> None:
        self.containers = dict(_containers(initial))
        self.is_choice, self._knows = is_choice, knows
        # Of each run: where in the results which container is that the variable had, and which that others have
        self._results: list[dict[Path, Any]] = []
        self._others: list[dict[Path, Any]] = []

    def enter(self, state: State) -> tuple[State, Held]:
        """The state with the containers themselves in it, filled with what came in; and what they held."""
        held = {}
        for path, container in self.containers.items():
            before, value = list(_contents(container)), _at(state, path)
            if value is not container and fits(container, value):
                held[path] = before
                pour(container, value)
        return _with(state, {path: self.containers[path] for path in held}), held

    def changed(self, state: State, held: Held) -> list[Path]:
        """Where the containers are that do not hold any more what came in."""
        return [path for path in held if not equal(self.containers[path], _at(state, path))]

    def leave(
        self,
        results: Sequence[Any],
        changed: Sequence[Path],
        names: Sequence[str],
        gives: Sequence[str],
    ) -> tuple[State, Path | None]:
        """The results as the backend may have them; and where a changed container is that got lost, if any.

        `names` and `gives` name the state and the results: a variable that was given another one's container has
        lost its own.
        """
        own = {id(container): path for path, container in self.containers.items()}
        found, others = {}, {}
        given = set()
        extra = len(results) - len(gives)  # such as the value of an expression
        for (number, *rest), result in _containers(results[extra:]):
            path = own.get(id(result))
            if path is not None and (names[path[0]], *path[1:]) == (gives[number], *rest):
                found[(number, *rest)] = result
                given.add(id(result))
            elif path is not None or self._knows(result):
                others[(number, *rest)] = result
        self._results.append(found)
        self._others.append(others)
        lost = next((path for path in changed if id(self.containers[path]) not in given), None)
        parts_of = {id(part) for container in self.containers.values() for part, _ in _contents(container)}

        def knows(part: Any) -> bool:
            return id(part) in parts_of or self._knows(part)

        return tuple(drawn(result, knows) for result in results), lost

    def put_back(self, held: Held) -> None:
        """Fill the containers with what they held before: the very same objects, all the way down."""
        for before in held.values():
            for container, kept in before:
                refill(container, kept)

    def settle(self, results: State) -> State:
        """The results after the block: a container that was never exchanged has them as its items."""
        kept: dict[Path, Any] = {}
        for path, container in self._results[0].items() if self._results else ():
            value = _at(results, path)
            if all(run.get(path) is container for run in self._results) and fits(container, value):
                pour(container, value)
                kept[path] = container
        if self.is_choice and self._others:
            for path, container in self._others[0].items():
                if all(run.get(path) is container for run in self._others):
                    kept[path] = container
        return tuple(_with(results, kept))

    def split(self) -> Iterator[tuple[int, Any]]:
        """The containers that some runs gave back, and others exchanged; and which result that is."""
        runs = self._runs()
        for run in runs:
            for path, container in run.items():
                if len(path) == 1 and not all(other.get(path) is container for other in runs):
                    yield path[0], container

    def shares(self, number: int, other: int, container: Any) -> bool:
        """Whether a run gave two results the container, the other one perhaps inside of something."""
        return any(
            run.get((number,)) is container and run[path] is container
            for run in self._runs()
            for path in run
            if path[0] == other
        )

    def _runs(self) -> list[dict[Path, Any]]:
        """Of each run, and of a loop that does not run, which results are containers of before."""
        runs = [own | others for own, others in zip(self._results, self._others, strict=True)]
        return runs if self.is_choice else [self.containers, *runs]


def _containers(values: Sequence[Any], around: Path = ()) -> Iterator[tuple[Path, Any]]:
    """What is mutable among values and in tuples there, each with its way: the numbers that lead to it."""
    for number, value in enumerate(values):
        path = (*around, number)
        if is_mutable(value):
            yield path, value
        elif isinstance(value, tuple):
            yield from _containers(value, path)


def _contents(value: Any) -> Iterator[tuple[Any, dict[Any, Any]]]:
    """The containers in a nest, each with what it holds."""
    kept = {}
    if is_mutable(value):
        kept = parts(value)
        yield value, kept
    for item in value if isinstance(value, tuple) else kept.values():
        yield from _contents(item)


def _at(values: Any, path: Path) -> Any:
    for number in path:
        if not isinstance(values, tuple) or number >= len(values):
            return None
        values = values[number]
    return values


def _with(values: Any, others: dict[Path, Any], around: Path = ()) -> Any:
    """Values of which some, and some in tuples there, are others."""
    if around in others:
        return others[around]
    if not isinstance(values, tuple) or not any(path[: len(around)] == around for path in others):
        return values
    items = [_with(value, others, (*around, number)) for number, value in enumerate(values)]
    return type(values)(*items) if hasattr(values, "_fields") else tuple(items)


def fits(container: Any, value: Any) -> bool:
    """Whether the items of one container can become those of another of the same structure."""
    return type(container) is type(value) and parts(container).keys() == parts(value).keys()


def pour(container: Any, value: Any) -> None:
    """Fill a container with the items of another; containers inside it stay the same objects as well."""
    if container is value:
        return
    new = parts(value)
    for key, inner in parts(container).items():
        put(container, key, _poured(inner, new[key]))


def _poured(inner: Any, new: Any) -> Any:
    """An item with the value of another, in the containers that it has already."""
    if is_mutable(inner) and fits(inner, new):
        pour(inner, new)
        return inner
    if isinstance(inner, tuple) and type(inner) is type(new) and len(inner) == len(new):
        own = {path: _poured(part, _at(new, path)) for path, part in _containers(inner)}
        return _with(new, own)
    return new


def drawn(value: Any, knows: Callable[[Any], bool]) -> Any:
    """A copy of a nest: other containers, the same items.

    Of objects with fields only those are copied in which `knows` is true of a part: a backend may know new ones as
    they are.
    """
    if isinstance(value, tuple) and any(True for _ in _containers(value)):
        return _with(value, {path: drawn(container, knows) for path, container in _containers(value)})
    if not is_mutable(value) or (has_fields(value) and not any(knows(part) for part, _ in _contents(value))):
        return value
    copy = copied(value)
    for key, item in parts(value).items():
        put(copy, key, drawn(item, knows))
    return copy


def equal(one: Any, other: Any) -> bool:
    """Whether two nests hold the same items.

    >>> equal({"a": [1]}, {"a": [1]}), equal([1], [2])
    (True, False)
    """
    if isinstance(one, tuple) and type(one) is type(other) and len(one) == len(other):
        return all(map(equal, one, other))
    if type(one) is not type(other) or not is_mutable(one):
        return same(one, other)
    if not fits(one, other):
        return False
    others = parts(other)
    return all(equal(item, others[key]) for key, item in parts(one).items())


def names_of(variables: Mapping[str, Any], name: str, container: Any) -> Iterator[str]:
    """The variables other than `name`, or attributes of one, that are the container; what it is in otherwise.

    >>> d = {}
    >>> list(names_of({"d": d, "e": d, "all": [d]}, "d", d))
    ['e', 'all']
    """
    for other, value in variables.items():
        inner = value.values() if type(value) is dict else value if isinstance(value, (list, tuple)) else ()
        has_none = isinstance(value, (type, Undefined))  # to ask a variable without a value is an error
        attributes = {} if has_none else getattr(value, "__dict__", {})
        if (other != name and value is container) or any(part is container for part in inner):
            yield other
        for key, part in list(attributes.items()):
            if part is container and f"{other}.{key}" != name:
                yield f"{other}.{key}"
