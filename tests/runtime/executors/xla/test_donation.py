"""The memory of variables: XLA programs overwrite it, and whatever else shows it keeps its values."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest

XLA = {"jit_compile": "xla"}


def address(variable: tf.Variable) -> int:
    """The address of the memory that JAX holds for a variable."""
    return vars(variable)["_held"].unsafe_buffer_pointer()  # type: ignore[no-any-return]


def test_programs_overwrite_variables() -> None:
    v, m = tf.Variable(tf.ones([100, 100])), tf.Variable(tf.zeros([100, 100]))

    @tf.function(**XLA)
    def step(x: Any) -> Any:
        m.assign(m * 0.5 + x)
        v.assign_sub(m)
        return tf.reduce_sum(x)

    step(tf.ones([100, 100]))
    before = address(v), address(m)
    for _ in range(2):
        step(tf.ones([100, 100]))
    assert (address(v), address(m)) == before
    assert v.numpy()[0, 0] == 1 - (1 + 1.5 + 1.75)


def test_programs_with_checks_overwrite_variables() -> None:
    v = tf.Variable(tf.ones([1000]))

    @tf.function(**XLA)
    def step(n: Any) -> Any:
        v.assign(v + tf.cast(10 // n, tf.float32))

    step(tf.constant(5))
    before = address(v)
    step(tf.constant(2))
    assert address(v) == before
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        step(tf.constant(0))
    assert v.numpy()[0] == 8
    step(tf.constant(1))
    assert v.numpy().tolist() == [18] * 1000


def test_tensors_that_were_read_keep_their_values() -> None:
    v = tf.Variable(tf.zeros([50]))
    step = tf.function(lambda: v.assign_add(tf.ones([50])), **XLA)
    seen = []
    for _ in range(4):
        step()
        seen += [v.value(), v.numpy(), tf.identity(v)]
    assert [float(x[0]) for x in seen] == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]


def test_results_and_other_variables_with_equal_values_are_independent() -> None:
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])

    @tf.function(**XLA)
    def copied() -> Any:
        v.assign(w)
        return w.value(), v.value()

    add = tf.function(lambda: (v.assign_add([1.0, 1.0]), w.assign_sub([1.0, 1.0])), **XLA)
    results = copied()
    for _ in range(2):
        add()
    assert (v.numpy().tolist(), w.numpy().tolist()) == ([5, 6], [1, 2])
    assert [x.numpy().tolist() for x in results] == [[3, 4], [3, 4]]


@pytest.mark.parametrize("executor", ["plan", "native", "interpret"])
def test_other_executors_and_eager_code_see_each_value(executor: str, tmp_path: Any) -> None:
    v = tf.Variable([1.0])
    step = tf.function(lambda: v.assign(v * 2), **XLA)
    other = tf.function(lambda: v.assign_add([1.0]), experimental_executor=executor)
    checkpoint = tf.train.Checkpoint(v=v)
    for _ in range(3):
        step()
        other()
    assert v.numpy().tolist() == [15]
    step()
    path = checkpoint.save(str(tmp_path / "saved"))
    step()
    assert pickle.loads(pickle.dumps(v)).numpy().tolist() == [60]
    v.assign([7.0])
    step()
    assert v.numpy().tolist() == [14]
    checkpoint.restore(path)
    step()
    assert v.numpy().tolist() == [60]


def test_variables_may_change_their_shapes() -> None:
    v = tf.Variable([1.0], shape=tf.TensorShape([None]))

    @tf.function(**XLA)
    def grow(n: Any) -> Any:
        v.assign(tf.concat([v, v], 0) / tf.cast(6 // n, tf.float32))

    grow(tf.constant(6))
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        grow(tf.constant(0))
    grow(tf.constant(3))
    assert v.numpy().tolist() == [0.5] * 4


def test_threads_take_turns() -> None:
    v, calls = tf.Variable(tf.zeros([1000])), 30
    add = tf.function(lambda x: v.assign_add(x), **XLA)
    total = tf.function(lambda: tf.reduce_max(v) - tf.reduce_min(v), **XLA)
    spreads: list[float] = []

    def work(x: float) -> None:
        for _ in range(calls):
            add(tf.fill([1000], x))
            spreads.append(float(total()))
            spreads.append(float(np.ptp(v.numpy())))

    add(tf.zeros([1000])), total()
    threads = [threading.Thread(target=work, args=(x,)) for x in (1.0, 2.0, 4.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert v.numpy().tolist() == [7.0 * calls] * 1000
    assert set(spreads) == {0.0}
