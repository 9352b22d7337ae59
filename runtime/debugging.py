"""Printing and assertions that run with the graph: `print`, `Assert`, `debugging.assert_*`.

>>> import sys
>>> print("x =", convert_to_tensor([1, 2, 3]), output_stream=sys.stdout)
x = [1 2 3]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from . import nest
from .convert import convert_to_tensor, is_tensor_like
from .devices import get_log_device_placement as get_log_device_placement
from .devices import set_log_device_placement as set_log_device_placement
from .ir.builder import current
from .ir.shown import Mention
from .ops import comparison, effects, reductions
from .ops.casting import identity
from .ops.comparison import logical_not
from .ops.elementwise import abs as absolute
from .ops.elementwise import is_inf, is_nan
from .tensor import Tensor

_MARK = "\0"  # stands for a tensor while a text is put together


def print(  # TensorFlow's name
    *inputs: Any,
    output_stream: Any = None,
    summarize: int = 3,
    sep: str = " ",
    end: str = "\n",
    name: str | None = None,
) -> None:
    """Print each time the graph runs, in the order of the program; at once in eager code.

    Args:
        inputs: tensors and Python values, and nests of them.
        output_stream: `sys.stderr` (default), `sys.stdout`, or "file://PATH" to append to a file.
        summarize: how many elements to show at both ends of each axis; -1 for all.
        sep, end: between and after the inputs, as in Python's `print`.
    """
    tensors: list[Mention] = []
    text = sep.join(_text(value, tensors) for value in inputs)
    stream = _stream(output_stream)
    pieces = text.split(_MARK)
    values, forms = [mention.tensor for mention in tensors], [mention.form for mention in tensors]
    effects.print_texts(values, pieces, end, summarize, stream, forms if any(forms) else (), name=name)


def print_now(
    *values: Any, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False
) -> None:
    """Python's `print` for the graph: each time it runs, to standard output, in the format of `print` above."""
    print(
        *values,
        sep=" " if sep is None else sep,
        end="\n" if end is None else end,
        output_stream=sys.stdout if file is None else file,
    )


def mentions(text: str) -> bool:
    """Whether a text was made from tensors of the graph that is being built."""
    builder = current()
    return builder is not None and bool(builder.shown.split(text)[1])


def _stream(target: Any) -> str:
    if target is None or target is sys.stderr or target == "stderr":
        return "stderr"
    if target is sys.stdout or target == "stdout":
        return "stdout"
    if isinstance(target, str) and target.startswith("file://"):
        return target
    raise ValueError(f"Unsupported output stream {target!r}: use sys.stderr, sys.stdout or 'file://PATH'")


def _text(value: Any, tensors: list[Mention]) -> str:
    """A value as text, with a mark in the place of each tensor."""
    if isinstance(value, Tensor) or is_tensor_like(value):
        tensors.append(Mention(convert_to_tensor(value), ""))
        return _MARK
    if isinstance(value, str):
        return _completed(value.replace(_MARK, ""), tensors)
    if not nest.is_nested(value):
        return repr(value)
    return str(nest.map_structure(lambda leaf: _shown_leaf(leaf, tensors), value))


def _completed(text: str, tensors: list[Mention]) -> str:
    """A text that was made from tensors of the graph, such as an f-string, with a mark for each."""
    builder = current()
    if builder is None:
        return text
    pieces, mentioned = builder.shown.split(text)
    tensors += [mention._replace(form=mention.form or "!s") for mention in mentioned]
    return _MARK.join(pieces)


def _shown_leaf(leaf: Any, tensors: list[Mention]) -> _Shown:
    return _Shown(_completed(repr(leaf), tensors) if isinstance(leaf, str) else _text(leaf, tensors))


