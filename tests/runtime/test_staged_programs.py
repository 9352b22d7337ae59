"""Random programs on numbers: graphs give what Python gives, in results, effects and errors.

`AGC_FUZZ=5000 pytest tests/runtime/test_staged_programs.py` grows that many programs instead of a few.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import agc.runtime as tf
import numpy as np
from agc.autograph import StagingError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from staged_programs import Grower, load

COUNT = int(os.environ.get("AGC_FUZZ", "60"))
ARGUMENTS = [
    (3, 5, 1.5, [1, 4, 2], [0, 3]),
    (0, 2, -0.5, [2, 2, -1], [4, 1]),
    (-4, 7, 3.0, [0, 5, 3], [2, 2]),
    (6, -1, 0.0, [3, 3, 3], [1, -5]),
]
PYTHON_NUMBERS = [(), (), (), (0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)]
"""The places of the arguments that stay Python numbers while the others are tensors."""

WHATEVER_ROWS = [tf.TensorSpec([], tf.int32)] * 2 + [tf.TensorSpec([], tf.float32)]
WHATEVER_ROWS += [tf.TensorSpec([None], tf.int32)] * 2
MOST_REFUSED = 0.03


class Sum:
    """What a variable is for a program on Python numbers."""

    def __init__(self) -> None:
        self.value = 0

    def assign(self, value: int) -> None:
        self.value = value

    def assign_add(self, value: int) -> None:
        self.value += value

    def read_value(self) -> int:
        return self.value


class Outcome(NamedTuple):
    """What can be seen of a call."""

    result: Any
    error: Exception | None
    printed: str
    total: int


def python_log(mark: int, value: int) -> None:
    print(mark, int(value))


def graph_log(mark: int, value: Any) -> None:
    tf.print(mark, value, output_stream=sys.stdout)


def outcome(program: Callable[..., Any], args: tuple[Any, ...], total: Any) -> Outcome:
    total.assign(0)
    out = io.StringIO()
    result = raised = None
    with contextlib.redirect_stdout(out):
        try:
            result = program(*args)
        except Exception as error:
            raised = error
    return Outcome(result, raised, out.getvalue(), int(total.read_value()))


def tensors(args: tuple[Any, ...], kept: tuple[int, ...]) -> tuple[Any, ...]:
    def given(place: int, arg: Any) -> Any:
        return arg if place in kept else tf.constant(arg, tf.float32 if isinstance(arg, float) else tf.int32)

    return tuple(given(place, arg) for place, arg in enumerate(args))


def equal(one: Any, other: Any) -> bool:
    """Whether two results have the same structure and, up to the precision of float32, the same numbers."""
    if isinstance(one, tuple):
        return isinstance(other, tuple) and all(map(equal, one, other)) and len(one) == len(other)
    if isinstance(one, dict):
        return isinstance(other, dict) and all(equal(one[key], other[key]) for key in one)
    return bool(np.allclose(np.asarray(other, float), float(one), rtol=1e-4, atol=1e-5))


def same(one: Outcome, other: Outcome) -> bool:
    if one.error is not None or other.error is not None:
        return type(one.error) is type(other.error)
    return equal(one.result, other.result) and one[2:] == other[2:]


def same_in_single_precision(program: Callable[..., Any], args: tuple[Any, ...], expected: Outcome) -> bool:
    """Whether rounding to float32 leaves all comparisons of a program as they are."""
    rounded = (*args[:2], np.float32(args[2]), *args[3:])
    return same(expected, outcome(program, rounded, program.__globals__["total"]))


def fault(expected: Outcome, found: Outcome) -> str | None:
    """What is wrong with the outcome of a graph, or None."""
    if expected.error is None and found.error is None:
        if not equal(expected.result, found.result):
            return "another result"
        return None if expected[2:] == found[2:] else "other effects"
    if found.error is not None and type(found.error) in (AssertionError, ZeroDivisionError):
        return None  # Python raised it while tracing, be it that the graph never comes to that place
    first = expected.error
    while first is not None and isinstance(first.__context__, Exception):
        first = first.__context__  # a `finally` is not run for an error of the graph
    if isinstance(first, ZeroDivisionError):
        # An operation whose result nobody needs does not run, one without effects not at its place.
        is_right = found.error is None or isinstance(found.error, tf.errors.InvalidArgumentError)
    else:
        is_right = first is not None and isinstance(found.error, type(first))
        is_right = is_right and expected.printed.startswith(found.printed)
    return None if is_right else "another error"


def verdicts(text: str, mode: int) -> list[str]:
    """Run a program in all ways on all arguments; "agree" or the code of a refusal for each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # "is" and calls of literals
        total, variable = Sum(), tf.Variable(0)
        program = load(text, {"log": python_log, "total": total})
        traced = load(text, {"log": graph_log, "total": variable})
    kept = PYTHON_NUMBERS[mode % len(PYTHON_NUMBERS)]
    signature = WHATEVER_ROWS if not kept and mode % 2 else None
    runs = {"eager": traced}
    for executor in ("plan", "interpret"):
        runs[executor] = tf.function(traced, input_signature=signature, experimental_executor=executor)
    found = []
    for args in ARGUMENTS:
        expected = outcome(program, args, total)
        if not same_in_single_precision(program, args, expected):
            continue
        for name, run in runs.items():
            seen = outcome(run, tensors(args, kept), variable)
            if isinstance(seen.error, StagingError):
                found.append(seen.error.diagnostic.code)
                continue
            wrong = fault(expected, seen)
            assert wrong is None, f"{name}: {wrong} for {args}\n{expected}\n{seen}\n{text}"
            found.append("agree")
    return found


@st.composite
def programs(draw: st.DrawFn) -> str:
    return Grower(lambda count: draw(st.integers(0, count - 1)), size=draw(st.integers(3, 28))).program()


def test_random_programs_agree_with_python() -> None:
    seen: Counter[str] = Counter()

    @settings(
        max_examples=COUNT, deadline=None, suppress_health_check=list(HealthCheck), derandomize=COUNT == 60
    )
    @given(programs(), st.integers(0, 2 * len(PYTHON_NUMBERS) - 1))
    def run(text: str, mode: int) -> None:
        seen.update(verdicts(text, mode))

    run()
    refused = seen.total() - seen["agree"]
    assert refused <= MOST_REFUSED * seen.total(), f"{seen}: too many are refused"
