"""Sizes that are known only while compiled code runs: what loops collect, and what passes a test."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import CompilationError, JitFunction
from agc.runtime.executors.llvm.processor import vector_bytes

NUMBERS = np.random.default_rng(5).standard_normal(40).astype(np.float32)
ROWS = NUMBERS.reshape(10, 4)


def check(program: Any, *calls: tuple[Any, ...], by_plan: bool = False) -> JitFunction:
    """Run compiled code, made once, for several arguments; the interpreter gives the same."""
    graph = tf.function(program).get_concrete_function(*map(tf.constant, calls[0])).graph
    native = JitFunction(graph)
    for call in calls:
        arguments = [np.asarray(x) for x in call]
        found, wanted = native.run(arguments), interpret(graph, arguments)
        for one, other in zip(found, wanted, strict=True):
            assert np.asarray(one).dtype == np.asarray(other).dtype and np.shape(one) == np.shape(other)
            np.testing.assert_allclose(one, other, rtol=2e-6, atol=1e-6)
    assert (native._plan is not None) == by_plan
    return native


# What loops collect


def newton(a: Any) -> Any:
    """The steps towards a square root, as many as it takes."""
    steps, x = [], a
    while tf.abs(x * x - a) > 1e-3 * a:
        steps.append(x)
        x = (x + a / x) / 2
    return tf.stack(steps), len(steps)


def collatz(n: Any) -> Any:
    seen = [n]
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        seen.append(n)
    path = tf.stack(seen)
    return path, tf.reduce_max(path), tf.argmax(path)


def orbit(n: Any) -> Any:
    """Points of a curve, for plotting: their mean, their extent, the way from each to the next."""
    points, p = [], tf.constant([1.0, 0.0])
    for _ in tf.range(n):
        p = p + 0.1 * tf.stack([p[1], -p[0]])
        points.append(p)
    all_points = tf.stack(points)
    ways = all_points[1:] - all_points[:-1]
    return all_points, tf.reduce_mean(all_points, 0), tf.reduce_max(all_points, 0), tf.norm(ways, axis=1)


def primes(n: Any) -> Any:
    found, k = [], 2
    while k < n:
        is_prime, d = True, 2
        while d * d <= k and is_prime:
            is_prime = k % d != 0
            d += 1
        if is_prime:
            found.append(k)
        k += 1
    return tf.stack(found)


def run_lengths(x: Any) -> Any:
    values, counts, count = [], [], 0
    for i in tf.range(tf.size(x)):
        count += 1
        if i == tf.size(x) - 1 or x[tf.minimum(i + 1, tf.size(x) - 1)] != x[i]:
            values.append(x[i])
            counts.append(count)
            count = 0
    return tf.stack(values), tf.stack(counts), tf.reduce_sum(tf.stack(values) * tf.stack(counts))


def decoded(h: Any, w: Any) -> Any:
    """Greedy decoding with an early end."""
    tokens, state, t, token = tf.TensorArray(tf.int32, 0, dynamic_size=True), h, 0, 3
    while t < 12 and token != 0:
        state = tf.tanh(tf.linalg.matvec(w, state) + 0.1)
        token = tf.argmax(state, output_type=tf.int32)
        tokens = tokens.write(t, token)
        t += 1
    return tokens.stack(), t


def joined(n: Any) -> Any:
    parts = tf.TensorArray(tf.int32, 0, dynamic_size=True, element_shape=[2])
    i = 0
    while i * i < n:
        parts = parts.write(i, tf.stack([i, i * i]))
        i += 1
    return parts.concat()


@pytest.mark.parametrize(
    "program, calls",
    [
        (newton, [(2.0,), (9.0,), (1.0,)]),
        (collatz, [(27,), (1,), (6,)]),
        (orbit, [(5,), (1,), (60,)]),
        (primes, [(50,), (3,), (2,)]),
        (run_lengths, [([1, 1, 2, 2, 2, 5, 1],), ([4, 4, 4, 4, 4, 4, 4],)]),
        (decoded, [(NUMBERS[:4], ROWS[:4]), (NUMBERS[4:8], ROWS[:4])]),
        (joined, [(10,), (0,)]),
    ],
)
def test_lists_become_tensors(program: Any, calls: Any) -> None:
    check(program, *[tuple(_small(x) for x in call) for call in calls])


def _small(value: Any) -> Any:
    array = np.asarray(value)
    return array.astype({"f": np.float32, "i": np.int32}[array.dtype.kind])


def test_a_tensor_that_grows_in_a_loop() -> None:
    def halves(a: Any) -> Any:
        out = tf.zeros([0], tf.float32)
        while a > 1.0:
            tf.autograph.experimental.set_loop_options(shape_invariants=[(out, tf.TensorShape([None]))])
            out = tf.concat([out, [a]], 0)
            a = a / 2
        return out, tf.reduce_sum(out)

    check(halves, (np.float32(100.0),), (np.float32(0.0),), (np.float32(1e6),))


def test_a_tensor_that_shrinks_in_a_loop() -> None:
    def best(x: Any) -> Any:
        while tf.size(x) > 3:
            tf.autograph.experimental.set_loop_options(shape_invariants=[(x, tf.TensorShape([None]))])
            x = tf.boolean_mask(x, x > tf.reduce_mean(x))
        return x

    check(best, (NUMBERS,), (-NUMBERS,))


def test_branches_that_give_tensors_of_different_sizes() -> None:
    def positive(x: Any, flag: Any) -> Any:
        y = tf.boolean_mask(x, x > 0) if flag else x
        return y, tf.reduce_sum(y)

    check(positive, (NUMBERS, True), (NUMBERS, False))


def test_a_loop_over_elements_collected_by_another_loop() -> None:
    def squares(n: Any) -> Any:
        kept = []
        while n > 0:
            kept.append(n)
            n = n // 3
        total = 0
        for x in tf.stack(kept):
            total += x * x
        return total

    check(squares, (np.int32(100),), (np.int32(0),))


# What passes a test


def test_a_row_of_an_empty_selection_is_refused() -> None:
    """The memory of its places has what other values left there: it may not serve as an address."""
    specs = [tf.TensorSpec([None, 3]), tf.TensorSpec([None])]

    @tf.function(jit_compile=True, input_signature=specs)
    def chosen(x: Any, y: Any) -> Any:
        large = tf.boolean_mask(x, x > 0.25)
        numbers = tf.cast(tf.reshape(tf.reshape(y, [-1, 1]), [-1]), tf.int64)
        rows = tf.math.floormod(numbers, tf.cast(tf.maximum(tf.shape(large)[-1], 1), tf.int64))
        mask = tf.cast(tf.sequence_mask(tf.cast(tf.math.floormod(numbers, 3), tf.int32)), tf.float32)
        widest = tf.reduce_max(tf.concat([mask, tf.ones_like(mask)], -1), -1)
        return large, tf.gather(large, tf.cast(rows, tf.int32)), mask, widest

    y = tf.constant([0.5, -2.0, 0.5, 3.0, 1.0, 3.0])
    assert chosen(tf.ones([2, 3]), y)[0].shape == [6]
    for empty in (tf.zeros([0, 3]), tf.zeros([2, 3])):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"= 0 is not in \[0, 0\)"):
            chosen(empty, y)


@pytest.mark.parametrize(
    "program",
    [
        lambda x: tf.boolean_mask(x, x > 0),
        lambda x: x[x[:, 0] > 0],
        lambda x: tf.boolean_mask(x, x[0] > 0, axis=1) + 1.0,
        lambda x: tf.where(x > 0),
        lambda x: tf.gather(x, tf.where(x[:, 1] < 0)[:, 0]),
        lambda x: tf.reduce_mean(tf.boolean_mask(x, x > 0)),
        lambda x: tf.reduce_sum(x[x[:, 0] > 9.0], 0),
        lambda x: tf.sort(x[x > 0]),
        lambda x: tf.argsort(x[x > 0], direction="DESCENDING"),
        lambda x: tf.cumsum(x[x > 0], reverse=True),
        lambda x: tf.concat([x[x > 1], x[x < -1], [0.0]], 0),
        lambda x: tf.reverse(x[x > 0], [0]),
        lambda x: tf.transpose(x[x[:, 0] > 0]),
        lambda x: tf.reshape(x[x[:, 0] > 0], [-1, 2]),
        lambda x: tf.expand_dims(x[x > 0], 1) * [[1.0, 2.0]],
        lambda x: (tf.size(x[x > 0]), tf.shape(x[x[:, 0] > 0])),
        lambda x: tf.ones([tf.size(x[x > 0]), 2]),
        lambda x: tf.fill(tf.shape(x[x > 0]), 7),
        lambda x: tf.range(tf.size(x[x > 0]), 0, -2),
        lambda x: tf.zeros_like(x[x > 0]),
        lambda x: x[x > 0][:3],
        lambda x: x[x > 0][-1:0:-2],
        lambda x: x[x > 0][100:],
        lambda x: x[x > 0][-1] + x[x > 0][0],
        lambda x: tf.unique(tf.cast(x * 2, tf.int32)[:, 0]),
        lambda x: tf.unique(tf.constant([0.0, np.nan, -0.0, np.nan]) + 0 * x[0]),
        lambda x: tf.nn.softmax(x[x > 0]),
        lambda x: tf.nn.log_softmax(x[x[:, 0] > 0]),
        lambda x: tf.reduce_logsumexp(x[x[:, 0] > 0], 1),
        lambda x: (tf.math.reduce_std(x[x > 0]), tf.math.reduce_variance(x[x[:, 0] > 0], 0)),
        lambda x: (tf.norm(x[x > 0]), tf.math.count_nonzero(x[x > 0])),
        lambda x: tf.matmul(x[x[:, 0] > 0], x, transpose_b=True),
        lambda x: tf.matmul(x[x[:, 0] > 0], x[x[:, 0] > 0], transpose_a=True),
        lambda x: tf.tensordot(x[x > 0], x[x > 0], 1),
        lambda x: tf.linalg.matvec(x[x[:, 0] > 0], x[0]),
        lambda x: tf.stack([x[x > 0], 2 * x[x > 0]], 1),
        lambda x: tf.tile(x[x > 1], [3]),
        lambda x: tf.one_hot(tf.cast(x[x > 0], tf.int32), 3),
        lambda x: tf.broadcast_to(x[x > 0], [2, tf.size(x[x > 0])]),
        lambda x: tf.gather_nd(x, tf.where(x > 0)),
        lambda x: tf.scatter_nd(tf.where(x > 0), x[x > 0], [10, 4]),
        lambda x: tf.repeat(x[:, 0], tf.cast(x[:, 1] > 0, tf.int32) * 2),
        lambda x: tf.repeat(x, tf.cast(x[:, 1] > 0, tf.int32), axis=0),
        lambda x: tf.sequence_mask(tf.cast(x[:, 0] * 3, tf.int32)),
        lambda x: tf.math.unsorted_segment_sum(x[:3], [0, 2, 0], tf.size(x[x > 0])),
        lambda x: tf.math.segment_mean(x, tf.cast(tf.cumsum(x[:, 0] * x[:, 0]), tf.int32)),
        lambda x: tf.math.segment_max(x[x > 0], tf.cumsum(tf.cast(x[x > 0], tf.int64))),
        lambda x: tf.math.unsorted_segment_max(x[x > 0], tf.cast(x[x > 0], tf.int32), 4),
        lambda x: tf.TensorArray(tf.float32, tf.size(x[x > 0])).unstack(x[x > 0]).stack(),
        lambda x: tf.TensorArray(tf.float32, 0, True).unstack(x[x[:, 0] > 0]).size(),
        lambda x: tf.reduce_all(tf.squeeze(tf.expand_dims(x[x > 0], 0), 0) > 0),
        lambda x: tf.math.bincount(tf.cast(x * x, tf.int32)),
        lambda x: tf.math.bincount(tf.cast(x * x, tf.int32), minlength=5, maxlength=5),
        lambda x: tf.math.bincount(tf.cast(x * x, tf.int32), x, minlength=9),
    ],
)
def test_operations_on_tensors_of_dynamic_size(program: Any) -> None:
    check(program, (ROWS,), (-ROWS,))


@pytest.mark.parametrize("axis", [0, 1])
def test_squeeze_keeps_the_size_of_the_other_axis(axis: int) -> None:
    """The graph does not know either size; an axis that is not 1 is the error of the plan."""
    squeezed = tf.function(
        lambda x: tf.squeeze(x, [axis]), input_signature=[tf.TensorSpec([None, None], tf.float32)]
    )

    def program(x: Any, limit: Any) -> Any:
        few, many = x[:, 0][x[:, 0] > limit], x[x > 0]
        return squeezed(few[None] * many[:, None] if axis else few[:, None] * many[None])

    column = np.float32([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    check(program, (column, np.float32(4.0)))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=f"squeeze dim.{axis}., expected a dimension of 1, got 2"
    ):
        tf.function(program, jit_compile=True)(column, np.float32(2.0))


@pytest.mark.parametrize(
    "program",
    [
        lambda x: tf.reduce_sum(x[x > 0] ** 2),
        lambda x: tf.reduce_mean(tf.exp(x[x[:, 0] > 0]) * [1.0, 2.0, 3.0, 4.0]),
        lambda x: tf.reduce_sum(tf.cumsum(x[x > 0])[1:] * x[x > 0][0]),
        lambda x: tf.reduce_sum(tf.gather(x, tf.where(x[:, 0] > 0)[:, 0]) ** 3),
        lambda x: tf.reduce_sum(tf.matmul(x[x[:, 0] > 0], x, transpose_b=True) ** 2),
        lambda x: tf.reduce_sum(tf.nn.softmax(x[x > 0]) * x[x > 0]),
        lambda x: tf.reduce_sum(tf.stack(halved_until_small(x)) ** 2),
        lambda x: tf.reduce_sum(tf.concat([x[x > 0], x[0]], 0) ** 2),
    ],
)
def test_gradients(program: Any) -> None:
    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = program(x)
        return y, tape.gradient(y, x)

    check(gradient, (ROWS,), (-ROWS,))


def halved_until_small(x: Any) -> Any:
    seen = [x]
    while tf.reduce_max(tf.abs(seen[-1])) > 0.1:
        seen.append(seen[-1] * 0.5)
    return seen


def test_many_values_of_an_integer_share_one_compilation() -> None:
    graph = tf.function(lambda n: tf.range(n) * 2).get_concrete_function(tf.constant(1) + 0).graph
    native = JitFunction(graph)
    for n in range(12):
        assert native.run([np.int32(n)])[0].tolist() == list(range(0, 2 * n, 2))
    assert native.by_value == () and len(native._code) == 1


def test_results_may_be_empty() -> None:
    def statistics(x: Any, least: Any) -> Any:
        y = x[x > least]
        return y, tf.reduce_sum(y), tf.reduce_max(y), tf.reduce_mean(tf.cast(y, tf.int32)), tf.sort(y) * 2

    check(statistics, (NUMBERS, np.float32(9.0)), (NUMBERS, np.float32(-9.0)))


def test_sums_of_many_elements_are_accurate() -> None:
    """Blocks of 1,024 numbers are added up in several lanes: so many roundings, all one way at worst."""
    lanes = min(8, vector_bytes() // 4)
    x = np.full(3_000_001, 0.1, np.float32)
    graph = tf.function(lambda x: tf.reduce_sum(x[x > 0])).get_concrete_function(x).graph
    (found,) = JitFunction(graph).run([x])
    assert found == pytest.approx(float(x[0]) * x.size, rel=1024 / lanes * 2**-24)


# Sizes that meet


def test_equal_dynamic_sizes_match_and_others_raise_the_plans_error(given_up: list[str]) -> None:
    def product(x: Any, y: Any) -> Any:
        return x[x > 0] * y[y > 0]

    check(product, (NUMBERS, NUMBERS), (NUMBERS, NUMBERS * 2))
    one = np.zeros(40, np.float32)
    one[3] = 5.0
    check(product, (NUMBERS, one), by_plan=True)  # one element is broadcast
    given_up.clear()
    two = one.copy()
    two[4] = 5.0
    graph = tf.function(product).get_concrete_function(NUMBERS, NUMBERS).graph
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)multiply.*test_dynamic_sizes.py"):
        JitFunction(graph).run([NUMBERS, two])


@pytest.mark.parametrize(
    "program, error",
    [
        (lambda x, k: x[x > 0][k], "getitem"),
        (lambda x, k: tf.reshape(x[x > 0], [k, 3]), "reshape"),
        (lambda x, k: tf.argmax(x[x > 99]) + tf.cast(k, tf.int64), "argmax"),
        (lambda x, k: tf.zeros([tf.size(x[x > 0]) - 2 * k]), "zeros|fill"),
    ],
)
def test_errors_are_the_plans(program: Any, error: str) -> None:
    function = tf.function(program, jit_compile=True)
    with pytest.raises((tf.errors.OpError, ValueError), match=error):
        function(tf.constant(NUMBERS), tf.constant(30))


def test_variables_keep_their_values_when_a_run_fails() -> None:
    v = tf.Variable([1.0, 2.0])

    @tf.function(jit_compile=True)
    def replace(x: Any, n: Any) -> Any:
        rows = []
        while n > 0:
            rows.append(v * tf.cast(n, tf.float32))
            n -= 1
        v.assign(tf.reduce_sum(tf.stack(rows), 0))
        tf.debugging.assert_less(v, 50.0)
        return x[x > v[0]]

    assert replace(tf.constant(NUMBERS), tf.constant(3)).shape == [0]
    assert v.numpy().tolist() == [6.0, 12.0]
    with pytest.raises(tf.errors.InvalidArgumentError):
        replace(tf.constant(NUMBERS), tf.constant(5))


def test_memory_is_freed() -> None:
    @tf.function(jit_compile=True)
    def collected(n: Any, divisor: Any) -> Any:
        rows = []
        for i in tf.range(n):
            rows.append(tf.ones([100]) * tf.cast(i, tf.float32))
        table = tf.stack(rows)
        return table, table[table[:, 0] > 5], n // divisor

    def use(rounds: int) -> int:
        for k in range(rounds):
            table, chosen, _ = collected(tf.constant(20 + k % 3), tf.constant(1))
            assert table[7, 3] == 7 and chosen[0, 0] == 6
            with pytest.raises(tf.errors.InvalidArgumentError):
                collected(tf.constant(20), tf.constant(0))
        del table, chosen
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = use(5)
        assert use(40) - before < 40 * 1000
    finally:
        tracemalloc.stop()


def test_operations_without_dynamic_code_call_kernels() -> None:
    diagonal = tf.function(lambda x: tf.linalg.diag(x[x > 0]))
    expected = diagonal(ROWS)
    (found,) = JitFunction(diagonal.get_concrete_function(ROWS).graph).run([ROWS])
    np.testing.assert_array_equal(found, expected)


def test_a_rank_that_depends_on_values_is_refused() -> None:
    graph = tf.function(lambda x: tf.zeros(x[x > 0])).get_concrete_function(tf.constant([2, 0, 1])).graph
    with pytest.raises(CompilationError, match="depends on values"):
        JitFunction(graph).run([np.array([2, 0, 1], np.int32)])


def test_gradients_of_products_of_some_elements() -> None:
    """What is added to the gradient has no size beforehand either."""

    def gradient(x: Any, n: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.constant(0.0)
            for i in tf.range(n):
                y += tf.reduce_prod(x[: i + 1])
        return tape.gradient(y, x)

    check(gradient, (NUMBERS, 3), (NUMBERS, 0), (NUMBERS[:5], 5))


def test_batch_axes_of_products_may_be_different_registers_of_the_same_size() -> None:
    def product(x: Any, mask: Any, other: Any) -> Any:
        chosen = tf.boolean_mask(x, mask)
        again = tf.reshape(other, (-1, tf.shape(chosen)[1], 2))
        return tf.matmul(chosen, tf.boolean_mask(again, mask), transpose_b=True)

    rows = np.arange(24, dtype=np.float32).reshape(4, 3, 2)
    for mask in ([True, False, True, True], [False] * 3 + [True], [True] * 4):
        check(product, (rows, np.array(mask), rows.reshape(-1) + 1))


def test_a_range_that_ends_before_its_start_is_an_error() -> None:
    native = check(lambda n: tf.range(n, 9), (1,), (2,), (3,), (4,), (5,), (9,))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Requires start <= limit"):
        native.run([np.asarray(10, np.int32)])
