"""The recipes of CONTRIBUTING.md: each piece of code is run, and does at once all that its recipe promises."""

from __future__ import annotations

import ast
import importlib.util
import sys

import numpy as np
import pytest
from agc import runtime as tf
from agc.autograph.passes import pipeline
from agc.autograph.to_source import printed
from agc.autograph.transpile import convert_module
from agc.runtime.core.export import EXPORTED
from agc.runtime.executors import EXECUTORS
from agc.runtime.executors.llvm.codegen.rule_registry import ELEMENTWISE, load_all
from agc.runtime.formats.onnx import registry as onnx_rules
from agc.runtime.formats.onnx import rules as _onnx  # noqa: F401  # registers the rules
from agc.runtime.formats.tensorflow import rule_registry as tensorflow_rules
from agc.runtime.formats.tensorflow import rules as _tensorflow  # noqa: F401  # registers the rules
from agc.runtime.ir.parser import parse
from agc.runtime.ops.framework.op import REGISTRY, find
from agc.runtime.optimize import OptimizerOptions, fusion, optimize, pass_manager
from generate import namespaces
from support.documents import ROOT, blocks

RECIPES = {block.file: block for block in blocks((ROOT / "CONTRIBUTING.md").read_text()) if block.file}
TABLES = (REGISTRY, EXPORTED, ELEMENTWISE, EXECUTORS, onnx_rules.RULES, tensorflow_rules.RULES)


@pytest.fixture
def recipe(tmp_path, monkeypatch):
    """Import the code of a recipe; the tables of operations, rules and executors are as before after the test."""
    find("")  # all operations and rules are in the tables, so what is new after the test is the recipe's
    load_all()
    saved = [dict(table) for table in TABLES]
    monkeypatch.syspath_prepend(tmp_path)

    def load(name):
        path = tmp_path / name
        path.write_text("\n".join(RECIPES[name].lines) + "\n")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, path.stem, module)
        spec.loader.exec_module(module)
        return module

    yield load
    for table, before in zip(TABLES, saved, strict=True):
        for name in table.keys() - before.keys():
            del table[name]


def test_a_recipe_for_each_part_that_grows():
    assert list(RECIPES) == [
        "sinc.py",
        "hypotenuse.py",
        "fold_negation.py",
        "lower_hypotenuse.py",
        "sinc_in_formats.py",
        "lower_square.py",
        "counting_executor.py",
    ]


XS = np.array([-1.5, 0.0, 0.25, 3.0], np.float32)


def test_an_operation_of_one_block_runs_eagerly_in_graphs_and_in_each_executor(recipe):
    sinc = recipe("sinc.py").sinc
    assert len([line for line in RECIPES["sinc.py"].lines if "import" not in line and line]) <= 10
    np.testing.assert_allclose(sinc(XS).numpy(), np.sinc(XS), rtol=1e-6)
    for executor in ("interpret", "plan", "native"):
        f = tf.function(lambda x: sinc(x) + 1.0, experimental_executor=executor)
        np.testing.assert_allclose(f(tf.constant(XS)).numpy(), np.sinc(XS) + 1, rtol=1e-6, atol=1e-7)
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError), match="sinc does not take int32"):
        sinc([1, 2])


def test_a_rule_writes_the_operation_in_another_format(recipe, tmp_path):
    sinc = recipe("sinc.py").sinc
    recipe("sinc_in_formats.py")
    tf.export.onnx(sinc, tmp_path / "sinc.onnx", [tf.TensorSpec([None])])
    tf.export.saved_model(sinc, tmp_path, [tf.TensorSpec([None])])
    found = (
        tf.onnx.load(tmp_path / "sinc.onnx")(XS),
        tf.saved_model.load(tmp_path)(tf.constant(XS))["output_0"],
    )
    for result in found:
        np.testing.assert_allclose(result, np.sinc(XS), rtol=1e-5, atol=1e-7)


def test_the_operation_is_in_its_namespace(recipe):
    sinc = recipe("sinc.py").sinc
    assert EXPORTED["math.sinc"] is sinc
    source = ast.parse("\n".join(RECIPES["sinc.py"].lines))
    names = dict(pair for statement in source.body for pair in namespaces.declarations(statement, {}))
    homes = {name: namespaces.Home("agc.runtime.ops.math.sinc", own) for name, own in names.items()}
    text = namespaces.namespace(namespaces.ROOT / "math.py", "math", namespaces.declared() | homes)
    assert '".ops.math.sinc": "sinc",\n' in text


