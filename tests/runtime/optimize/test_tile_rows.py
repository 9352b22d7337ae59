"""Large tensors are computed in tiles of rows: what the traced graph gives, and loops instead of the tensors."""

from __future__ import annotations

import math
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction
from agc.runtime.executors.plan.plan import Plan
from agc.runtime.ir.graph import Graph
from agc.runtime.ir.value_types import TensorType
from agc.runtime.ops.linalg import einsum_kernel
from agc.runtime.optimize import OptimizerOptions, fusion, optimize, tile_rows, tile_sizes
from support.verifier import verify

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tensors of 1,024 bytes be large, and tiles have 128 elements."""
    monkeypatch.setattr(tile_rows, "LARGE", 1024)
    monkeypatch.setattr(tile_rows, "TILE", 128)
    monkeypatch.setattr(tile_sizes, "FEWEST_ROWS", 2)


def numbers(*shape: int, dtype: Any = np.float32) -> Array:
    return np.asarray(np.random.default_rng(sum(shape)).normal(size=shape), dtype)


def largest(graph: Graph) -> int:
    """Return the number of elements of the largest tensor that an operation computes, also in loops."""
    values = [value for operation in graph.walk() for value in operation.outputs]
    return max(math.prod(value.shape or ()) for value in values if isinstance(value.spec, TensorType))


def tiled(program: Any, *arrays: Array, bound: float = 1e-5, is_compiled: bool = True) -> Graph:
    """Return the graph with tiles, after a comparison of its results in the executors."""
    graph = tf.function(program).get_concrete_function(*map(tf.constant, arrays)).graph
    found = verify(tile_rows.run(optimize(graph)))
    wanted = interpret(graph, list(arrays))
    runs = [Plan(fusion.run(found)).run, lambda inputs: interpret(found, inputs)]
    for run in [*runs, JitFunction(found).run] if is_compiled else runs:
        for result, expected in zip(run(list(arrays)), wanted, strict=True):
            assert (np.asarray(result).dtype, np.shape(result)) == (expected.dtype, expected.shape)
            np.testing.assert_allclose(result, expected, rtol=bound, atol=bound)
    return found


def attention(q: Any, k: Any, v: Any, mask: Any = 0.0) -> Any:
    scores = tf.matmul(q, k, transpose_b=True) * 0.5 + mask
    return tf.matmul(tf.nn.softmax(scores), v)


def with_gradients(program: Any) -> Any:
    def both(*inputs: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            y = program(*inputs)
            loss = tf.reduce_sum(y * y)
        return [y, *tape.gradient(loss, inputs, unconnected_gradients="zero")]

    return both


@pytest.mark.parametrize(  # parts of a matrix, one matrix, and two
    ("most", "dtype"), [(50, np.float32), (128, np.float64), (400, np.float32), (700, np.float64)]
)
def test_attention_and_its_gradients_leave_no_scores(
    monkeypatch: pytest.MonkeyPatch, dtype: Any, most: int
) -> None:
    monkeypatch.setattr(tile_rows, "TILE", most)
    q, k, v = (numbers(2, 3, size, 4, dtype=dtype) for size in (16, 20, 20))
    found = tiled(with_gradients(attention), q, k, v, bound=1e-4 if dtype == np.float32 else 1e-12)
    assert largest(found) <= max(most, v.size)


@pytest.mark.parametrize(
    ("scores", "outputs", "axes"),
    [
        ("bhqd,bhkd->bhqk", "bhqk,bhkd->bhqd", (0, 1, 2, 3)),
        ("bkhd,bqhd->bhqk", "bhqk,bkhd->bqhd", (0, 2, 1, 3)),  # Keras's
        ("...qd,...kd->...qk", "...qk,...kd->...qd", (0, 1, 2, 3)),
    ],
)
def test_attention_in_einstein_notation_and_its_gradients_leave_no_scores(
    monkeypatch: pytest.MonkeyPatch, scores: str, outputs: str, axes: tuple[int, ...]
) -> None:
    monkeypatch.setattr(einsum_kernel, "SMALL", 0)
    mask = np.where(numbers(2, 1, 16, 20) > 1, np.float32(-1e9), np.float32(0))

    def attention(q: Any, k: Any, v: Any) -> Any:
        pair = (k, q) if scores.startswith("bk") else (q, k)
        weights = tf.nn.softmax(tf.einsum(scores, *pair) * 0.5 + mask)
        return tf.einsum(outputs, weights, v)

    arrays = (numbers(2, 3, size, 4).transpose(axes) for size in (16, 20, 20))
    found = tiled(with_gradients(attention), *arrays, bound=1e-4)
    assert largest(found) <= mask.size
    assert not any(operation.type == "einsum" for operation in found.walk())


@pytest.mark.parametrize(
    "shape",
    [(), (20,), (16, 20), (16, 1), (2, 1, 1, 20), (2, 1, 16, 20), (3, 16, 1), (1, 3, 1, 20), (2, 3, 1, 1)],
)
@pytest.mark.parametrize("most", [50, 640])
def test_masks_are_read_by_tiles(monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], most: int) -> None:
    monkeypatch.setattr(tile_rows, "TILE", most)
    q, k, v = (numbers(2, 3, size, 4) for size in (16, 20, 20))
    found = tiled(lambda *inputs: [attention(*inputs)], q, k, v, numbers(*shape), is_compiled=most == 50)
    has_partly = most == 640 and shape in ((2, 1, 1, 20), (2, 1, 16, 20), (3, 16, 1), (1, 3, 1, 20))
    assert (largest(found) < 2 * 3 * 16 * 20) is not has_partly


def test_a_causal_mask_is_computed_in_tiles() -> None:
    def causal(q: Any, k: Any, v: Any) -> Any:
        places = tf.range(32)
        hidden = tf.where(places[:, None] >= places[None, :], 0.0, -1e9)
        return attention(q, k, v, hidden)

    found = tiled(with_gradients(causal), *(numbers(2, 32, 4) for _ in range(3)), bound=1e-4)
    assert largest(found) < 2 * 32 * 32


def test_layers_are_tiled_one_after_the_other() -> None:
    def network(x: Any, w: Any) -> Any:
        for _ in range(2):
            y = x @ w
            x = tf.tanh(x + attention(y, x, y))
        return x

    found = tiled(with_gradients(network), numbers(3, 16, 8), numbers(8, 8), bound=1e-3)
    assert largest(found) <= 3 * 16 * 8
    assert sum(operation.type == "while" for operation in found.operations) == 4


def test_distances_of_all_pairs_are_computed_in_tiles() -> None:
    def means(x: Any, y: Any, values: Any) -> Any:
        distances = (
            tf.reduce_sum(x * x, 1, keepdims=True) - 2.0 * x @ tf.transpose(y) + tf.reduce_sum(y * y, 1)
        )
        weights = tf.exp(-distances)
        return weights @ values / tf.reduce_sum(weights, 1, keepdims=True), tf.reduce_min(distances, 1)

    found = tiled(means, numbers(24, 3), numbers(30, 3), numbers(30, 5))
    assert largest(found) < 24 * 30


def test_numbers_that_are_not_finite() -> None:
    q, k, v = (numbers(2, 16, 4) for _ in range(3))
    mask = np.zeros((16, 16), np.float32)
    mask[:, 5], mask[3], mask[4, 2], mask[5, 6] = -np.inf, -np.inf, np.nan, np.inf
    tiled(lambda *inputs: [attention(*inputs)], q, k, v, mask)


@pytest.mark.parametrize(
    "program",
    [
        lambda q, k, v: tf.nn.softmax(tf.matmul(q, k, transpose_b=True)),
        lambda q, k, v: tf.cumsum(tf.matmul(q, k, transpose_b=True), 1) @ v,
        lambda q, k, v: tf.reduce_max(tf.matmul(q, k, transpose_b=True), 1),
        lambda q, k, v: tf.nn.softmax(tf.matmul(q, k, transpose_b=True), 1) @ v,
    ],
)
def test_tensors_of_which_columns_are_read_stay_in_memory(program: Any) -> None:
    found = tiled(lambda *inputs: [program(*inputs)], *(numbers(2, 16, 4) for _ in range(3)))
    assert largest(found) == 2 * 16 * 16


@pytest.mark.parametrize(("size", "rows"), [(13, (12, 1)), (17, (15, 2))])
def test_the_last_tile_may_have_fewer_rows(size: int, rows: tuple[int, int]) -> None:
    mask = numbers(2, 1, size, 1)

    def largest_scores(q: Any, k: Any) -> Any:
        return [tf.reduce_max(tf.matmul(q, k, transpose_b=True) * mask, 3)]

    q, k, v = (numbers(2, 3, rows, 4) for rows in (size, 20, 20))
    found = tiled(with_gradients(lambda *inputs: attention(*inputs, mask)), q, k, v, bound=1e-4)
    assert max(largest(found), largest(tiled(largest_scores, q, k))) <= 2 * 3 * 20 * 4
    assert tuple(each.all_rows for each in tile_sizes.tilings((size, 20), 128)) == rows


@pytest.mark.parametrize("rows", [13, 1])
def test_rows_that_are_too_large_for_tiles_stay_in_memory(rows: int) -> None:
    found = tiled(lambda *inputs: [attention(*inputs)], numbers(rows, 4), numbers(300, 4), numbers(300, 4))
    assert largest(found) >= rows * 300


def test_effects_between_exits_keep_their_order() -> None:
    """A print between two exits, of the first one's result, would follow the loop."""

    def program(q: Any, k: Any, v: Any) -> Any:
        weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True))
        first = tf.matmul(weights, v)
        tf.print(tf.reduce_sum(first), output_stream="file:///dev/null")
        return first, tf.matmul(weights, q)

    graph = tf.function(program).get_concrete_function(*(tf.zeros([2, 16, 4]) for _ in range(3))).graph
    assert largest(tile_rows.run(optimize(graph))) == 2 * 16 * 16


