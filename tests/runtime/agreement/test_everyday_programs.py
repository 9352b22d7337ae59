"""Everyday Python on tensors: functions with graphs and converted functions return what Python returns."""

from __future__ import annotations

import runpy
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.autograph.api import convert
from support.native_extension import ROOT

PROGRAMS = runpy.run_path(str(ROOT / "fixtures/corpus/everyday_programs.py"), run_name="everyday_programs")
NAMES = [name for name in PROGRAMS if name.startswith("run_")]


def plain(value: Any) -> Any:
    """Return numbers and strings in lists, for the comparison of tensors with Python's values."""
    if isinstance(value, tf.Tensor):
        value = np.asarray(value.numpy()).tolist()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, (int, float, np.generic)):
        return round(float(value), 4)
    return value.decode() if isinstance(value, bytes) else value


@pytest.mark.parametrize("name", NAMES)
def test_programs_return_what_python_returns(name: str) -> None:
    f = PROGRAMS[name]
    expected = plain(f(4, 1.5))
    n, x = tf.constant(4), tf.constant(1.5)
    assert plain(f(n, x)) == expected
    assert plain(convert(f)(4, 1.5)) == expected
    assert plain(convert(f)(n, x)) == expected
    assert plain(tf.function(f)(n, x)) == expected
