"""How many rounds a loop has that counts from a constant to another: as many as Python counts."""

from __future__ import annotations

import itertools
import operator

import pytest
from agc.runtime.ir.parser import parse
from agc.runtime.optimize import optimize
from agc.runtime.optimize.simplify_loops import counted_rounds

COMPARISONS = {
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "not_equal": operator.ne,
}
MOST = 50  # iterations after which such a loop counts as endless


def rounds(name: str, start: int, step: int, limit: int) -> int | None:
    """By going through them."""
    for number in range(MOST):
        if not COMPARISONS[name](start + number * step, limit):
            return number
    return None


def loop(test: str, start: int, step: int) -> str:
    return (
        f"graph f() -> int32[]\n"
        f"  k = while {start} : int32[]\n"
        f"    test k\n"
        f"      go = {test} : bool[]\n"
        f"      yield go\n"
        f"    body k\n"
        f"      j = add k, {step} : int32[]\n"
        f"      yield j\n"
        f"  return k\n"
    )


@pytest.mark.parametrize("name", COMPARISONS)
def test_trip_counts_are_computed(name: str) -> None:
    mirrored = {"less": "greater", "less_equal": "greater_equal", "not_equal": "not_equal"}
    mirrored |= {after: before for before, after in mirrored.items()}
    for start, step, limit in itertools.product((-7, 0, 5), (-3, -1, 1, 2), (-7, -2, 0, 5, 6)):
        expected = rounds(name, start, step, limit)
        for test in (f"{name} k, {limit}", f"{mirrored[name]} {limit}, k"):
            (operation,) = parse(loop(test, start, step)).operations
            assert counted_rounds(operation) == expected, (test, start, step)


def test_counters_that_leave_their_dtype_are_not_counted() -> None:
    (operation,) = parse(loop("not_equal k, -2147483648", 2147483640, 1)).operations
    assert counted_rounds(operation) is None


def test_the_final_value_of_a_counter_is_known() -> None:
    graph = optimize(parse(loop("less k, 70", -7, 3)))
    assert [output.value for output in graph.outputs] == [71]
    assert not graph.operations
