"""Checkpoints of TensorFlow: those that it wrote, and those that are written for it."""

import os
from pathlib import Path

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.formats.tensorflow.bundle import write_bundle
from agc.runtime.formats.tensorflow.object_messages import GRAPH_KEY, TrackableObjectGraph
from tensorflow_formats.reading.check import check_checkpoint, values_of
from tensorflow_formats.reading.checkpoints import OBJECTS

FILES = Path(__file__).parents[3] / "fixtures" / "tensorflow_files" / "checkpoints"
TREE = str(FILES / "tree" / "ckpt")
TENSORFLOW = tf.train.CheckpointOptions(experimental_format="tensorflow")


@pytest.mark.parametrize("folder", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_files_of_tensorflow_have_its_values(folder, tmp_path):
    assert check_checkpoint(folder.name, folder, tmp_path / "ours") == []


def test_variables_get_values_by_name():
    objects = {
        "a": tf.Variable(np.zeros((2, 2), "float32"), name="layer/w"),
        "rows": tf.Variable(np.zeros((10, 3), "float32"), name="emb"),
        "step": tf.Variable(0, dtype=tf.int64, name="step"),
    }
    checkpoint = tf.train.Checkpoint(**objects)
    status = checkpoint.read(str(FILES / "named" / "ckpt")).assert_consumed()
    status.assert_nontrivial_match()
    assert int(objects["step"]) == 7
    assert objects["rows"].numpy().tolist() == [[2.5] * 3] * 10


def test_names_without_a_value_or_a_variable_are_told():
    checkpoint = tf.train.Checkpoint(other=tf.Variable(1.0, name="other"))
    status = checkpoint.read(str(FILES / "named" / "ckpt"))
    with pytest.raises(AssertionError, match=r"no object in the program uses .* emb, layer/w, step"):
        status.assert_consumed()
    with pytest.raises(AssertionError, match="no part of the object was found"):
        status.assert_nontrivial_match()
    with pytest.raises(AssertionError, match="has no values for these variables: other"):
        status.expect_partial().assert_existing_objects_matched()


def test_parts_are_restored_now_and_when_they_are_made():
    model = tf.Module()
    model.again = tf.Variable(np.zeros((2, 2), "float32"))
    status = tf.train.Checkpoint(model=model).read(TREE).expect_partial()
    assert model.again.numpy().tolist() == [[3.0, 3.25], [3.5, 3.75]]
    model.named = {"a/b": tf.Variable(0.0)}
    assert float(model.named["a/b"]) == 6.0
    status.assert_existing_objects_matched()
    with pytest.raises(AssertionError, match=r"no object in the program uses .* step"):
        status.assert_consumed()


def test_a_variable_of_another_shape_or_dtype_is_named():
    with pytest.raises(ValueError, match=r"cannot restore `step` from .* int64\[\]"):
        tf.train.Checkpoint(step=tf.Variable([1, 2], dtype=tf.int64)).read(TREE)
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot restore `step`"):
        tf.train.Checkpoint(step=tf.Variable(1.0)).read(TREE)


def test_a_manager_writes_and_restores_the_format_of_tensorflow(tmp_path):
    step = tf.Variable(0)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(step=step), tmp_path, max_to_keep=2)
    for number in range(3):
        step.assign(number)
        manager.save(options=TENSORFLOW)
    assert sorted(path.name for path in tmp_path.glob("ckpt-*")) == [
        "ckpt-2.data-00000-of-00001", "ckpt-2.index", "ckpt-3.data-00000-of-00001", "ckpt-3.index",
    ]  # fmt: skip
    step.assign(-1)
    assert manager.restore_or_initialize() == str(tmp_path / "ckpt-3")
    assert int(step) == 2


def test_a_checkpoint_is_replaced_by_one_of_the_other_format(tmp_path):
    prefix = str(tmp_path / "ckpt")
    variable = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(v=variable)
    for number, options in enumerate([None, None, TENSORFLOW, None, TENSORFLOW, TENSORFLOW]):
        variable.assign(number)
        checkpoint.write(prefix, options)
        variable.assign(-1)
        checkpoint.read(prefix).assert_consumed()
        assert float(variable) == number
    # In TensorFlow's format, data that replace others have the name of the first of two files.
    assert sorted(path.name for path in tmp_path.glob("ckpt*")) == ["ckpt.data-00000-of-00002", "ckpt.index"]


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_writer_that_ends_before_the_index_is_written_leaves_the_old_checkpoint(
    times, tmp_path, monkeypatch
):
    prefix, variable = str(tmp_path / "ckpt"), tf.Variable(0.0)
    checkpoint = tf.train.Checkpoint(v=variable)
    for number in range(1, 1 + times):
        variable.assign(number)
        checkpoint.write(prefix, TENSORFLOW)
    replace = os.replace

    def interrupted(source, target):
        if str(target).endswith(".index"):
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(os, "replace", interrupted)
    variable.assign(-1)
    with pytest.raises(KeyboardInterrupt):
        checkpoint.write(prefix, TENSORFLOW)
    checkpoint.read(prefix).assert_consumed()
    assert float(variable) == times
    assert len([path for path in tmp_path.iterdir() if "data" in path.name]) == 1


def test_a_folder_in_the_place_of_the_index_is_no_missing_checkpoint(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).save(tmp_path / "ckpt", TENSORFLOW)
    (tmp_path / "ckpt-1.index").unlink()
    (tmp_path / "ckpt-1.index").mkdir()
    assert tf.train.latest_checkpoint(tmp_path) == path
    with pytest.raises((OSError, tf.errors.OpError), match=r"ckpt-1\.index"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).restore(path)


def test_an_unknown_format_is_refused():
    with pytest.raises(ValueError, match="experimental_format is None or 'tensorflow', not 'hdf5'"):
        tf.train.CheckpointOptions(experimental_format="hdf5")


def test_written_checkpoints_have_the_keys_of_tensorflow(tmp_path):
    checkpoint = tf.train.Checkpoint(**OBJECTS["tree"](tf, 1))
    checkpoint.write(tmp_path / "ckpt", TENSORFLOW)
    assert values_of(str(tmp_path / "ckpt"))["dict"].keys() == values_of(TREE)["dict"].keys()


GRAPHS = {
    "names no objects": TrackableObjectGraph(),
    "children .* are not among 1 objects": TrackableObjectGraph(
        nodes=[{"children": [{"node_id": 7, "local_name": "v"}]}]
    ),
    "no value for the key 'x'": TrackableObjectGraph(
        nodes=[{"attributes": [{"name": "VARIABLE_VALUE", "checkpoint_key": "x"}]}]
    ),
}


@pytest.mark.parametrize("message", GRAPHS)
def test_a_damaged_object_graph_is_named(message, tmp_path):
    graph = np.array(GRAPHS[message].SerializeToString(), object)
    write_bundle(f"{tmp_path}/ckpt", {GRAPH_KEY: graph})
    with pytest.raises(tf.errors.DataLossError, match=rf"ckpt.index is damaged: .*{message}"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).read(tmp_path / "ckpt")
