"""Keras's layers that look words and numbers up give its answers: called, traced, and in pipelines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import pytest

L = tf.keras.layers
WORDS = ["a", "b", "c"]
TEXTS = tf.constant([["a", "z"], ["c", ""]])
SENTENCES = ["Hello, big world", "hello world", "hello"]

CASES: list[tuple[Callable[[], Any], Any, Any]] = [
    (lambda: L.StringLookup(vocabulary=WORDS), TEXTS, [[1, 0], [3, 0]]),
    (lambda: L.StringLookup(vocabulary=WORDS, num_oov_indices=2, mask_token=""), TEXTS, [[3, 2], [5, 0]]),
    (lambda: L.StringLookup(vocabulary=WORDS, output_mode="multi_hot"), TEXTS, [[1, 1, 0, 0], [1, 0, 0, 1]]),
    (lambda: L.StringLookup(vocabulary=WORDS, output_mode="count", sparse=True), TEXTS, [[1, 1, 0, 0], [1, 0, 0, 1]]),
    (lambda: L.StringLookup(vocabulary=WORDS, invert=True), tf.constant([[1, 2], [0, 9]]),
     [[b"a", b"b"], [b"[UNK]", b"[UNK]"]]),
    (lambda: L.StringLookup(vocabulary=WORDS), tf.ragged.constant([["a"], ["c", "z"]]), [[1], [3, 0]]),
    (lambda: L.IntegerLookup(vocabulary=[10, 20, 30], num_oov_indices=3), tf.constant([[10, 99], [31, 20]]),
     [[3, 0], [1, 4]]),
    (lambda: adapted(L.IntegerLookup(output_mode="one_hot"), [5, 5, 7]), tf.constant([5, 6, 7]),
     [[0, 1, 0], [1, 0, 0], [0, 0, 1]]),
    (lambda: adapted(L.TextVectorization(max_tokens=10, output_sequence_length=4), SENTENCES),
     tf.constant(["Hello there world!"]), [[2, 1, 3, 0]]),
    (lambda: adapted(L.TextVectorization(ragged=True), SENTENCES), tf.constant(["Hello there world!", "big"]),
     [[2, 1, 3], [4]]),
    (lambda: L.Hashing(3, salt=7), TEXTS, [[0, 0], [1, 1]]),
    (lambda: L.CategoryEncoding(4, "count"), tf.constant([[0, 1], [3, 3]]), [[1, 1, 0, 0], [0, 0, 0, 2]]),
]  # fmt: skip


def adapted(layer: Any, data: list[Any]) -> Any:
    layer.adapt(tf.constant(data))
    return layer


def plain(result: Any) -> Any:
    if isinstance(result, tf.RaggedTensor):
        return result.to_list()
    return (tf.sparse.to_dense(result) if isinstance(result, tf.SparseTensor) else result).numpy().tolist()


@pytest.mark.parametrize(("make", "given", "expected"), CASES)
def test_the_answer_is_that_of_keras(make: Callable[[], Any], given: Any, expected: Any) -> None:
    layer = make()
    assert plain(layer(given)) == expected
    assert plain(tf.function(layer)(given)) == expected
    assert plain(next(iter(tf.data.Dataset.from_tensors(given).map(layer)))) == expected


def test_crossed_features_are_hashed() -> None:
    features = tf.constant(["A", "B", "A"]), tf.constant([101, 102, 103])
    assert plain(L.HashedCrossing(5)(features)) == [1, 1, 4]
    one_hot = L.HashedCrossing(5, output_mode="one_hot", sparse=True)(features)
    assert plain(one_hot) == [[0, 1, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 0, 1]]


def test_a_saved_model_keeps_the_vocabulary(tmp_path: Any) -> None:
    words = tf.keras.Input((1,), dtype="string")
    model = tf.keras.Model(words, L.StringLookup(vocabulary=WORDS, output_mode="one_hot")(words))
    model.save(tmp_path / "model.keras")
    restored = tf.keras.models.load_model(tmp_path / "model.keras")
    assert plain(restored(tf.constant([["b"], ["z"]]))) == [[0, 0, 1, 0], [1, 0, 0, 0]]