def test_native_code_computes_the_formula_and_calls_no_kernel(recipe):
    module = recipe("sinc.py")
    f = tf.function(lambda x: module.sinc(x), jit_compile=True)
    f(tf.constant(XS))
    module.sinc.compute = None  # a call of the kernel would fail
    np.testing.assert_allclose(f(tf.constant(XS * 2)).numpy(), np.sinc(XS * 2), rtol=1e-6, atol=1e-7)


def test_the_operation_is_fused_with_its_neighbors(recipe):
    sinc = recipe("sinc.py").sinc
    f = tf.function(lambda x: sinc(x * 2.0) + 1.0)
    graph = f.get_concrete_function(tf.TensorSpec([100000], tf.float32)).graph
    fused = fusion.run(optimize(graph))
    assert [each.type for each in fused.operations] == ["fused"]


def test_the_operation_is_differentiable_in_a_loop_and_twice(recipe):
    sinc = recipe("sinc.py").sinc

    @tf.function
    def f(x, n):
        while n > 0:
            x = sinc(x) + x
            n -= 1
        return x

    x, step = tf.constant(0.3, tf.float64), 1e-5
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x, tf.constant(2))
        slope = inner.gradient(y, x)
    expected = (f(x + step, tf.constant(2)) - f(x - step, tf.constant(2))) / (2 * step)
    np.testing.assert_allclose(slope.numpy(), expected.numpy(), rtol=1e-6)
    assert np.isfinite(outer.gradient(slope, x).numpy())


def test_the_operation_is_vectorized_and_documented(recipe):
    import doctest

    module = recipe("sinc.py")
    rows = tf.constant(np.stack([XS, XS + 1]))
    at_once = tf.vectorized_map(lambda row: module.sinc(row), rows, fallback_to_while_loop=False)
    np.testing.assert_allclose(at_once.numpy(), np.sinc(rows.numpy()), rtol=1e-6, atol=1e-7)
    assert doctest.testmod(module) == (0, 1)


def test_an_optimizer_pass(recipe, monkeypatch):
    monkeypatch.setattr(pass_manager, "PASSES", (recipe("fold_negation.py").ROW,))
    graph = parse(
        "graph f(x: float32[2]) -> float32[2]\n"
        "  b = negative x : float32[2]\n"
        "  c = negative b : float32[2]\n"
        "  d = exp c : float32[2]\n"
        "  return d\n"
    )
    after = optimize(graph, OptimizerOptions())
    assert [each.type for each in after.operations] == ["exp"]
    assert str(optimize(graph, OptimizerOptions(arithmetic_optimization=False))) == str(graph)


def test_an_operation_with_two_operands(recipe):
    hypotenuse = recipe("hypotenuse.py").hypotenuse
    x, y = tf.constant([[3.0], [5.0]]), tf.constant([4.0, 12.0])
    with tf.GradientTape() as tape:
        tape.watch((x, y))
        length = tf.function(hypotenuse)(x, y)
    np.testing.assert_allclose(length.numpy(), np.hypot(x.numpy(), y.numpy()))
    assert [slope.shape for slope in tape.gradient(length, (x, y))] == [x.shape, y.shape]


def test_a_lowering_rule(recipe):
    hypotenuse = recipe("hypotenuse.py").hypotenuse
    recipe("lower_hypotenuse.py")
    f = tf.function(lambda x, y: hypotenuse(x, y), jit_compile=True)
    three = tf.constant([3.0, 5.0])
    assert f(three, tf.constant([4.0, 12.0])).numpy().tolist() == [5.0, 13.0]
    hypotenuse.compute = None  # a call of the kernel would fail
    assert f(three, tf.constant([4.0, 12.0])).numpy().tolist() == [5.0, 13.0]


def test_a_converter_pass(recipe, monkeypatch):
    step = recipe("lower_square.py").LowerSquare
    monkeypatch.setattr(pipeline, "PIPELINE", (step, *pipeline.PIPELINE))
    source = "def f(x, y):\n    return x ** 2 + (x + y) ** 2 + y ** 3\n"
    after = convert_module(source, "f.py", after="lower_square")
    assert "return x * x + (x + y) ** 2 + y ** 3" in printed(after)


def test_an_executor(recipe):
    counted = recipe("counting_executor.py").RUN
    f = tf.function(lambda x: tf.exp(x * x), experimental_executor="counting")
    assert f(tf.constant(0.0)).numpy() == 1.0
    assert counted == {"multiply": 1, "exp": 1}
