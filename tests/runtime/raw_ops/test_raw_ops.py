"""Raw operations give TensorFlow's results: `fixtures/tensorflow/raw_ops.jsonl` has arguments and recorded answers."""

from __future__ import annotations

import itertools
import json
from functools import partial
from pathlib import Path
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.raw_ops import table_reader
from support.each_case import each_case

RECORDED = Path(__file__).parents[3] / "fixtures" / "tensorflow" / "raw_ops.jsonl"
CASES = [json.loads(line) for line in RECORDED.read_text(encoding="utf-8").splitlines()]
BY_NAME = {name: list(rows) for name, rows in itertools.groupby(CASES, lambda case: case[0])}


def read(value: Any) -> Any:
    """A recorded tensor, a list of these, or an attribute."""
    if isinstance(value, list):
        return [read(item) for item in value]
    return tensor(**value) if isinstance(value, dict) else value


def tensor(t: str, v: Any, s: list[int]) -> Any:
    if t == "string":
        return tf.constant(in_bytes(v), tf.string)
    dtype = tf.as_dtype(t).as_numpy_dtype
    if t.startswith("complex"):
        return tf.constant((np.array(v[0]) + 1j * np.array(v[1])).reshape(s).astype(dtype))
    return tf.constant(np.array(v, dtype).reshape(s))


def in_bytes(text: Any) -> Any:
    return [in_bytes(item) for item in text] if isinstance(text, list) else text.encode("latin1")


def check(got: Any, expected: Any) -> None:
    if isinstance(expected, list):
        assert len(got) == len(expected)
        for one, other in zip(got, expected, strict=True):
            check(one, other)
    elif expected is not None:
        wanted = read(expected)
        assert got.dtype == wanted.dtype
        if wanted.dtype.is_floating or wanted.dtype.is_complex:
            np.testing.assert_allclose(got.numpy(), wanted.numpy(), 1e-4, 1e-5)
        else:
            np.testing.assert_array_equal(got.numpy(), wanted.numpy())


@each_case("name", BY_NAME)
def test_results_are_those_of_tensorflow(name: str) -> None:
    for _, arguments, expected in BY_NAME[name]:
        check(getattr(tf.raw_ops, name)(**read_all(arguments)), expected)


def read_all(arguments: dict[str, Any]) -> dict[str, Any]:
    return {key: read(value) for key, value in arguments.items()}


@pytest.mark.parametrize(
    "name",
    ["FusedBatchNormV3", "ImageProjectiveTransformV3", "UniqueV2", "Conv2DBackpropInput", "StringNGrams"],
)
@pytest.mark.parametrize("executor", ["plan", "interpret"])
def test_graphs_give_the_same_results(name: str, executor: str) -> None:
    for _, arguments, expected in BY_NAME[name]:
        given = read_all(arguments)
        fixed = {key: value for key, value in given.items() if not tf.is_tensor(value) or key in ("axis",)}
        operation = partial(getattr(tf.raw_ops, name), **fixed)
        traced = tf.function(applied(operation), experimental_executor=executor)
        got = traced(**{key: value for key, value in given.items() if key not in fixed})
        check(got, expected if isinstance(expected, list) else [expected])


def applied(operation: Any) -> Any:
    """A function of tensors that returns the operation's results in a tuple."""

    def call(**tensors: Any) -> tuple[Any, ...]:
        result = operation(**tensors)
        return tuple(result) if isinstance(result, (list, tuple)) else (result,)

    return call


