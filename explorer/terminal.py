"""`agc.show(f)`: source, generated code and graphs of a function, in a terminal or a notebook.

    agc.show(f)                    what is known: the source, the generated code, the graphs of its traces
    agc.show(f, tf.constant(1))    traced for these arguments first

Colors need the library rich; without it, and where the output is no terminal, the text is plain.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import agc.runtime as tf
from agc import autograph
from agc.runtime.core.html_repr import source_of


def show(function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Print the source of a function, its generated code, and the graph of each trace.

    With arguments, the function is traced for them if it has not been. Tracing does not run it. In a notebook, the
    function is displayed as HTML.

    >>> show(lambda x: x + 1, tf.constant(1))  # doctest: +ELLIPSIS
    Source
    ...
    Graph
    <BLANKLINE>
    graph lambda_(x: int32[]) -> int32[]
      add = add x, 1                                : int32[]
      return add
    """
    traced: Any = function if hasattr(function, "get_concrete_function") else tf.function(function)
    if args or kwargs:
        traced.get_concrete_function(*args, **kwargs)
    if in_notebook():
        from IPython.display import display

        display(traced)  # type: ignore[no-untyped-call]
        return
    write = _writer()
    for number, (title, text, language) in enumerate(parts(traced)):
        write(title, text, language, number)


def parts(traced: Any) -> Iterator[tuple[str, str, str]]:
    """Yield the forms of a function: title, text, and "python" or "text"."""
    python = traced.python_function
    if source := source_of(python):
        yield "Source", source.rstrip(), "python"
    try:
        yield "Generated code", autograph.to_code(python).rstrip(), "python"
    except autograph.ConversionError as error:
        yield "Generated code", str(error), "text"
    for concrete in traced._list_all_concrete_functions():
        yield "Graph", str(concrete.graph).rstrip(), "text"


def in_notebook() -> bool:
    """Return whether output goes to the front end of a Jupyter kernel."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def _writer() -> Callable[[str, str, str, int], None]:
    if sys.stdout.isatty():
        try:
            from rich.console import Console
            from rich.syntax import Syntax
        except ImportError:
            return _write_plain
        console = Console()

        def write(title: str, text: str, language: str, number: int) -> None:
            console.rule(title, align="left")
            console.print(Syntax(text, language, background_color="default"))

        return write
    return _write_plain


def _write_plain(title: str, text: str, language: str, number: int) -> None:
    gap = "\n" if number else ""
    print(f"{gap}{title}\n\n{text}")
