"""Operations that print and that assert, at every run in program order."""

from __future__ import annotations

import builtins
import itertools
import re
import sys
from typing import Any

import numpy as np

from ... import errors
from ...ir.traits import IDEMPOTENT, KEEPS_VARIABLES
from ...storage.gfile import GFile
from ..framework.attribute_parsers import READERS, Texts, read_text
from ..framework.op import Input, Name, Tensors, op


@op(name="print", stateful=True, traits=KEEPS_VARIABLES)
def print_texts(
    inputs: Tensors,
    pieces: Texts,
    end: str,
    summarize: int,
    stream: str,
    forms: Texts = (),
    name: Name = None,
) -> tuple[()]:
    """Write the tensors, with the text of `pieces` around them, to a stream.

    `forms` holds the format specifiers of tensors within strings such as f-strings; "" marks tensors printed
    as such.
    """
    return ()


@print_texts.kernel
def _(
    inputs: list[Any],
    pieces: tuple[str, ...],
    end: str,
    summarize: int,
    stream: str,
    forms: tuple[str, ...] = (),
) -> tuple[()]:
    quote = "" if len(inputs) == 1 and not np.ndim(inputs[0]) and not any(pieces) else '"'
    shown = [
        written_as(value, form) if form else show(value, summarize, quote)
        for value, form in itertools.zip_longest(inputs, forms, fillvalue="")
    ]
    text = pieces[0] + "".join(value + piece for value, piece in zip(shown, pieces[1:], strict=True))
    emit(text + end, stream)
    return ()


def emit(text: str, stream: str) -> None:
    """Write to the current standard output or error, or append to `file://…`."""
    if stream.startswith("file://"):
        path = stream[len("file://") :]
        with GFile(path, "ab") as file:
            file.write(text.encode("utf-8", "surrogateescape"))
        return
    target = sys.stdout if stream == "stdout" else sys.stderr
    target.write(text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))
    target.flush()


def show(value: Any, summarize: int, quote: str = "") -> str:
    """Format a value as `tf.print` does: `[1 2 ... 9]`, floats in shortest form, strings within `quote`s.

    >>> show(np.arange(10), 3), show(np.array([1.0, 0.5], np.float32), 3)
    ('[0 1 2 ... 7 8 9]', '[1 0.5]')
    """
    if isinstance(value, bytes):  # NumPy's arrays of bytes end before their zeros
        return show_item(value, quote)
    array = np.asarray(value)
    if not array.ndim:
        return show_item(array[()], quote)
    rows = [show(row, summarize, quote) for row in _ends(array, summarize)]
    if 0 <= 2 * summarize < len(array):
        rows.insert(summarize, "...")
    separator = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " "
    return "[" + separator.join(_indented(row) for row in rows) + "]"


def _ends(array: Any, summarize: int) -> Any:
    if 0 <= 2 * summarize < len(array):
        return [*array[:summarize], *array[len(array) - summarize :]]
    return array


def _indented(text: str) -> str:
    return text.replace("\n", "\n ")


def show_item(item: Any, quote: str = "") -> str:
    """Format a number, truth value or string as `tf.print` does; within quotes, a string has escape sequences of C.

    >>> show_item(b'a"b', '"')
    '"a\\\\"b"'
    """
    if isinstance(item, bytes) and quote:
        return quote + item.decode("utf-8", "surrogateescape").translate(_ESCAPES) + quote
    if isinstance(item, bytes):
        return item.decode("utf-8", "backslashreplace")
    if isinstance(item, (bool, np.bool_)):
        return "1" if item else "0"
    if isinstance(item, np.floating):
        item = np.float32(item) if item.dtype.char == "e" else item
        short, long = _DIGITS.get(item.dtype.char, (15, 17))
        text = f"{item:.{short}g}"
        return text if item.dtype.type(text) == item or item != item else f"{item:.{long}g}"
    return str(item)


