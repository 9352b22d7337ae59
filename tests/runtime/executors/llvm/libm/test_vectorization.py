"""Loops around the functions are vectorized: nothing in a formula keeps LLVM from computing several lanes at once."""

from __future__ import annotations

import re

import pytest
from agc.runtime.executors.llvm.libm import FUNCTIONS
from support.selection import pairs

from . import array_loop


@pytest.mark.parametrize(("name", "dtype"), pairs(sorted(FUNCTIONS), ["float32", "float64"]))
def test_loops_are_vectorized(name, dtype):
    parsed, _ = array_loop.optimized(array_loop.loop(name, dtype))
    assert re.search(r"= f?(mul|div|add|sub)[a-z ]* <\d+ x ", str(parsed)), f"{name} was not vectorized"
