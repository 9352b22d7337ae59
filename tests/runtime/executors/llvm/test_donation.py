"""New values of variables are computed in the memory of the old ones, where nothing else reads these."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors.llvm import compile_graph
from agc.runtime.executors.llvm.codegen import early_outputs, materialization, output_groups
from agc.runtime.executors.llvm.compilation_unit import CompilationUnit
from agc.runtime.ops.state import own_arrays

ROWS = 160  # a variable of so many rows and columns is large
INITIAL = np.random.default_rng(0).standard_normal((2, ROWS, ROWS))


@pytest.fixture(autouse=True)
def everything_is_stored_early(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(early_outputs, "BIG", 0)
    yield


@pytest.fixture
def no_other_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the threads of the test runner: while others run, copies are overwritten."""
    monkeypatch.setattr(own_arrays, "is_alone", lambda: True)


Update = Callable[[tf.Variable, tf.Variable], Any]


def overwritten(update: Update) -> int:
    """Return how many variables the native code of an update overwrites."""
    v, w = map(tf.Variable, INITIAL)
    graph = tf.function(lambda: update(v, w)).get_concrete_function().graph
    plain, assigned = compile_graph.prepared(graph)
    return len(compile_graph.lowered(plain, [value.spec for value in plain.inputs], assigned).overwritten)


def momentum(v: Any, w: Any) -> None:
    v.assign(0.9 * v + tf.sin(w))
    w.assign_sub(0.1 * v)


def from_products(v: Any, w: Any) -> Any:
    product = tf.matmul(v, w, transpose_b=True)
    v.assign_sub(0.001 * product)
    return tf.reduce_sum(tf.matmul(product, w))


def centered(v: Any, w: Any) -> None:
    v.assign(v - tf.reduce_mean(v, 0))


def returns_the_old(v: Any, w: Any) -> Any:
    old = v.value()
    v.assign_add(w)
    return old


def returns_the_new(v: Any, w: Any) -> Any:
    return v.assign(tf.exp(v)), tf.reduce_sum(v)


def transposed(v: Any, w: Any) -> None:
    v.assign(tf.transpose(v) + 1.0)


def half_transposed(v: Any, w: Any) -> None:
    v.assign(v + tf.transpose(v))


def reversed_rows(v: Any, w: Any) -> None:
    v.assign(2.0 * v[::-1])


def shifted(v: Any, w: Any) -> None:
    v.assign(tf.concat([v[1:], v[:1]], 0) * 2.0)


def first_row_added(v: Any, w: Any) -> None:
    v.assign(v + v[0])


def exchanged(v: Any, w: Any) -> None:
    old = v.value()
    v.assign(w + 0.0)
    w.assign(old * 1.0)


def read_in_a_cheap_view(v: Any, w: Any) -> None:
    old = v + 1.0
    v.assign(tf.sin(old))
    w.assign(tf.matmul(tf.transpose(old), w))


def in_a_loop(v: Any, w: Any) -> None:
    for _ in tf.range(3):
        v.assign_add(0.5 * w)
        w.assign(tf.tanh(w + v))


def in_a_branch(v: Any, w: Any) -> None:
    if tf.reduce_sum(v) > 0.0:
        v.assign(tf.exp(v))
    else:
        w.assign_add(v)
    v.assign_add(w)


def checked_behind(v: Any, w: Any) -> Any:
    v.assign_add(tf.sin(v))
    return tf.gather(w, tf.cast(tf.reduce_max(tf.abs(w)) * 0.0, tf.int32))


ROW_NUMBERS = [7, 3, 7, ROWS - 1]


def distinct_rows(v: Any, w: Any) -> None:
    rows, _ = tf.unique(tf.constant(ROW_NUMBERS))
    old = tf.gather(v, rows)
    v.scatter_sub(tf.IndexedSlices(0.1 * old, rows))
    w.scatter_update(tf.IndexedSlices(old * tf.gather(w, rows), rows))


def elements_of_both(v: Any, w: Any) -> None:
    places = tf.constant([[1, 2], [3, 4], [1, 2]])
    v.scatter_nd_add(places, tf.reduce_sum(w, 0)[:3])
    w.assign(tf.tensor_scatter_nd_update(w, places[:2], tf.reduce_sum(w, 1)[:2]))


def rows_from_itself(v: Any, w: Any) -> None:
    v.scatter_add(tf.IndexedSlices(v.value(), tf.range(ROWS)[::-1]))


def rows_and_a_later_reader(v: Any, w: Any) -> Any:
    old = v.value()
    v.scatter_sub(tf.IndexedSlices(w[:4], tf.constant(ROW_NUMBERS)))
    w.scatter_add(tf.IndexedSlices(w[:4], tf.constant(ROW_NUMBERS)))
    return tf.matmul(old, w)


