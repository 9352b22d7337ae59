"""HTML representations of tensors, variables, functions, datasets and profiles in notebooks.

tf.constant([1, 2])   ==>   a heading with shape, dtype and range, and a table of the elements

Styles are inline, as notebooks keep no style sheets of outputs.
"""

from __future__ import annotations

import html
import inspect
import itertools
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from agc.autograph import api

EDGE = 5
"""The number of elements that are shown at each end of a longer axis."""
SLICES = 3
"""The number of matrices that are shown of a tensor of more than two axes."""
LONGEST = 80
"""The number of letters that are shown of an element."""

_PRE = "font-family: monospace; line-height: 1.45; margin: 2px 0; white-space: pre; overflow-x: auto"
_CELL = "font-family: monospace; white-space: pre; padding: 1px 8px"


def tensor_html(tensor: Any, kind: str) -> str:
    """Return a heading with the range of the elements, and the elements as tables.

    >>> import agc.runtime as tf
    >>> "min 1  max 2" in tensor_html(tf.constant([1, 2]), "tf.Tensor")
    True
    """
    array = tensor._array
    heading = f"{kind} shape={tensor.shape} dtype={tensor.dtype.name}{_range(array)}"
    return f"<div>{heading_html(heading)}{_elements(array)}</div>"


def heading_html(text: str) -> str:
    """Return a line of code."""
    return f'<code style="white-space: pre-wrap">{html.escape(text)}</code>'


def parts_html(
    tensor: Any, kind: str, columns: Sequence[str], size: int, row: Callable[[int], Sequence[str]]
) -> str:
    """Return a heading, and of `size` rows the first and last ones, which `row` returns as texts."""
    rows: list[Sequence[str]] = [row(i) for i in _ends(size)]
    if size > 2 * EDGE:
        rows.insert(EDGE, ["⋮"] * len(columns))
    heading = f"{kind} shape={tensor.shape} dtype={tensor.dtype.name}"
    return f"<div>{heading_html(heading)}{rows_html(columns, rows)}</div>"


def _range(array: np.ndarray[Any, Any]) -> str:
    """Return the least and the greatest number, and how many are not finite."""
    if array.dtype.kind not in "iuf" or array.size < 2:
        return ""
    finite = array[np.isfinite(array)] if array.dtype.kind == "f" else array
    lost = f"  {array.size - finite.size} NaN or infinite" if finite.size < array.size else ""
    return (f"  min {finite.min():.6g}  max {finite.max():.6g}" if finite.size else "") + lost


def _elements(array: np.ndarray[Any, Any]) -> str:
    if not array.size:
        return text_html("no elements")
    if array.ndim <= 2:
        return _table(array)
    outer = array.shape[:-2]
    parts = [
        folded_html(f"[{', '.join(map(str, index))}]", _table(array[index]), is_open=True)
        for index in itertools.islice(np.ndindex(outer), SLICES)
    ]
    rest = int(np.prod(outer)) - len(parts)
    return "".join(parts) + (text_html(f"… {rest} more") if rest else "")


def _table(array: np.ndarray[Any, Any]) -> str:
    rows = array.reshape(1, -1) if array.ndim < 2 else array
    shown = rows[np.ix_(_ends(rows.shape[0]), _ends(rows.shape[1]))]
    texts = [[*row] for row in np.array(_texts(shown), object).reshape(shown.shape)]
    if rows.shape[1] > 2 * EDGE:
        texts = [[*row[:EDGE], "…", *row[EDGE:]] for row in texts]
    if rows.shape[0] > 2 * EDGE:
        texts.insert(EDGE, ["⋮"] * len(texts[0]))
    side = "left" if array.dtype.kind == "O" else "right"
    return _scrolled("".join(_row(row, side) for row in texts))


def _ends(size: int) -> list[int]:
    return [*range(size)] if size <= 2 * EDGE else [*range(EDGE), *range(size - EDGE, size)]


def _texts(array: np.ndarray[Any, Any]) -> list[str]:
    """Return the elements as texts; numbers have the same digits after the point, as NumPy prints them."""
    if array.dtype.kind == "O":
        return [shown(item) for item in array.flat]
    whole = np.array2string(
        array.reshape(-1), separator="\n", threshold=array.size + 1, precision=6, max_line_width=1 << 30
    )
    return whole[1:-1].split("\n")


def shown(item: Any) -> str:
    """Return an element as text, cut if it is long."""
    text = item.decode(errors="replace") if isinstance(item, bytes) else str(item)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _row(cells: Iterable[str], side: str, tag: str = "td") -> str:
    opening = f'<{tag} style="{_CELL}; text-align: {side}">'
    return f"<tr>{''.join(f'{opening}{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"


def _scrolled(rows: str) -> str:
    """Return rows as a table, which scrolls by itself if it is wider than the notebook."""
    return f'<div style="overflow-x: auto"><table style="margin: 4px 0">{rows}</table></div>'


def text_html(text: str) -> str:
    """Return a text with its line breaks, in letters of one width."""
    return f'<pre style="{_PRE}">{html.escape(text)}</pre>'


def folded_html(title: str, content: str, is_open: bool = False) -> str:
    """Return HTML content that opens with a click on its title.

    >>> folded_html("Graph", "<p>")
    '<details><summary>Graph</summary><p></details>'
    """
    opening = "<details open>" if is_open else "<details>"
    return f"{opening}<summary>{html.escape(title)}</summary>{content}</details>"


def function_html(name: str, state: str, function: Any, traces: Iterable[tuple[str, str]]) -> str:
    """Return a heading, and foldable: the source, the generated code, and the graphs with their signatures."""
    parts = [f"<div>{heading_html(f'{name}{_signature_of(function)}: {state}')}"]
    for name, text in (("Source", source_of(function)), ("Generated code", _code_of(function))):
        if text:
            parts.append(folded_html(name, text_html(text)))
    parts += [folded_html(f"Graph of {signature}", text_html(graph)) for signature, graph in traces]
    return "".join([*parts, "</div>"])


def _signature_of(function: Any) -> str:
    try:
        return str(inspect.signature(function))
    except (TypeError, ValueError):  # a C function
        return ""


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
    """Return a table of texts with a heading.

    >>> rows_html(["name"], [["a<b"]]).count("<tr>"), "a&lt;b" in rows_html(["name"], [["a<b"]])
    (2, True)
    """
    return _scrolled(_row(head, "left", "th") + "".join(_row(row, "left") for row in rows))
