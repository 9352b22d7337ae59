"""Each pass on its golden cases, fixtures/optimize/*.txt: a graph before, and after this pass alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import agc.runtime as tf
import pytest
from agc.runtime.ir.graph import Graph
from agc.runtime.ir.parser import parse
from agc.runtime.ops.framework.op import REGISTRY
from agc.runtime.optimize import (
    PASSES,
    OptimizerOptions,
    Pass,
    optimize,
    optimize_for_shapes,
    pass_manager,
    scalarize_broadcasts,
    strength_reduction,
)
from agc.runtime.optimize.ssa_rename import rename_values
from support import golden
from support.each_case import each_case
from support.verifier import verify

FOLDER = Path(__file__).parents[3] / "fixtures" / "optimize"
CASES = [(each, case) for each in PASSES for case in golden.read(FOLDER / f"{each.name}.txt")]


@each_case(("each", "case"), CASES, ids=[f"{each.name}: {case.title}" for each, case in CASES])
def test_pass_results_equal_the_golden_cases(each: object, case: golden.Case, update_golden: bool) -> None:
    name = each.name  # type: ignore[attr-defined]
    run = next(known.run for known in PASSES if known.name == name)
    graph = verify(run(verify(parse(case.source, check=False)), OptimizerOptions()))
    assert rename_values(graph) is graph, "a value is made twice"
    text = str(graph) + "\n"
    if update_golden:
        path = FOLDER / f"{name}.txt"
        cases = [
            known._replace(result=text) if known.title == case.title else known for known in golden.read(path)
        ]
        golden.write(path, cases)
    else:
        assert text == case.result


@pytest.mark.parametrize("each", PASSES, ids=[each.name for each in PASSES])
def test_a_pass_without_changes_returns_the_same_graph(each: Pass) -> None:
    for case in golden.read(FOLDER / f"{each.name}.txt"):
        graph = parse(case.result, check=False)
        for _ in range(3):
            graph = each.run(graph, OptimizerOptions())
        assert each.run(graph, OptimizerOptions()) is graph, case.title


@pytest.mark.parametrize("each", PASSES, ids=[each.name for each in PASSES])
def test_the_operations_that_a_pass_needs_are_in_its_golden_cases(each: Pass) -> None:
    graphs = [parse(case.source, check=False) for case in golden.read(FOLDER / f"{each.name}.txt")]
    found = {op.name for graph in graphs for op in graph.ops}
    assert each.needs is None or each.needs & found
    assert each.needs is None or each.needs <= REGISTRY.keys()


def test_the_operations_that_a_late_pass_needs_are_those_of_its_rules() -> None:
    """Its module is imported for graphs with these operations only."""
    needs = {each.name: each.needs for each in PASSES}
    assert needs["scalarize_broadcasts"] == {op.name for op in scalarize_broadcasts.SPREADING}
    assert needs["strength_reduction"] == {op.name for op in strength_reduction.RULES}


RELU_LATER = """
import agc.runtime as tf
from agc.runtime.ir.parser import parse
from agc.runtime.optimize import optimize

print(optimize(parse("graph f(x: float32[]) -> float32[]\\n  y = negative x : float32[]\\n  return y\\n")))
tf.nn.relu
relu = tf.function(lambda x: tf.nn.relu(tf.nn.relu(x))).get_concrete_function(tf.TensorSpec(())).graph
print([op.name for op in optimize(relu).ops])
"""


def test_a_rule_for_an_operation_holds_once_a_program_imports_it() -> None:
    run = [sys.executable, "-c", RELU_LATER]
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout.endswith("['relu']\n")


def test_every_pass_has_a_file_and_a_title_only_once() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == {each.name for each in PASSES}
    titles = [(each.name, case.title) for each, case in CASES]
    assert len(titles) == len(set(titles))


def test_a_pass_is_not_repeated_on_an_unchanged_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the second round only those run that see something new."""
    seen = []

    def noting(each: Pass) -> Pass:
        def run(graph: Graph, options: OptimizerOptions) -> Graph:
            seen.append(each.name)
            return each.run(graph, options)

        return each._replace(run=run)

    monkeypatch.setattr(pass_manager, "PASSES", [noting(each) for each in PASSES if each.needs is None])
    graph = parse(
        "graph f(x: float32[2]) -> float32[2]\n"
        "  a = add x, x                                  : float32[2]\n"
        "  b = multiply x, x                             : float32[2]\n"
        "  return b\n"
    )
    pass_manager.optimize(graph, OptimizerOptions())
    assert seen == ["dce", "constant_fold", "shape_simplify", "cse", "dce"]


def test_an_optimized_graph_is_optimized_again_only_with_other_options(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = golden.read(FOLDER / "constant_fold.txt")[0]
    graph = optimize(parse(case.source, check=False))
    rounds = []
    monkeypatch.setattr(pass_manager, "_round", lambda graph, *more: rounds.append(graph) or graph)
    assert optimize_for_shapes(graph) is graph and not rounds
    tf.config.optimizer.set_experimental_options({"constant_folding": False})
    try:
        optimize_for_shapes(graph)
    finally:
        tf.config.optimizer.set_experimental_options({"constant_folding": True})
    assert rounds == [graph]