#         update                variables overwritten at the least and at the most
UPDATES: list[tuple[Update, int, int]] = [
    (momentum, 2, 2),
    (from_products, 1, 1),
    (centered, 1, 1),
    (returns_the_old, 0, 0),
    (returns_the_new, 0, 1),
    (transposed, 0, 0),
    (half_transposed, 0, 0),
    (reversed_rows, 0, 0),
    (shifted, 0, 1),
    (first_row_added, 0, 0),
    (exchanged, 0, 1),
    (read_in_a_cheap_view, 0, 1),
    (in_a_loop, 0, 2),
    (in_a_branch, 0, 2),
    (checked_behind, 1, 1),
    (distinct_rows, 2, 2),
    (elements_of_both, 2, 2),
    (rows_from_itself, 0, 0),
    (rows_and_a_later_reader, 1, 2),
]


@pytest.mark.parametrize(("update", "least", "most"), UPDATES)
def test_only_values_that_nothing_else_reads_are_overwritten(update: Update, least: int, most: int) -> None:
    assert least <= overwritten(update) <= most


@pytest.mark.parametrize("update", [row[0] for row in UPDATES])
def test_updates_equal_those_of_eager_code(update: Update) -> None:
    given, wanted = ([tf.Variable(x) for x in INITIAL] for _ in range(2))
    native = tf.function(update, jit_compile=True)
    for _ in range(3):
        found, expected = native(*given), update(*wanted)
        if found is not None:
            tf.nest.map_structure(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-9), found, expected)
        for variable, like in zip(given, wanted, strict=True):
            np.testing.assert_allclose(variable, like, rtol=1e-9)


@pytest.mark.usefixtures("no_other_threads")
def test_many_variables_are_overwritten() -> None:
    variables = [tf.Variable(INITIAL[0] + i) for i in range(70)]

    @tf.function(jit_compile=True)
    def halves() -> Any:
        for i, variable in enumerate(variables):
            variable.assign(variable * 0.5 + float(i))
        return tf.reduce_max(variables[0])

    halves(), halves()
    before = [address(variable) for variable in variables]
    halves()
    assert [address(variable) for variable in variables] == before
    for i, variable in enumerate(variables):
        np.testing.assert_allclose(variable, (INITIAL[0] + i) / 8 + 1.75 * i, rtol=1e-12)


def address(variable: tf.Variable) -> int:
    return variable._array.ctypes.data


@pytest.mark.usefixtures("no_other_threads")
def test_a_variable_keeps_its_array() -> None:
    v, w = map(tf.Variable, INITIAL.copy())
    step = tf.function(momentum, jit_compile=True)
    step(v, w)
    before = address(v), address(w)
    step(v, w)
    assert (address(v), address(w)) == before


def test_arrays_in_another_order_are_copied() -> None:
    v, w = tf.Variable(INITIAL[0]), tf.Variable(INITIAL[1].T * 2.0)
    before = v.numpy(), w.numpy()
    step = tf.function(momentum, jit_compile=True)
    for _ in range(2):
        step(v, w)
        before = (wanted := 0.9 * before[0] + np.sin(before[1])), before[1] - 0.1 * wanted
        np.testing.assert_allclose(v, before[0], rtol=1e-9)
        np.testing.assert_allclose(w, before[1], rtol=1e-9)


def test_values_that_were_read_before_a_step_stay() -> None:
    v, w = map(tf.Variable, INITIAL.copy())
    step = tf.function(momentum, jit_compile=True)
    step(v, w)
    read, seen, view = v.value(), v.numpy(), np.asarray(w.value()._array[1:])
    before = np.array(view)
    step(v, w)
    np.testing.assert_array_equal(read, seen)
    np.testing.assert_array_equal(view, before)
    assert not np.array_equal(v, seen)


def test_a_copy_is_overwritten_while_other_threads_could_read() -> None:
    v, w = map(tf.Variable, INITIAL.copy())
    step = tf.function(momentum, jit_compile=True)
    step(v, w)
    before, end = address(v), threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        wanted = 0.9 * v.numpy() + np.sin(w.numpy())
        step(v, w)
        assert address(v) != before
        np.testing.assert_allclose(v, wanted, rtol=1e-9)
    finally:
        end.set()
        thread.join()


