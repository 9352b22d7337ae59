"""Lists at the ends of compiled functions, and tapes around these: what the way there saves are such lists."""

from __future__ import annotations

import sys
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors.llvm import CompilationError, JitFunction, list_abi
from agc.runtime.ir.parser import parse
from agc.runtime.kernels.persistent_array import PersistentArray

STEPS = np.linspace(0.1, 2.0, 30).reshape(5, 2, 3)
WEIGHTS = np.linspace(-0.5, 0.5, 9).reshape(3, 3)


def recurrent(x: Any, w: Any) -> Any:
    h = tf.zeros([2, 3], x.dtype)
    for t in tf.range(tf.shape(x)[0]):
        h = tf.tanh(tf.matmul(x[t] + h, w))
    return tf.reduce_sum(h)


def collected(x: Any, w: Any) -> Any:
    h, rows = tf.zeros([2, 3], x.dtype), tf.TensorArray(x.dtype, 5)
    for t in tf.range(5):
        h = tf.tanh(tf.matmul(x[t] + h, w))
        rows = rows.write(t, h)
    return tf.reduce_sum(rows.stack() ** 2)


def loops_in_loops(x: Any, w: Any) -> Any:
    h = tf.zeros([2, 3], x.dtype)
    for t in tf.range(5):
        k = 0
        while k < t:
            h = tf.tanh(tf.matmul(x[t] + h, w))
            k += 1
    return tf.reduce_sum(h)


def branches(x: Any, w: Any) -> Any:
    h = tf.zeros([2, 3], x.dtype)
    for t in tf.range(5):
        if t % 2 == 0:
            h = tf.matmul(x[t] + h, w)
            h = tf.tanh(h)
        else:
            h = tf.sin(h) * x[t]
    return tf.reduce_sum(h)


def until_it_is_close(x: Any, w: Any) -> Any:
    y = x
    while tf.reduce_max(tf.abs(y * y - x)) > 1e-4:
        y = (y + x / y) / 2
    return tf.reduce_sum(y) + tf.reduce_sum(w * w)


@pytest.mark.parametrize(
    "program", [recurrent, collected, loops_in_loops, branches, until_it_is_close], ids=lambda x: x.__name__
)
def test_forward_and_backward_pass_are_native(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JitFunction, "fail", lambda self, arguments: pytest.fail("the plan was asked"))
    found = []
    for jit_compile in (False, True):
        f = tf.function(program, jit_compile=jit_compile)
        x, w = tf.constant(STEPS), tf.constant(WEIGHTS)
        for _ in range(2):
            with tf.GradientTape() as tape:
                tape.watch([x, w])
                y = f(x, w)
            grads = tape.gradient(y, [x, w])
        found.append([y, *map(tf.convert_to_tensor, grads)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


def written(x: Any) -> Any:
    rows = tf.TensorArray(tf.float64, 5)
    for i in tf.range(5):
        rows = rows.write(i, x[i] * 2)
    return rows


def test_a_tensor_array_is_returned_and_passed_back() -> None:
    @tf.function(jit_compile=True)
    def added(rows: Any, x: Any) -> Any:
        for i in tf.range(2):
            rows = rows.write(i, rows.read(i) + x[i])
        return rows, rows.stack(), rows.size()

    rows = tf.function(written, jit_compile=True)(STEPS)
    more, stacked, size = added(rows, STEPS)
    np.testing.assert_array_equal(rows.stack(), STEPS * 2)  # which nothing has changed
    np.testing.assert_array_equal(more.stack(), stacked)
    np.testing.assert_array_equal(stacked[:2], STEPS[:2] * 3)
    assert int(size) == 5


def test_elements_outlive_their_call() -> None:
    compiled = tf.function(written, jit_compile=True)
    firsts = [compiled(STEPS + i).read(0) for i in range(20)]
    for i, first in enumerate(firsts):
        np.testing.assert_array_equal(first, (STEPS[0] + i) * 2)


def test_results_are_freed_when_python_ends_and_modules_are_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    found: Any = tf.function(lambda x: tf.boolean_mask(x, x > 1.0), jit_compile=True)(tf.constant([1.0, 2.0]))
    unraisable: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    monkeypatch.setattr(list_abi, "ctypes", None)
    del found
    assert unraisable == []


def test_a_growing_tensor_array_still_grows() -> None:
    @tf.function(jit_compile=True)
    def grown(n: Any) -> Any:
        rows = tf.TensorArray(tf.int32, 0, dynamic_size=True, element_shape=[])
        for i in tf.range(n):
            rows = rows.write(i, i * i)
        return rows

    @tf.function(jit_compile=True)
    def one_more(rows: Any) -> Any:
        return rows.write(rows.size(), -1)

    rows = one_more(grown(40))
    assert int(rows.size()) == 41 and int(rows.read(39)) == 39 * 39
    assert rows.write(41, 7).stack().numpy()[-3:].tolist() == [39 * 39, -1, 7]


def test_elements_of_several_shapes_are_refused() -> None:
    size = tf.function(lambda rows: rows.size())
    rows = tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, [1.0]).write(1, [1.0, 2.0])
    graph = size.get_concrete_function(rows).graph
    with pytest.raises(CompilationError, match="do not have one known shape"):
        JitFunction(graph).run([PersistentArray([np.ones(1, np.float32), np.ones(2, np.float32)])])


APPENDED = """graph appended(s: array float32[?], x: float32[2], shapes: array int32[1]) -> array float32[?]
  shapes.1, shape = list_pop shapes, -1    : array int32[1], int32[1]
  total = sum_to x, shape                  : float32[?]
  s.1 = list_append s, total               : array float32[?]
  return s.1
"""
"""The shape of the elements depends on a list, so the graph does not contain it."""


def vectors(*sizes: int) -> PersistentArray:
    return PersistentArray([np.ones(size, np.float32) for size in sizes])


def test_a_resulting_list_has_elements_of_the_shape_in_memory() -> None:
    shapes = PersistentArray([np.array([2], np.int32)])
    (made,) = JitFunction(parse(APPENDED)).run([vectors(2, 2), np.ones(2, np.float32), shapes])
    assert [item.tolist() for item in made.items()] == [[1, 1]] * 3


@pytest.mark.parametrize(
    "result, text",
    [
        ("array float32[?]", "list_append s, x"),
        ("array float32[?]", "list_set s, 0, x"),
        ("array float32[?]", "array_sum s, t"),
        ("float32[?, ?]", "array_rows s, [2, 3] [dtype=float32]"),
        ("float32[3]", "array_item s, 0, [3] [dtype=float32]"),
    ],
)
def test_elements_of_another_shape_than_those_in_memory_are_refused(result: str, text: str) -> None:
    graph = parse(
        f"graph f(s: array float32[?], t: array float32[?], x: float32[?]) -> {result}\n"
        f"  y = {text} : {result}\n"
        "  return y\n"
    )
    with pytest.raises(CompilationError, match=r"elements of the shapes \(2,\) and \(3,\)"):
        JitFunction(graph).run([vectors(2, 2), vectors(3), np.ones(3, np.float32)])
