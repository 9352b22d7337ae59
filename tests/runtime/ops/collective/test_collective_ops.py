"""Collective operations: in graphs and eager code, in order, with gradients; the processes are threads."""

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import EXECUTORS, interpret
from agc.runtime.executors.llvm.native_parts import with_native_parts
from agc.runtime.executors.llvm.tiering import tiered_part
from agc.runtime.executors.llvm.wait_budget import WaitBudget
from agc.runtime.ops.collective.gathering import all_gather, reduce_scatter
from agc.runtime.ops.collective.reductions import all_reduce, broadcast_from, reduce_to
from support.threads_as_processes import run_in_threads


def step(x):
    """Use each operation once, and differentiate."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        (total,) = all_reduce([x * x])
        rows = all_gather(tf.stack([x, 2.0 * x]))
        first = broadcast_from(3.0 * x)
        part = reduce_scatter(tf.stack([x, 5.0 * x]), 1)
        only = reduce_to(x * x)
        result = tf.reduce_sum(total + first + only) + tf.reduce_sum(rows * rows) + tf.reduce_sum(part)
    return total, rows, first, part, only, tape.gradient(result, x)


def expected(rank, values):
    """Return the results of `step` in a process; the gradient is that of the sum of the results of all processes."""
    x, total, count = values[rank], sum(v * v for v in values), len(values)
    own_part = (1.0 if rank == 0 else 5.0) * sum(values)
    gradient = count * 2 * x + count * 10 * x + (count * 3 if rank == 0 else 0) + 6 + 2 * x
    return [
        total,
        [k * v for v in values for k in (1, 2)],
        3 * values[0],
        [own_part],
        total if rank == 0 else 0,
        gradient,
    ]


@pytest.mark.parametrize("executor", ["eager", "interpret", "plan", "native"])
def test_operations_and_gradients_agree_in_all_executors(executor):
    values = [1.5, -2.0]
    graph = tf.function(step).get_concrete_function(tf.TensorSpec([])).graph

    def run(rank):
        x = np.float32(values[rank])
        if executor == "eager":
            return [one.numpy().tolist() for one in step(tf.constant(x))]
        return [np.asarray(one).tolist() for one in EXECUTORS[executor](graph)([x])]

    results, _ = run_in_threads(2, run)
    assert results == [expected(0, values), expected(1, values)]


def test_passes_keep_the_order_of_collectives_and_combine_sums():
    def unused_and_equal(x):
        all_reduce([x], "max")
        (a,), (b,) = all_reduce([x]), all_reduce([x])
        (b,) = all_reduce([b])
        if tf.reduce_sum(a) > 0.0:
            broadcast_from(x)
        return a - b

    graph = tf.function(unused_and_equal).get_concrete_function(tf.TensorSpec([2])).graph
    _, calls = run_in_threads(2, lambda rank: EXECUTORS["plan"](graph)([np.ones(2, np.float32)]))
    assert calls == ["max float32[2]", "sum float32[4]", "sum float32[2]", "sum uint32[2]"]


def test_all_gradients_of_a_step_travel_together():
    def grads(x, y):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            a, b = all_reduce([x, y], "mean")
            result = tf.reduce_sum(a * 2.0) + tf.reduce_sum(b * b)
        return tape.gradient(result, [x, y])

    def run(rank):
        return [one.numpy().tolist() for one in grads(tf.constant([1.0]), tf.constant([[2.0, 3.0]]))]

    results, calls = run_in_threads(2, run)
    assert results == [[[2.0], [[4.0, 6.0]]]] * 2
    assert calls == ["sum float32[3]", "sum float32[3]"]


def test_shapes_are_known_but_for_gathered_rows():
    function = tf.function(lambda x: (all_reduce([x])[0], all_gather(x), reduce_scatter(x, 1, axis=1)))
    types = [one.shape for one in function.get_concrete_function(tf.TensorSpec([2, 3])).graph.outputs]
    assert types == [(2, 3), (None, 3), (2, 1)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: all_reduce([tf.constant("a")]), "all_reduce does not take string"),
        (lambda: all_reduce([tf.constant(1)], "mean"), "the mean of int32 is no integer; cast to a float first"),
        (lambda: all_reduce([1.0], "product"), "`reduction` is one of sum, mean, min, max, not 'product'"),
        (lambda: all_reduce([1j], "max"), "complex128 has no order"),
        (lambda: all_gather(1.0), "a tensor of rank 0 has no axis 0"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(call, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        call()


def test_the_maximum_has_no_gradient():
    x = tf.constant([1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        (y,) = all_reduce([x], "max")
    with pytest.raises(NotImplementedError, match="reduce with 'sum'"):
        tape.gradient(y, x)


def test_native_loops_communicate_in_order():
    def series(x, n):
        for i in tf.range(n):
            (x,) = all_reduce([x * 0.5 + tf.cast(i, tf.float32)])
            (x,) = all_reduce([x], "max")
        return x

    x, n = np.array([1.0, 2.0], np.float32), np.array(3, np.int32)
    graph = tf.function(series).get_concrete_function(tf.TensorSpec([2]), tf.TensorSpec([], tf.int32)).graph
    found = [
        run_in_threads(2, lambda rank, e=executor: EXECUTORS[e](graph)([x + rank, n]))
        for executor in ("interpret", "native")
    ]
    (expected, order), (results, own_order) = found
    np.testing.assert_allclose(results, expected, rtol=1e-6)
    assert own_order == order == ["sum float32[2]", "max float32[2]"] * 3


def test_collectives_are_in_no_native_part():
    @tf.function
    def step(x):
        for _ in range(10):
            x = tf.sin(x) * 2.0
        (x,) = all_reduce([x])
        for _ in range(10):
            x = tf.sin(x) * 2.0
        return x

    graph = step.get_concrete_function(tf.TensorSpec([2])).graph
    x = np.array([1.0, 2.0], np.float32)

    def run(rank):
        parts = []
        runner = with_native_parts(graph, lambda part: parts.append(part) or tiered_part(part, WaitBudget()))
        return runner([x])[0].tolist(), [
            [each.type for each in part.operations].count("sin") for part in parts
        ]

    results, calls = run_in_threads(2, run)
    expected, _ = run_in_threads(2, lambda rank: interpret(graph, [x])[0].tolist())
    assert results == [(pytest.approx(expected[0]), [10, 10])] * 2
    assert calls == ["sum float32[2]"]


def test_a_process_whose_native_code_fails_does_not_communicate_twice():
    @tf.function
    def chosen(x, i):
        (total,) = all_reduce([x])
        picked = total[i]
        (again,) = all_reduce([picked])
        return again

    graph = chosen.get_concrete_function(tf.TensorSpec([2]), tf.TensorSpec([], tf.int32)).graph

    def run(rank):
        call = EXECUTORS["native"](graph)
        x = np.array([1.0, 2.0], np.float32)
        first = call([x, np.array(0, np.int32)])
        if rank == 0:
            return float(first[0]), [float(y) for y in all_reduce(all_reduce([x]))[0]]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)out of bounds.*ops.py:\d+, in chosen"):
            call([x, np.array(5, np.int32)])
        return float(first[0]), all_reduce([x])[0].numpy().tolist()

    results, calls = run_in_threads(2, run)
    assert results == [(4.0, [3.0, 6.0])] * 2
    assert calls == ["sum float32[2]", "sum float32[1]", "sum float32[2]", "sum float32[2]"]
