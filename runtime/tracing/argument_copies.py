"""The nests among the arguments of a function that is traced are copies, of which the caller sees no change.

@tf.function
def step(state, x):            step({"n": one}, two)    ValueError: the caller's dict would stay as it is
    state["n"] += x
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MappingView
from typing import Any

from agc.autograph.api import Diagnostic, StagingError, Where, altered_in

from .. import nest


class Copies:
    """What the nests among the arguments hold before the function is called."""

    def __init__(self, inputs: Mapping[str, Any]) -> None:
        self._held = [held for name, value in inputs.items() for held in _nests(name, name, value)]

    def check(self, function: Callable[..., Any], called: str) -> None:
        """StagingError, which is a ValueError, if the function has changed one."""
        for name, path, value, before in self._held:
            now = nest.children(value)
            keys = [key for key, _ in before]
            if keys != [key for key, _ in now]:
                raise _changed(function, called, name, path)
            for (key, old), (_, new) in zip(before, now, strict=True):
                if old is not new:
                    raise _changed(function, called, name, nest.path_of(value, key, path))


def _nests(name: str, path: str, value: Any) -> Iterator[tuple[str, str, Any, list[tuple[Any, Any]]]]:
    """The nests in an argument that may be changed: the argument's name, their way from there, and what they hold."""
    if not nest.is_nested(value):
        return
    pairs = nest.children(value)
    if not isinstance(value, (tuple, MappingView)):
        yield name, path, value, pairs
    for key, child in pairs:
        yield from _nests(name, nest.path_of(value, key, path), child)


def _changed(function: Callable[..., Any], called: str, name: str, path: str) -> StagingError:
    code = getattr(function, "__code__", None)
    where = None
    if code is not None:
        where = altered_in(function, name)
        where = where or Where(code.co_filename, code.co_firstlineno, function=code.co_name)
    return StagingError(
        Diagnostic(
            "AGC292",
            f"{called}() changes its argument `{path}`",
            where,
            why="a function with a graph gets copies of lists, dicts and dataclasses: the caller would see no change",
            fix=f"change a copy of `{name}`, and return it if the caller is to have it",
        )
    )
