"""HTML representations of tensors, variables, functions and profiles in notebooks.

>>> import agc.runtime as tf
>>> tensor_html(tf.constant([1, 2]), "tf.Tensor")
'<div><code>tf.Tensor shape=(2,) dtype=int32</code><table><tr><td>1</td><td>2</td></tr></table></div>'
"""

from __future__ import annotations

import html
import inspect
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from agc.autograph import api

EDGE = 6
"""The number of elements shown at each end of a longer axis."""


def tensor_html(tensor: Any, kind: str) -> str:
    """Return a heading and the elements: as a table for up to two axes, as NumPy's text for more."""
    heading = f"{kind} shape={tensor.shape} dtype={tensor.dtype.name}"
    return f"<div><code>{html.escape(heading)}</code>{_elements(tensor._array)}</div>"


def _elements(array: np.ndarray[Any, Any]) -> str:
    if array.ndim > 2 or not array.size:
        return text_html(str(array))
    rows = array.reshape(1, -1) if array.ndim < 2 else array
    lines = [_row([_shown(item) for item in _ends(row)]) for row in _ends(rows) if row is not None]
    if len(rows) > 2 * EDGE:
        lines.insert(EDGE, _row(["⋮"] * len(list(_ends(rows[0])))))
    return f"<table>{''.join(lines)}</table>"


def _ends(items: Any) -> list[Any]:
    """Return the items; None replaces those in the middle of a long sequence."""
    if len(items) <= 2 * EDGE:
        return list(items)
    return [*items[:EDGE], None, *items[-EDGE:]]


def _shown(item: Any) -> str:
    if item is None:
        return "…"
    return html.escape(item.decode(errors="replace") if isinstance(item, bytes) else str(item))


def _row(cells: list[str]) -> str:
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def text_html(text: str) -> str:
    """Return a text with its line breaks."""
    return f"<pre>{html.escape(text)}</pre>"


def folded_html(title: str, content: str, is_open: bool = False) -> str:
    """Return HTML content that opens with a click on its title.

    >>> folded_html("Graph", text_html("x < y"))
    '<details><summary>Graph</summary><pre>x &lt; y</pre></details>'
    """
    opening = "<details open>" if is_open else "<details>"
    return f"{opening}<summary>{html.escape(title)}</summary>{content}</details>"


def function_html(title: str, function: Any, traces: Iterable[tuple[str, str]]) -> str:
    """Return a heading, and foldable: the source, the generated code, and the graphs with their signatures."""
    parts = [f"<div><code>{html.escape(title)}</code>"]
    for name, text in (("Source", source_of(function)), ("Generated code", _code_of(function))):
        if text:
            parts.append(folded_html(name, text_html(text)))
    parts += [folded_html(f"Graph of {signature}", text_html(graph)) for signature, graph in traces]
    return "".join([*parts, "</div>"])


def source_of(function: Any) -> str:
    """Return the source of a function, or "" if its code is in no file."""
    if getattr(getattr(function, "__code__", None), "co_filename", "") == "<string>":
        return ""  # the name of all that is given to `exec`; for it, Python 3.13 has the text of `python -c`
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return ""


def _code_of(function: Any) -> str:
    try:
        return api.to_code(function)
    except api.ConversionError as error:
        return str(error)


def rows_html(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of texts with a heading."""
    titles = "".join(f"<th>{html.escape(each)}</th>" for each in head)
    return f"<table><tr>{titles}</tr>{''.join(_row(list(map(html.escape, row))) for row in rows)}</table>"
