"""Compare agc.runtime with the real TensorFlow, where that is installed: `python tests/differential.py`.

Three comparisons, of values, dtypes, shapes and classes of errors:

* expressions: those of `fixtures/tensorflow/answers.txt` (`--record` writes TensorFlow's answers there anew);
* examples: the doctests of the runtime's operations, run with TensorFlow's functions in place of ours;
* a sweep: every function of tf.math, tf.linalg, tf.nn and tf.bitwise on every dtype and on awkward values.

What TensorFlow refuses for want of a kernel and agc computes is counted as "wider".
"""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import inspect
import io
import os
import pkgutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
if "agc" not in sys.modules and importlib.util.find_spec("agc") is None:
    sys.path.insert(0, str(Path(__file__).parent.parent / "typings"))
sys.path.insert(0, str(Path(__file__).parent))

import agc.runtime as ours
import answers

NAMESPACES = ("math", "linalg", "nn", "bitwise", "random")
DTYPES = (
    "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "complex64", "complex128", "bool", "string",
)  # fmt: skip
REFUSED = {"NotFoundError", "InvalidArgumentError", "UnimplementedError"}
"""How TensorFlow says that an operation does not take a dtype, which depends on what has a kernel."""

MORE_ARGUMENTS: dict[str, tuple[Any, ...]] = {"tensordot": (1,), "band_part": (0, -1), "top_k": (2,)}
NOT_SWEPT = {"einsum", "matvec", "add_n", "eye"}  # their first argument is no tensor of the sweep
KNOWN = {
    "cholesky": "TensorFlow gives NaN for a matrix that is not positive definite; agc says so",
    "divide complex": "complex numbers divided by 0 are NaN, or infinite",
    "truediv complex": "the same",
    "xdivy complex": "the same",
    "erf float64": "TensorFlow gives NaN for infinity",
    "gelu": "TensorFlow rounds constants to float32, and checks dtypes later",
    "leaky_relu float64": "TensorFlow rounds alpha to float32",
    "log1p complex": "log1p(-1) has an undefined angle",
    "reduce_mean complex": "TensorFlow gives 0 as the mean of no complex numbers, NaN of no floats",
    "top_k float": "the order of NaN",
    "cross": "another class of error for vectors of a wrong length",
    "inv float16": "NumPy has no linear algebra on float16",
    "qr float16": "the same",
    "diag string": "another class of error",
    "diag_part string": "another class of error",
    "trace string": "another class of error",
    "imag string": "TensorFlow says that strings have empty imaginary parts",
    "agc.runtime.ops.random": "other random numbers",
    "int)": "agc takes Python's types as dtypes everywhere",
    "einsum(": "agc takes lists, too",
}
"""Differences that are meant to be, by a part of what is compared."""

UP_TO_SIGN = {"qr", "svd", "eigh"}


def outcome(call: Callable[[], Any]) -> Any:
    """The result, or the name of the exception's class."""
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            return call()
        except Exception as error:
            return f"! {type(error).__name__}"


def leaves(value: Any) -> list[Any]:
    """The parts of a result, tensors as NumPy arrays."""
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    if hasattr(value, "numpy"):
        return [np.asarray(value.numpy())]
    return [value]


def verdict(mine: Any, theirs: Any, up_to_sign: bool = False) -> str:
    """`agree`, `wider` or `differ`."""
    if (
        isinstance(mine, str)
        and isinstance(theirs, str)
        and mine.startswith("! ")
        and theirs.startswith("! ")
    ):
        both_refuse = {mine[2:], theirs[2:]} <= REFUSED
        return "agree" if mine == theirs or both_refuse else "differ"
    if isinstance(theirs, str) and theirs in ("! NotFoundError", "! InvalidArgumentError"):
        return "wider"
    ones, others = leaves(mine), leaves(theirs)
    if len(ones) != len(others):
        return "differ"
    return "agree" if all(_same(a, b, up_to_sign) for a, b in zip(ones, others, strict=True)) else "differ"


def _same(one: Any, other: Any, up_to_sign: bool) -> bool:
    if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray):
        return type(one).__name__ == type(other).__name__ and str(one) == str(other)
    if one.dtype.kind in "SO" and other.dtype.kind in "SO":
        return one.tolist() == other.tolist()
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.kind not in "fc":
        return bool(np.array_equal(one, other))
    if up_to_sign:
        one, other = np.abs(one), np.abs(other)
    close = {2: 5e-3, 4: 2e-5, 8: 2e-5 if one.dtype.kind == "c" else 1e-9}.get(one.dtype.itemsize, 1e-9)
    return bool(np.allclose(one, other, rtol=close, atol=close, equal_nan=True))


def expressions(tf: Any) -> Iterator[tuple[str, str, Any, Any]]:
    for expression, _ in answers.read():
        mine, theirs = answers.answer(expression, ours), answers.answer(expression, tf)
        yield expression, "agree" if answers.agree(mine, theirs) else "differ", mine, theirs


