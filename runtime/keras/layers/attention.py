"""Attention: each query gets a mix of values, by how well their keys fit it.

>>> Attention()([tf.ones([1, 2, 3]), tf.ones([1, 4, 3])]).shape
TensorShape([1, 2, 3])
"""

from __future__ import annotations

import math
from typing import Any

from agc import runtime as tf

from .. import notes, random
from ..initializers import VarianceScaling
from .base import Layer


class Attention(Layer):
    """The scores are products of queries and keys ("dot"), or sums of tanh of their sums ("concat").

    Args:
        use_scale: a weight multiplies the scores.
        score_mode: "dot" or "concat".
        dropout: the share of scores that are dropped while training.
    """

    def __init__(
        self,
        use_scale: bool = False,
        score_mode: str = "dot",
        dropout: float = 0.0,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if score_mode not in ("dot", "concat"):
            raise ValueError(
                f"Invalid value for argument score_mode. Expected one of 'dot', 'concat'. Received: {score_mode}"
            )
        self.use_scale, self.score_mode, self.dropout, self.seed = use_scale, score_mode, dropout, seed
        self.seed_generator = random.SeedGenerator(seed) if dropout > 0 else None
        self.supports_masking = True
        self.scale: Any = None
        self.concat_score_weight: Any = None

    def build(self, input_shape: Any) -> None:
        if self.use_scale:
            self.scale = self.add_weight((), "ones", name="scale")
        if self.score_mode == "concat":
            self.concat_score_weight = self.add_weight((), "ones", name="concat_score_weight")

    def _scores(self, query: Any, key: Any) -> Any:
        if self.score_mode == "dot":
            scores = tf.matmul(query, key, transpose_b=True)
            return scores if self.scale is None else scores * self.scale
        sums = tf.expand_dims(query, -2) + tf.expand_dims(key, -3)
        if self.scale is not None:
            sums *= self.scale
        return self.concat_score_weight * tf.reduce_sum(tf.tanh(sums), axis=-1)

    def call(
        self,
        inputs: Any,
        mask: Any = None,
        training: Any = False,
        return_attention_scores: bool = False,
        use_causal_mask: bool = False,
    ) -> Any:
        if not isinstance(inputs, (list, tuple)) or len(inputs) not in (2, 3):
            raise ValueError(
                f"{type(self).__name__} layer must be called on a list of inputs: [query, value] or [query, value, key]"
            )
        query, value = inputs[0], inputs[1]
        key = inputs[2] if len(inputs) > 2 else value
        scores = self._scores(query, key)
        masks = list(mask) if isinstance(mask, (list, tuple)) else [None, None]
        allowed = None if masks[1] is None else tf.expand_dims(tf.cast(masks[1], tf.bool), -2)
        if use_causal_mask:
            earlier = causal(tf.shape(scores)[-2], tf.shape(scores)[-1])
            allowed = earlier if allowed is None else tf.logical_and(allowed, earlier)
        if allowed is not None:
            most = 65504.0 if scores.dtype == tf.float16 else 1e9
            scores -= most * (1.0 - tf.cast(allowed, scores.dtype))
        shares = tf.nn.softmax(scores, axis=-1)
        if training and self.seed_generator is not None:
            shares = random.dropout(shares, self.dropout, None, self.seed_generator)
        result = tf.matmul(shares, value)
        if masks[0] is not None:
            result *= tf.expand_dims(tf.cast(masks[0], result.dtype), -1)
        return (result, shares) if return_attention_scores else result

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        return previous_mask[0] if isinstance(previous_mask, (list, tuple)) else None


class AdditiveAttention(Attention):
    """The scores are sums of tanh of query plus key, by a weight for each feature (Bahdanau et al., 2015)."""

    def __init__(self, use_scale: bool = True, dropout: float = 0.0, **kwargs: Any) -> None:
        super().__init__(use_scale=use_scale, dropout=dropout, **kwargs)

    def build(self, input_shape: Any) -> None:
        if self.use_scale:
            self.scale = self.add_weight((input_shape[0][-1],), "glorot_uniform", name="scale")

    def _scores(self, query: Any, key: Any) -> Any:
        sums = tf.tanh(tf.expand_dims(query, -2) + tf.expand_dims(key, -3))
        return tf.reduce_sum(sums if self.scale is None else sums * self.scale, axis=-1)


def causal(queries: Any, keys: Any) -> Any:
    """For each query, the keys that are no later: a bool tensor with a first dimension of 1."""
    return tf.expand_dims(tf.expand_dims(tf.range(queries), 1) >= tf.expand_dims(tf.range(keys), 0), 0)


class MultiHeadAttention(Layer):
    """Attention in several heads, each with projections of its own (Vaswani et al., 2017).

    Args:
        num_heads, key_dim: how many heads, and the size of their queries and keys.
        value_dim: the size of their values; by default the same.
        dropout: the share of scores that are dropped while training.
        output_shape: the size of the output; by default that of the query.
    """

    def __init__(
        self,
        num_heads: int,
        key_dim: int,
        value_dim: int | None = None,
        dropout: float = 0.0,
        use_bias: bool = True,
        output_shape: Any = None,
        attention_axes: Any = None,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        if attention_axes not in (None, 1, (1,), [1]):
            raise ValueError(
                "MultiHeadAttention attends over axis 1: other `attention_axes` are not supported"
            )
        self.num_heads, self.key_dim, self.value_dim = num_heads, key_dim, value_dim or key_dim
        self.dropout, self.use_bias, self.seed = dropout, use_bias, seed
        self.attention_axes = attention_axes
        self._output_size = (
            output_shape if output_shape is None or isinstance(output_shape, int) else output_shape[-1]
        )
        self._set_parts(locals(), "kernel", "bias")
        self.seed_generator = random.SeedGenerator(seed) if dropout > 0 else None
        self.supports_masking = True

    def _argument(self, name: str) -> Any:
        return self._output_size if name == "output_shape" else getattr(self, name)

    def build(self, query_shape: Any, value_shape: Any = None, key_shape: Any = None) -> None:
        value_shape = query_shape if value_shape is None else value_shape
        key_shape = value_shape if key_shape is None else key_shape
        heads, width = self.num_heads, self._output_size or query_shape[-1]
        self._query = self._projection("query", (query_shape[-1], heads, self.key_dim), (heads, self.key_dim))
        self._key = self._projection("key", (key_shape[-1], heads, self.key_dim), (heads, self.key_dim))
        self._value = self._projection(
            "value", (value_shape[-1], heads, self.value_dim), (heads, self.value_dim)
        )
        self._output = self._projection("attention_output", (heads, self.value_dim, width), (width,))

    def _projection(self, name: str, kernel: Any, bias: Any) -> tuple[Any, Any]:
        fresh = type(self.kernel_initializer).from_config(self.kernel_initializer.get_config())
        is_output = len(bias) == 1
        weight = self.add_weight(
            kernel,
            _as_matrix(fresh, 2 if is_output else 1),
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            name=f"{name}/kernel",
        )
        if not self.use_bias:
            return weight, None
        return weight, self._add_part(f"{name}/bias", bias, "bias")

    kernel_initializer: Any
    kernel_regularizer: Any
    kernel_constraint: Any

    def call(
        self,
        query: Any,
        value: Any,
        key: Any = None,
        query_mask: Any = None,
        value_mask: Any = None,
        key_mask: Any = None,
        attention_mask: Any = None,
        return_attention_scores: bool = False,
        training: Any = None,
        use_causal_mask: bool = False,
    ) -> Any:
        key = value if key is None else key
        query_mask = notes.masks.get(query) if query_mask is None else query_mask
        for tensor in (query, value, key):
            del notes.masks[tensor]  # as in Keras 3: what is computed of them later has no mask
        q, k, v = (
            _projected("abc,cde->abde", x, parts)
            for x, parts in ((query, self._query), (key, self._key), (value, self._value))
        )
        scores = tf.einsum("aecd,abcd->acbe", k, q * (1.0 / math.sqrt(self.key_dim)))
        allowed = self._allowed(scores, query_mask, value_mask, key_mask, attention_mask, use_causal_mask)
        if allowed is not None:
            scores += (1.0 - tf.cast(allowed, scores.dtype)) * (-3e4 if scores.dtype == tf.float16 else -1e9)
        shares = tf.nn.softmax(scores, axis=-1)
        dropped = shares
        if training and self.seed_generator is not None:
            dropped = random.dropout(shares, self.dropout, None, self.seed_generator)
        mixed = tf.einsum("acbe,aecd->abcd", dropped, v)
        result = _projected("abcd,cde->abe", mixed, self._output)
        if query_mask is not None:
            notes.masks[result] = query_mask
        return (result, shares) if return_attention_scores else result

    def _allowed(
        self,
        scores: Any,
        query_mask: Any,
        value_mask: Any,
        key_mask: Any,
        attention_mask: Any,
        use_causal_mask: bool,
    ) -> Any:
        """Which keys a query may see: [batch, heads, queries, keys], or 1 for some of them."""
        found: list[Any] = []
        if query_mask is not None:
            found.append(tf.expand_dims(tf.cast(query_mask, tf.bool), -1))
        for mask in (value_mask, key_mask):
            if mask is not None:
                found.append(tf.expand_dims(tf.cast(mask, tf.bool), -2))
        if use_causal_mask:
            found.append(causal(tf.shape(scores)[-2], tf.shape(scores)[-1]))
        if attention_mask is not None:
            found.append(tf.cast(attention_mask, tf.bool))
        allowed = None
        for mask in found:
            mask = tf.expand_dims(mask, 1) if mask.shape.rank == 3 else mask
            allowed = mask if allowed is None else tf.logical_and(allowed, mask)
        return allowed


def _projected(equation: str, x: Any, parts: tuple[Any, Any]) -> Any:
    kernel, bias = parts
    product = tf.einsum(equation, x, kernel)
    return product if bias is None else product + bias


def _as_matrix(initializer: Any, inputs: int) -> Any:
    """Return an initializer that counts the first `inputs` axes of a kernel as one axis, and the others, too.

    The variance of the weights then is that of a matrix from all inputs to all outputs.
    """

    def initial(shape: Any, dtype: Any = None) -> Any:
        matrix = (math.prod(shape[:inputs]), math.prod(shape[inputs:]))
        return tf.reshape(initializer(matrix, dtype), shape)

    return initial if isinstance(initializer, VarianceScaling) else initializer
