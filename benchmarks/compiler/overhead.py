"""What conversion costs a program that meets no tensor: its time over that of the program as it was written.

imported     the module is converted as a whole, and runs its own code as long as nothing is staged
converted    `tf.autograph.to_graph(f)`: as long as nothing is staged, its own control flow, and calls of
             converted functions
"""

from __future__ import annotations

import ast
import importlib
import pathlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..timing import seconds

PROGRAM = pathlib.Path(__file__).with_name("plain_programs.py").read_text()
NAMES = [node.name for node in ast.parse(PROGRAM).body if isinstance(node, ast.FunctionDef)]
"""The programs; the defaults of their parameters are the arguments."""

WAYS = ("imported", "converted")
TARGET = 3.0
LASTING = 0.01


def ratio(tf: Any, load: Callable[[str], ModuleType], name: str, way: str) -> float:
    """The time of a converted program over that of the plain one, measured in turn."""
    plain = vars(load(PROGRAM))[name]
    new = imported(name) if way == "imported" else tf.autograph.to_graph(plain)
    if new() != plain():
        raise SystemExit(f"{name}, {way}: the results differ")
    count = max(1, round(LASTING / min(seconds(plain, 10) / 10 for _ in range(3))))
    times = [(seconds(new, count), seconds(plain, count)) for _ in range(3)]
    return min(first for first, _ in times) / min(second for _, second in times)


def imported(name: str) -> Callable[[], Any]:
    """The program in a module that was converted as a whole."""
    autograph = importlib.import_module("agc.autograph")
    module = sys.modules["overhead"] = ModuleType("overhead")
    exec(autograph.compile_source(PROGRAM, "overhead.py"), vars(module))
    found: Callable[[], Any] = vars(module)[name]
    return found
