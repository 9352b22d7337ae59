"""Softmax, losses, moments, running totals and places of extremes are in native code what they are elsewhere."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction
from agc.runtime.executors.llvm.compile_graph import lowered

LOGITS = np.random.default_rng(5).normal(0, 4, (6, 5, 7)).astype(np.float32)
COUNTS = np.random.default_rng(6).integers(-3, 4, (4, 9)).astype(np.int32)


def along_all(each: Any) -> Any:
    return lambda x: [each(x, axis=axis) for axis in (0, 1, -1)]


def losses(logits: Any, labels: Any, classes: Any) -> Any:
    return (
        tf.nn.softmax_cross_entropy_with_logits(labels, logits),
        tf.nn.sparse_softmax_cross_entropy_with_logits(classes, logits),
    )


def moments(x: Any) -> Any:
    return [
        each(x, axis=axis, keepdims=kept)
        for each in (tf.math.reduce_variance, tf.math.reduce_std, tf.norm, tf.reduce_logsumexp)
        for axis, kept in ((0, True), (-1, False), (None, False))
    ]


def totals(x: Any) -> Any:
    return [
        each(x, axis=axis, exclusive=exclusive, reverse=reverse)
        for each in (tf.cumsum, tf.math.cumprod)
        for axis in (0, 1)
        for exclusive in (False, True)
        for reverse in (False, True)
    ]


def places(x: Any) -> Any:
    return [each(x, axis=axis) for each in (tf.argmax, tf.argmin) for axis in (0, 1)]


def counted(x: Any) -> Any:
    return tf.math.count_nonzero(x, axis=1), tf.add_n([x, x, x]), tf.nn.bias_add(x, x[0])


CLASSES = LOGITS.argmax(-1)
WITH_NAN = np.where(LOGITS[0] > 3, np.nan, LOGITS[0])
CASES = [
    (along_all(tf.nn.softmax), (LOGITS,)),
    (along_all(tf.nn.log_softmax), (LOGITS,)),
    (along_all(tf.nn.softmax), (LOGITS.astype(np.float64),)),
    (along_all(tf.nn.log_softmax), (np.full((3, 4, 2), -np.inf, np.float32),)),
    (losses, (LOGITS, np.abs(LOGITS), CLASSES)),
    (moments, (LOGITS,)),
    (totals, (COUNTS,)),
    (totals, (LOGITS[0],)),
    (places, (COUNTS,)),
    (places, (WITH_NAN,)),
    (counted, (COUNTS,)),
]


@pytest.mark.parametrize(("program", "arrays"), CASES)
def test_native_code_agrees_with_the_interpreter(program: Any, arrays: tuple[Any, ...]) -> None:
    graph = tf.function(program).get_concrete_function(*map(tf.constant, arrays)).graph
    with np.errstate(all="ignore"):
        expected = interpret(graph, list(arrays))
    for found, wanted in zip(JitFunction(graph).run(list(arrays)), expected, strict=True):
        assert found.dtype == wanted.dtype
        if found.dtype.kind in "iu":
            np.testing.assert_array_equal(found, wanted)
        else:
            np.testing.assert_allclose(found, wanted, rtol=3e-6, atol=1e-6)


def test_running_sums_are_added_in_order() -> None:
    graph = tf.function(tf.cumsum).get_concrete_function(tf.constant(LOGITS[0])).graph
    np.testing.assert_array_equal(JitFunction(graph).run([LOGITS[0]])[0], np.cumsum(LOGITS[0], 0))


def test_a_label_out_of_range_is_the_plans_error() -> None:
    program = tf.function(tf.nn.sparse_softmax_cross_entropy_with_logits)
    classes = np.array([0, 7])
    graph = program.get_concrete_function(tf.constant(classes), tf.constant(LOGITS[0, :2])).graph
    with pytest.raises(tf.errors.InvalidArgumentError, match="label value of 7"):
        JitFunction(graph).run([classes, LOGITS[0, :2]])


@pytest.mark.parametrize("kind", [0, 1])
def test_a_loss_and_its_gradient_take_the_same_exponentials(kind: int) -> None:
    def step(logits: Any, labels: Any, classes: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(logits)
            loss = losses(logits * 2.0, labels, classes)[kind]
        return loss, tape.gradient(loss, logits)

    arrays = [LOGITS[0], np.eye(7, dtype=np.float32)[:5], np.arange(5)]
    graph = tf.function(step).get_concrete_function(*map(tf.constant, arrays)).graph
    text = lowered(graph, [value.spec for value in graph.inputs]).text()
    assert text.count('call float @"agc.exp.f32"') == 1
    for found, wanted in zip(JitFunction(graph).run(arrays), interpret(graph, arrays), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=3e-6, atol=1e-6)


def test_a_loss_alone_keeps_no_exponentials() -> None:
    arrays = [LOGITS[0], np.arange(5)]
    program = tf.function(lambda x, classes: tf.nn.sparse_softmax_cross_entropy_with_logits(classes, x))
    graph = program.get_concrete_function(*map(tf.constant, arrays)).graph
    unit = lowered(graph, [value.spec for value in graph.inputs])
    assert all(place.size < LOGITS[0].nbytes for place in unit.slots)
