"""What is known of numbers holds for all of them: tried with all numbers of small ranges."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import pytest
from agc.runtime.executors.plan.unboxing.branch_refinement import refine_by_condition
from agc.runtime.executors.plan.unboxing.range_analysis import of_result, within
from agc.runtime.executors.plan.unboxing.use_lists import Uses
from agc.runtime.ir.graph import Operand, Value
from agc.runtime.ir.parser import parse
from agc.runtime.ops.framework.intervals import Range, hull
from agc.runtime.ops.framework.op import REGISTRY
from support.each_case import each_case

RANGES = [(low, high) for low, high in itertools.product(range(-5, 6), repeat=2) if low <= high]

ONE: dict[str, Callable[[int], int]] = {
    "negative": operator.neg,
    "square": lambda x: x * x,
    "abs": abs,
    "cast": int,
    "identity": int,
}
TWO: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "floordiv": operator.floordiv,
    "floormod": operator.mod,
    "maximum": max,
    "minimum": min,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "left_shift": operator.lshift,
    "right_shift": operator.rshift,
}


def numbers(of: Range) -> range:
    return range(int(of[0]), int(of[1]) + 1)


def lies(results: list[int], found: Range | None) -> bool:
    return found is None or not results or (found[0] <= min(results) and max(results) <= found[1])


@pytest.mark.parametrize("name", ONE)
def test_results_of_one_operand_lie_in_the_range(name: str) -> None:
    for x in RANGES:
        assert lies([ONE[name](a) for a in numbers(x)], of_result(REGISTRY[name], x)), x


@pytest.mark.parametrize("name", TWO)
def test_results_of_two_operands_lie_in_the_range(name: str) -> None:
    for x, y in itertools.product(RANGES, RANGES[::2]):
        if name.endswith("shift") and y[0] < 0:
            continue  # distances are cut to what the dtype has bits before
        pairs = itertools.product(numbers(x), numbers(y))
        results = [TWO[name](a, b) for a, b in pairs if b or not name.startswith("floor")]
        assert lies(results, of_result(REGISTRY[name], x, y)), (x, y)


def test_ranges_of_both_and_of_either() -> None:
    for x, y in itertools.product(RANGES, RANGES):
        both = set(numbers(x)) & set(numbers(y))
        assert set(numbers(within(x, y))) == (both or set(numbers(x)))
        assert hull(x, y) == (min(x[0], y[0]), max(x[1], y[1]))


class Ranges(dict[Operand, Range | None]):
    """The ranges of some values; all others that are no constants are decisions."""

    def __missing__(self, operand: Operand) -> Range | None:
        return (0, 1) if isinstance(operand, Value) else None


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
}

DECISIONS: dict[str, Callable[[bool, bool], bool]] = {
    "identity c": lambda c, d: c,
    "logical_not c": lambda c, d: not c,
    "logical_xor c, d": lambda c, d: c != d,
    "cast f [dtype=bool]": lambda c, d: True,
    "logical_and c, d": lambda c, d: c and d,
    "logical_or c, d": lambda c, d: c or d,
}


@each_case("decision", DECISIONS)
@each_case("name", COMPARISONS)
def test_a_condition_refines_the_ranges(name: str, decision: str) -> None:
    """Keep every value that makes a condition true, or false, possible after it."""
    graph = parse(
        "graph f(a: int32[], b: int32[]) -> bool[]\n"
        f"  c = {name} a, b : bool[]\n"
        "  d = not_equal a, 1 : bool[]\n"
        "  f = identity 1 : int32[]\n"
        f"  e = {decision} : bool[]\n"
        "  return e\n"
    )
    (a, b), uses = graph.inputs, Uses(graph)
    for x, y, is_true in itertools.product(RANGES[::4], RANGES[::3], (True, False)):
        known = Ranges({a: x, b: y})
        told = refine_by_condition(known, graph.outputs[0], is_true, uses).items()
        for i, k in itertools.product(numbers(x), numbers(y)):
            if DECISIONS[decision](COMPARISONS[name](i, k), i != 1) == is_true:
                assert all(low <= {a: i, b: k}[value] <= high for value, (low, high) in told), (x, y, i, k)


def test_the_refined_ranges_are_tight() -> None:
    told = {}
    for name, is_true in itertools.product(COMPARISONS, (True, False)):
        graph = parse(f"graph f(a: int32[], b: int32[]) -> bool[]\n  c = {name} a, b : bool[]\n  return c\n")
        a, b = graph.inputs
        found = refine_by_condition(Ranges({a: (0, 9), b: (3, 5)}), graph.outputs[0], is_true, Uses(graph))
        told[name, is_true] = found.get(a), found.get(b)
    less, less_equal = ((0, 4), (1, 5)), ((0, 5), (0, 5))
    more, more_equal = ((4, 9), (3, 8)), ((3, 9), (3, 9))
    same = ((3, 5), (0, 9))
    assert told == {
        ("less", True): less, ("less", False): more_equal,
        ("less_equal", True): less_equal, ("less_equal", False): more,
        ("greater", True): more, ("greater", False): less_equal,
        ("greater_equal", True): more_equal, ("greater_equal", False): less,
        ("equal", True): same, ("equal", False): (None, None),
        ("not_equal", True): (None, None), ("not_equal", False): same,
    }  # fmt: skip
