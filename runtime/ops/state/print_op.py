"""`tf.print`, and Python's `print` in a graph: printing at each run, in program order.

>>> import sys
>>> print("x =", convert_to_tensor([1, 2, 3]), output_stream=sys.stdout)
x = [1 2 3]
"""

from __future__ import annotations

import sys
from typing import Any

from ... import dtypes, nest
from ...core.conversion import convert_to_tensor, is_tensor_like
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.builder import current
from ...ir.tensor_placeholders import TensorMention
from ..framework.effects_as_operations import returns_operation
from . import print_and_assert

_MARK = "\0"  # marks the position of a tensor while a text is put together


@export("print")
@returns_operation
def print(  # TensorFlow's name
    *inputs: Any,
    output_stream: Any = None,
    summarize: int = 3,
    sep: str = " ",
    end: str = "\n",
    name: str | None = None,
) -> None:
    """Print each time the graph runs, in program order; at once in eager mode.

    Args:
        inputs: tensors and Python values, and nests of them.
        output_stream: `sys.stderr` (default), `sys.stdout`, or "file://PATH" to append to a file.
        summarize: how many elements to show at both ends of each axis; -1 for all.
        sep, end: between and after the inputs, as in Python's `print`.

    >>> import agc.runtime as tf
    >>> import sys
    >>> tf.print("x =", tf.constant([1, 2]), output_stream=sys.stdout)
    x = [1 2]
    """
    tensors: list[TensorMention] = []
    text = sep.join(_text(value, tensors, summarize) for value in inputs)
    stream = _stream(output_stream)
    pieces = text.split(_MARK)
    values, forms = [mention.tensor for mention in tensors], [mention.form for mention in tensors]
    print_and_assert.print_texts(
        values, pieces, end, summarize, stream, forms if any(forms) else (), name=name
    )


def print_now(
    *values: Any, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False
) -> None:
    """Print to standard output each time the graph runs, with the parameters of Python's `print`.

    The format is that of `print` above.
    """
    print(
        *values,
        sep=" " if sep is None else sep,
        end="\n" if end is None else end,
        output_stream=sys.stdout if file is None else file,
    )


def _stream(target: Any) -> str:
    if target is None or target is sys.stderr or target == "stderr":
        return "stderr"
    if target is sys.stdout or target == "stdout":
        return "stdout"
    if isinstance(target, str) and target.startswith("file://"):
        return target
    raise ValueError(
        f"Unsupported output stream {target!r}: use sys.stderr, sys.stdout or 'file://<filepath>'"
    )


def _text(value: Any, tensors: list[TensorMention], summarize: int) -> str:
    """Return a value as text, with a mark in place of each tensor."""
    if nest.is_composite(value):
        parts = value._printed(summarize)
        return "".join(part if isinstance(part, str) else _mark(part, tensors) for part in parts)
    if isinstance(value, Tensor) or is_tensor_like(value):
        tensors.append(TensorMention(convert_to_tensor(value), ""))
        return _MARK
    if isinstance(value, str):
        return _completed(value.replace(_MARK, ""), tensors)
    if not nest.is_nested(value):
        return repr(value)
    return str(nest.map_structure(lambda leaf: _shown_leaf(leaf, tensors, summarize), _sorted(value)))


def _mark(part: Tensor, tensors: list[TensorMention]) -> str:
    """Return the mark of a part of a composite tensor; scalar strings are printed without quotes."""
    tensors.append(TensorMention(part, "!s" if part.dtype is dtypes.string and part.shape.rank == 0 else ""))
    return _MARK


def _sorted(value: Any) -> Any:
    """Return a nest with the keys of its dicts sorted, as TensorFlow prints them."""
    if type(value) is dict:
        return {key: _sorted(part) for key, part in nest.children(value)}
    return type(value)(map(_sorted, value)) if type(value) in (list, tuple) else value


def _completed(text: str, tensors: list[TensorMention]) -> str:
    """Replace each traced tensor in a text, such as an f-string, by a mark."""
    builder = current()
    if builder is None:
        return text
    pieces, mentioned = builder.shown.split(text)
    tensors += [mention._replace(form=mention.form or "!s") for mention in mentioned]
    return _MARK.join(pieces)


def _shown_leaf(leaf: Any, tensors: list[TensorMention], summarize: int) -> _Shown:
    return _Shown(
        _completed(repr(leaf), tensors) if isinstance(leaf, str) else _text(leaf, tensors, summarize)
    )


class _Shown:
    """Text without quotes in the repr of a nest."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text
