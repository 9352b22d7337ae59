"""Files of TensorFlow are no damaged files of agc: each reader says whose they are."""

import agc.runtime as tf
import pytest

INDEX_END = bytes(40) + bytes.fromhex("57fb808b247547db")  # as each table of TensorFlow's ends

READERS = {
    "Checkpoint.read": lambda prefix: tf.train.Checkpoint(v=tf.Variable(1.0)).read(prefix),
    "Checkpoint.restore": lambda prefix: tf.train.Checkpoint(v=tf.Variable(1.0)).restore(prefix),
    "load_checkpoint": tf.train.load_checkpoint,
    "list_variables": tf.train.list_variables,
}


@pytest.mark.parametrize("reader", READERS)
def test_a_checkpoint_of_tensorflow_is_named(reader, tmp_path):
    (tmp_path / "x.index").write_bytes(b"\x00\x14\x08" + INDEX_END)
    (tmp_path / "x.data-00000-of-00001").write_bytes(bytes(90))
    with pytest.raises(tf.errors.UnimplementedError, match=r"x\.index belongs to a checkpoint of TensorFlow"):
        READERS[reader](str(tmp_path / "x"))


@pytest.mark.parametrize(
    ("name", "reader"),
    [("saved_model.pb", tf.saved_model.load), ("dataset_spec.pb", tf.data.Dataset.load)],
)
def test_a_folder_of_tensorflow_is_named(name, reader, tmp_path):
    (tmp_path / name).write_bytes(b"\x08\x01")
    with pytest.raises(
        tf.errors.UnimplementedError, match=f"of TensorFlow, with the file {name}, which agc does not"
    ):
        reader(str(tmp_path))
