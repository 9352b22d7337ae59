"""Programs run in all ways, and what comes out is compared with what the interpreter gives.

eager        operation by operation        interpret    the traced graph, node by node: the oracle
plan         jit_compile=False             native       jit_compile=True
automatic    jit_compile=None, where everything is hot at once and native code is always the faster
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors.llvm import JitFunction, tiering
from agc.runtime.executors.llvm.diagnostics import CompilationError

from .program import Program

OPTIONS: dict[str, dict[str, Any]] = {
    "eager": {},
    "interpret": {"experimental_executor": "interpret"},
    "plan": {"jit_compile": False},
    "native": {"jit_compile": True},
    "automatic": {"jit_compile": None},
}
Outcome = Any
"""The leaves of a result as arrays, or the name of an error."""


def outcomes(program: Program, way: str, times: int = 1) -> list[Outcome]:
    """What all calls give, each `times` times."""
    run = tf.function(program.make(), **OPTIONS[way])
    with _eagerly(way == "eager"):
        return [_outcome(run, call) for call in program.calls for _ in range(times)]


@contextmanager
def _eagerly(really: bool) -> Iterator[None]:
    tf.config.run_functions_eagerly(really)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(False)


def _outcome(run: Any, call: tuple[Any, ...]) -> Outcome:
    try:
        return [np.asarray(leaf) for leaf in tf.nest.flatten(run(*map(tf.constant, call)))]
    except AssertionError:
        return "AssertionError"
    except tf.errors.InvalidArgumentError as error:
        if isinstance(error, CompilationError):
            raise
        return "InvalidArgumentError"


def differences(program: Program, wanted: list[Outcome], found: list[Outcome]) -> list[str]:
    """What is not as it should be, in words."""
    pairs = zip(wanted, found, strict=True)
    return [text for number, pair in enumerate(pairs) for text in _of_call(number, *pair, program.tolerance)]


def _of_call(number: int, wanted: Outcome, found: Outcome, tolerance: float) -> Iterator[str]:
    if isinstance(wanted, str) or isinstance(found, str) or len(wanted) != len(found):
        if wanted != found:
            yield f"call {number}: {found}, not {wanted}"
        return
    for place, (one, other) in enumerate(zip(wanted, found, strict=True)):
        if not _same_kind(one, other) or one.shape != other.shape or not _equal(one, other, tolerance):
            yield f"call {number}, result {place}: {other!r}, not {one!r}"


def _same_kind(one: Any, other: Any) -> bool:
    """Whether the dtypes are one, or the second is that of a Python number, which eager programs may give."""
    return one.dtype == other.dtype or (one.dtype.kind == other.dtype.kind and other.dtype.itemsize == 8)


def _equal(wanted: Any, found: Any, tolerance: float) -> bool:
    if wanted.dtype.kind not in "fc":
        return bool(np.array_equal(wanted, found))
    finite = np.isfinite(wanted)
    if not np.array_equal(wanted[~finite], found[~finite], equal_nan=True):
        return False
    if np.any(np.signbit(wanted.real[wanted == 0]) != np.signbit(found.real[wanted == 0])):
        return False
    largest = np.max(np.abs(wanted[finite]), initial=0.0)
    return bool(np.all(np.abs(wanted[finite] - found[finite]) <= tolerance * largest))


def make_everything_hot(patch: pytest.MonkeyPatch) -> None:
    """Native code is made after the first call, at once, and then used."""
    patch.delenv("AGC_JIT")
    for name, value in (("HOT", -1.0), ("TRIALS", 0)):
        patch.setattr(tiering, name, value)
    patch.setattr(tiering, "ask", tiering._compile)
    patch.setattr(tiering.compiler, "left", lambda: np.inf)
    patch.setattr(tiering.TierState, "_compared", lambda self, native, arguments: native(arguments))


@contextmanager
def what_fails(patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The graphs whose native code has given up, and left it to the plan."""
    found: list[str] = []
    original = JitFunction.fail

    def fail(self: JitFunction, arguments: Any) -> Any:
        found.append(self.graph.name)
        return original(self, arguments)

    patch.setattr(JitFunction, "fail", fail)
    yield found
