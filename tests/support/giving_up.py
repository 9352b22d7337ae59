"""Watch compiled functions: one gives up only where the plan raises an error, else a test of it would test the plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from agc.runtime.executors import compiled_function
from agc.runtime.executors.compiled_function import CompiledFunction


def given_up(monkeypatch: pytest.MonkeyPatch, kind: type[CompiledFunction]) -> Iterator[list[str]]:
    """Yield the names of the graphs that the plan has run without an error; at the end there must be none.

    A test that has a reason empties the list.
    """
    found: list[str] = []
    fail = kind.fail

    def watched(function: CompiledFunction, arguments: Sequence[Any]) -> Sequence[Any]:
        results = fail(function, arguments)
        found.append(function.graph.name)
        return results

    # As one of agc's own, so that tracebacks are those of users.
    watched.__code__ = watched.__code__.replace(co_filename=compiled_function.__file__)
    monkeypatch.setattr(kind, "fail", watched)
    yield found
    assert found == [], "compiled code gave up, and the plan found nothing wrong"
