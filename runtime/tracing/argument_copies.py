"""Reject a traced function that mutates the lists, dicts and dataclasses among its arguments.

Tracing passes copies of these nests, so the caller would see no change.

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
    """The elements of all nests among the arguments, recorded before the function is called."""

    def __init__(self, inputs: Mapping[str, Any]) -> None:
        self._held = [held for name, value in inputs.items() for held in _nests(name, name, value)]

    def check(self, function: Callable[..., Any], called: str) -> None:
        """Raise a StagingError, which is a ValueError, if the function has changed one of the nests."""
        for name, path, value, before in self._held:
            now = nest.children(value)
            keys = [key for key, _ in before]
            if keys != [key for key, _ in now]:
                raise _changed(function, called, name, path)
            for (key, old), (_, new) in zip(before, now, strict=True):
                if old is not new:
                    raise _changed(function, called, name, nest.path_of(value, key, path))


def _nests(name: str, path: str, value: Any) -> Iterator[tuple[str, str, Any, list[tuple[Any, Any]]]]:
    """Yield each mutable nest in an argument as (argument name, path, nest, key-element pairs)."""
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
