"""A graph from outside runs no code, reads no foreign memory, and is refused in clean words.

Laws of every single operation are in tests/runtime/ops/framework/test_conformance.py. `AGC_FUZZ=5000` tries that
many mutations of each kind instead of a few.
"""

from __future__ import annotations

import builtins
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.errors import InternalError
from agc.runtime.executors import Plan
from agc.runtime.executors.llvm import available
from agc.runtime.executors.plan.escaping import BUILT_IN, check_names, checked_identifier, identifier, literal
from agc.runtime.ir.graph import Graph, Operation, Value
from agc.runtime.ir.json_format import serialize
from agc.runtime.ir.json_reader import GraphFormatError, deserialize
from agc.runtime.ir.parser import parse
from agc.runtime.ir.value_types import TensorType
from agc.runtime.ops.framework.op import REGISTRY
from support.hostile_graphs import (
    MARKER,
    TEXTS,
    loaded,
    nothing_ran,
    read_text,
    run,
    with_hostile_text,
    with_lies,
)
from support.hostile_programs import ARGUMENTS, PROGRAMS, data_of

FUZZ = int(os.environ.get("AGC_FUZZ") or 0)
TESTS = Path(__file__).parents[2]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_no_field_of_a_program_runs_or_breaks_anything(program: Any) -> None:
    data = json.loads(data_of(program))
    most = None if FUZZ else 8
    for each in (*with_hostile_text(data, most), *with_lies(data, most)):
        graph = loaded(each)
        if graph is not None:
            run(graph, ARGUMENTS)
        assert nothing_ran()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_no_word_of_a_text_runs_or_breaks_anything(program: Any) -> None:
    words = str(deserialize(json.loads(data_of(program)))).split(" ")
    step = 1 if FUZZ else max(len(words) // 6, 1)
    for place in range(0, len(words), step):
        for text in (TEXTS[1], TEXTS[3], "float32[9]"):
            graph = read_text(" ".join([*words[:place], text, *words[place + 1 :]]))
            if graph is not None:
                run(graph, ARGUMENTS)
            assert nothing_ran()


@pytest.mark.parametrize("executor", ["plan", "native"] if FUZZ else ["native" if available() else "plan"])
def test_mutated_programs_bring_no_process_down(executor: str) -> None:
    first, count = (60, FUZZ) if FUZZ else (132, 1)  # most mutations are refused, but not this one
    command = [sys.executable, "-m", "support.hostile_programs", executor, str(first), str(count)]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[-200:]}{done.stderr[-2000:]}"
    assert int(done.stdout.split()[-1]) > 0, "nothing was loaded, and so nothing was tried"


