"""Masks: who gets them, who passes them on, and what steps become that do not count. Values are Keras 3's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from agc import runtime as tf
from agc.runtime import keras
from agc.runtime.keras import layers

IDS = tf.constant([[1, 2, 0]])
SEEN = [[True, True, False]]


def embedded() -> Any:
    return layers.Embedding(5, 2, mask_zero=True)(IDS)


def mask(tensor: Any) -> Any:
    found = getattr(tensor, "_keras_mask", None)
    return None if found is None else found.numpy().tolist()


def test_a_mask_is_an_attribute_that_can_be_deleted() -> None:
    x = embedded()
    assert mask(x) == SEEN
    del x._keras_mask
    with pytest.raises(AttributeError, match="it has no mask"):
        x._keras_mask  # noqa: B018  the read is the test
    x._keras_mask = tf.constant([[True, False, False]])
    assert mask(layers.Dropout(0.1)(x)) == [[True, False, False]]


def test_a_layer_with_compute_mask_supports_masks() -> None:
    class Flipped(layers.Layer):
        def call(self, x: Any) -> Any:
            return 2 * x

        def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
            return tf.logical_not(previous_mask)

    assert mask(Flipped()(embedded())) == [[False, False, True]]


def test_several_tensors_have_masks_of_their_names() -> None:
    seen = []

    class Two(layers.Layer):
        def call(self, x: Any, context: Any, x_mask: Any = None, context_mask: Any = None) -> Any:
            seen.append((x_mask, context_mask))
            return x, context

    first, second = Two()(tf.ones([1, 3, 2]), context=embedded())
    assert seen[0][0] is None
    assert seen[0][1].numpy().tolist() == SEEN
    assert mask(first) is None
    assert mask(second) == SEEN  # it is the same tensor


def test_the_mask_that_is_given_goes_on() -> None:
    given = tf.constant([[True, False, False]])
    assert mask(layers.LSTM(2, return_sequences=True)(tf.ones([1, 3, 2]), mask=given)) == [
        [True, False, False]
    ]


def test_attention_does_not_see_what_is_masked() -> None:
    attention = layers.MultiHeadAttention(1, 2)
    query, value = tf.ones([1, 1, 2]), embedded()
    _, scores = attention(query, value, return_attention_scores=True)
    assert scores[0, 0, 0, 2] == 0
    assert mask(value) is None  # as in Keras 3, attention takes the masks off

    itself = embedded()
    assert mask(attention(itself, itself)) == SEEN


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        (layers.Add, [[5.0], [6.0], [7.0]]),
        (layers.Multiply, [[6.0], [4.0], [0.0]]),
        (layers.Maximum, [[3.0], [4.0], [5.0]]),
        (layers.Minimum, [[2.0], [4.0], [5.0]]),
    ],
)
def test_merged_steps_count_where_one_of_them_does(layer: Any, expected: Any) -> None:
    one, other = tf.constant([[[2.0], [4.0], [5.0]]]), tf.constant([[[3.0], [2.0], [2.0]]])
    one._keras_mask = tf.constant([[True, True, False]])
    other._keras_mask = tf.constant([[True, False, False]])
    merged = layer()([one, other])
    assert merged.numpy().tolist() == [expected]
    assert mask(merged) == SEEN
    assert mask(layers.Concatenate()([one, other])) == SEEN


def test_masks_work_in_functional_models() -> None:
    inputs = keras.Input((None,), dtype="int32")
    x = layers.Embedding(5, 2, mask_zero=True)(inputs)
    model = keras.Model(inputs, layers.MultiHeadAttention(1, 2, use_bias=False)(x, x))
    short = model(IDS[:, :2])
    assert np.allclose(model(IDS)[:, :2], short, atol=1e-6)


def test_layers_of_functional_models_get_their_masks_at_once() -> None:
    class Shares(layers.Layer):
        def call(self, x: Any, mask: Any = None) -> Any:
            assert mask is not None
            kept = tf.exp(x) * tf.expand_dims(tf.cast(mask, x.dtype), -1)
            return kept / tf.reduce_sum(kept, axis=1, keepdims=True)

    inputs = keras.Input((None,), dtype="int32")
    x = layers.Dense(1)(layers.Embedding(5, 2, mask_zero=True, embeddings_initializer="ones")(inputs))
    assert x._keras_mask.shape == (None, None)
    model = keras.Model(inputs, Shares()(x))
    assert model(IDS).numpy().tolist() == [[[0.5], [0.5], [0.0]]]
