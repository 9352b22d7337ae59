"""Long chains of operations are compiled in parts, with the results and errors of the whole."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import jax
import numpy as np
import pytest
from agc.runtime.executors.xla import partition
from agc.runtime.executors.xla.compiler_options import options_for


@pytest.fixture(autouse=True)
def parts_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition, "_DEEPEST", 12)
    monkeypatch.setattr(partition, "_SIZE", 8)


def of_branches(x: Any, n: Any) -> Any:
    rows = []
    for i in range(10):
        x = x * 0.5 + i
        if i % 4 == 0:
            rows.append(x)
            if x[0] > 3:
                x = x - tf.cast(7 // n, tf.float32)
    tf.print("end", x)
    return x, rows


def test_parts_pass_values_checks_and_prints_on(capfd: pytest.CaptureFixture[str]) -> None:
    compiled = tf.function(of_branches, jit_compile="xla")
    x = tf.constant([12.0, 45.0])
    two, none = tf.constant(2), tf.constant(0)
    for one, other in zip(*map(tf.nest.flatten, (compiled(x, two), of_branches(x, two))), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        compiled(x, none)
    printed = capfd.readouterr().err.splitlines()
    assert len(printed) == 2 and printed[0] == printed[1]


def graph_of(function: Any, *arguments: Any) -> Any:
    return tf.function(function).get_concrete_function(*arguments).graph


def test_parts_have_what_they_read_and_what_others_read() -> None:
    def chain(x: Any, y: Any) -> Any:
        for _ in range(10):
            x = x * y + 1.0
        return x

    graph = graph_of(chain, tf.TensorSpec([]), tf.TensorSpec([]))
    assert partition.is_deep(graph)
    found = list(partition.parts(graph))
    assert [len(part.operations) for part in found] == [8, 8, 4]
    assert [(len(part.inputs), len(part.outputs)) for part in found] == [(2, 1)] * 3


def test_layers_and_integers_are_no_chains() -> None:
    def layers(x: Any) -> Any:
        for _ in range(20):
            x = x + tf.nn.relu(tf.matmul(x, x))
        return x

    def integers(n: Any) -> Any:
        for _ in range(20):
            n = n * 3 + 1
        return n

    assert not partition.is_deep(graph_of(layers, tf.TensorSpec([2, 2])))
    assert not partition.is_deep(graph_of(integers, tf.TensorSpec([], tf.int32)))


def test_gradients_of_chains_agree() -> None:
    def loss(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(15):
                y = tf.sin(y) * 1.5 + 0.1
        return y, tape.gradient(y, x)

    x = tf.constant([0.3, 0.9])
    results = [tf.function(loss, jit_compile=compiler)(x) for compiler in ("xla", False)]
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_many_writes_and_conditionals_are_compiled_the_quick_way() -> None:
    def written(x: Any) -> Any:
        array = tf.TensorArray(tf.float32, 60)
        for i in range(60):
            array = array.write(i, x * float(i))
        return array.stack()

    concrete = tf.function(written).get_concrete_function(tf.TensorSpec([2]))
    newer = tuple(map(int, jax.__version__.split(".")[:2])) >= (0, 11)  # has only one way to emit kernels
    assert ("xla_cpu_use_fusion_emitters" in options_for(concrete.graph, "cpu")) != newer
    assert "xla_cpu_use_fusion_emitters" not in options_for(concrete.graph, "gpu")
    few = tf.function(lambda x: x * 2).get_concrete_function(tf.TensorSpec([2])).graph
    assert "xla_cpu_use_fusion_emitters" not in options_for(few, "cpu")
    x = tf.constant([1.0, 2.0])
    np.testing.assert_array_equal(tf.function(written, jit_compile="xla")(x), written(x))
