"""`while` and `for` on traced values, as `lax.while_loop` and `lax.scan`.

while x > 1:                    lax.while_loop      JAX differentiates it forwards only
    x = f(x)
for row in rows:                lax.scan            also backwards: the number of iterations is known
    x = g(x, row)
while x > 1:                    lax.scan of 100 iterations; those after the end do nothing
    set_loop_options(maximum_iterations=100)
    x = f(x)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agc.autograph.api import running
from agc.autograph.staging import rotated

import jax.numpy as jnp
from jax import lax

from .blocks import traced
from .conditionals import truth
from .items import Items, is_concrete
from .iterations import Iterations
from .leaves import type_of
from .loop_state import LoopState
from .reverse import forwards_only

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
    going = traced(lambda *arrays: (truth(test(*loop.rebuilt(arrays)), "while"),), loop.avals())
    if going.has_code or going.has_effects:  # a test with effects runs as often as in Python
        first = truth(options["first"], "while")
        start = rotated(lambda *now: truth(test(*now), "while"), body, tuple(state), first)
        return while_loop(*start, ("going", *names), options)[1:]
    iterations = Iterations(loop, step)
    most = options.get("maximum_iterations")

    def goes(carry: Sequence[Any]) -> Any:
        return jnp.logical_and(going.run(iterations.state_in(carry))[0], iterations.is_fine(carry))

    if most is None:
        carry = lax.while_loop(goes, iterations.advanced, iterations.start())
        where = running()
        return iterations.finished([forwards_only(array, where) for array in carry])
    carry, _ = lax.scan(
        lambda now, _: (lax.cond(goes(now), iterations.advanced, list, now), None),
        iterations.start(),
        length=limit(most),
    )
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
    last = items.count if most is None else jnp.minimum(items.count, limit(most))

    def test(index: Any, *now: Any) -> Any:
        more = index < last
        return more if stop is None else jnp.logical_and(more, jnp.logical_not(truth(now[stop], "for")))

    def step(index: Any, *now: Any) -> State:
        return (index + 1, *(body(items.at(index), *now) or ()))

    step.__wrapped__ = body  # type: ignore[attr-defined]  # messages show the lines of the block itself
    start = (jnp.zeros((), jnp.result_type(last)), *state)
    return while_loop(test, step, start, ("index", *names), {**options, "first": test(*start)})[1:]


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
    rows = [jnp.arange(count), *(array[:count] for array in items.arrays)]
    avals = [type_of(row[0]) for row in rows]
    loop = LoopState(names, state, may_grow=stop is None)
    step = loop.settled(lambda item, values: body(items.get(item[0], item[1:]), *values), avals, body)
    iterations = Iterations(loop, step)
    flag = None if stop is None else loop.place_of(stop)

    def iteration(carry: Sequence[Any], row: Sequence[Any]) -> tuple[Any, Any]:
        goes = iterations.is_fine(carry)
        if flag is not None:
            goes = jnp.logical_and(goes, jnp.logical_not(carry[flag]))
        if goes is True:
            return iterations.iterated(carry, row)
        chosen: tuple[Any, Any] = lax.cond(goes, iterations.iterated, iterations.skipped, carry, row)
        return chosen

    carry, stacked = lax.scan(iteration, iterations.start(), rows)
    return iterations.finished(carry, stacked, count, always=stop is None)


def limit(most: Any) -> int:
    """Return `maximum_iterations` as an int; a traced number would have no size."""
    if not is_concrete(most):
        raise TypeError("maximum_iterations must be known while the function is traced")
    return int(most)
