"""When two outcomes, agc's and TensorFlow's, are the same.

>>> verdict(outcome(lambda: 1 / 0), "! ZeroDivisionError")
'agree'
>>> verdict([np.float32(0.1)], [np.float64(0.1)])
'differ'
"""

from __future__ import annotations

import contextlib
import io
import re
import signal
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from support import answers

SECONDS = 60
"""How long one comparison may take."""

REFUSED = {"NotFoundError", "InvalidArgumentError", "UnimplementedError", "NoTensorError"}
"""How TensorFlow says that an operation does not take a dtype, which depends on what has a kernel."""

LISTS, NO_TENSOR = "'list' object has no attribute", "NoTensorError"
"""Some functions of TensorFlow take no lists where a tensor is meant, and fail in this way."""

TOLERANCE = {
    "float16": 5e-3,
    "bfloat16": 4e-2,
    "float32": 2e-5,
    "float64": 1e-9,
    "complex64": 2e-5,
    "complex128": 1e-9,
}


class Comparison(NamedTuple):
    """What was compared, how it came out, and both outcomes."""

    what: str
    result: str
    mine: Any
    theirs: Any


class TooLongError(Exception):
    """A comparison that does not end."""


class Refusal(str):
    """How an exception is compared: by its class, as `! ValueError`; the message is for readers."""

    message = ""

    @classmethod
    def of(cls, error: Exception) -> Refusal:
        refusal = cls(f"! {NO_TENSOR if LISTS in str(error) else type(error).__name__}")
        refusal.message = str(error)
        return refusal


def outcome(call: Callable[[], Any]) -> Any:
    """The result, or the class of the exception."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            with limited(SECONDS):
                return call()
        except Exception as error:
            return Refusal.of(error)


@contextlib.contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Stop what takes too long, where the system can (not on Windows)."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(*_: Any) -> None:
        raise TooLongError

    previous = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


def leaves(value: Any) -> list[Any]:
    """The parts of a result, tensors as NumPy arrays."""
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    if isinstance(value, Mapping):
        return [leaf for key in value for leaf in (key, *leaves(value[key]))]
    if isinstance(value, type):
        return [value]
    for parts in (("indices", "values", "dense_shape"), ("flat_values", "nested_row_splits")):
        if all(hasattr(value, part) for part in parts):
            return [leaf for part in parts for leaf in leaves(getattr(value, part))]
    if callable(getattr(value, "numpy", None)):
        return [np.asarray(value.numpy())]
    return [value]


def verdict(mine: Any, theirs: Any, up_to_sign: bool = False) -> str:
    """`agree`, `wider`, `other class` (both refuse) or `differ`."""
    if refused(mine) and refused(theirs):
        both_refuse = {mine[2:], theirs[2:]} <= REFUSED
        return "agree" if mine == theirs or both_refuse else "other class"
    if refused(theirs) and theirs[2:] in REFUSED:
        return "wider"
    try:
        ones, others = leaves(mine), leaves(theirs)
    except Exception:  # a symbolic tensor has no array: its text is all there is to compare
        return "agree" if alike(repr(mine), repr(theirs)) else "differ"
    if len(ones) != len(others):
        return "differ"
    return "agree" if all(same(a, b, up_to_sign) for a, b in zip(ones, others, strict=True)) else "differ"


def refused(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("! ")


def same(one: Any, other: Any, up_to_sign: bool = False) -> bool:
    """Whether two leaves are the same: arrays up to the last digits, other objects by class and text."""
    one, other = (np.asarray(x) if isinstance(x, np.generic) else x for x in (one, other))
    if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray):
        plain = type(one) is type(other) or "builtins" not in (type(one).__module__, type(other).__module__)
        return plain and alike(str(one), str(other))
    if one.dtype.kind in "SO" and other.dtype.kind in "SO":
        return one.shape == other.shape and one.tolist() == other.tolist()
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    close = TOLERANCE.get(one.dtype.name)
    if close is None:
        return bool(np.array_equal(one, other))
    if up_to_sign:
        one, other = np.abs(one), np.abs(other)
    wide = np.promote_types(one.dtype, np.float64) if one.dtype.kind in "fc" else np.float64
    with np.errstate(all="ignore"):
        return bool(np.allclose(one.astype(wide), other.astype(wide), rtol=close, atol=close, equal_nan=True))


def alike(one: str, other: str) -> bool:
    """Whether two texts say the same, but for modules, addresses and the last digits of numbers."""
    return answers.agree(_plain(one), _plain(other))


def _plain(text: str) -> str:
    text = re.sub(r" at 0x[0-9a-f]+|, line \d+", "", text)
    return re.sub(r"\b(agc\.runtime|tensorflow|keras)[\w.]*\.(?=\w)|\bEager(?=Tensor)", "", text)


def shown(value: Any) -> str:
    """A value in a line."""
    if isinstance(value, Refusal):
        return f"{value} {value.message}".replace("\n", " ")[:240]
    if isinstance(value, list):
        return ", ".join(map(shown, value))
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__name__}, whose text is a {type(error).__name__}>"
    return " ".join(text.split())[:240]
