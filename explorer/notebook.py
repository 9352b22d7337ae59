"""The cell magic `%%agc` of IPython and Jupyter: run a cell, and show what its functions become.

    %load_ext agc

    %%agc --show code
    @tf.function
    def f(x):
        …

The cell runs as always: its definitions are the notebook's, its last expression is displayed, and tracebacks name it.
"""

from __future__ import annotations

import ast
import html
import shlex
import sys
import traceback
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

from agc import autograph

FORMS = ("code", "graph", "plan")


class MagicOptions:
    """The options of the magic's line. Raises ValueError for wrong ones."""

    def __init__(self, line: str) -> None:
        self.shown: list[str] = []
        self.checks = False
        words = iter(shlex.split(line))
        for word in words:
            name, _, value = word.partition("=")
            if name == "--show":
                self._show(value or next(words, ""))
            elif word == "--check":
                self.checks = True
            else:
                raise ValueError(f"%%agc has no option `{word}`: use --show code|graph|plan, --check")

    def _show(self, form: str) -> None:
        if form not in FORMS:
            raise ValueError(f"--show takes {', '.join(FORMS)}, not `{form}`")
        self.shown.append(form)


def run_cell(shell: Any, line: str, cell: str) -> None:
    """Check, run and show a cell in an IPython shell."""
    options = MagicOptions(line)
    text = "\n" + shell.transform_cell(cell)  # the first line is that of the magic
    name = shell.compile.cache(text, _number_of_cell(shell), raw_code="%%agc " + line + text)
    if options.checks:
        for found in autograph.check_source(text, name, everywhere=True):
            print(found.format())
    try:
        tree = ast.parse(text, name)
        parts = _compiled(tree, name)
    except SyntaxError as error:
        raise _in_cell(error, shell.compile.format_code_name(name)) from None
    for code in parts:
        exec(code, shell.user_ns)
    for each in tree.body:
        if isinstance(each, (ast.FunctionDef, ast.ClassDef)) and each.name in shell.user_ns:
            _show(shell.user_ns[each.name], each.name, options.shown)


def _in_cell(error: SyntaxError, cell: tuple[str, str] | None) -> Exception:
    """Return a syntax error as an error that IPython shows without the frames of the magic."""
    from IPython.core.error import UsageError

    lines = traceback.format_exception_only(error)[1:]  # the first line names the file
    return UsageError(
        "".join([f"{' '.join(cell or ('the', 'cell'))}, line {error.lineno}\n", *lines]).rstrip()
    )


def _number_of_cell(shell: Any) -> int:
    """Return the number of the cell that is running, as tracebacks show it."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        named = shell.compile.format_code_name(frame.f_code.co_filename)
        if named:
            return int(named[1].strip("In[]"))
        frame = frame.f_back
    return int(shell.execution_count)


def _compiled(tree: ast.Module, name: str) -> list[CodeType]:
    """Return the code of the statements, and of a last expression, whose value is displayed."""
    last = tree.body[-1:] if tree.body and isinstance(tree.body[-1], ast.Expr) else []
    first = ast.Module(tree.body[: len(tree.body) - len(last)], [])
    return [compile(first, name, "exec"), *([compile(ast.Interactive(last), name, "single")] if last else [])]


def _show(function: Any, name: str, forms: list[str]) -> None:
    for form in forms:
        for text in _texts(function, name, form):
            print(text.rstrip())


def _texts(function: Any, name: str, form: str) -> Iterator[str]:
    if form == "code":
        try:
            yield autograph.to_code(getattr(function, "python_function", function))
        except autograph.ConversionError as error:
            yield str(error)
        return
    if not hasattr(function, "get_concrete_function"):
        yield f"{name} is no tf.function, so it has no graph of its own"
        return
    traces = function._list_all_concrete_functions()
    if not traces:
        yield f"{name} is not traced yet: call it in the cell"
    for concrete in traces:
        yield str(concrete.graph) if form == "graph" else _plan_of(concrete.graph)


def _plan_of(graph: Any) -> str:
    from agc.runtime.executors import Plan

    from .stages import optimizer_stages

    return Plan(optimizer_stages(graph)[-1].graph).source


def load_ipython_extension(shell: Any) -> None:
    """Register `%%agc`; `%load_ext agc` calls this function.

    >>> from IPython.core.interactiveshell import InteractiveShell
    >>> shell = InteractiveShell()
    >>> load_ipython_extension(shell)
    >>> shell.find_cell_magic("agc") is not None
    True
    """
    shell.register_magic_function(lambda line, cell: run_cell(shell, line, cell), "cell", "agc")


class PageFrame:
    """A page in a notebook: displayed in a frame, whose script may not reach the notebook."""

    def __init__(self, page: str, height: int) -> None:
        self.page = page
        self.height = height

    def _repr_html_(self) -> str:
        style = f"width: 100%; height: {self.height}px; border: 1px solid #8884"
        return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{html.escape(self.page)}"></iframe>'

    def __repr__(self) -> str:
        return f"<page of {len(self.page) / 1e6:.1f} MB>"


def framed(page: str, height: int = 640) -> PageFrame:
    """Return a page as an object that a notebook displays.

    >>> framed("<p>")._repr_html_()[-28:]
    'srcdoc="&lt;p&gt;"></iframe>'
    """
    return PageFrame(page, height)
