"""The documents as programs: what they show is run, and must come out as they show it.

    ```python       `>>>` examples run as doctests, in one namespace for the whole document
    ```python       a block that begins with `# name.py` is a file of that name
    ```console      `$ command`, run in the folder of those files, then all that it prints
    ```text, sh     only shown

The folder is shown as /home/me. `...` in expected output stands for anything. `pytest --update-golden` writes
what came out into the documents; the diff is the review.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from support import prepared

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
if importlib.util.find_spec("torch") is None:  # `make torch` installs it, `make test` does not
    DOCUMENTS.remove(ROOT / "docs" / "torch.md")
FLAGS = doctest.ELLIPSIS
HOME = "/home/me"

FENCE = re.compile(r"^```(\w*)$")
FILE = re.compile(r"^# (\w+\.py)$")
OF_THE_SHELL = re.compile(r"[|&;<>$`*?~\n]")  # what makes more of a command than its words
UNDERLINED = re.compile(r"^ +[~^]+$")  # in tracebacks: each version of Python does it in another way


class Block(NamedTuple):
    """A fenced block: its language and its lines; `start` is the index of the first one in the document."""

    language: str
    start: int
    lines: list[str]

    @property
    def file(self) -> str | None:
        """The name of the file that the block is."""
        found = FILE.match(self.lines[0]) if self.language == "python" and self.lines else None
        return found and found[1]


class Command(NamedTuple):
    """A command of a console block and what it shall print, from the line with the index `start` on."""

    text: str
    start: int
    expected: list[str]


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a document."""
    found: list[Block] = []
    is_open = False
    for number, line in enumerate(text.split("\n")):
        fence = FENCE.match(line)
        if is_open and line == "```":
            is_open = False
        elif not is_open and fence:
            is_open = True
            found.append(Block(fence[1], number + 1, []))
        elif is_open:
            found[-1].lines.append(line)
    return found


def commands(text: str) -> list[Command]:
    """The commands of all console blocks of a document."""
    found: list[Command] = []
    for block in blocks(text):
        for number, line in enumerate(block.lines if block.language == "console" else (), block.start):
            if line.startswith("$ "):
                found.append(Command(line[2:], number + 1, []))
            else:
                found[-1].expected.append(line)
    return found


def examples(text: str, name: str) -> doctest.DocTest:
    """All `>>>` examples of a document as one test, at their own lines."""
    lines = [""] * len(text.split("\n"))
    for block in blocks(text):
        if block.language == "python" and block.file is None:
            lines[block.start : block.start + len(block.lines)] = block.lines
    return doctest.DocTestParser().get_doctest("\n".join(lines), {"__name__": "__main__"}, name, name, 0)


@contextlib.contextmanager
def folder(text: str) -> Iterator[Path]:
    """A new working directory with the document's files, whose modules can be imported."""
    before, modules = os.getcwd(), set(sys.modules)
    with tempfile.TemporaryDirectory() as name:
        here = Path(name).resolve()
        for block in blocks(text):
            if block.file is not None:
                (here / block.file).write_text("\n".join(block.lines) + "\n")
        os.chdir(here)
        sys.path.insert(0, str(here))
        try:
            yield here
        finally:
            os.chdir(before)
            sys.path.remove(str(here))
            for module in set(sys.modules) - modules:
                if (here / f"{module}.py").exists():
                    del sys.modules[module]


def printed(command: str, here: Path) -> list[str]:
    """What a command prints, on either stream."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {
        **os.environ,
        "PATH": path,
        "NO_COLOR": "1",
        "COLUMNS": "100",
        "PYTHONIOENCODING": "utf-8",
    }
    if "PYTHONPYCACHEPREFIX" not in environment:
        environment["PYTHONDONTWRITEBYTECODE"] = "1"  # the folder is what the document shows
    if command.startswith("agc ") and not OF_THE_SHELL.search(command):
        done = prepared.run(shlex.split(command)[1:], cwd=here, env=environment, one_stream=True)
    else:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=here,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=120,
        )
    lines = done.stdout.replace(str(here), HOME).rstrip("\n").split("\n") if done.stdout else []
    above = ["", *lines]
    shown = [line for line, before in zip(lines, above, strict=False) if not _is_of_a_command(line, before)]
    return [line for line in shown if not UNDERLINED.match(line)]


def _is_of_a_command(line: str, before: str) -> bool:
    """Whether it is a line of what `python -c` was given, which only Python 3.13 shows in tracebacks."""
    return before.startswith('  File "<string>", ') and line.startswith("    ")


class Checker(doctest.OutputChecker):
    """Compares outputs; blank lines at the end need not be shown."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        outputs = got, f"{got.rstrip()}\n"
        return any(super(Checker, self).check_output(want, output, optionflags) for output in outputs)


def agrees(expected: list[str], got: list[str]) -> bool:
    """Whether the output is the expected one."""
    return Checker().check_output("\n".join([*expected, ""]), "\n".join([*got, ""]), FLAGS)


def failures(test: doctest.DocTest) -> str:
    """Run examples; the report of those that fail."""
    report: list[str] = []
    doctest.DocTestRunner(Checker(), optionflags=FLAGS).run(test, out=report.append)
    return "".join(report)


class Collector(doctest.DocTestRunner):
    """Collects what failing examples print: index of the first line, number of lines expected, lines got."""

    def __init__(self) -> None:
        super().__init__(Checker(), optionflags=FLAGS)
        self.changes: list[tuple[int, int, list[str]]] = []

    def report_unexpected_exception(
        self, out: Any, test: Any, example: doctest.Example, exc_info: Any
    ) -> None:
        (*_, said) = traceback.format_exception_only(*exc_info[:2])
        self.report_failure(out, test, example, f"Traceback (most recent call last):\n    ...\n{said}")

    def report_failure(self, out: Any, test: Any, example: doctest.Example, got: str) -> None:
        start = example.lineno + example.source.count("\n")
        indent = " " * example.indent
        lines = [indent + line if line else "<BLANKLINE>" for line in got.rstrip("\n").split("\n")]
        self.changes.append((start, example.want.count("\n"), lines if got else []))


def rewrite(path: Path) -> None:
    """Write into a document what its examples and commands print."""
    text = path.read_text()
    runner = Collector()
    with folder(text) as here:
        for command in commands(text):
            got = printed(command.text, here)
            if not agrees(command.expected, got):
                runner.changes.append((command.start, len(command.expected), got))
        runner.run(examples(text, path.name), out=lambda text: None)
    lines = text.split("\n")
    for start, count, got in sorted(runner.changes, reverse=True):
        lines[start : start + count] = got
    path.write_text("\n".join(lines))
