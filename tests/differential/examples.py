"""The doctests of the runtime, run twice: with agc's objects, and with TensorFlow's of the same public names.

A line that needs what is not public is left out, and so is what it would have named.
"""

from __future__ import annotations

import contextlib
import dis
import doctest
import importlib
import io
import linecache
import pkgutil
import sys
import tempfile
from collections.abc import Iterator
from types import CodeType, ModuleType
from typing import Any

import agc.runtime as ours

from .judging import SECONDS, Comparison, Refusal, alike, limited, refused, verdict
from .places import found, paths

NO_COUNTERPART = object()
OWN = ("agc.runtime.executors.", "agc.runtime.keras")
"""Modules of what TensorFlow lacks, such as compilers; Keras, which runs on TensorFlow in this process."""

LASTING = "enable_op_determinism"
"""A setting that TensorFlow cannot undo, and that would change the examples that follow."""


def compare(tf: Any, part: str = "") -> Iterator[Comparison]:
    """Each example of each public object."""
    for test in tests():
        if part in test.name:
            with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
                yield from Pair(test, tf).run()


def tests() -> Iterator[doctest.DocTest]:
    for info in pkgutil.walk_packages(ours.__path__, "agc.runtime."):
        if info.name.startswith(OWN):
            continue
        try:
            module = importlib.import_module(info.name)
        except ImportError as error:
            print(f"left out: {info.name}, which needs a package: {error}", file=sys.stderr)
            continue
        found_here = doctest.DocTestFinder().find(module, info.name)
        for test in found_here:
            if test.examples and not any(LASTING in example.source for example in test.examples):
                yield test


class Pair:
    """One docstring's examples, run with both."""

    def __init__(self, test: doctest.DocTest, tf: Any) -> None:
        self.test, self.tf = test, tf
        self.mine: dict[str, Any] = dict(test.globs)
        self.theirs = {name: counterpart(value, tf) for name, value in self.mine.items()}
        self.lacking = {name for name, value in self.theirs.items() if value is NO_COUNTERPART}

    def run(self) -> Iterator[Comparison]:
        for number, example in enumerate(self.test.examples):
            what = f"{self.test.name}: {example.source.strip()}"
            code = compile(example.source, f"<{self.test.name}[{number}]>", "single", dont_inherit=True)
            if not self.both_can(code):
                self.lacking |= named(code, "STORE_NAME")
                continue
            source = example.source.replace("agc.runtime", "tensorflow")
            mine = run(code, example.source, self.mine)
            theirs = run(compile(source, code.co_filename, "single", dont_inherit=True), source, self.theirs)
            if any(map(refused, [*mine, *theirs])):
                self.lacking |= named(code, "STORE_NAME")
            yield Comparison(what, judged(mine, theirs), mine, theirs)

    def both_can(self, code: CodeType) -> bool:
        """Whether the code needs nothing that is agc's own."""
        modules = named(code, "IMPORT_NAME") - {"agc.runtime"}
        used = named(code, "LOAD_NAME", "LOAD_GLOBAL")
        return not any(name.startswith("agc.") for name in modules) and not used & self.lacking


def named(code: CodeType, *opcodes: str) -> set[str]:
    """The names that such instructions have, in the code and in the functions in it."""
    names = {str(step.argval) for step in dis.get_instructions(code) if step.opname in opcodes}
    inner = (named(part, *opcodes) for part in code.co_consts if isinstance(part, CodeType))
    return names.union(*inner)


def counterpart(value: Any, tf: Any) -> Any:
    """TensorFlow's object of the same public name; other libraries' are themselves."""
    path = paths(ours).get(id(value))
    if path is not None:
        try:
            return found(tf, path)
        except AttributeError:
            return NO_COUNTERPART
    home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return NO_COUNTERPART if str(home).startswith("agc.") else value


def run(code: CodeType, source: str, names: dict[str, Any]) -> list[Any]:
    """Return what a run of the code shows: values, the text that it prints, the class of an exception."""
    values: list[Any] = []
    hook, sys.displayhook = sys.displayhook, values.append
    linecache.cache[code.co_filename] = (len(source), None, source.splitlines(True), code.co_filename)
    text = io.StringIO()
    try:
        with contextlib.redirect_stdout(text), contextlib.redirect_stderr(io.StringIO()), limited(SECONDS):
            exec(code, names)
    except Exception as error:
        values.append(Refusal.of(error))
    finally:
        sys.displayhook = hook
    return [value for value in values if value is not None] + [text.getvalue()]


def judged(mine: list[Any], theirs: list[Any]) -> str:
    if refused(theirs[0]) and not any(map(refused, mine)):
        return verdict(None, theirs[0])
    if not alike(mine[-1], theirs[-1]) or len(mine) != len(theirs):
        return "differ"
    results = {verdict(one, other) for one, other in zip(mine[:-1], theirs[:-1], strict=True)}
    return next((result for result in ("differ", "wider") if result in results), "agree")
