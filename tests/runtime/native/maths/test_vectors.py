"""Loops around the functions are vectorised: nothing in a formula keeps LLVM from computing several lanes at once."""

from __future__ import annotations

import re

import pytest
from agc.runtime.native.maths import FUNCTIONS, loops


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
@pytest.mark.parametrize(("dtype", "real"), [("float32", "float"), ("float64", "double")])
def test_loops_compute_in_lanes(name, dtype, real):
    parsed, _ = loops.optimised(loops.loop(name, dtype))
    assert re.search(rf"f(mul|add|sub) <\d+ x {real}>", str(parsed)), f"{name} was not vectorised"
