"""Frozen GraphDefs: their nodes and functions as text, and programs that cannot be written."""

from pathlib import Path

import agc.runtime as tf
import pytest
from agc.runtime.formats.tensorflow import rule_registry, signatures
from agc.runtime.formats.tensorflow.frozen_graph import graph_def
from agc.runtime.formats.tensorflow.graph_messages import GraphDef
from agc.runtime.ir.parser import parse
from agc.runtime.ops.framework.op import REGISTRY, find
from support import golden
from support.each_case import each_case
from support.graph_defs import lines

GOLDEN = Path(__file__).parents[4] / "fixtures" / "tensorflow" / "graph_defs.txt"


def written(function, *specs):
    program = tf.export.resolve(function, list(specs))
    message = graph_def(program)
    assert GraphDef.FromString(message.SerializeToString()) == message
    return message


def test_inputs_and_outputs_have_their_names():
    def f(x, y):
        return {"sum": x + y, "twice": 2.0 * x}

    spec = tf.TensorSpec([None, 3])
    assert (
        lines(written(f, spec, spec))
        == """\
x = Placeholder() dtype=float shape=-1x3
y = Placeholder() dtype=float shape=-1x3
add = AddV2(x, y) T=float
multiply/Const = Const() dtype=float value=2.0
multiply = Mul(multiply/Const, x) T=float
sum = Identity(add) T=float
twice = Identity(multiply) T=float
"""
    )


@pytest.mark.parametrize("case", golden.read(GOLDEN), ids=lambda case: case.title)
def test_graphs_are_written_as_in_the_golden_cases(case, update_golden):
    text = lines(graph_def(tf.export.resolve(parse(case.source))))
    if update_golden:
        cases = [
            each._replace(result=text) if each.title == case.title else each for each in golden.read(GOLDEN)
        ]
        golden.write(GOLDEN, cases)
    else:
        assert text == case.result


def test_variables_become_constants():
    v = tf.Variable([1.0, 2.0], name="v")
    text = lines(written(tf.function(lambda x: x * v), tf.TensorSpec([2])))
    assert "v = Const() dtype=float value=[1.0,2.0]\n" in text


def test_assigned_variables_are_refused_with_all_lines():
    v = tf.Variable(0.0)

    @tf.function
    def f(x):
        v.assign(x)
        v.assign_add(x)
        return x

    with pytest.raises(tf.export.CannotExportError) as caught:
        written(f, tf.TensorSpec([]))
    assert len(caught.value.reasons) == 2
    assert "test_frozen_graph.py" in caught.value.reasons[0]
    assert "write a saved model instead" in caught.value.reasons[0]


def test_all_operations_that_cannot_be_written_are_listed():
    def f(x):
        a = tf.numpy_function(lambda y: y, [x], tf.float32)
        return tf.linalg.expm(tf.reshape(a, [1, 1]))

    with pytest.raises(tf.export.CannotExportError) as caught:
        written(f, tf.TensorSpec([1]))
    assert [reason.partition(": ")[2] for reason in caught.value.reasons] == [
        "numpy_function: Python code cannot be part of a file",
        "expm: TensorFlow composes it of other operations, in a loop",
    ]


def test_random_numbers_are_written_with_a_warning():
    with pytest.warns(UserWarning, match="TensorFlow draws other random numbers"):
        text = lines(written(lambda x: x + tf.random.uniform([2], seed=3), tf.TensorSpec([2])))
    assert "RandomUniform" in text


def test_effects_run_in_their_order():
    @tf.function
    def f(x):
        tf.print("first", x)
        tf.debugging.assert_positive(x)
        tf.print("second")
        return x

    nodes = {node.name: node for node in written(f, tf.TensorSpec([])).node}
    printed = [node for node in nodes.values() if node.op == "PrintV2"]
    (check,) = [node for node in nodes.values() if node.op == "Assert"]
    assert f"^{printed[0].name}" in check.input
    assert f"^{check.name}" in printed[1].input
    assert f"^{printed[1].name}" in nodes["output_0"].input


def test_equal_functions_are_written_once():
    double = tf.function(lambda x: 2 * x)
    graph = written(lambda x: double(x) + double(x), tf.TensorSpec([3]))
    assert len(graph.library.function) == 1


def test_rules_are_those_of_operations():
    find("")
    assert {*rule_registry.RULES, *rule_registry.DIRECT} <= {*REGISTRY}
    assert not rule_registry.REFUSED.keys() & {*rule_registry.RULES, *rule_registry.DIRECT}


@each_case("name", rule_registry.DIRECT)
def test_rows_name_the_operands_and_attributes_of_a_node(name):
    op, row = find(name), rule_registry.DIRECT[name]
    node, attributes = signatures.signature(row.node), {each for _, each, _ in op.attribute_parameters}
    taken = {*row.operands, *row.renamed.values()}
    assert len(row.operands or op.input_names) == len(node.inputs)
    assert taken <= {*op.input_names, *attributes}
    assert {*row.renamed, *attributes} - taken <= {*node.attributes}
