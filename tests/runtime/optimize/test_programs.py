"""Every pass on the graphs of all programs under fixtures/programs: they do what the traced ones do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import agc.runtime as tf
import pytest
from agc.runtime.executors import Plan
from agc.runtime.ir.graph import Graph
from agc.runtime.optimize import PASSES, OptimizerOptions, optimize
from support import programs
from support.outcomes import bits
from support.selection import each_nth
from support.verifier import verify


@pytest.mark.parametrize("name", each_nth(2, programs.NAMES))
def test_every_pass_on_the_programs(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    program = programs.load(name)
    arguments = program.tensor_arguments(0, tf.constant)
    concrete = tf.function(program.entry).get_concrete_function(*arguments)
    arrays = [leaf.numpy() for leaf in tf.nest.flatten(arguments) if tf.is_tensor(leaf)]

    def outcome(graph: Graph) -> Any:
        cells = [SimpleNamespace(_array=v.numpy().copy()) for v in concrete.captured_inputs]
        results = list(map(bits, Plan(graph).run([*arrays, *cells])))
        return results, [bits(cell._array) for cell in cells], capfd.readouterr().err

    graph, expected = concrete.graph, outcome(concrete.graph)
    for each in (each for each in PASSES if each.may_run(OptimizerOptions())):
        before, graph = graph, each.run(graph, OptimizerOptions())
        assert graph is before or outcome(verify(graph)) == expected, each.name
    assert outcome(verify(optimize(concrete.graph))) == expected
