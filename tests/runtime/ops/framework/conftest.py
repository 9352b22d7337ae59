"""Run tests of eager calls with the C extension, and without it."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import pytest
from agc.runtime.autodiff import tape_plans, tape_recording
from agc.runtime.ops.arrays.getitem import getitem
from agc.runtime.ops.framework.operator_overloads import OPERATORS
from agc.runtime.ops.state import variable_ops
from support.eager_calls import all_operations


@pytest.fixture(params=["c", "python"])
def language(request: Any, monkeypatch: Any) -> Any:
    """Run a test with the C extension, and without it."""
    if request.param == "python":
        for operation in all_operations():
            monkeypatch.setattr(operation, "__call__", operation._call)
        for kind in (tf.Tensor, tf.Variable):
            for name, method in OPERATORS.items():
                monkeypatch.setattr(kind, name, method)
        monkeypatch.setattr(tape_recording, "computed_fast", tape_recording.computed)
        monkeypatch.setattr(tape_recording, "keep_fast", None)
        monkeypatch.setattr(tape_plans, "flow_key_fast", tape_plans.flow_key)
        monkeypatch.setattr(variable_ops, "read_fast", variable_ops.read)
        monkeypatch.setattr(tf.Tensor, "__getitem__", getitem)
        for name in ("assign", "assign_add", "assign_sub"):
            monkeypatch.setattr(tf.Variable, name, getattr(tf.Variable, name).__func__)
    return request.param
