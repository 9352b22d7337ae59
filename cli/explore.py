"""`agc explore`: one HTML page that shows a function in all its forms.

agc explore model.py::fit 27 -o page.html      source, generated code, graph, passes, plan, values
agc explore model.py::fit 27 --serve           the same in a browser, made anew when a file is saved
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import click

from . import call_function, output, sources, user_code
from .arguments import parse
from .errors import BAD_USAGE, FAILED, OK, problem
from .options import SpelledCommand

HELP = """Write one HTML page that shows a function from source to plan.

The page has the source, the generated code, the traced graph, the graph after each
optimizer pass, the gradient's graph and the plan. Point at a line, and its origins
and results light up everywhere. The function runs with the arguments, for the values
and times of its operations; once, if it prints or has other effects. Arguments are
written as for `agc run`.

\b
Examples:
  agc explore collatz.py::collatz 27                    into collatz.html
  agc explore collatz.py::collatz 27 -o page.html
  agc explore collatz.py::collatz n=27:int64 --serve    in the browser, with each save
  agc explore -m package.model::fit '[1.0, 2.0]'
"""


@click.command(
    cls=SpelledCommand, help=HELP, short_help="Write a page that shows a function in all its forms."
)
@click.argument("target", metavar="FILE::FUNCTION", type=click.Path(allow_dash=True))
@click.argument("args", metavar="[ARGS]...", nargs=-1, type=click.UNPROCESSED)
@click.option("-m", "by_name", is_flag=True, help="FILE is the name of a module or package.")
@click.option("-a", "--arg", "named", metavar="ARG", multiple=True, help="An argument; may be repeated.")
@click.option("-o", "--output", "out", metavar="OUT", type=click.Path(), help="Write to OUT; - is stdout.")
@click.option("--native-ir", "native", is_flag=True, help="Add LLVM's code (extra jit).")
@click.option("--no-run", is_flag=True, help="Only trace: no values and times.")
@click.option(
    "--serve", is_flag=True, help="Show the page in a browser, and refresh it when a file is saved."
)
@click.option(
    "--port", metavar="PORT", type=int, default=0, help="With --serve: the port; a free one by default."
)
@click.option("--live", is_flag=True, hidden=True)
def command(
    target: str,
    args: tuple[str, ...],
    by_name: bool,
    named: tuple[str, ...],
    out: str | None,
    native: bool,
    no_run: bool,
    serve: bool,
    port: int,
    live: bool,
) -> Callable[[], int]:
    path, function = sources.split_target(target)
    if function is None:
        raise sources.without_function("explore", target, by_name)
    if serve and path == sources.STDIN:
        raise problem(BAD_USAGE, "--serve cannot read stdin again", fix="save the program to a file")
    if serve and out is not None:
        raise problem(BAD_USAGE, "--serve writes no file", fix="leave out --output")
    if serve:
        folder = os.getcwd() if by_name else os.path.dirname(os.path.abspath(path))
        return partial(show, _again(target, args, by_name, named, native, no_run), folder, port)
    out = out or f"{function}.html"
    if out != sources.STDIN:
        output.check_destination(out, path)
    texts = (*named, *args)
    return partial(
        explore, path, function, texts, by_name=by_name, out=out, native=native, run=not no_run, live=live
    )


def explore(
    path: str,
    function: str,
    texts: Sequence[str],
    *,
    by_name: bool = False,
    out: str,
    native: bool = False,
    run: bool = True,
    live: bool = False,
) -> int:
    """Run the command; return the exit code."""
    import agc.runtime as tf  # before the program's folder is where modules are looked for
    from agc.explorer import collect, render

    arguments = [parse(text, number) for number, text in enumerate(texts, start=1)]
    load = call_function.loader(path, by_name)

    failed: list[str] = []

    def action() -> None:
        f = call_function.find(load(), function, path)
        positional, named = call_function.split(arguments, tf)
        call_function.check_fit(f, function, positional, named)
        if getattr(f, "input_signature", None) is not None:
            call_function.check_signature(f, function, positional, named)
        model = collect(f, *positional, native=native, run=run, **named)
        page = render(model, live=live)
        if out == sources.STDIN:
            output.emit(page)
        else:
            output.write(out, page)
            click.echo(f"{out}: {len(page) / 1e6:.1f} MB", err=True)
        if "error" in model:
            failed.append(model["error"])
            click.echo(f"`{function}` failed, so the page has the values until then:\n{failed[0]}", err=True)

    return user_code.run(action) or (FAILED if failed else OK)


def _again(
    target: str, args: tuple[str, ...], by_name: bool, named: tuple[str, ...], native: bool, no_run: bool
) -> list[str]:
    """Return the command line of a process that makes the page; each has the newest modules."""
    options: list[tuple[Any, list[str]]] = [
        (by_name, ["-m"]),
        (native, ["--native-ir"]),
        (no_run, ["--no-run"]),
    ]
    flags = [flag for wanted, flags in options if wanted for flag in flags]
    arguments = [part for text in named for part in ("--arg", text)]
    return [sys.executable, "-m", "agc", "explore", "--live", *flags, *arguments, target, *args]


def show(again: list[str], folder: str, port: int = 0) -> int:
    """Serve the page until Ctrl-C."""
    from agc.explorer.serve import PageServer

    try:
        server = PageServer(partial(PageProcess, again), folder, port)
    except (OSError, OverflowError) as error:
        fix = "leave out --port: a free one is found"
        raise problem(BAD_USAGE, f"cannot listen on port {port}: {error}", fix=fix) from None
    with server:
        click.echo(f"{server.address}  (Ctrl-C ends)", err=True)
        if has_display():
            webbrowser.open(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo("", err=True)
    return OK


def has_display() -> bool:
    """Return whether a browser can open a window; a browser for terminals would take this one."""
    return sys.platform in ("darwin", "win32") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("BROWSER")
    )


class PageProcess:
    """A page that a new process makes; its command line is `again`."""

    def __init__(self, again: list[str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="agc-explore-")
        self._out = os.path.join(self._folder.name, "page.html")
        self._process = subprocess.Popen(
            [*again, "-o", self._out],
            stdin=subprocess.DEVNULL,  # the program must not read what is typed for this command
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )

    def page(self) -> str:
        """Wait, and return the page, or one with what the program printed if there is none."""
        from agc.explorer.serve import note_page

        printed, _ = self._process.communicate()
        with self._folder:
            try:
                with open(self._out, encoding="utf-8") as file:
                    return file.read()
            except FileNotFoundError:
                return note_page(printed)

    def stop(self) -> None:
        self._process.kill()
