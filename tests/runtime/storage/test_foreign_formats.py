"""Files of TensorFlow are no damaged files of agc: each reader says whose they are."""

import agc.runtime as tf
import pytest


def test_a_saved_dataset_of_tensorflow_is_named(tmp_path):
    (tmp_path / "dataset_spec.pb").write_bytes(b"\x08\x01")
    with pytest.raises(tf.errors.UnimplementedError, match=r"of TensorFlow, with the file dataset_spec\.pb"):
        tf.data.Dataset.load(str(tmp_path))