def test_indices_are_checked_before_variables_are_overwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradient of a gather writes to the rows that have been read, and needs no check of its own."""
    tries: list[bool] = []
    unit = CompilationUnit.__init__
    monkeypatch.setattr(
        CompilationUnit, "__init__", lambda *arguments: (tries.append(True), unit(*arguments))[1]
    )
    table, w = map(tf.Variable, INITIAL)

    @tf.function(jit_compile=True)
    def step(tokens: Any) -> Any:
        with tf.GradientTape() as tape:
            rows = tf.gather(table, tokens)
            loss = tf.reduce_sum(tf.matmul(rows, w)[1:] ** 2)
        by_table, by_w = tape.gradient(loss, [table, w])
        w.assign_sub(0.001 * by_w)
        table.assign_sub(0.001 * tf.convert_to_tensor(by_table))
        return loss

    eager = step.python_function
    for tokens in ([3, 0, 3], [1, ROWS - 1, 2]):
        before = table.numpy(), w.numpy()
        expected, wanted = eager(tf.constant(tokens)), (table.numpy(), w.numpy())
        table.assign(before[0]), w.assign(before[1])
        np.testing.assert_allclose(step(tf.constant(tokens)), expected, rtol=1e-9)
        np.testing.assert_allclose([table, w], wanted, rtol=1e-9)
    assert len(tries) == 1
    before = table.numpy(), w.numpy()
    for tokens in ([ROWS, 0, 1], [0, -1, 0]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="indices"):
            step(tf.constant(tokens))
    np.testing.assert_array_equal([table, w], before)


@pytest.mark.parametrize("wrong", [ROWS, -1])
def test_indices_of_all_scatters_are_checked_before_a_variable_is_overwritten(wrong: int) -> None:
    v, w = map(tf.Variable, INITIAL)

    @tf.function(jit_compile=True)
    def step(rows: Any, places: Any) -> None:
        kept, _ = tf.unique(rows)
        w.scatter_nd_sub(places, tf.gather(v, places[:, 0])[:, 0])
        v.scatter_add(tf.IndexedSlices(tf.gather(w, kept), kept))

    step(tf.constant([1, 2, 1]), tf.constant([[0, 1]]))
    before = v.numpy(), w.numpy()
    with pytest.raises(tf.errors.InvalidArgumentError):
        step(tf.constant([1, 2, 1]), tf.constant([[0, wrong]]))
    np.testing.assert_array_equal([v, w], before)


def test_rows_that_are_too_few_or_broadcast_are_refused_also_by_native_code() -> None:
    v = tf.Variable(INITIAL[0])

    @tf.function(jit_compile=True)
    def step(rows: Any, count: Any) -> None:
        kept, _ = tf.unique(rows)
        v.scatter_update(tf.IndexedSlices(tf.ones([count, ROWS], v.dtype), kept))

    step(tf.constant([1, 2, 1]), tf.constant(2))
    np.testing.assert_array_equal(v[1:3], np.ones((2, ROWS)))
    for count in (1, 3):
        with pytest.raises(tf.errors.InvalidArgumentError):
            step(tf.constant([5, 4, 4]), tf.constant(count))
    np.testing.assert_array_equal(v[3:], INITIAL[0][3:])


def test_failed_checks_leave_variables_unchanged() -> None:
    """Overwrite variables after the last check, also if the check follows the update in the program."""
    v = tf.Variable(INITIAL[0])
    w = tf.constant([1.0, 2.0])

    @tf.function(jit_compile=True)
    def step(i: Any) -> Any:
        chosen = tf.gather(w, i)
        v.assign_add(tf.sin(v))
        return chosen

    step(tf.constant(1))
    before = v.numpy()
    with pytest.raises(tf.errors.InvalidArgumentError):
        step(tf.constant(2))
    np.testing.assert_array_equal(v, before)


def test_gradients_die_before_the_next_ones_are_computed() -> None:
    """Hold one gradient at a time, although the program computes all of them before it updates variables."""
    layers, width = 6, 200
    weights = [tf.Variable(np.eye(width)) for _ in range(layers)]
    moments = [tf.Variable(np.zeros((width, width))) for _ in range(layers)]

    def step(x: Any) -> None:
        with tf.GradientTape() as tape:
            y = x
            for weight in weights:
                y = tf.matmul(y, weight)
            loss = tf.reduce_sum(y)
        for gradient, weight, moment in zip(tape.gradient(loss, weights), weights, moments, strict=True):
            moment.assign_add(0.1 * (gradient - moment))
            weight.assign_sub(0.1 * moment)

    graph = tf.function(step).get_concrete_function(tf.TensorSpec([4, width], tf.float64)).graph
    plain, assigned = compile_graph.prepared(graph)
    unit = compile_graph.lowered(plain, [value.spec for value in plain.inputs], assigned)
    assert len(unit.overwritten) == 2 * layers
    assert sum(slot.size for slot in unit.slots) < 2 * 8 * width**2


def test_many_variables_of_a_shape_are_updated_by_several_nests(monkeypatch: pytest.MonkeyPatch) -> None:
    """One loop over all of them would be too large for vectors."""
    sizes: list[int] = []
    compute = materialization.Values.compute

    def counted(region: Any, wanted: Any) -> None:
        sizes.append(len(wanted))
        compute(region, wanted)

    monkeypatch.setattr(materialization.Values, "compute", counted)
    variables = [tf.Variable(row) for row in np.ones((50, 2_000))]

    @tf.function(jit_compile=True)
    def update(x: tf.Tensor) -> None:
        for number, variable in enumerate(variables):
            variable.assign_add(x * (number + 1))

    update(tf.ones([2_000], tf.float64))
    assert max(sizes) <= output_groups.MOST and sum(sizes) == 50
    assert [float(variable[7]) for variable in variables] == [2.0 + number for number in range(50)]
