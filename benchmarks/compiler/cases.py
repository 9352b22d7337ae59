"""What is measured: a row for each case, and how its program is called.

    case = Case("while: counting", "iteration", 1000, 5.0, prepare)
    run = case.prepare(tf, load(tf))        `run()` is what the clock sees; it gives the result

A time is divided by the number of parts, and a target is in microseconds for one part.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import itertools
import pathlib
import runpy
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

from . import tracing

PROGRAMS = pathlib.Path(__file__).with_name("programs.py").read_text()

LIBRARY = ("calendar", "colorsys", "getopt", "quopri", "shlex")
"""Modules of the standard library whose functions are converted."""

Run = Callable[[], Any]
_copies = itertools.count(1)
_folder = tempfile.TemporaryDirectory()  # the sources of copies, which conversion reads


class Case(NamedTuple):
    name: str
    part: str  # what the time is for: one of these
    parts: int  # … of which a run has so many
    target: float | None  # microseconds for a part
    prepare: Callable[[Any, SimpleNamespace], Run]
    alone: bool = False  # no peer has it


def load(tf: Any, text: str = PROGRAMS) -> SimpleNamespace:
    """A copy of a module, with `tf` as given, whose code is equal to no other's: it begins further down."""
    path = _copy(text)
    return SimpleNamespace(**runpy.run_path(str(path), {"tf": tf}, path.stem))


def module(text: str) -> ModuleType:
    """A copy of a module without `tf`, which stays imported as a user's module does."""
    path = _copy(text)
    spec: Any = importlib.util.spec_from_file_location(path.stem, path)
    made = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def _copy(text: str) -> pathlib.Path:
    number = next(_copies)
    path = pathlib.Path(_folder.name, f"copy_{number}.py")
    path.write_text("\n" * number + text)
    return path


def functions(module: SimpleNamespace) -> list[FunctionType]:
    """The functions that a module defines."""
    found = vars(module).values()
    return [f for f in found if isinstance(f, FunctionType) and f.__module__ == module.__name__]


def _vector(tf: Any) -> Any:
    return tf.constant([0.1 * i for i in range(10)])


def _matrix(tf: Any) -> Any:
    return tf.constant([[(i * j) % 3 - 1 for i in range(10)] for j in range(10)])


def _batch(tf: Any) -> Any:
    return tf.reshape(tf.range(4 * 20 * 8, dtype=tf.float32) / 640.0, [4, 20, 8])


def _eager(tf: Any, programs: SimpleNamespace) -> Run:
    x = _vector(tf)
    return lambda: x + x


def _many_arguments(tf: Any, programs: SimpleNamespace) -> Run:
    return partial(tf.function(programs.ends), *[tf.constant(float(i)) for i in range(10)])


def _pipeline(tf: Any, programs: SimpleNamespace) -> Run:
    dataset = tf.data.Dataset.range(1000).map(lambda x: x * 2 + 1).batch(100)
    return lambda: [int(batch[0]) for batch in dataset]


def _tracing(tf: Any, programs: SimpleNamespace) -> Run:
    def run() -> list[int]:
        concrete = tf.function(programs.chain, autograph=False).get_concrete_function(x, x)
        return list(concrete.outputs[0].shape)

    x = _vector(tf)
    return run


def _first_call(tf: Any, programs: SimpleNamespace) -> Run:
    n = tf.constant(27)
    return lambda: tf.function(load(tf).collatz)(n)


def _first_call_of(text: str, tf: Any, programs: SimpleNamespace) -> Run:
    x = tf.constant(1.5)
    return lambda: tf.function(load(tf, text).f)(x)


def _conversion(tf: Any, programs: SimpleNamespace) -> Run:
    def run() -> list[str]:
        converted = [f for text in texts for f in functions(load(tf, text))]
        for function in converted:
            tf.autograph.to_code(function)
        return [function.__name__.removeprefix("tf__") for function in converted]

    texts = [_source(name) for name in LIBRARY]
    return run