class _Shown:
    """Text that stands without quotes in the repr of a nest."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def Assert(condition: Any, data: Any, summarize: int = 3, name: str | None = None) -> None:
    """Raise InvalidArgumentError with `data` unless all elements of `condition` are true, at each run.

    >>> Assert(convert_to_tensor(True), ["never seen"])
    """
    require(condition, "assertion failed:", data, summarize=summarize)


def require(
    condition: Any,
    message: str,
    data: Any = (),
    error: str = "InvalidArgumentError",
    summarize: int = 3,
) -> None:
    """Raise the exception class named `error` unless `condition` holds, when the graph runs."""
    tensors = [convert_to_tensor(item) for item in (data if isinstance(data, (list, tuple)) else [data])]
    effects.assert_true(convert_to_tensor(condition), tensors, message, error, summarize)


def _comparison(name: str, sign: str, holds: Callable[[Any, Any], Any]) -> Callable[..., None]:
    def check(
        x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
    ) -> None:
        y = y if isinstance(y, Tensor) else convert_to_tensor(y, dtype_hint=getattr(x, "dtype", None))
        x = x if isinstance(x, Tensor) else convert_to_tensor(x, dtype_hint=y.dtype)
        _require_all(holds(x, y), f"Condition x {sign} y did not hold.", message, {"x": x, "y": y}, summarize)

    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"Raise InvalidArgumentError unless `x {sign} y` for all elements, at each run."
    return check


def _sign_check(name: str, sign: str, holds: Callable[[Any, Any], Any]) -> Callable[..., None]:
    def check(
        x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
    ) -> None:
        x = convert_to_tensor(x)
        _require_all(
            holds(x, 0), f"Condition x {sign} 0 did not hold element-wise:", message, {"x": x}, summarize
        )

    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"Raise InvalidArgumentError unless `x {sign} 0` for all elements, at each run."
    return check


def _require_all(
    truths: Any, reason: str, message: str | None, operands: dict[str, Tensor], summarize: int | None
) -> None:
    text = f"{message}\n{reason}" if message else reason
    require(
        reductions.reduce_all(truths),
        text,
        list(operands.values()),
        summarize=3 if summarize is None else summarize,
    )


assert_equal = _comparison("assert_equal", "==", comparison.equal)
assert_none_equal = _comparison("assert_none_equal", "!=", comparison.not_equal)
assert_less = _comparison("assert_less", "<", comparison.less)
assert_less_equal = _comparison("assert_less_equal", "<=", comparison.less_equal)
assert_greater = _comparison("assert_greater", ">", comparison.greater)
assert_greater_equal = _comparison("assert_greater_equal", ">=", comparison.greater_equal)
assert_positive = _sign_check("assert_positive", ">", comparison.greater)
assert_negative = _sign_check("assert_negative", "<", comparison.less)
assert_non_negative = _sign_check("assert_non_negative", ">=", comparison.greater_equal)
assert_non_positive = _sign_check("assert_non_positive", "<=", comparison.less_equal)


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """`tensor`, or InvalidArgumentError with `message` when it has NaN or infinite elements, at each run.

    >>> check_numerics([1.0, 2.0], "loss").numpy()
    array([1., 2.], dtype=float32)
    """
    values = convert_to_tensor(tensor)
    for bad, kind in ((is_nan(values), "NaN"), (is_inf(values), "Inf")):
        require(logical_not(reductions.reduce_any(bad)), f"{message} : Tensor had {kind} values")
    checked: Tensor = identity(values, name=name)
    return checked


def assert_all_finite(x: Any, message: str, name: str | None = None) -> Tensor:
    """`x`, or InvalidArgumentError with `message` when it has NaN or infinite elements, at each run."""
    return check_numerics(x, message, name)


def assert_near(
    x: Any, y: Any, rtol: Any = None, atol: Any = None, message: str | None = None, summarize: int | None = None,
    name: str | None = None,
) -> None:  # fmt: skip
    """Raise InvalidArgumentError unless `|x - y| <= atol + rtol * |y|` for all elements (default: 10 epsilon)."""
    y = y if isinstance(y, Tensor) else convert_to_tensor(y, dtype_hint=getattr(x, "dtype", None))
    x = x if isinstance(x, Tensor) else convert_to_tensor(x, dtype_hint=y.dtype)
    epsilon = 10 * float(np.finfo(x.dtype.numpy).eps)
    bound = (epsilon if atol is None else atol) + (epsilon if rtol is None else rtol) * absolute(y)
    near = comparison.less_equal(absolute(x - y), bound)
    _require_all(near, "x and y not equal to tolerance.", message, {"x": x, "y": y}, summarize)
