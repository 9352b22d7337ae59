"""Export to StableHLO: what `jax.export` reads again gives the results of agc."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import jax.export
import numpy as np
import pytest


def dense(x: Any) -> Any:
    return tf.nn.softmax(tf.nn.relu(tf.matmul(x, tf.ones([3, 2])) + 1.0))


def test_unknown_sizes_are_symbolic(tmp_path: Any) -> None:
    path = tmp_path / "dense.stablehlo"
    spec = tf.TensorSpec([None, 3], name="x")
    program = tf.export.stablehlo(dense, path, [spec], dynamic_axes={"x": {0: "batch"}})
    assert all(each.agrees for each in tf.export.verify(program, path))
    exported = jax.export.deserialize(bytearray(path.read_bytes()))
    assert str(exported.in_avals) == "(ShapedArray(float32[batch,3]),)"
    assert "stablehlo.dot_general" in exported.mlir_module()
    (result,) = exported.call(np.ones((5, 3), np.float32))
    np.testing.assert_allclose(result, np.full((5, 2), 0.5))


def test_embeddings_of_unknown_batches_are_exported(tmp_path: Any) -> None:
    table = tf.Variable(tf.reshape(tf.range(20.0), [5, 4]))
    path = tmp_path / "embedded.stablehlo"
    spec = tf.TensorSpec([None, 2], tf.int32, name="ids")
    tf.export.stablehlo(lambda ids: tf.gather(table, ids), path, [spec], dynamic_axes={"ids": {0: "batch"}})
    exported = jax.export.deserialize(bytearray(path.read_bytes()))
    ids = np.array([[0, 4], [2, 2], [1, 3]], np.int32)
    failed, rows = exported.call(ids)
    assert not failed
    np.testing.assert_array_equal(rows, table.numpy()[ids])


def recurrent(x: Any) -> Any:
    length = tf.shape(x)[1]
    state = tf.zeros([tf.shape(x)[0], 3])
    states = tf.TensorArray(tf.float32, size=length)
    for i in tf.range(length):
        state = tf.tanh(x[:, i] + state)
        states = states.write(i, state)
    return tf.transpose(states.stack(), [1, 0, 2])


def attention(x: Any) -> Any:
    batch, length = tf.unstack(tf.shape(x)[:2])
    heads = tf.transpose(tf.reshape(x, [batch, length, 3, -1]), [0, 2, 1, 3])
    mask = tf.linalg.band_part(tf.ones([length, length]), -1, 0)
    weights = tf.nn.softmax(heads @ tf.linalg.matrix_transpose(heads)) * mask
    found = tf.reshape(tf.transpose(weights @ heads, [0, 2, 1, 3]), [batch * length, -1])
    return found, tf.gradients(tf.reduce_mean(found), x)[0]


@pytest.mark.parametrize("function", [recurrent, attention])
def test_shapes_are_computed_from_symbolic_sizes(function: Any, tmp_path: Any) -> None:
    path = tmp_path / "f.stablehlo"
    axes = {"x": {0: "batch", 1: "length"}}
    tf.export.stablehlo(function, path, [tf.TensorSpec([None, None, 3], name="x")], dynamic_axes=axes)
    exported = jax.export.deserialize(bytearray(path.read_bytes()))
    for shape in [(1, 4, 3), (5, 2, 3)]:
        x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
        expected = tf.nest.flatten(tf.function(function)(x))
        found = exported.call(x)[-len(expected) :]
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_assigned_variables_are_inputs_and_results(tmp_path: Any) -> None:
    factor, count = tf.Variable(2.0), tf.Variable(5)

    def counted(x: Any, i: Any) -> Any:
        count.assign_add(1)
        return x[i] * factor

    path = tmp_path / "counted.stablehlo"
    program = tf.export.stablehlo(counted, path, [tf.constant([1.0, 4.0]), tf.constant(1)])
    assert [str(each) for each in tf.export.verify(program, path)] == [
        "output_0: agrees, largest difference 0"
    ]
    exported = jax.export.deserialize(bytearray(path.read_bytes()))
    failed, result, following = exported.call(np.float32([1, 4]), np.int32(1), np.int32(5))
    assert (bool(failed), float(result), int(following)) == (False, 8.0, 6)
    with pytest.raises(tf.errors.InvalidArgumentError, match="a check of `counted` has failed"):
        tf.export.verify(program, path, [np.float32([1, 4]), np.int32(7)])


def refused_print(x: Any) -> Any:
    tf.print(x)
    return x


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: x + tf.random.normal([2]), "it draws from a random stream of this process"),
        (lambda x: tf.unique(x).y, "unique: the shape of its result, float32"),
        (refused_print, "it prints, which an exported program cannot"),
    ],
)
def test_programs_that_xla_cannot_run_are_refused(function: Any, reason: str, tmp_path: Any) -> None:
    with pytest.raises(tf.export.CannotExportError, match=reason):
        tf.export.stablehlo(function, tmp_path / "f.stablehlo", [tf.TensorSpec([2])])


def test_ranks_and_needed_sizes_must_be_known(tmp_path: Any) -> None:
    with pytest.raises(tf.export.CannotExportError, match="the rank of `x` is unknown"):
        tf.export.stablehlo(lambda x: x, tmp_path / "f.stablehlo", [tf.TensorSpec(None)])
    with pytest.raises(tf.export.CannotExportError, match="must be known"):
        tf.export.stablehlo(
            lambda x: tf.one_hot([0], tf.shape(x)[0]), tmp_path / "f", [tf.TensorSpec([None])]
        )
