"""Random programs of nested scopes do the same in the user's version, in the converted one, and in turns.

`AGC_FUZZ=5000 pytest tests/autograph/agreement/test_scopes.py` grows that many programs instead of a few.
"""

from __future__ import annotations

import contextlib
import linecache
import os
from collections.abc import Callable, Iterator
from typing import Any

from agc.autograph import compile_source, convert, staging
from grammar.surroundings import TooLong, surroundings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.scoped_programs import ScopedGrower, called, shown

COUNT = int(os.environ.get("AGC_FUZZ", "60"))
SCRIPTS = [[0, 1, 2, 3, 4], [2, 0], [0]]
Flip = Callable[[], None]


def stay() -> None:
    """Leave the version of the code as it is."""


@contextlib.contextmanager
def at_rest() -> Iterator[Flip]:
    yield stay


@contextlib.contextmanager
def live() -> Iterator[Flip]:
    with staging.live():
        yield stay


@contextlib.contextmanager
def in_turns() -> Iterator[Flip]:
    """Give a function that begins `staging.live()`, or ends it."""
    with contextlib.ExitStack() as stack:
        begun: list[Any] = []

        def flip() -> None:
            if begun:
                begun.pop().close()
            else:
                begun.append(contextlib.ExitStack())
                begun[0].enter_context(staging.live())

        stack.callback(lambda: flip() if begun else None)
        yield flip


@st.composite
def programs(draw: st.DrawFn) -> str:
    return ScopedGrower(lambda count: draw(st.integers(0, count - 1)), draw(st.integers(5, 50))).program()


def behavior(
    module: dict[str, Any], program: Callable[..., Any], script: list[int], flip: Flip
) -> tuple[Any, ...]:
    names = surroundings(script)
    value, mark = names["v"], names["t"]

    def v(number: int) -> int:
        flip()
        return int(value(number))

    names.update(v=v, t=lambda number, result: mark(number, shown(result)), called=called)
    module.update(names, a=0, b=0, c=0)
    try:
        end = called(program)
    except TooLong:
        end = "too long"
    return end, names["TRACE"], [shown(module.get(name)) for name in "abc"]


def check(text: str, filename: str) -> None:
    lines = text.splitlines(keepends=True)
    linecache.cache[filename] = len(text), None, lines, filename
    try:
        code = compile(text, filename, "exec")
    except SyntaxError:
        return  # such as a variable of a class that is also declared nonlocal
    original, whole = module_of(code), module_of(compile_source(text, filename))
    expected = [behavior(original, original["program"], script, stay) for script in SCRIPTS]
    for module, program in ((whole, whole["program"]), (original, convert(original["program"]))):
        for state in (at_rest, live, in_turns):
            for script, before in zip(SCRIPTS, expected, strict=True):
                with state() as flip:
                    assert behavior(module, program, script, flip) == before, f"{state.__name__}\n{text}"


def module_of(code: Any) -> dict[str, Any]:
    module: dict[str, Any] = {"__name__": "scoped_program", "called": called, **surroundings([1])}
    exec(code, module)
    return module


@settings(max_examples=COUNT, suppress_health_check=list(HealthCheck), derandomize=COUNT == 60, deadline=None)
@given(text=programs())
def test_versions_share_their_variables(text: str) -> None:
    check(text, "<scoped program>")
