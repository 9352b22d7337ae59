"""Fixtures of the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from agc.runtime.executors.llvm import external_symbols
from agc.runtime.executors.llvm.jit_function import JitFunction
from agc.runtime.kernels import blas, native_pool
from support import giving_up


@pytest.fixture(autouse=True)
def given_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the graphs that the plan has run without an error."""
    yield from giving_up.given_up(monkeypatch, JitFunction)


@pytest.fixture
def without_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile as if NumPy had no BLAS. Later tests in the process call it: code must have found its functions before.

    Otherwise their code calls the address 0.
    """
    external_symbols.declare()
    native_pool.with_blas()
    monkeypatch.setattr(blas, "find", lambda dtype: None)