def test_gradients_pass_through() -> None:
    x = tf.constant(np.linspace(-1, 1, 36, dtype=np.float32).reshape(1, 3, 4, 3))
    shift = tf.constant([[1.0, 0.0, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        moved = tf.raw_ops.ImageProjectiveTransformV3(
            images=x, transforms=shift, output_shape=[3, 4], fill_value=0.0, interpolation="BILINEAR"
        )
        loss = tf.reduce_sum(moved)
    expected = np.ones((1, 3, 4, 3), np.float32)
    expected[:, :, 0] = 0.5
    np.testing.assert_allclose(tape.gradient(loss, x), expected)


class TestVariablesAndTables:
    def test_handles_of_variables(self) -> None:
        v = tf.Variable([1.0, 2.0, 3.0])
        assert tf.raw_ops.AssignAddVariableOp(resource=v.handle, value=tf.ones([3])) is None
        tf.raw_ops.ResourceScatterAdd(resource=v.handle, indices=[0, 2], updates=[10.0, 20.0])
        assert tf.raw_ops.ReadVariableOp(resource=v.handle, dtype=tf.float32).numpy().tolist() == [12, 3, 24]
        assert tf.raw_ops.ResourceGather(
            resource=v.handle, indices=[1], dtype=tf.float32
        ).numpy().tolist() == [3]

    def test_a_traced_function_changes_variables(self) -> None:
        v, speed = tf.Variable(1.0), tf.Variable(0.5)
        step = tf.function(
            lambda g: tf.raw_ops.ResourceApplyMomentum(
                var=v.handle, accum=speed.handle, lr=0.1, grad=g, momentum=0.9
            )
        )
        step(tf.constant(2.0))
        np.testing.assert_allclose([v.numpy(), speed.numpy()], [1 - 0.245, 2.45], rtol=1e-6)

    def test_handles_of_tables(self) -> None:
        table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        handle = table.resource_handle
        tf.raw_ops.LookupTableInsertV2(table_handle=handle, keys=["a"], values=[4])
        found = tf.raw_ops.LookupTableFindV2(
            table_handle=handle, keys=["a", "b"], default_value=tf.constant(7, tf.int64)
        )
        assert found.numpy().tolist() == [4, 7]


class TestNames:
    def test_positional_arguments_are_refused(self) -> None:
        with pytest.raises(TypeError, match=r"Relu only takes keyword args \(possible keys: .*features"):
            tf.raw_ops.Relu([1.0])

    def test_several_results_have_names(self) -> None:
        found = tf.raw_ops.Unique(x=[4, 4, 5])
        assert found.y.numpy().tolist() == [4, 5]
        assert found.idx.numpy().tolist() == [0, 0, 1]

    def test_every_expression_compiles(self) -> None:
        for name in table_reader.definitions():
            assert callable(table_reader.function(name))

    def test_missing_operations_have_a_reason_and_a_substitute(self) -> None:
        with pytest.raises(
            AttributeError, match=r"tf\.raw_ops\.If is not in agc \(control flow .*\)\. Use tf\.cond"
        ):
            _ = tf.raw_ops.If
        listed = [name for _, _, names in table_reader.reasons() for name in names]
        assert len(listed) == len(set(listed)) > 900
        assert not set(listed) & set(table_reader.definitions())


def test_unique_rows_may_be_empty_or_hold_nan() -> None:
    rows = [[1.0, np.nan], [1.0, np.nan], [1.0, 2.0], [1.0, 2.0]]
    assert tf.raw_ops.UniqueV2(x=rows, axis=[0]).idx.numpy().tolist() == [0, 1, 2, 2]
    assert tf.raw_ops.UniqueV2(x=tf.zeros([0, 3]), axis=[0]).y.shape == [0, 3]
    assert tf.raw_ops.UniqueV2(x=tf.zeros([4, 0]), axis=[0]).y.shape == [1, 0]


def test_many_rows_are_compared_in_little_memory() -> None:
    x = tf.range(60_000) % 30_000  # the matrix of all pairs would take 3.6 GB
    found = tf.raw_ops.UniqueWithCountsV2(x=tf.stack([x, -x, x], 1), axis=[0])
    assert found.y[7].numpy().tolist() == [7, -7, 7]
    assert np.array_equal(found.idx, x) and found.count.numpy().tolist() == [2] * 30_000


@pytest.mark.parametrize("dtype", [tf.int8, tf.uint16, tf.int32, tf.int64, tf.uint64])
def test_population_count_of_the_limits_of_a_dtype(dtype: tf.DType) -> None:
    counts = tf.raw_ops.PopulationCount(x=tf.constant([dtype.min, dtype.max, 0, 5], dtype)).numpy().tolist()
    bits = dtype.size * 8
    assert counts == ([1, bits - 1, 0, 2] if dtype.min else [0, bits, 0, 2])


@pytest.mark.parametrize("how", ["eager", "plan", "native"])
def test_gradients_of_batch_normalization_count_its_moments_in(how: str) -> None:
    """The gradients, and those of the gradients, are those of the formula."""

    def by_formula(x: Any, scale: Any, offset: Any) -> Any:
        mean = tf.reduce_mean(x, (0, 1, 2))
        variance = tf.reduce_mean(tf.square(x - mean), (0, 1, 2))
        return (x - mean) * tf.math.rsqrt(variance + 0.1) * scale + offset

    def fused(x: Any, scale: Any, offset: Any) -> Any:
        return tf.raw_ops.FusedBatchNormV3(
            x=x, scale=scale, offset=offset, mean=[], variance=[], epsilon=0.1
        )[0]

    def gradients(layer: Any) -> Any:
        def run(*values: Any) -> Any:
            with tf.GradientTape() as outer:
                outer.watch(values)
                with tf.GradientTape() as tape:
                    tape.watch(values)
                    loss = tf.reduce_sum(tf.sin(layer(*values)))
                first = tape.gradient(loss, values)
                total = tf.add_n([tf.reduce_sum(tf.square(each)) for each in first])
            return [*first, *outer.gradient(total, values)]

        return run

    random = np.random.default_rng(0)
    values = [random.standard_normal(shape, np.float32) for shape in ((3, 2, 2, 4), (4,), (4,))]
    run = gradients(fused)
    if how != "eager":
        run = tf.function(run, jit_compile=how == "native")
    wanted = gradients(by_formula)(*map(tf.constant, values))
    for found, value in zip(run(*map(tf.constant, values)), wanted, strict=True):
        np.testing.assert_allclose(found, value, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("boundaries", [[1.0, 0.5], [0.0, float("nan"), 1.0]])
def test_boundaries_that_are_not_sorted_are_refused(boundaries: list[float]) -> None:
    with pytest.raises(ValueError, match="Expected sorted boundaries"):
        tf.raw_ops.Bucketize(input=[1.0, 2.0], boundaries=boundaries)


def test_axes_and_places_outside_and_empty_lists_are_refused() -> None:
    """They do not wrap around, as remainders would."""
    raw, places = tf.raw_ops, tf.constant([[1, 1], [0, 0]], tf.int64)
    shapes = [[2, 3], [2, 4]]
    assert [each.numpy().tolist() for each in raw.ConcatOffset(concat_dim=-1, shape=shapes)] == [
        [0, 0],
        [0, 3],
    ]
    assert raw.DataFormatDimMap(x=[-1, -4, 0, 3]).numpy().tolist() == [1, 0, 0, 1]
    one_column = raw.SparseDenseCwiseAdd(
        sp_indices=places, sp_values=[1.0, 10.0], sp_shape=[2, 2], dense=[[1.0], [2.0]]
    )
    assert one_column.numpy().tolist() == [3.0, 11.0]
    for call in (
        lambda: raw.AddN(inputs=[]),
        lambda: raw.ConcatOffset(concat_dim=2, shape=shapes),
        lambda: raw.DataFormatDimMap(x=[4]),
        lambda: raw.DataFormatDimMap(x=[-5]),
        lambda: raw.UniqueV2(x=[[1.0]], axis=[2]),
        lambda: raw.UniqueV2(x=1.0, axis=[0]),
        lambda: raw.SparseDenseCwiseMul(
            sp_indices=places + 1, sp_values=[1.0, 1.0], sp_shape=[3, 3], dense=[1.0, 2.0]
        ),
        lambda: raw.SparseDenseCwiseMul(sp_indices=places[0], sp_values=[1.0], sp_shape=[3], dense=[1.0]),
    ):
        with pytest.raises(
            (tf.errors.InvalidArgumentError, ValueError), match=r"axis|not in|index|axes|at least"
        ):
            call()
