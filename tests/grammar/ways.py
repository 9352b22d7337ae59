"""One program in all the ways in which converted code is run, and what each way shows.

original               the program as Python runs it
after <pass>           its tree after each prefix of the pipeline
printed                the text that `convert_source` gives
at rest, live          a converted module, in both of its halves
converted              `convert(program)` of a live function, in both of its versions
                       and where each read of `building` gives another answer
"""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import itertools
import linecache
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gast
from agc.autograph import convert, convert_source, operators
from agc.autograph.api import compile_source
from agc.autograph.passes import pipeline
from agc.autograph.passes.base import Context
from agc.autograph.syntax.nesting import deep_trees
from support.semantics import PREFIXES

from .surroundings import PRELUDE, TooLong, shown, surroundings

SCRIPTS = [[0, 1, 2, 3, 4], [4, 0, 3, 0, 1, 1, 2], [0]]
Module = dict[str, Any]
Shown = dict[str, Any]
_numbers = itertools.count()


class InTurns(int):
    """A number that is true and false in turns."""

    def __new__(cls) -> InTurns:
        self = super().__new__(cls, 1)
        self.answers = itertools.cycle([True, False, False, True, False])
        return self

    def __bool__(self) -> bool:
        return next(self.answers)


@functools.cache
def prelude() -> Module:
    """The classes and functions that programs use, as they are; they are converted when they are called."""
    return original(PRELUDE, {"__name__": "prelude"})


def original(text: str, module: Module | None = None) -> Module:
    """The program as it is."""
    name = f"<grown {next(_numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module = module or fresh()
    exec(compile(text, name, "exec", dont_inherit=True), module)
    return module


def fresh() -> Module:
    """Return an empty module next to the prelude."""
    return {**prelude(), "__name__": "grown"}


def ways(text: str, prefixes: list[str]) -> Iterator[tuple[str, Callable[[], Module], int]]:
    """Each way: its name, what makes the module, and what `live` is meanwhile."""
    before = gast.parse(text)
    for after in prefixes:
        yield (
            f"after {after}",
            lambda after=after: _of_tree(pipeline.run(before, Context(source=text), after), "<tree>"),
            1,
        )
    yield "printed", lambda: _of_tree(gast.parse(convert_source(text)), "<printed>"), 1
    for name, live in (("at rest", 0), ("live", 1)):
        yield name, lambda: _executed(compile_source(text, f"<module {next(_numbers)}>")), live
    for name, live in (("converted, at rest", 0), ("converted", 1), ("converted, in turns", InTurns())):
        yield name, lambda: _converted(text), live


def _of_tree(tree: gast.Module, name: str) -> Module:
    with deep_trees():
        code = compile(ast.fix_missing_locations(gast.gast_to_ast(tree)), name, "exec", dont_inherit=True)
    module = fresh() | {"ag__": operators}
    exec(operators.converter.adopt(code), module)
    return module


def _executed(code: Any) -> Module:
    module = fresh()
    exec(code, module)
    return module


def _converted(text: str) -> Module:
    module = original(text)
    module["program"] = convert(module["program"])
    return module


def behavior(module: Module, script: list[int], live: int) -> Shown:
    """All that a call of the program shows."""
    names = surroundings(script)
    prelude().update(names)
    module.update(names)
    out = io.StringIO()
    before = operators.live, operators.building
    operators.live = operators.building = live
    end: Any
    try:
        with contextlib.redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            end = "returned", shown(module["program"](1, 2))
    except TooLong:
        end = "too long"
    except Exception as error:
        end = "raised", *exception(error)
    finally:
        operators.live, operators.building = before
    return {"end": end, "trace": names["TRACE"], "printed": out.getvalue(), "g": shown(module.get("g"))}


def exception(error: BaseException | None, depth: int = 6) -> Any:
    """An exception with those that led to it, and the lines where it went."""
    if error is None or depth == 0:
        return error and "..."
    inner = tuple(exception(one, depth - 1) for one in getattr(error, "exceptions", ()))
    chain = exception(error.__cause__, depth - 1), exception(error.__context__, depth - 1)
    return type(error).__name__, shown(error.args), inner, *chain, error.__suppress_context__


def compiles(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "<program>", "exec", dont_inherit=True)
        except SyntaxError:
            return False
    return True


def differences(program: str, prefixes: list[str] = PREFIXES) -> Iterator[str]:
    """What the ways of running a program do otherwise than Python."""
    text = program
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = original(text)
        expected = [behavior(module, script, 1) for script in SCRIPTS]
        for name, make, live in ways(text, prefixes):
            before = operators.live, operators.building
            operators.live = operators.building = live
            try:
                module = make()
            finally:
                operators.live, operators.building = before
            for script, first in zip(SCRIPTS, expected, strict=True):
                seen = behavior(module, script, live)
                for aspect, value in first.items():
                    if seen[aspect] != value and first["end"] != "too long":
                        yield f"{name}, script {script}: {aspect}\n{_first(value, seen[aspect])}"
                        break


def _first(one: Any, other: Any) -> str:
    if isinstance(one, list):
        place = 0
        while one[place : place + 1] == other[place : place + 1]:
            place += 1
        one, other = one[place : place + 3], other[place : place + 3]
    return f"    {one}\nbecame\n    {other}"
