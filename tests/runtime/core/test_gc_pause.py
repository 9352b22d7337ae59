"""While something is compiled no garbage is looked for, and what was written for it does not stay."""

from __future__ import annotations

import gc
import subprocess
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


def test_modules_are_imported_during_a_pause() -> None:
    """Both those that the runtime imports at once and those of a name that is used for the first time."""
    program = """
import gc, sys
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("agc.runtime."):
            seen[name] = gc.isenabled()
seen = {}
sys.meta_path.insert(0, Watch())
import agc.runtime as tf
assert "agc.runtime.tracing" not in seen
tf.function, tf.linalg.inv
assert {"agc.runtime.core.tensor", "agc.runtime.tracing", "agc.runtime.linalg"} <= seen.keys()
assert [name for name, is_on in seen.items() if is_on] == %r
assert gc.isenabled()
"""
    pause = ["agc.runtime.core", "agc.runtime.core.gc_pause"]  # which the first pause needs
    subprocess.run([sys.executable, "-c", program % pause], check=True)


def test_modules_are_freed_except_shared_functions() -> None:
    graph = tf.function(lambda x: tf.tanh(x) + 1.0).get_concrete_function(tf.TensorSpec([50])).graph
    unit = lowered(graph, [value.spec for value in graph.inputs])
    formula, kernel = unit.module.globals["agc.tanh.f32"], unit.kernel
    unit.forget()
    assert formula.blocks and not kernel.blocks and not unit.module.globals
    (found,) = JitFunction(graph).run([np.zeros(50, np.float32)])
    assert (found == 1.0).all()
