"""Sorts that run in parallel: the same results and failures for any number of threads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime import errors
from agc.runtime.executors import EXECUTORS, Plan
from agc.runtime.executors.plan import parallel_sort
from agc.runtime.ir.parser import parse

TEXT = """\
graph f(x: float32[50000], y: float32[40000], n: int32[]) -> float32[50000], float32[40000], float32[], int32[40000]
  a = sort x [axis=-1, direction='ASCENDING']   : float32[50000]
  s = reduce_sum a [axis=None, keepdims=False]  : float32[]
  b = sort y [axis=-1, direction='DESCENDING']  : float32[40000]
  c = argsort b [axis=-1, direction='ASCENDING', stable=False] : int32[40000]
  return a, b, s, c
"""


@pytest.fixture(autouse=True)
def own_choice() -> Iterator[None]:
    before = tf.config.threading.get_inter_op_parallelism_threads()
    yield
    tf.config.threading.set_inter_op_parallelism_threads(before)


def arguments() -> list[Any]:
    random = np.random.default_rng(3)
    return [random.standard_normal(n, np.float32) for n in (50_000, 40_000)] + [np.array(0, np.int32)]


def test_independent_sorts_run_in_parallel() -> None:
    """Move the second one up to the first; operations that need one of them stay."""
    lines = [line.strip() for line in Plan(parse(TEXT)).source.splitlines()]
    assert lines[2:] == [
        "a, b = op_beside(",
        "lambda: op_sort(x, axis=-1, direction='ASCENDING'),",
        "lambda: op_sort(y, axis=-1, direction='DESCENDING'),",
        ")",
        "s = op_reduce_sum(a, axis=None, keepdims=False)[()]",
        "c = op_argsort(b, axis=-1, direction='ASCENDING', stable=False)",
        "return (a, b, s, c)",
    ]


@pytest.mark.parametrize("threads", [0, 1, 2, 5])
def test_results_do_not_depend_on_the_number_of_threads(threads: int) -> None:
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    found = Plan(parse(TEXT)).run(arguments())
    expected = EXECUTORS["interpret"](parse(TEXT))(arguments())
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_caller_runs_one_of_the_sorts(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def with_help(work: Any, threads: int) -> None:
        asked.append(threads)
        work()

    monkeypatch.setattr(parallel_sort, "run_in_pool", with_help)
    for threads in (1, 2, 5):
        tf.config.threading.set_inter_op_parallelism_threads(threads)
        Plan(parse(TEXT)).run(arguments())
    assert asked == [2, 2]


@pytest.mark.parametrize("threads", [1, 2])
def test_the_first_failure_in_order_is_raised(threads: int) -> None:
    def fails(message: str) -> Any:
        def work() -> None:
            raise errors.InvalidArgumentError(message)

        return work

    tf.config.threading.set_inter_op_parallelism_threads(threads)
    with pytest.raises(errors.InvalidArgumentError, match="first"):
        parallel_sort.beside(lambda: 1, fails("first"), fails("second"))


def test_failures_are_those_of_the_interpreter() -> None:
    """A sort of fewer axes than it was promised fails on its own line."""
    values = arguments()
    values[1] = np.array(1.0, np.float32)
    messages = []
    for executor in ("plan", "interpret"):
        with pytest.raises(errors.OpError) as caught:
            EXECUTORS[executor](parse(TEXT))(values)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_a_possible_failure_in_between_prevents_parallel_sorts() -> None:
    """Check that the error that a program shows does not depend on what runs in parallel."""
    apart = TEXT.replace(
        "  b = sort", "  t = floordiv 7, n                             : int32[]\n  b = sort"
    )
    apart = apart.replace("int32[40000]\n  a", "int32[40000], int32[]\n  a").replace("s, c\n", "s, c, t\n")
    assert "op_beside" not in Plan(parse(apart)).source
    assert "op_beside" in Plan(parse(apart.replace("floordiv", "add"))).source


def test_small_and_unknown_sizes_are_sorted_serially() -> None:
    for size in ("100", "?"):
        text = TEXT.replace("40000", size)
        assert "op_beside" not in Plan(parse(text)).source
