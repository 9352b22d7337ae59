"""While something is compiled no garbage is looked for, and what was written for it does not stay."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from types import ModuleType

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


def test_objects_of_imported_modules_are_old_after_the_pause() -> None:
    gc.enable()
    frozen = gc.get_freeze_count()
    gc.unfreeze()
    with Pause():
        sys.modules["module_of_a_pause"] = ModuleType("module_of_a_pause")
        objects = [[number] for number in range(20_000)]
    del sys.modules["module_of_a_pause"]
    young = {id(each) for generation in (0, 1) for each in gc.get_objects(generation)}
    if frozen:
        gc.freeze()
    assert young.isdisjoint(map(id, objects))


def test_modules_are_freed_except_shared_functions() -> None:
    graph = tf.function(lambda x: tf.tanh(x) + 1.0).get_concrete_function(tf.TensorSpec([50])).graph
    unit = lowered(graph, [value.spec for value in graph.inputs])
    formula, kernel = unit.module.globals["agc.tanh.f32"], unit.kernel
    unit.forget()
    assert formula.blocks and not kernel.blocks and not unit.module.globals
    (found,) = JitFunction(graph).run([np.zeros(50, np.float32)])
    assert (found == 1.0).all()