def test_the_pass_is_an_option_and_leaves_small_tensors_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    q = tf.zeros([2, 16, 4])
    graph = optimize(tf.function(attention).get_concrete_function(q, q, q).graph)
    assert tile_rows.run(graph, OptimizerOptions(loop_optimization=False)) is graph
    assert tile_rows.run(graph) is not graph
    monkeypatch.setattr(tile_rows, "LARGE", 1 << 26)
    assert tile_rows.run(graph) is graph


def test_training_with_variables_runs_in_every_mode() -> None:
    losses = []
    for jit_compile in (False, True):
        w = tf.Variable(tf.constant(numbers(4, 4)))

        @tf.function(jit_compile=jit_compile)
        def step(x: Any, w: tf.Variable = w) -> Any:
            with tf.GradientTape() as tape:
                y = x @ w
                loss = tf.reduce_sum(attention(y, x, y) ** 2)
            w.assign_sub(0.01 * tape.gradient(loss, w))
            return loss

        losses.append([float(step(tf.constant(numbers(2, 16, 4)))) for _ in range(3)])
        assert losses[-1] == sorted(losses[-1], reverse=True)
    np.testing.assert_allclose(*losses, rtol=1e-4)


@pytest.mark.parametrize("shape", [(4096,), (4096, 1), (1, 4096), (2, 2, 2, 512), (1, 1, 64, 64)])
def test_large_tensors_of_every_rank_stay_right(shape: tuple[int, ...]) -> None:
    tiled(lambda x: tf.reduce_sum(tf.exp(x * 0.5), -1), numbers(*shape))
