"""What conversion costs a program that meets no tensor: its time over that of the program as it was written.

imported     the module is converted as a whole, and runs its own code as long as nothing is staged
converted    `tf.autograph.to_graph(f)`: as long as nothing is staged, its own control flow, and calls of
             converted functions
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

PROGRAM = """
def branch(x):
    if x > 0:
        y = x
    else:
        y = -x
    return y


def early_return(x):
    if x < 0:
        return -1
    return x


def for_loop(n):
    total = 0
    for i in range(n):
        total += i
    return total


def while_loop(n):
    total = 0
    while n > 0:
        total += n
        n -= 1
    return total


def loop_with_branch(n):
    total = 0
    for i in range(n):
        if i % 2 == 0:
            total += i
    return total


def loop_with_break(n):
    for i in range(n):
        if i == n - 1:
            break
    return i


def call(x):
    return branch(x)
"""

ARGUMENTS: dict[str, int] = {
    "branch": 3,
    "early_return": 3,
    "for_loop": 100,
    "while_loop": 100,
    "loop_with_branch": 100,
    "loop_with_break": 100,
    "call": 3,
}
"""Each program, and what it is called with."""

WAYS = ("imported", "converted")
TARGET = 3.0
LASTING = 0.01


def ratio(tf: Any, load: Callable[[str], ModuleType], name: str, way: str) -> float:
    """The time of a converted program over that of the plain one, measured in turn."""
    module, argument = load(PROGRAM), ARGUMENTS[name]
    plain = vars(module)[name]
    new = imported(name) if way == "imported" else tf.autograph.to_graph(plain)
    if new(argument) != plain(argument):
        raise SystemExit(f"{name}, {way}: the results differ")
    count = max(1, round(LASTING / min(_seconds(plain, argument, 10) / 10 for _ in range(3))))
    times = [(_seconds(new, argument, count), _seconds(plain, argument, count)) for _ in range(3)]
    return min(first for first, _ in times) / min(second for _, second in times)


def imported(name: str) -> Callable[[int], int]:
    """The program in a module that was converted as a whole."""
    autograph = importlib.import_module("agc.autograph")
    namespace: dict[str, Any] = {"__name__": "overhead"}
    exec(autograph.compile_source(PROGRAM, "overhead.py"), namespace)
    found: Callable[[int], int] = namespace[name]
    return found


def _seconds(f: Callable[[int], int], argument: int, count: int) -> float:
    repeat = range(count)
    start = time.perf_counter()
    for _ in repeat:
        f(argument)
    return time.perf_counter() - start
