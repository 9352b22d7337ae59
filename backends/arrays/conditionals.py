"""`if`, `and`, `or` and `not` on traced values, as one conditional operation.

if x > 0:
    y = f(x)        ⇒    y = cond(x > 0, lambda: f(x), lambda: 0.0)
else:
    y = 0.0
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from agc.autograph.staging_errors import staging_error

from . import failures
from .agreement import Column, Row, agreed, common, converted
from .blocks import Block, traced
from .failures import library
from .leaves import Slot, is_carried, type_of

_CHEAP = 8
"""The most operations of a block that is computed without a branch."""

_SMALL = 64
"""The most elements of an array that is selected without a branch, which would take longer to compile."""


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
    codes = common([block.code or failures.code(0) for block in blocks]) if has_code else None

    def branch(number: int) -> Callable[[], list[Any]]:
        block = blocks[number]

        def run() -> list[Any]:
            found = block.run()
            values = [_value(block, row.leaves[number], row, found) for row in rows]
            if codes is None:
                return values
            return [*values, converted(found[-1] if block.has_code else failures.code(0), codes)]

        return run

    if not rows and not has_code and not any(block.program.has_effects for block in blocks):
        return []
    if codes is None and _is_selection(blocks, rows):
        return [library().where(going, *pair) for pair in zip(branch(0)(), branch(1)(), strict=True)]
    results = library().cond(going, branch(0), branch(1))
    if has_code and any(block.results is not None for block in blocks):
        failures.current().fail(results.pop())
    return results


def _is_selection(blocks: Sequence[Block], rows: Sequence[Row]) -> bool:
    """Return whether both branches are computed, because they are cheap and give small arrays or numbers."""
    sizes = [math.prod(row.type.shape) for row in rows if row.type is not None]
    return max(sizes, default=0) <= _SMALL and all(
        _is_cheap(block) and block.program.is_selectable() for block in blocks
    )


def _value(block: Block, leaf: Any, row: Row, found: Sequence[Any]) -> Any:
    assert row.type is not None
    if isinstance(leaf, Slot):
        if block.results is None:  # it raises: its results are blanks of the other branch's types
            return converted(library().blank(row.type), row.type)
        leaf = found[leaf.number]
    return converted(leaf, row.type)


def logical(op: str, first: Any, rest: Callable[[], Any] | None) -> Any:
    """Stage `first and rest()`, `first or rest()` and `not first`; the second operand runs if it decides."""
    going = truth(first, op)
    if rest is None:
        return library().logical_not(going)
    decided = first if first.ndim == 0 else going
    other = traced(lambda: (_as_number(rest(), decided, going),))
    (result,) = other.results or (None,)
    if isinstance(result, Slot) and _are_bools(going, first, result) and _is_cheap(other):
        second = truth(other.run()[0], op)
        return (library().logical_and if op == "and" else library().logical_or)(going, second)
    blocks = [other, traced(lambda: (_as_number(decided, result, going),))]
    order, name = (slice(None), "both") if op == "and" else (slice(None, None, -1), "either")
    return _chosen(going, blocks[order], (name,), ())[0]


def _as_number(value: Any, like: Any, truth: Any) -> Any:
    """Return a truth value as 0 or 1 if the other operand is a number; other values stay as they are."""
    if not (is_carried(value) and is_carried(like)):
        return value
    own, others = type_of(value), type_of(like)
    if own.dtype != type_of(truth).dtype or own.dtype == others.dtype:
        return value
    return converted(value, own._replace(dtype=others.dtype, is_weak=others.is_weak))


def _are_bools(going: Any, *values: Any) -> bool:
    return all(type_of(value).dtype == type_of(going).dtype for value in values)


def _is_cheap(block: Block) -> bool:
    """Return whether a block has few operations, no loops or branches, and no checks."""
    return not block.has_code and not block.program.has_effects and block.program.operations() <= _CHEAP


def truth(value: Any, where: str) -> Any:
    """Return a condition as a scalar bool; a number is true if it is not zero, as in Python."""
    shape = library().type_of(value).shape
    if math.prod(shape) != 1:
        raise staging_error(
            "AGC207",
            f"the condition of this `{where}` has shape {shape}, but one truth value is needed",
            why="the truth of an array with several elements is ambiguous",
            fix=f"reduce it with {library().reductions}",
        )
    return library().truth(value)
