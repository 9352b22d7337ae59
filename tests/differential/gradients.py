"""Derivatives, first and second, of every function of the namespaces that takes fractions, and of `EXPRESSIONS`.

A function is called with tensors that a tape watches. The sum of its results, with weights, is differentiated with
respect to them; then the sum of these derivatives, with weights, once more.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import agc.runtime as ours
import numpy as np
from support.gradient_expressions import EXPRESSIONS, derivatives, dtypes, inputs, numbers, written

from .judging import Comparison, outcome, refused, verdict
from .sweep import MORE, UP_TO_SIGN, functions

DTYPES = ("float32", "float64", "complex64", "complex128")

VALUES: dict[str, list[float]] = {
    "inner": [0.3, 0.7, 0.15, 0.55, 0.9, 0.45],
    "outer": [1.5, -2.5, 3.25, 0.5, -0.75, 2.0],
    "ties": [1.0, 0.0, 1.0, -1.0, 0.0, 1.0],
}


def compare(tf: Any, part: str = "") -> Iterator[Comparison]:
    """Every function, then every expression."""
    for path, mine, theirs in functions(tf):
        if part in path:
            for what, arrays, more in calls(path, mine):
                squared = path.rpartition(".")[2] in UP_TO_SIGN
                yield from compared(
                    tf,
                    f"{path} {what}",
                    arrays,
                    [lambda *x, f=f, m=more: f(*x, *m) for f in (mine, theirs)],
                    squared,
                )
    for text in EXPRESSIONS:
        if part in text:
            for dtype in dtypes(text):
                pair = [written(text, lib) for lib in (ours, tf)]
                yield from compared(tf, f"{text} {dtype}", inputs(text, dtype), pair)


def compared(
    tf: Any, what: str, arrays: list[Any], pair: list[Callable[..., Any]], squared: bool = False
) -> Iterator[Comparison]:
    for order in (1, 2):
        mine, theirs = (
            outcome(lambda lib=lib, f=f, order=order: derivatives(lib, f, arrays, order, squared))
            for lib, f in zip((ours, tf), pair, strict=True)
        )
        lacking = theirs == "! LookupError" or theirs == "! NotImplementedError"
        result = "wider" if lacking and not refused(mine) else verdict(mine, theirs)
        yield Comparison(f"gradient {order} of {what}", result, mine, theirs)


def calls(path: str, function: Any) -> Iterator[tuple[str, list[Any], tuple[Any, ...]]]:
    """A text for the call, the arrays and the further arguments."""
    space, _, name = path.rpartition(".")
    more = MORE.get(name, ())
    parameters = inspect.signature(function).parameters
    count = sum(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters.values())
    count -= len(more)
    if not 0 < count <= 3:
        return
    for dtype in DTYPES:
        if space == "tf.linalg":
            for kind, size in (("square", (3, 3)), ("batch", (2, 2, 2)), ("tall", (3, 2)), ("flat", (2, 3))):
                yield f"{dtype} {kind}", [matrix(size, dtype, seed) for seed in range(count)], more
        elif space == "tf.image":
            yield f"{dtype} image", [np.abs(numbers((4, 4, 3), dtype, seed)) for seed in range(count)], more
        else:
            for kind, values in VALUES.items():
                given = [np.roll(np.array(values), shift).astype(dtype) for shift in range(count)]
                if dtype.startswith("complex"):
                    given = [array + array.dtype.type(0.25j) * (k + 1) for k, array in enumerate(given)]
                yield f"{dtype} {kind}", given, more
                yield f"{dtype} {kind} rows", [given[0].reshape(2, 3), *(x[:3] for x in given[1:])], more


def matrix(size: tuple[int, ...], dtype: str, seed: int) -> Any:
    """A matrix of which much can be computed: the first and square ones are symmetric and positive."""
    found = numbers(size, dtype, seed)
    if seed == 0 and size[-1] == size[-2]:
        adjoint = np.conj(np.swapaxes(found, -1, -2))
        found = (found @ adjoint + np.diag(np.arange(1.0, size[-1] + 1))).astype(dtype) / 4
    return found
