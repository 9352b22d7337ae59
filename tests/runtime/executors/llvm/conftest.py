"""What tests of native code have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from agc.runtime.executors.llvm import jit_function
from agc.runtime.executors.llvm.jit_function import JitFunction


@pytest.fixture(autouse=True)
def given_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Native code gives up only where the plan raises an error: else a test of it would be one of the plan.

    Here are the names of the graphs that the plan has run without an error. A test that knows why empties the list.
    """
    found: list[str] = []
    fail = JitFunction.fail

    def watched(native: JitFunction, arguments: Sequence[Any]) -> Sequence[Any]:
        results = fail(native, arguments)
        found.append(native.graph.name)
        return results

    # As one of agc's own, so that tracebacks are those of users.
    watched.__code__ = watched.__code__.replace(co_filename=jit_function.__file__)
    monkeypatch.setattr(JitFunction, "fail", watched)
    yield found
    assert found == [], "native code gave up, and the plan found nothing wrong"
