"""Trace a block of the user's code once, to a jaxpr and a description of its results.

    lambda: (x + 1, None, 3)  ⇒  jaxpr { x. let a = add x 1 in (a,) },  results (Slot(0), None, 3)

The jaxpr is used for the branch or the loop body itself, so nested blocks are not traced again and again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from agc.autograph import staging

import jax
import jax.extend.core
import jax.numpy as jnp

from . import failures
from .leaves import Slot, flatten, is_array


class Block:
    """A traced block: `results` are its values with slots for arrays, or None if it always raises."""

    def __init__(self, program: Any, results: tuple[Any, ...] | None, has_code: bool) -> None:
        self.program = program
        self.results = results
        self.has_code = has_code

    def run(self, arrays: Sequence[Any] = ()) -> list[Any]:
        """Return the arrays of the results, and last the code if the block has checks."""
        found: list[Any] = jax.extend.core.jaxpr_as_fun(self.program)(*arrays)
        return found

    @property
    def has_effects(self) -> bool:
        return bool(self.program.effects)


def traced(function: Callable[..., Any], avals: Sequence[Any] = ()) -> Block:
    """Trace a function of arrays of these types, whose results are the values of variables."""
    results: list[Any] = []
    checks: list[failures.Checks] = []

    def flat(*arrays: Any) -> list[Any]:
        results.clear()
        with failures.block() as own:
            checks[:] = [own]
            returned = _returned(function, arrays)
        results.extend([None] if returned is None else [returned])
        values = () if returned is None else returned
        leaves = [leaf for value in values for leaf in flatten(value)[0] if is_array(leaf)]
        return [*map(jnp.asarray, leaves), *([] if own.code is None else [own.code])]

    with staging.deciding():
        program = jax.make_jaxpr(flat)(*avals)
    return Block(program, _with_slots(results[0], program.out_avals), checks[0].code is not None)


def _returned(function: Callable[..., Any], arrays: Sequence[Any]) -> tuple[Any, ...] | None:
    """Call the function; return None if it raises an exception of the user's, which is recorded."""
    try:
        return tuple(function(*arrays) or ())
    except failures.Never:
        return None
    except Exception as error:
        if not isinstance(error, UnboundLocalError) and not staging.raised_by_user(error):
            raise
        failures.fail(error)
        return None


def _with_slots(results: tuple[Any, ...] | None, avals: Sequence[Any]) -> tuple[Any, ...] | None:
    if results is None:
        return None
    numbers = itertools.count()

    def slotted(leaf: Any) -> Any:
        return Slot(number := next(numbers), avals[number], leaf) if is_array(leaf) else leaf

    replaced = []
    for value in results:
        leaves, build = flatten(value)
        replaced.append(build([*map(slotted, leaves)]))
    return tuple(replaced)