class TestWhatIsRefused:
    def refusal(self, change: Any, f: Any, *specs: Any) -> str:
        data = serialize(tf.function(f).get_concrete_function(*specs).graph)
        change(data["graphs"][0])
        with pytest.raises(GraphFormatError) as caught:
            deserialize(data)
        return str(caught.value)

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda op: op["attrs"].update(x=1), "reduce_sum has no attribute 'x'"),
            (lambda op: op["attrs"].update(axis=[7]), "axis 7 is out of range"),
            (lambda op: op["attrs"].update(keepdims="x"), "`keepdims`: 'x' is not such a value"),
            (lambda op: op["attrs"].pop("axis") and op["attrs"].update(axis=1 << 70), "more than 64 bits"),
            (lambda op: op["inputs"].append("x"), "takes 1 operands, not 2"),
            (lambda op: op["outputs"][0].update(spec="float32[7]"), r"gives float32[], not float32[7]"),
            (lambda op: op["outputs"][0].update(spec="float64[]"), r"gives float32[], not float64[]"),
            (lambda op: op.update(regions=[]) or op.update(callees=[0]), "calls no graphs"),
            (lambda op: op.update(unknown=1), "an unknown field 'unknown'"),
            (lambda op: op.update(op="fused"), "only executors may make"),
            (
                lambda op: op.update(op="py_function", attrs={"function": 1}),
                "`function`: it exists only while",
            ),
            (
                lambda op: op.update(op="raise", attrs={"error": "exec", "pieces": ["pass"], "forms": []}),
                "'exec' is not an exception class",
            ),
            (
                lambda op: op.update(
                    op="raise", attrs={"error": "UnicodeDecodeError", "pieces": ["", ""], "forms": [""]}
                ),
                "takes more than a message",
            ),
            (
                lambda op: op.update(op="raise", attrs={"error": "SystemExit", "pieces": [""], "forms": []}),
                "ends the program",
            ),
            (
                lambda op: op.update(op="raise", attrs={"error": "ValueError", "pieces": [], "forms": []}),
                "do not make a message",
            ),
        ],
    )
    def test_undeclared_attributes_and_types_are_refused(self, change: Any, words: str) -> None:
        def f(x: Any) -> Any:
            return tf.reduce_sum(x, axis=0)

        text = self.refusal(lambda graph: change(graph["operations"][0]), f, tf.TensorSpec([4]))
        assert words in text
        assert "test_hostile_graphs.py" in text or "unknown" in words

    def test_booleans_other_than_0_and_1_are_refused(self) -> None:
        data = serialize(tf.function(lambda x: x).get_concrete_function(tf.TensorSpec([])).graph)
        data["constants"].append({"dtype": "bool", "shape": [3], "data": "AAEC"})
        with pytest.raises(GraphFormatError, match="neither 0 nor 1"):
            deserialize(data)

    def test_graphs_that_call_each_other_too_often(self) -> None:
        data = serialize(tf.function(lambda x: x).get_concrete_function(tf.TensorSpec([])).graph)
        call = {"op": "call", "inputs": ["x"], "outputs": [{"name": "y", "spec": "float32[]"}]}
        graphs = [
            {
                "name": f"g{i}",
                "inputs": [{"name": "x", "spec": "float32[]"}],
                "operations": [
                    {**call, "callees": [i + 1]},
                    {**call, "callees": [i + 1], "outputs": [{"name": "z", "spec": "float32[]"}]},
                ],
                "outputs": ["y"],
            }
            for i in range(30)
        ]
        with pytest.raises(GraphFormatError, match="more than 4194304 operations"):
            deserialize({**data, "graphs": [*graphs, *data["graphs"]]})

    def test_regions_that_are_nested_too_deeply(self) -> None:
        data: Any = serialize(tf.function(lambda x: x).get_concrete_function(tf.TensorSpec([])).graph)
        inner = data["graphs"][0]
        for _ in range(3000):
            cond = {
                "op": "cond",
                "inputs": [{"value": True, "dtype": "bool"}, "x"],
                "regions": [inner, inner],
            }
            cond["outputs"] = [{"name": "y", "spec": "float32[]"}]
            inner = {**data["graphs"][0], "operations": [cond], "outputs": ["y"]}
        with pytest.raises(GraphFormatError, match="nested too deeply"):
            deserialize({**data, "graphs": [inner]})


