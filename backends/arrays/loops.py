"""`while` and `for` on traced values, as a loop or a scan of the library.

while x > 1:                    a loop of unknown length
    x = f(x)
for row in rows:                a scan: the number of iterations is known
    x = g(x, row)
while x > 1:                    a scan of 100 iterations; those after the end do nothing
    set_loop_options(maximum_iterations=100)
    x = f(x)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agc.autograph.staging import rotated

from .blocks import traced
from .conditionals import truth
from .failures import library
from .items import Items
from .iterations import Iterations
from .leaves import type_of
from .library import Type
from .loop_state import LoopState

Options = Mapping[str, Any]
State = tuple[Any, ...]


def while_loop(
    test: Callable[..., Any],
    body: Callable[..., Any],
    state: Sequence[Any],
    names: Sequence[str],
    options: Options,
) -> State:
    """Stage a `while`."""
    loop = LoopState(names, state, may_grow=False)
    step = loop.settled(lambda item, values: body(*values), [], body)
    going = traced(lambda *arrays: (truth(test(*loop.rebuilt(arrays)), "while"),), loop.types())
    if going.has_code or going.program.has_effects:  # a test with effects runs as often as in Python
        first = truth(options["first"], "while")
        start = rotated(lambda *now: truth(test(*now), "while"), body, tuple(state), first)
        return while_loop(*start, ("going", *names), options)[1:]
    iterations = Iterations(loop, step)
    most = options.get("maximum_iterations")

    def goes(carry: Sequence[Any]) -> Any:
        return both(going.run(iterations.state_in(carry))[0], iterations.is_fine(carry))

    if most is None:
        return iterations.finished(library().while_loop(goes, iterations.advanced, iterations.start()))

    def advanced_while(carry: list[Any], _: Any) -> tuple[list[Any], list[Any]]:
        advanced = library().cond(goes(carry), lambda: iterations.advanced(carry), lambda: list(carry))
        return advanced, []

    carry, _ = library().scan(advanced_while, iterations.start(), [], limit(most))
    return iterations.finished(carry)


def for_loop(
    items: Items,
    body: Callable[..., Any],
    state: Sequence[Any],
    names: Sequence[str],
    until: str | None,
    options: Options,
) -> State:
    """Stage a `for` over items."""
    stop = None if until is None else list(names).index(until)
    most = options.get("maximum_iterations")
    if isinstance(items.count, int):
        count = items.count if most is None else min(items.count, limit(most))
        return _scanned(items, count, body, state, names, stop)
    last = items.count if most is None else library().minimum(items.count, limit(most))

    def test(index: Any, *now: Any) -> Any:
        more = index < last
        return more if stop is None else both(more, library().logical_not(truth(now[stop], "for")))

    def step(index: Any, *now: Any) -> State:
        return (index + 1, *(body(items.at(index), *now) or ()))

    step.__wrapped__ = body  # type: ignore[attr-defined]  # messages show the lines of the block itself
    start = (library().blank(type_of(last)), *state)
    return while_loop(test, step, start, ("index", *names), options)[1:]


def _scanned(
    items: Items,
    count: int,
    body: Callable[..., Any],
    state: Sequence[Any],
    names: Sequence[str],
    stop: int | None,
) -> State:
    """Stage a `for` over a known number of items; after a `break`, the other iterations do nothing."""
    if count <= 0:
        return tuple(state)
    rows = [library().arange(count), *(array[:count] for array in items.arrays)]
    types = [_row_type(row) for row in rows]
    loop = LoopState(names, state, may_grow=stop is None)
    step = loop.settled(lambda item, values: body(items.get(item[0], item[1:]), *values), types, body)
    iterations = Iterations(loop, step)
    flag = None if stop is None else loop.place_of(stop)

    def iteration(carry: Sequence[Any], row: Sequence[Any]) -> tuple[Any, Any]:
        goes = iterations.is_fine(carry)
        if flag is not None:
            goes = both(library().logical_not(carry[flag]), goes)
        if goes is True:
            return iterations.iterated(carry, row)
        found = library().cond(
            goes,
            lambda: [value for part in iterations.iterated(carry, row) for value in part],
            lambda: [value for part in iterations.skipped(carry, row) for value in part],
        )
        return found[: len(carry)], found[len(carry) :]

    carry, stacked = library().scan(iteration, iterations.start(), rows, count)
    return iterations.finished(carry, stacked, count, always=stop is None)


def both(one: Any, other: Any) -> Any:
    """Return the conjunction; the second operand may be the Python object True."""
    return one if other is True else library().logical_and(one, other)


def _row_type(rows: Any) -> Type:
    type = type_of(rows)
    return type._replace(shape=type.shape[1:])


def limit(most: Any) -> int:
    """Return `maximum_iterations` as an int; a traced number would have no size."""
    if not library().is_concrete(most):
        raise TypeError("maximum_iterations must be known while the function is traced")
    return int(most)
