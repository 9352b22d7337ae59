"""HTML representations of tensors, variables and functions in notebooks.

>>> import agc.runtime as tf
>>> tensor_html(tf.constant([1, 2]), "tf.Tensor")
'<div><code>tf.Tensor shape=(2,) dtype=int32</code><table><tr><td>1</td><td>2</td></tr></table></div>'
"""

from __future__ import annotations

import html
from typing import Any

import numpy as np

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