def _one_conversion(tf: Any, programs: SimpleNamespace) -> Run:
    def run() -> list[str]:
        return [tf.autograph.to_graph(load(tf).collatz).__name__.removeprefix("tf__")]

    return run


def _modules(name: str) -> Callable[[Any, SimpleNamespace], Run]:
    """Return how to prepare a function of autograph that takes the text of a module and the name of its file."""

    def prepare(tf: Any, programs: SimpleNamespace) -> Run:
        work = getattr(importlib.import_module("agc.autograph"), name)
        texts = [_source(module) for module in LIBRARY]
        return lambda: [work(text, "library.py") and None for text in texts]

    return prepare


def _source(name: str) -> str:
    return inspect.getsource(importlib.import_module(name))


def _library_lines() -> int:
    """How many lines the functions of `LIBRARY` have."""
    trees = [ast.parse(_source(name)) for name in LIBRARY]
    definitions = [node for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)]
    return sum(node.end_lineno - node.lineno + 1 for node in definitions if node.end_lineno)


def _module_lines() -> int:
    """How many lines the modules of `LIBRARY` have."""
    return sum(_source(name).count("\n") for name in LIBRARY)


def size_ratio(tf: Any) -> float:
    """The lines of generated code for a line of the functions in `programs`."""
    originals = functions(load(tf))
    before = sum(_lines(inspect.getsource(f)) for f in originals)
    return sum(_lines(tf.autograph.to_code(f)) for f in originals) / before


def _lines(text: str) -> int:
    return sum(not line.isspace() for line in text.splitlines(keepends=True))


CASES = (
    Case("eager operation", "op", 1, None, _eager),
    Case(
        "call, 1 argument", "call", 1, 15.0, lambda tf, p: partial(tf.function(p.successor), tf.constant(1.0))
    ),
    Case("call, 10 arguments", "call", 1, 15.0, _many_arguments),
    Case(
        "while: counting",
        "iteration",
        1000,
        5.0,
        lambda tf, p: partial(tf.function(p.count), tf.constant(1000)),
    ),
    Case(
        "while: Collatz",
        "iteration",
        350,
        5.0,
        lambda tf, p: partial(tf.function(p.collatz), tf.constant(77031)),
    ),
    Case(
        "planned operation",
        "op",
        100,
        2.0,
        lambda tf, p: partial(tf.function(p.chain), _vector(tf), _vector(tf)),
    ),
    Case("power", "call", 1, None, lambda tf, p: partial(tf.function(p.power), _matrix(tf), 100)),
    Case(
        "dynamic RNN", "step", 20, None, lambda tf, p: partial(tf.function(p.DynamicRNN(8, 16)), _batch(tf))
    ),
    Case(
        "Mandelbrot",
        "call",
        1,
        None,
        lambda tf, p: partial(tf.function(p.escape_times), tf.constant(50), 64, 48),
    ),
    Case("dataset: map and batch", "element", 1000, None, _pipeline),
    Case(
        "dataset: for",
        "element",
        1000,
        None,
        lambda tf, p: partial(tf.function(p.total), tf.data.Dataset.range(1000)),
    ),
    Case("tracing", "op", 100, None, _tracing),
    Case("first call", "call", 1, None, _first_call),
    *(Case(p.name, p.part, p.parts, None, partial(_first_call_of, p.text)) for p in tracing.PROGRAMS),
    Case("conversion", "line", _library_lines(), None, _conversion),
    Case("conversion of modules", "line", _module_lines(), 50.0, _modules("compile_source"), alone=True),
    Case(
        "conversion of modules, as text",
        "line",
        _module_lines(),
        50.0,
        _modules("convert_source"),
        alone=True,
    ),
    Case("check of modules", "line", _module_lines(), 50.0, _modules("check_source"), alone=True),
    Case("conversion, one of a file", "function", 1, None, _one_conversion),
)
