"""Every function of tf.experimental.numpy on every dtype, pair of dtypes and a few shapes, and keys of indexing."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import agc.runtime as ours
import numpy as np
from support import answers

from .judging import Comparison, outcome, refused, verdict

DTYPES = (
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip
VALUES = {
    "f": [0.5, 1.0, -2.5, 3.25, 0.0, 7.0], "i": [1, 2, -3, 5, 0, 7], "u": [1, 2, 3, 5, 0, 7],
    "c": [1, 1j, 2 - 1j, 0, -1, 0.5j], "b": [True, False, True, True, False, False],
}  # fmt: skip
PYTHON = {
    "int": 2,
    "float": 1.5,
    "list": [[1], [2]],
    "floats": [1.5, 2.0, 0.25],
    "array": np.array([2.0, 1.0, 3.0]),
}

NOT_RECORDED = (
    "around(x, 1)",
    "round(x, 1)",
    "where(x)",
    "nonzero(x)",
    "linspace([0, 1], [2, 3], 3)",
    "var(x, 1)",
)
"""Calls that TensorFlow refuses without NumPy's behavior, or whose result is another sequence."""

KEYS = (
    "0", "-1", "[0, 1]", "[-1]", "[[0, 1], [1, 0]]", ":, [2, 0]", "..., [0, 2]", "[0, 1], [1, 2]", "None, [1]",
    "0, [1, 2]",
    "[True, False]", ":, [True, False, True]", "x > 1", "np.array([1, 0])", "tf.constant([1, 0])", "1:, [0]",
    "[0, 1], 1",
    "::-1",
    "..., None, 0", "tf.constant(1)", ":, None, [0, 1]", "[[0]], [0, 1]",
)  # fmt: skip
CUBE_KEYS = (
    ":, [0, 1], [1, 2]",
    "[0, 1], :, [1, 2]",
    "0, :, [1, 2]",
    "[0], ..., [1]",
    ":, :, [[0], [1]]",
    "[0, 1]",
    "1, [0, 1]",
)
METHODS = (
    "T", "astype('float32')", "reshape(-1)", "reshape(3, 2)", "reshape([3, 2])", "ravel()", "size", "clip(1, 2)",
    "tolist()",
    "transpose()", "transpose((1, 0))", "flatten()", "max()", "max(axis=0)", "mean()", "min(1)", "data",
)  # fmt: skip
OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "<", "<=", "==", "!=", "&", "|", "^")


def compare(tf: Any, part: str = "") -> Iterator[Comparison]:
    """Every function with its arguments; then the operators, keys and methods of tensors with NumPy's behavior."""
    for library in (ours, tf):  # without it, TensorFlow's own functions of integers fail
        library.experimental.numpy.experimental_enable_numpy_behavior()
    for what, text, arrays in calls(tf):
        if part in what:
            mine, theirs = (
                outcome(lambda t=library, e=text, a=arrays: evaluate(t, e, a)) for library in (ours, tf)
            )
            is_wider = refused(theirs) and not refused(mine)
            yield Comparison(what, "wider" if is_wider else verdict(mine, theirs), mine, theirs)


def evaluate(tf: Any, text: str, arrays: dict[str, Any]) -> Any:
    names = {name: tf.constant(value) for name, value in arrays.items()}
    found = eval(text, {"tf": tf, "tnp": tf.experimental.numpy, "np": np, "c": tf.constant}, names)
    return found.name if hasattr(found, "as_numpy_dtype") else found


def calls(tf: Any) -> Iterator[tuple[str, str, dict[str, Any]]]:
    binary = set(binary_functions(tf))
    recorded = [text.removeprefix("tnp.") for text, _ in answers.read() if text.startswith("tnp.")]
    for text in [*recorded, *NOT_RECORDED]:
        if text.endswith(")") and text.partition("(")[0] not in binary:
            for dtype in DTYPES:
                yield f"{text} {dtype}", f"tnp.{text}", {"x": array(dtype)}
    for name in sorted(binary):
        for dtype in DTYPES:
            yield from pairs(name, dtype, lambda x, y, n=name: f"tnp.{n}({x}, {y})")
    for dtype in DTYPES:
        for operator in OPERATORS:
            yield from pairs(operator, dtype, lambda x, y, o=operator: f"{x} {o} {y}")
        for text in (*(f"x[{key}]" for key in KEYS), *(f"x.{method}" for method in METHODS)):
            yield f"{text} {dtype}", text, {"x": array(dtype)}
    for key in CUBE_KEYS:
        yield f"cube[{key}]", f"x[{key}]", {"x": np.arange(24).reshape(2, 3, 4)}


def binary_functions(tf: Any) -> Iterator[str]:
    for name in ours.experimental.numpy.__all__:
        function = getattr(tf.experimental.numpy, name)
        if inspect.isfunction(function) and [*inspect.signature(function).parameters] == ["x1", "x2"]:
            yield name


def pairs(name: str, dtype: str, text: Any) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for other in DTYPES:
        yield f"{name} {dtype} {other}", text("x", "y"), {"x": array(dtype), "y": array(other)[::-1]}
    for kind, value in PYTHON.items():
        shown = f"np.array({value.tolist()})" if isinstance(value, np.ndarray) else repr(value)
        yield f"{name} {dtype} {kind}", text("x", shown), {"x": array(dtype)}
        yield f"{name} {kind} {dtype}", text(shown, "x"), {"x": array(dtype)}


def array(dtype: str) -> Any:
    return np.array(VALUES[np.dtype(dtype).kind]).astype(dtype).reshape(2, 3)