_ESCAPES = str.maketrans(
    {chr(code): f"\\{code:03o}" for code in (*range(32), 127)}
    | {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    | {char: f"\\{char}" for char in "\"'\\"}
)


_LONG = re.compile(r"\d{5}")  # a few bytes of a file must not become gigabytes


def written_as(value: Any, form: str) -> str:
    """Format a value as Python does within a string, by the format specifier `form`.

    >>> written_as(np.int32(-3), ""), written_as(np.int32(-3), ":+05d"), written_as(b"a", "!r")
    ('-3', '-0003', "'a'")
    """
    if _LONG.search(form):
        raise ValueError(f"format specifiers have numbers below 10000 in a graph, not {form!r}")
    item = np.asarray(value)[()]
    if isinstance(item, bytes):
        text = item.decode("utf-8", "backslashreplace")
        return repr(text) if form == "!r" else format(text, form[1:] if form.startswith(":") else "")
    return format(item, form[1:]) if form.startswith(":") else str(item)


_DIGITS = {"f": (6, 9)}  # decimal digits that are always exact, and that always suffice


def exception_named(name: str) -> Any:
    """Return the exception class of the runtime or of Python with this name. ValueError for any other name."""
    if name == "GraphAssertionError":
        return GraphAssertionError
    found = getattr(errors, name, None) or getattr(builtins, name, None)
    if not (isinstance(found, type) and issubclass(found, BaseException)):
        raise ValueError(f"{name!r} is not an exception class of the runtime or of Python")
    try:
        found("")
    except TypeError:
        raise ValueError(f"{name!r} takes more than a message") from None
    return found


def read_error(value: Any) -> str:
    """Read an attribute that names an exception class."""
    demand_ordinary(read_text(value))
    return read_text(value)


def demand_ordinary(name: str) -> None:
    """Raise ValueError unless the name is that of an exception class that `except Exception` catches."""
    if not issubclass(exception_named(name), Exception):
        raise ValueError(f"{name!r} ends the program: a graph may not raise it")


READERS["Error"] = read_error
Error = str


@op(name="assert", stateful=True, traits=KEEPS_VARIABLES | IDEMPOTENT)
def assert_true(
    condition: Input, data: Tensors, message: str, error: Error, summarize: int, name: Name = None
) -> tuple[()]:
    """Raise `error` with `message` and `data` unless `condition` is true.

    >>> assert_true(True, [3], "never seen", "InvalidArgumentError", 3)
    []
    """
    if not condition.dtype.is_bool:
        raise TypeError(f"a condition must be bool, not {condition.dtype.name}")
    return ()


def summary(array: Any, limit: int) -> str:
    """Format the first elements of an array as TensorFlow's kernels do.

    >>> summary(np.array([[1, 2], [3, 4]]), 3), summary(np.array([1.5]), 3), summary(np.array(7), 3)
    ('[1 2][3...]...', '1.5', '7')
    """
    left = limit if limit >= 0 else array.size
    text = _first(array, iter(array.ravel()[:left]), left, 0)[0]
    return text + ("..." if array.size > left else "")


def _first(array: Any, elements: Any, left: int, depth: int) -> tuple[str, int]:
    """Format an array's first `left` elements; return the text and how many of `left` remain."""
    if array.ndim < 2:
        count = min(array.size, left)
        shown = " ".join(_escaped(next(elements)) for _ in range(count))
        return shown + ("..." if count < array.size and depth else ""), left - count
    text = ""
    for row in array:
        if not left:
            break
        inside, left = _first(row, elements, left, depth + 1)
        text += f"[{inside}]"
    return text, left


def _escaped(item: Any) -> str:
    text = show_item(item)
    return text.translate(_ESCAPES) if isinstance(item, bytes) else text


class GraphAssertionError(errors.InvalidArgumentError, AssertionError):
    """An `assert` of converted code failed while the graph ran."""


@assert_true.kernel
def _(condition: Any, data: list[Any], message: str, error: str, summarize: int) -> tuple[()]:
    if np.all(condition):
        return ()
    shown = " ".join(f"[{summary(np.asarray(value), summarize)}]" for value in data)
    text = f"{message} {shown}".strip()
    raise exception_class(error)(text)


def exception_class(name: str) -> Any:
    """Return the exception class of an assertion: an OpError, GraphAssertionError, or a built-in one."""
    return GraphAssertionError if name == "AssertionError" else exception_named(name)
