"""The fixture that each test of this folder has."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from agc.runtime.executors.llvm.jit_function import JitFunction
from support import giving_up


@pytest.fixture(autouse=True)
def given_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the graphs that the plan has run without an error."""
    yield from giving_up.given_up(monkeypatch, JitFunction)
