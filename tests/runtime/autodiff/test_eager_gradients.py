"""Gradients of operations, and backward passes of tapes, that ran often are plans with the same results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.autodiff import eager_gradients, plan_counts, tape_plans
from agc.runtime.autodiff.eager_gradients import GradientPlan

X = np.linspace(-1.0, 2.0, 12, dtype=np.float32).reshape(3, 4)
W = np.linspace(0.5, -0.7, 8, dtype=np.float32).reshape(4, 2)


def recurrent(x: Any, w: Any) -> Any:
    """Return states that depend on rows and on each other; one state is written twice, and read before that."""
    rows = tf.TensorArray(x.dtype, 3).unstack(x)
    states = tf.TensorArray(x.dtype, 3, clear_after_read=False)
    state = x[0, :2]
    for i in range(3):
        state = tf.tanh(tf.linalg.matvec(w, rows.read(i), transpose_a=True) + state)
        states = states.write(i, state)
    states = states.write(1, states.read(1) * state)
    return states.stack() * states.gather([2, 0, 1])


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "a dense layer": lambda x, w: tf.nn.relu(tf.matmul(x, w) + tf.reduce_mean(w, 0)),
    "a product with a transposed factor": lambda x, w: tf.matmul(w, x, transpose_a=True, transpose_b=True),
    "broadcasting": lambda x, w: x[:, :2] * w[0] + tf.reshape(x, [1, 3, 4])[0, 1, 2] / w[1],
    "reductions": lambda x, w: tf.reduce_max(x, 1) * tf.reduce_sum(w) + tf.reduce_prod(w, axis=[0, 1]),
    "a permutation": lambda x, w: tf.transpose(tf.stack([x, x * x]), [2, 0, 1]) * w[:, 0, None, None],
    "several results": lambda x, w: tf.concat(tf.split(x, 2, axis=1), 0) @ tf.unstack(w, axis=0)[1][:, None],
    "a selection": lambda x, w: tf.where(x > 0.0, x, 0.0) @ tf.where(w > 0.0, 1.0, w),
    "rows": lambda x, w: tf.gather(x, [2, 0, 2]) @ w,
    "a loss": lambda x, w: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 0, 1], logits=x @ w),
    "a TensorArray": recurrent,
    "a number": lambda x, w: tf.sqrt(tf.reduce_sum(x * x)) * tf.math.log(tf.reduce_sum(tf.exp(w))),
}


def slopes(program: Callable[[Any, Any], Any], x: Any, w: Any) -> list[np.ndarray[Any, Any]]:
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = program(x, w)
    return [tf.convert_to_tensor(grad).numpy() for grad in tape.gradient(y, [x, w])]


@pytest.fixture(params=["operations", "tapes"])
def plans(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[GradientPlan]:
    """Plan operations at the second use, or tapes at the first, and list the plans that run."""
    ran: list[GradientPlan] = []
    original = GradientPlan.__call__

    def call(self: GradientPlan, *arguments: Any) -> Any:
        ran.append(self)
        return original(self, *arguments)

    if request.param == "operations":
        monkeypatch.setattr(eager_gradients, "OFTEN", 2)
    else:
        monkeypatch.setattr(tape_plans, "OFTEN", -1_000)
    monkeypatch.setattr(GradientPlan, "__call__", call)
    return ran


@pytest.mark.parametrize("name", PROGRAMS)
def test_plans_give_what_gradient_functions_give(name: str, plans: list[GradientPlan]) -> None:
    program = PROGRAMS[name]
    x, w = tf.constant(X), tf.constant(W)
    first = slopes(program, x, w)
    for _ in range(6):
        found = slopes(program, x, w)
        for one, other in zip(first, found, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)
    assert plans
    for one, other in zip(slopes(program, x + 0.25, w * 2.0), slopes(program, -x, w), strict=True):
        assert one.shape == other.shape
    expected = slopes(program, tf.constant(X + 0.25, tf.float64), tf.constant(W * 2.0, tf.float64))
    for one, other in zip(slopes(program, x + 0.25, w * 2.0), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_gradients_of_rows_are_indexed_slices_in_plans_too(plans: list[GradientPlan]) -> None:
    table, ids = tf.Variable(W), tf.constant([2, 0, 2])
    for _ in range(8):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(table, ids) ** 2.0)
        grad = tape.gradient(y, table)
        assert isinstance(grad, tf.IndexedSlices) and grad.indices.numpy().tolist() == [2, 0, 2]
        expected = np.zeros_like(W)
        expected[[0, 2]] = W[[0, 2]] * [[2.0], [4.0]]
        np.testing.assert_allclose(tf.convert_to_tensor(grad).numpy(), expected, rtol=1e-6)
    assert plans


def test_a_gradient_that_no_source_needs_is_not_computed(plans: list[GradientPlan]) -> None:
    x, w = tf.constant(X), tf.Variable(W)
    for _ in range(8):
        with tf.GradientTape() as tape:
            y = tf.matmul(x, w)
        grad = tape.gradient(y, w)
    assert {tuple(plan.counts) for plan in plans} <= {(0, 1), (1,)}
    assert {len(plan._arguments) for plan in plans} == {2}  # x and dy
    np.testing.assert_allclose(grad.numpy(), X.T @ np.ones((3, 2), np.float32), rtol=1e-6)


def test_tapes_with_another_flow_have_another_plan(plans: list[GradientPlan]) -> None:
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 5.0])
    for _ in range(8):
        for z, dx, dy in ((x, [4.0, 6.0], [1.0, 2.0]), (y, [3.0, 5.0], [2.0, 3.0])):
            with tf.GradientTape() as tape:
                tape.watch([x, y])
                w = x * y + z
            found = tape.gradient(w, [x, y])
            assert [grad.numpy().tolist() for grad in found] == [dx, dy]


def test_a_tensor_counts_from_where_it_is_watched(plans: list[GradientPlan]) -> None:
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 5.0])
    for early in (True, False) * 6:
        with tf.GradientTape() as tape:
            tape.watch([x, y] if early else [x])
            product = x * y
            tape.watch(y)
            z = product + y * y
        assert tape.gradient(z, y).numpy().tolist() == ([7.0, 12.0] if early else [6.0, 10.0])


def test_targets_cotangents_and_sources_without_a_gradient(plans: list[GradientPlan]) -> None:
    v, unused = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    for i in range(8):
        with tf.GradientTape(persistent=True) as tape:
            y, z = v * v, tf.exp(v - v)
        seeds = [tf.constant([float(i), 1.0]), None]
        assert tape.gradient([y, z], [unused, v], seeds)[0] is None
        assert tape.gradient([y, z], [v, unused], seeds)[0].numpy().tolist() == [2.0 * i, 4.0]
        assert tape.gradient(y, [v, v])[1].numpy().tolist() == [2.0, 4.0]
        assert tape.gradient(v, v).numpy().tolist() == [1.0, 1.0]
        assert tape.gradient(y, unused, unconnected_gradients="zero").numpy() == 0.0


def test_tapes_of_loops_of_several_lengths(plans: list[GradientPlan]) -> None:
    x = tf.constant(2.0)
    for length in (1, 3, 2, 3, 1, 3) * 2:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(length):
                y = y * x
        assert tape.gradient(y, x).numpy() == (length + 1) * 2.0**length


def test_rare_backward_passes_have_no_plan() -> None:
    x, w = tf.constant(X[:2]), tf.constant(W)
    found = [slopes(lambda x, w: tf.matmul(x, w) - 1.0, x, w) for _ in range(tape_plans.OFTEN)]
    assert not tape_plans._plans
    assert all(np.array_equal(found[0][0], each[0]) for each in found)


def test_an_outer_tape_records_the_operations_of_gradients(plans: list[GradientPlan]) -> None:
    x = tf.constant([1.0, 2.0])
    for _ in range(8):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x * x * x
            slope = inner.gradient(y, x)
        second = outer.gradient(slope, x)
        assert slope.numpy().tolist() == [3.0, 12.0] and second.numpy().tolist() == [6.0, 12.0]


def test_gradients_of_rows_stay_in_parts(plans: list[GradientPlan]) -> None:
    table = tf.Variable(X)
    for _ in range(8):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.nn.embedding_lookup(table, tf.constant([1, 1])))
        grad = tape.gradient(y, table)
        assert isinstance(grad, tf.IndexedSlices) and grad.indices.numpy().tolist() == [1, 1]


def test_numbers_that_differ_are_no_constants_of_plans(plans: list[GradientPlan]) -> None:
    x = tf.constant([1.0, 2.0])
    for i in range(12):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * (0.5 + i)
        assert tape.gradient(y, x).numpy().tolist() == [0.5 + i, 0.5 + i]
    assert plans


def test_check_numerics_sees_gradients_with_a_plan(plans: list[GradientPlan]) -> None:
    x = tf.constant([0.0])
    for _ in range(6):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sqrt(x)
        assert np.isinf(tape.gradient(y, x).numpy()).all()
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sqrt(x)
    tf.debugging.enable_check_numerics()
    try:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Detected Infinity or NaN"):
            tape.gradient(y, x)
    finally:
        tf.debugging.disable_check_numerics()


def test_tapes_of_more_lengths_than_plans_keep_all_plans_but_one(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    original = tape_plans._plan
    monkeypatch.setattr(tape_plans, "_plan", lambda *given: made.append(1) or original(*given))
    monkeypatch.setattr(plan_counts, "MOST", 8)
    monkeypatch.setattr(plan_counts, "_PATIENCE", 8)
    x, rounds = tf.constant(0.5), 100
    for _ in range(rounds):
        for length in range(1, 10):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x
                for _ in range(length):
                    y = y * x
            assert float(tape.gradient(y, x)) == (length + 1) * 0.5**length
    assert len(tape_plans._plans) == 8
    assert len(made) == 8 + rounds // (8 * tape_plans.OFTEN)
