"""Files of TensorFlow are no damaged files of agc: each reader says whose they are."""

import agc.runtime as tf
import pytest


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
