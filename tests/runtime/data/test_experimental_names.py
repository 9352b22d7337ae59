"""Names of `tf.data.experimental` that few programs use."""

import agc.runtime as tf
import pytest

experimental = tf.data.experimental


def test_an_element_at_an_index():
    assert int(experimental.at(tf.data.Dataset.range(5, 9), 2)) == 7
    with pytest.raises(tf.errors.OutOfRangeError):
        experimental.at(tf.data.Dataset.range(2), 5)


def test_datasets_are_padded_to_a_cardinality():
    rows = tf.data.Dataset.from_tensor_slices({"a": [[1, 2], [3, 4]]})
    padded = [
        {key: part.numpy().tolist() for key, part in row.items()}
        for row in rows.apply(experimental.pad_to_cardinality(3, mask_key="real"))
    ]
    assert padded == [{"a": [1, 2], "real": True}, {"a": [3, 4], "real": True}, {"a": [0, 0], "real": False}]
