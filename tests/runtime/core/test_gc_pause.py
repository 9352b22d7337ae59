"""While something is compiled no garbage is looked for, and what was written for it does not stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.core.gc_pause import Pause
from agc.runtime.executors.llvm import JitFunction
from agc.runtime.executors.llvm.compile_graph import lowered


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    was_on = gc.isenabled()
    yield
    (gc.enable if was_on else gc.disable)()


@pytest.mark.parametrize("was_on", [True, False])
def test_the_state_of_the_collector_is_restored(was_on: bool) -> None:
    (gc.enable if was_on else gc.disable)()
    with Pause():
        with Pause():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled() is was_on


def test_an_error_ends_the_pause() -> None:
    gc.enable()
    with pytest.raises(ValueError, match="wrong"), Pause():
        raise ValueError("wrong")
    assert gc.isenabled()


def test_modules_are_freed_except_shared_functions() -> None:
    graph = tf.function(lambda x: tf.tanh(x) + 1.0).get_concrete_function(tf.TensorSpec([50])).graph
    unit = lowered(graph, [value.spec for value in graph.inputs])
    formula, kernel = unit.module.globals["agc.tanh.f32"], unit.kernel
    unit.forget()
    assert formula.blocks and not kernel.blocks and not unit.module.globals
    (found,) = JitFunction(graph).run([np.zeros(50, np.float32)])
    assert (found == 1.0).all()
