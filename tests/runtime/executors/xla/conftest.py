"""Fixtures of the tests of XLA programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from agc.runtime.executors.xla import xla_function
from agc.runtime.executors.xla.xla_function import XlaFunction


@pytest.fixture(autouse=True)
def given_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A program gives up only where the plan raises an error: else a test of it would be one of the plan.

    Here are the names of the graphs that the plan has run without an error. A test that has a reason empties the list.
    """
    found: list[str] = []
    fail = XlaFunction.fail

    def watched(program: XlaFunction, arguments: Sequence[Any]) -> Sequence[Any]:
        results = fail(program, arguments)
        found.append(program.graph.name)
        return results

    # As one of agc's own, so that tracebacks are those of users.
    watched.__code__ = watched.__code__.replace(co_filename=xla_function.__file__)
    monkeypatch.setattr(XlaFunction, "fail", watched)
    yield found
    assert found == []