def examples(tf: Any) -> Iterator[tuple[str, str, Any, Any]]:
    """The doctests of operations, expression by expression, ours and with TensorFlow's functions."""
    public = {id(value): (space, name) for space, name, value in _public()}
    for module_name in sorted(m.name for m in pkgutil.iter_modules(ours.ops.__path__, "agc.runtime.ops.")):
        module = importlib.import_module(module_name)
        for test in doctest.DocTestFinder().find(module):
            mine = dict(test.globs)
            theirs = {name: _counterpart(tf, public.get(id(value)), value) for name, value in mine.items()}
            for example in test.examples:
                if not _uses_only_public(example.source, mine, public):
                    continue
                first, second = _run(example.source, mine), _run(example.source, theirs)
                yield f"{test.name}: {example.source.strip()}", verdict(first, second), first, second


def _run(source: str, names: dict[str, Any]) -> Any:
    try:
        code = compile(source.strip(), "<example>", "eval")
    except SyntaxError:
        return outcome(lambda: exec(source, names))
    return outcome(lambda: eval(code, names))


def _public() -> Iterator[tuple[str, str, Any]]:
    for space in ("", *NAMESPACES):
        module = getattr(ours, space) if space else ours
        for name in module.__all__:
            yield space, name, getattr(module, name)


def _counterpart(tf: Any, place: tuple[str, str] | None, value: Any) -> Any:
    if place is None:
        return value
    space, name = place
    return getattr(getattr(tf, space) if space else tf, name, value)


def _uses_only_public(source: str, names: dict[str, Any], public: dict[int, Any]) -> bool:
    used = compile(source, "<example>", "exec").co_names
    functions = [names[name] for name in used if callable(names.get(name)) and name not in dir(__builtins__)]
    return all(id(value) in public for value in functions)


def sweep(tf: Any) -> Iterator[tuple[str, str, Any, Any]]:
    """Every function of the namespaces on every dtype."""
    for space, name, function in _public():
        theirs = getattr(getattr(tf, space, None), name, None) if space else None
        if theirs is None or space == "random" or name in NOT_SWEPT or not callable(function):
            continue
        extra = MORE_ARGUMENTS.get(name, ())
        needed = _required(function) - len(extra)
        for dtype in DTYPES:
            for kind, arrays in _inputs(space, dtype, needed):
                first = outcome(lambda f=function, a=arrays, x=extra: f(*map(ours.constant, a), *x))
                second = outcome(lambda f=theirs, a=arrays, x=extra: f(*map(tf.constant, a), *x))
                result = verdict(first, second, name in UP_TO_SIGN)
                yield f"tf.{space}.{name} {dtype} {kind}", result, first, second


def _required(function: Any) -> int:
    parameters = inspect.signature(function).parameters.values()
    return sum(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)


def _inputs(space: str, dtype: str, count: int) -> Iterator[tuple[str, list[Any]]]:
    if space == "linalg":
        matrix = _array([[4, 1], [1, 3]], dtype)
        yield "matrix", [matrix] * count
        yield "batch", [np.stack([matrix, matrix])] * count
        return
    values = _array(_VALUES.get(dtype) or _VALUES[dtype.rstrip("0123456789")], dtype)
    yield "vector", [values] + [np.roll(values, shift) for shift in range(1, count)]
    yield "scalar", [np.asarray(values[1])] * count
    yield "rows", [np.stack([values, values[::-1]])] + [np.roll(values, shift) for shift in range(1, count)]
    yield "nothing", [values[:0]] * count


_VALUES: dict[str, list[Any]] = {
    "float": [np.nan, 0.5, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.5, -3.5, 40.0, 1e-3],
    "int": [0, 1, -1, 2, 5, -7, 100, 3],
    "uint": [0, 1, 2, 5, 7, 100, 200, 3],
    "complex": [0, 1, -1, 1j, 2 + 1j, -0.5 - 2j],
    "bool": [True, False, True],
    "string": ["", "a", "bc"],
}


def _array(values: Any, dtype: str) -> Any:
    if dtype == "string":
        return np.array(np.array(values).astype(str), object)
    return np.array(values).astype(dtype)


def main() -> int:
    import tensorflow as tf

    if "--record" in sys.argv:
        answers.write([expression for expression, _ in answers.read()], tf)
    failed = 0
    for title, compared in (("expressions", expressions), ("examples", examples), ("sweep", sweep)):
        counts: Counter[str] = Counter()
        for what, result, mine, theirs in compared(tf):
            if result == "differ" and (what in answers.DIFFERENT or any(part in what for part in KNOWN)):
                result = "differ as known"
            counts[result] += 1
            if result == "differ":
                print(f"{what}\n    agc         {_short(mine)}\n    tensorflow  {_short(theirs)}")
        print(f"{title}: " + ", ".join(f"{count} {result}" for result, count in sorted(counts.items())))
        failed += counts["differ"]
    return 1 if failed else 0


def _short(value: Any) -> str:
    return " ".join(str(value).split())[:200]


if __name__ == "__main__":
    sys.exit(main())