def test_declared_shapes_are_checked_when_a_loaded_graph_runs() -> None:
    def f(x: Any) -> Any:
        y = tf.exp(x)
        y.set_shape([2])
        return y

    graph = tf.function(f).get_concrete_function(tf.TensorSpec([None], tf.float32)).graph
    again = deserialize(serialize(graph))
    assert str(again.outputs[0].spec) == "float32[2]"
    (result,) = Plan(again).run([np.zeros(2, np.float32)])
    assert result.tolist() == [1.0, 1.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not compatible"):
        Plan(again).run([np.zeros(3, np.float32)])


@pytest.mark.parametrize("form", [":999999999d", ":>10000", ":.99999f"])
def test_formats_make_no_long_texts(form: str) -> None:
    data = serialize(tf.function(lambda x: tf.identity(x)).get_concrete_function(tf.TensorSpec([])).graph)
    attrs = {"error": "ValueError", "pieces": ["", ""], "forms": [form]}
    data["graphs"][0]["operations"][0] = {"op": "raise", "inputs": ["x"], "attrs": attrs, "outputs": []}
    data["graphs"][0]["outputs"] = ["x"]
    with pytest.raises(ValueError, match="numbers below 10000"):
        Plan(deserialize(data)).run([np.float32(1.0)])


class TestEmitters:
    @pytest.mark.parametrize("text", TEXTS)
    def test_names_become_identifiers(self, text: str) -> None:
        assert identifier(text).isidentifier()
        compile(f"def f({identifier(text)}_): pass", "<test>", "exec")

    def test_names_with_equal_normal_forms_are_distinguished(self) -> None:
        x = [Value(name, TensorType(tf.float32, ())) for name in ("\uff58", "x")]
        graph = Graph("f", tuple(x), (), tuple(x))
        assert [float(y) for y in Plan(graph).run([np.float32(1.0), np.float32(2.0)])] == [1.0, 2.0]

    @pytest.mark.parametrize("value", [float("nan"), [1], {}, len, 1 << 5000, (1, [2]), np.float32(1)])
    def test_only_literals_are_written_for_values(self, value: Any) -> None:
        with pytest.raises(InternalError, match="no literal"):
            literal(value)

    @pytest.mark.parametrize("kind", [int, float, str, bytes, tuple])
    def test_values_of_subclasses_have_no_text(self, kind: type) -> None:
        hostile = type("Hostile", (kind,), {"__repr__": lambda self: f"builtins.{MARKER}"})
        with pytest.raises(InternalError, match="Hostile has no literal"):
            literal(hostile())

    @pytest.mark.parametrize("text", ["x; y", "lambda", "", "x y", "1"])
    def test_other_names_are_not_written(self, text: str) -> None:
        with pytest.raises(InternalError, match="not a valid name"):
            checked_identifier(text)

    @pytest.mark.parametrize(
        "source",
        [
            "def f(x):\n    return open(x)",
            "def f(x):\n    return x.__class__",
            "import os",
            "f = lambda: eval",
        ],
    )
    def test_source_with_other_names_is_not_run(self, source: str) -> None:
        with pytest.raises(InternalError, match="may not use the name"):
            check_names(compile(source, "<test>", "exec"), {"f"})

    @pytest.mark.parametrize("text", TEXTS[:7])
    @pytest.mark.parametrize(
        "field", ["operation's attribute", "value of an attribute", "value", "graph", "rounds"]
    )
    def test_a_plan_of_an_unchecked_graph_runs_no_text(self, field: str, text: str) -> None:
        x = Value(text if field == "value" else "x", TensorType(tf.float32, (2, 2)))
        y = Value(text if field == "value" else "y", x.spec)
        attrs: dict[str, Any] = {text: 1} if field == "operation's attribute" else {"axis": text}
        operation = Operation(REGISTRY["cumsum"], (x,), attrs, (y,))
        if field == "rounds":
            test = parse("graph t(x: float32[2, 2]) -> bool[]\n  return true\n")
            body = parse("graph b(x: float32[2, 2]) -> float32[2, 2]\n  return x\n")
            operation = Operation(REGISTRY["while"], (x,), {"maximum_iterations": text}, (y,), (test, body))
        graph = Graph(text if field == "graph" else "f", (x,), (operation,), (y,))
        with pytest.raises(Exception):  # noqa: B017  (whatever comes first: a name, or the kernel's own words)
            Plan(graph).run([np.zeros((2, 2), np.float32)])
        assert nothing_ran()

    def test_generated_source_has_few_of_pythons_functions(self) -> None:
        plan = Plan(deserialize(json.loads(data_of(PROGRAMS[0]))))
        assert plan._globals["__builtins__"] is BUILT_IN
        assert not {"exec", "eval", "open", "getattr", "__import__", "compile"} & BUILT_IN.keys()
        assert not hasattr(builtins, MARKER)
