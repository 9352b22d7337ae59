"""Whether graphs do what Python does with a numeric program: in results, effects and errors.

    verdicts(text, mode)    "agree", or the code of a refusal, for each run; an AssertionError says what is wrong

The program runs as it is on Python numbers, and on tensors: converted and executed at once, and as a graph in both
executors. On Python numbers it is converted, too. `mode` chooses which arguments stay Python numbers.
"""

from __future__ import annotations

import contextlib
import copy
import io
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import agc.runtime as tf
import numpy as np
from agc.autograph import StagingError, convert
from support.staged_programs import load
from support.versions import converted_version

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


def refusal(error: BaseException | None) -> str | None:
    """The code of a refusal, which a `finally` of the program may have followed up with an error of its own."""
    while error is not None:
        if isinstance(error, StagingError):
            return error.diagnostic.code
        if isinstance(error, tf.errors.OperatorNotAllowedInGraphError):
            return "not allowed"
        error = error.__context__
    return None


def verdicts(text: str, mode: int) -> list[str]:
    """Run a program in all ways on all arguments; "agree" or the code of a refusal for each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # "is" and calls of literals
        total, variable = Sum(), tf.Variable(0)
        program = load(text, {"log": python_log, "total": total})
        traced = load(text, {"log": graph_log, "total": variable})
    kept = PYTHON_NUMBERS[mode % len(PYTHON_NUMBERS)]
    signature = WHATEVER_ROWS if not kept and mode % 2 else None
    runs: dict[str, Callable[..., Any]] = {"eager": convert(traced), "converted": converted_version(traced)}
    for executor in ("plan", "interpret"):
        runs[executor] = tf.function(traced, input_signature=signature, experimental_executor=executor)
    found = []
    for args in ARGUMENTS:
        expected = outcome(program, copy.deepcopy(args), total)
        for version in (convert, converted_version):
            plain = outcome(version(program), copy.deepcopy(args), total)
            assert same(expected, plain), f"{version.__name__}: {args}\n{expected}\n{plain}\n{text}"
        if not same_in_single_precision(program, copy.deepcopy(args), expected):
            continue
        for name, run in runs.items():
            seen = outcome(run, tensors(args, kept), variable)
            refused = refusal(seen.error)
            wrong = None if refused else fault(expected, seen)
            assert wrong is None, f"{name}: {wrong} for {args}\n{expected}\n{seen}\n{text}"
            found.append(refused or "agree")
    return found
