"""Runs CPython's tests of one part of the standard library, with that part converted or as it is.

    python -P child.py RESULT.json converted heapq test.test_heapq

The converter works with the standard library itself, so that is loaded first. Then everything in it that is
written in Python is forgotten and imported again: the modules that are named come in converted, for everyone
who imports them and however often a test does. A plain run forgets and imports in the same way.

The tests are watched by the first copy of `unittest`, the one that is never converted.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import sys
import sysconfig
import tempfile
import time
import traceback
import unittest
from collections.abc import Sequence
from types import CodeType
from typing import Any, NamedTuple

from agc import autograph
from agc.autograph import staging

LIBRARY = sysconfig.get_path("stdlib")

# What the interpreter works with from its start, and goes on to use, whatever `sys.modules` says.
KEPT = {"abc", "codecs", "encodings", "genericpath", "importlib", "io", "os", "posixpath", "site", "stat"}
KEPT |= {"_collections_abc", "_sitebuiltins", "_weakrefset", "ntpath", "warnings", "zipimport", "__main__"}

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Conversion(NamedTuple):
    """The modules that were converted, and what that took."""

    codes: dict[str, CodeType]
    lines: int
    functions: int
    seconds: float


def main(result: str, mode: str, modules: str, tests: str) -> None:
    names = modules.split()
    autograph.compile_source("if True: pass", "<first>")  # loads the compiler, which a test may notice
    done = converted(names) if mode == "converted" else Conversion({}, 0, 0, 0.0)
    sys.meta_path.insert(0, Finder(names))
    loaded = exchange(done.codes)
    forget(names)
    outcomes = Outcomes()
    # A converted module runs its own code until a backend owns values: here it shall run what it was converted to.
    with staging.live(), tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        started = time.process_time()
        run(tests.split(), outcomes)
        seconds = time.process_time() - started
    figures = {
        "outcomes": outcomes.of,
        "reports": outcomes.reports,
        "seconds": seconds,
        "functions": done.functions,
        "lines": done.lines,
        "conversion": done.seconds,
        "loaded": sorted(loaded),
    }
    pathlib.Path(result).write_text(json.dumps(figures))
    sys.stdout.flush()
    os._exit(0)  # threads that a test has left running are ignored


def converted(names: Sequence[str]) -> Conversion:
    """Convert whole modules, every function in them."""
    codes: dict[str, CodeType] = {}
    lines = functions = 0
    seconds = 0.0
    for name in names:
        path = path_of(name)
        text = importlib.util.decode_source(pathlib.Path(path).read_bytes())
        lines += text.count("\n")
        functions += sum(isinstance(node, FUNCTIONS) for node in ast.walk(ast.parse(text)))
        started = time.process_time()
        codes[name] = autograph.compile_source(text, path)
        seconds += time.process_time() - started
    return Conversion(codes, lines, functions, seconds)


def path_of(name: str) -> str:
    """The file of a module of the standard library."""
    stem = os.path.join(LIBRARY, *name.split("."))
    return os.path.join(stem, "__init__.py") if os.path.isdir(stem) else stem + ".py"


def forget(names: Sequence[str]) -> None:
    """Take what is written in Python out of `sys.modules`, so that the next import reads it again."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        kept = name.partition(".")[0] in KEPT and name not in names
        if (
            file.startswith(LIBRARY + os.sep)
            and "-packages" not in file
            and file.endswith(".py")
            and not kept
        ):
            del sys.modules[name]


class Finder(importlib.abc.MetaPathFinder):
    """Finds modules in their files, even where Python has them frozen."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        return importlib.machinery.PathFinder.find_spec(name, path) if name in self.names else None


def exchange(codes: dict[str, CodeType]) -> set[str]:
    """From now on, import these modules with this code; those of them that are imported become the result."""
    loader: Any = importlib.machinery.SourceFileLoader
    original = loader.get_code
    loaded: set[str] = set()

    def get_code(self: Any, name: str) -> Any:
        code = codes.get(name)
        if code is None or code.co_filename != self.path:
            return original(self, name)
        loaded.add(name)
        return code

    loader.get_code = get_code
    return loaded


class Outcomes(unittest.TestResult):
    """What became of each test: "passed", "skipped" or "failed", by the name of the test."""

    def __init__(self) -> None:
        super().__init__()
        self.of: dict[str, str] = {}
        self.reports: dict[str, str] = {}

    def note(self, test: Any, outcome: str, error: Any = None) -> None:
        name = test.id()
        if outcome != "passed" or name not in self.of:
            self.of[name] = outcome
        if error is not None:
            self.reports[name] = "".join(traceback.format_exception(*error))

    def addSuccess(self, test: Any) -> None:
        self.note(test, "passed")

    def addSkip(self, test: Any, reason: str) -> None:
        self.note(test, "skipped")

    def addFailure(self, test: Any, err: Any) -> None:
        self.note(test, "failed", err)

    def addError(self, test: Any, err: Any) -> None:
        self.note(test, "failed", err)

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        self.note(test, "passed")

    def addUnexpectedSuccess(self, test: Any) -> None:
        self.note(test, "failed")

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None:
            self.note(test, "failed", err)


def run(names: Sequence[str], outcomes: Outcomes) -> None:
    """Run test modules with the copy of `unittest` that is new in this process."""
    fresh = importlib.import_module("unittest")
    support = importlib.import_module("test.support")
    support.use_resources = [
        "network"
    ]  # that is sockets, too; no big files, no long computations, not the web
    for name in names:
        suite = fresh.defaultTestLoader.loadTestsFromName(name)
        suite.run(outcomes)


if __name__ == "__main__":
    main(*sys.argv[1:])
