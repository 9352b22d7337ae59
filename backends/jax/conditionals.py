"""`if`, `and`, `or` and `not` on traced values, as `lax.cond`.

if x > 0:
    y = f(x)        ⇒    y = lax.cond(x > 0, lambda: f(x), lambda: 0.0)
else:
    y = 0.0
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from agc.autograph.staging_errors import staging_error

import jax
import jax.extend.core
import jax.numpy as jnp
from jax import lax

from . import failures
from .agreement import Column, Row, agreed, converted
from .blocks import Block, traced
from .leaves import Slot

_CHEAP = 8
"""The most operations of an operand of `and` that is computed without a branch."""


def cond(
    test: Any,
    then: Callable[..., Any],
    orelse: Callable[..., Any],
    state: Sequence[Any],
    names: Sequence[str],
) -> tuple[Any, ...]:
    """Stage an `if`; return one value for each of `names`."""
    going = truth(test, "if")
    blocks = [traced(lambda: then(*state)), traced(lambda: orelse(*state))]
    return _chosen(going, blocks, names, (then, orelse))


def _chosen(
    going: Any, blocks: Sequence[Block], names: Sequence[str], functions: Sequence[Callable[..., Any]]
) -> tuple[Any, ...]:
    """Stage the choice between two traced blocks."""
    one, other = blocks
    if one.results is None and other.results is None:
        failures.current().fail(_selected(going, blocks, [])[-1])
        raise failures.Never
    results = [block.results or _other(one, other) for block in blocks]
    columns = [agreed(name, values, functions) for name, *values in zip(names, *results, strict=True)]
    rows = [row for column in columns for row in column.rows if row.type is not None]
    arrays = iter(_selected(going, blocks, rows))
    return tuple(_rebuilt(column, arrays) for column in columns)


def _other(one: Block, other: Block) -> Any:
    return other.results if one.results is None else one.results


def _rebuilt(column: Column, arrays: Any) -> Any:
    return column.build([_kept(row.leaves) if row.type is None else next(arrays) for row in column.rows])


def _kept(leaves: Sequence[Any]) -> Any:
    return leaves[0].array if isinstance(leaves[0], Slot) else leaves[0]


def _selected(going: Any, blocks: Sequence[Block], rows: Sequence[Row]) -> list[Any]:
    """Stage the selection of the rows; the code of the checks, if there are any, follows and is recorded."""
    has_code = any(block.has_code for block in blocks)

    def branch(number: int) -> Callable[[], list[Any]]:
        block = blocks[number]

        def run() -> list[Any]:
            found = block.run()
            values = [_value(block, row.leaves[number], row, found) for row in rows]
            code = [found[-1] if block.has_code else jnp.int32(0)] if has_code else []
            return [*values, *code]

        return run

    if not rows and not has_code and not any(block.has_effects for block in blocks):
        return []
    results: list[Any] = lax.cond(going, branch(0), branch(1))
    if has_code and any(block.results is not None for block in blocks):
        failures.current().fail(results.pop())
    return results


def _value(block: Block, leaf: Any, row: Row, found: Sequence[Any]) -> Any:
    assert row.type is not None
    if isinstance(leaf, Slot):
        if block.results is None:  # it raises: its results are blanks of the other branch's types
            return (
                jnp.zeros(row.type.shape, row.type.dtype)
                if not row.type.is_weak
                else converted(jnp.zeros(row.type.shape, row.type.dtype), row.type)
            )
        leaf = found[leaf.number]
    return converted(leaf, row.type)


def logical(op: str, first: Any, rest: Callable[[], Any] | None) -> Any:
    """Stage `first and rest()`, `first or rest()` and `not first`; the second operand runs if it decides."""
    going = truth(first, op)
    if rest is None:
        return jnp.logical_not(going)
    other = traced(lambda: (rest(),))
    (result,) = other.results or (None,)
    if isinstance(result, Slot) and result.aval.dtype == bool and first.dtype == bool and _is_cheap(other):
        second = truth(other.run()[0], op)
        return jnp.logical_and(going, second) if op == "and" else jnp.logical_or(going, second)
    decided = first if first.ndim == 0 else going
    blocks = [other, traced(lambda: (decided,))]
    order = slice(None, None, 1 if op == "and" else -1)
    return _chosen(going, blocks[order], (f"an operand of `{op}`",), ())[0]


def _is_cheap(block: Block) -> bool:
    """Return whether a block has few operations, no loops or branches, and no checks."""
    return not block.has_code and not block.has_effects and _operations(block.program.jaxpr) <= _CHEAP


def _operations(jaxpr: Any) -> float:
    """Return the number of operations; infinity if there are loops or branches."""
    count = 0.0
    for equation in jaxpr.eqns:
        if equation.primitive in (lax.cond_p, lax.while_p, lax.scan_p):
            return math.inf
        inner = [getattr(each, "jaxpr", each) for each in jax.extend.core.jaxprs_in_params(equation.params)]
        count += sum(map(_operations, inner)) if inner else 1
    return count


def truth(value: Any, where: str) -> Any:
    """Return a condition as a scalar bool; a number is true if it is not zero, as in Python."""
    value = jnp.asarray(value)
    if value.size != 1:
        raise staging_error(
            "AGC207",
            f"the condition of this `{where}` has shape {value.shape}, but one truth value is needed",
            why="the truth of an array with several elements is ambiguous",
            fix="reduce it with jnp.all(...) or jnp.any(...)",
        )
    value = value.reshape(())
    if jnp.issubdtype(value.dtype, jax.dtypes.extended):
        raise TypeError(f"a value of {value.dtype} has no truth value")
    return value if value.dtype == bool else value != 0
