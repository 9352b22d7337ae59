"""Layers: outputs, gradients and weights of each kind, with seeds that give the same weights."""

from __future__ import annotations

from typing import Any

import numpy as np

SEQUENCE, IMAGE = (2, 6, 3), (2, 5, 6, 4)
MASK = np.array([[1, 1, 0, 1, 0, 0], [0, 1, 1, 1, 1, 1]], bool)
CASES: tuple[tuple[str, tuple[Any, ...], dict[str, Any], tuple[int, ...]], ...] = (
    ("Dense", (3,), {"activation": "gelu"}, (2, 4)),
    ("Dense", (3,), {"use_bias": False}, SEQUENCE),
    ("Activation", ("swish",), {}, (2, 4)),
    ("ReLU", (), {"max_value": 1.0, "negative_slope": 0.1, "threshold": 0.2}, (2, 4)),
    ("LeakyReLU", (), {}, (2, 4)),
    ("ELU", (), {"alpha": 0.5}, (2, 4)),
    ("PReLU", (), {"alpha_initializer": "ones"}, (2, 4)),
    ("PReLU", (), {"shared_axes": [1]}, SEQUENCE),
    ("Softmax", (), {}, (2, 4)),
    ("Softmax", ((1, 2),), {}, SEQUENCE),
    ("Flatten", (), {}, IMAGE),
    ("Flatten", (), {"data_format": "channels_first"}, IMAGE),
    ("Reshape", ((3, -1),), {}, SEQUENCE),
    ("Permute", ((2, 1),), {}, SEQUENCE),
    ("RepeatVector", (3,), {}, (2, 4)),
    ("ZeroPadding1D", ((1, 2),), {}, SEQUENCE),
    ("ZeroPadding2D", (((1, 0), (2, 1)),), {}, IMAGE),
    ("ZeroPadding2D", (1,), {"data_format": "channels_first"}, IMAGE),
    ("Cropping1D", (1,), {}, SEQUENCE),
    ("Cropping2D", (((1, 0), (2, 1)),), {}, IMAGE),
    ("UpSampling1D", (2,), {}, SEQUENCE),
    ("UpSampling2D", ((2, 3),), {}, IMAGE),
    ("UpSampling2D", (2,), {"interpolation": "bilinear"}, IMAGE),
    ("Rescaling", (2.0, -1.0), {}, (2, 4)),
    ("Normalization", (), {"mean": 1.0, "variance": 4.0}, (2, 4)),
    ("UnitNormalization", (), {}, (2, 4)),
    ("RMSNormalization", (), {}, (2, 4)),
    ("LayerNormalization", (), {}, SEQUENCE),
    ("LayerNormalization", ([1, 2],), {}, SEQUENCE),
    ("BatchNormalization", (), {}, IMAGE),
    ("BatchNormalization", (1,), {"scale": False}, IMAGE),
    ("GroupNormalization", (2,), {}, IMAGE),
    ("GroupNormalization", (-1,), {}, IMAGE),
    ("Conv1D", (5, 3), {}, SEQUENCE),
    ("Conv1D", (5, 3), {"padding": "causal", "dilation_rate": 2}, SEQUENCE),
    ("Conv1D", (4, 2), {"strides": 2, "padding": "same", "activation": "relu"}, SEQUENCE),
    ("Conv2D", (3, 2), {}, IMAGE),
    ("Conv2D", (3, (2, 3)), {"strides": (2, 1), "padding": "same"}, IMAGE),
    ("Conv2D", (4, 3), {"groups": 2}, IMAGE),
    ("Conv2D", (3, 2), {"dilation_rate": 2, "use_bias": False}, IMAGE),
    ("Conv2DTranspose", (3, 2), {}, IMAGE),
    ("Conv2DTranspose", (3, 3), {"strides": 2, "padding": "same"}, IMAGE),
    ("Conv2DTranspose", (3, 3), {"strides": 2, "output_padding": 1, "padding": "same"}, IMAGE),
    ("Conv1DTranspose", (3, 3), {"strides": 2}, SEQUENCE),
    ("DepthwiseConv2D", (2,), {"depth_multiplier": 2}, IMAGE),
    ("DepthwiseConv2D", (3,), {"strides": 2, "padding": "same"}, IMAGE),
    ("DepthwiseConv1D", (3,), {}, SEQUENCE),
    ("SeparableConv2D", (3, 2), {"padding": "same"}, IMAGE),
    ("SeparableConv1D", (3, 2), {"depth_multiplier": 2}, SEQUENCE),
    ("MaxPooling1D", (), {}, SEQUENCE),
    ("MaxPooling2D", (), {"padding": "same"}, IMAGE),
    ("MaxPooling2D", (3,), {"strides": 1}, IMAGE),
    ("AveragePooling1D", (2,), {}, SEQUENCE),
    ("AveragePooling2D", (2,), {"padding": "same"}, IMAGE),
    ("GlobalMaxPooling1D", (), {}, SEQUENCE),
    ("GlobalAveragePooling2D", (), {"keepdims": True}, IMAGE),
    ("GlobalAveragePooling1D", (), {}, SEQUENCE),
    ("GlobalMaxPooling2D", (), {}, IMAGE),
    ("SimpleRNN", (3,), {"return_sequences": True}, SEQUENCE),
    ("LSTM", (3,), {"go_backwards": True}, SEQUENCE),
    ("GRU", (3,), {"return_sequences": True, "unroll": True}, SEQUENCE),
    ("GRU", (3,), {"reset_after": False}, SEQUENCE),
    ("LSTM", (3,), {"activation": "relu", "unit_forget_bias": False, "use_bias": False}, SEQUENCE),
)


def outcome(tf: Any, layer: Any, x: Any, **call: Any) -> list[Any]:
    """Output, gradients and moving values of a layer, eagerly and in a graph."""
    weight = None
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = layer(x, **call)
        first = y[0] if isinstance(y, (list, tuple)) else y
        weight = np.cos(np.arange(np.prod(first.shape), dtype="f")).reshape(first.shape)
        total = tf.reduce_sum(first * weight)
    gradients = tape.gradient(total, [x, *layer.trainable_weights])
    traced = tf.function(lambda x: layer(x, **call))(x)
    again = traced[0] if isinstance(traced, (list, tuple)) else traced
    return [
        str(tuple(first.shape)),
        np.ravel(first),
        np.ravel(again),
        [np.ravel(tf.convert_to_tensor(g)) for g in gradients],
        [np.sum(w.numpy()) for w in layer.non_trainable_weights if w.dtype != "int64"],
        str([w.path.split("/")[-1] for w in layer.weights]),
    ]


def _input(tf: Any, shape: tuple[int, ...], seed: int = 3) -> Any:
    return tf.constant(np.random.RandomState(seed).randn(*shape).astype("f"))


def cases(tf: Any) -> dict[str, Any]:
    keras = tf.keras
    layers = keras.layers
    found: dict[str, Any] = {}

    def seeded(program: Any) -> Any:
        def run() -> Any:
            keras.utils.set_random_seed(11)
            return program()

        return run

    for kind, args, options, shape in CASES:
        for training in (False, True) if "Batch" in kind else (None,):
            call = {} if training is None else {"training": training}
            name = f"{kind} {args} {options} {shape} {call}"
            found[name] = seeded(
                lambda k=kind, a=args, o=options, s=shape, c=call: outcome(
                    tf, getattr(layers, k)(*a, **o), _input(tf, s), **c
                )
            )
    for kind in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate"):
        found[kind] = lambda k=kind: getattr(layers, k)()([_input(tf, (2, 3)), _input(tf, (2, 3), 4)])
    found["Add, broadcast"] = lambda: layers.Add()([_input(tf, (2, 3)), _input(tf, (2, 5, 3), 4)])
    found["Dot"] = lambda: layers.Dot((1, 2))([_input(tf, (2, 3, 4)), _input(tf, (2, 5, 3), 4)])
    found["Dot, cosines"] = lambda: layers.Dot(1, normalize=True)([_input(tf, (2, 3)), _input(tf, (2, 3), 4)])
    for kind in ("Attention", "AdditiveAttention"):
        found[kind] = seeded(
            lambda k=kind: getattr(layers, k)(use_scale=True)(
                [_input(tf, (2, 3, 4)), _input(tf, (2, 5, 4), 4)]
            )
        )
    found["Attention, causal"] = lambda: layers.Attention()([_input(tf, (2, 3, 4))] * 2, use_causal_mask=True)
    found["Attention, concat"] = lambda: layers.Attention(score_mode="concat")(
        [_input(tf, (2, 3, 4)), _input(tf, (2, 5, 4), 4)]
    )
    found["MultiHeadAttention, ones"] = lambda: layers.MultiHeadAttention(
        2, 3, kernel_initializer="ones", bias_initializer="ones"
    )(_input(tf, (2, 3, 4)), _input(tf, (2, 5, 4), 4))
    found["MultiHeadAttention, causal"] = lambda: layers.MultiHeadAttention(
        2, 3, kernel_initializer="ones", output_shape=5
    )(_input(tf, (2, 3, 4)), _input(tf, (2, 3, 4)), use_causal_mask=True)
    for kind in ("SimpleRNN", "LSTM", "GRU"):
        found[f"{kind}, masked"] = seeded(
            lambda k=kind: outcome(
                tf, getattr(layers, k)(3, return_sequences=True), _input(tf, SEQUENCE), mask=tf.constant(MASK)
            )
        )
        found[f"{kind}, states"] = seeded(
            lambda k=kind: [
                np.ravel(part) for part in getattr(layers, k)(3, return_state=True)(_input(tf, SEQUENCE))
            ]
        )
        for merge in ("concat", "sum", "mul", "ave"):
            found[f"Bidirectional {kind} {merge}"] = seeded(
                lambda k=kind, m=merge: outcome(
                    tf,
                    layers.Bidirectional(getattr(layers, k)(2, return_sequences=True), m),
                    _input(tf, SEQUENCE),
                )
            )
    found["stacked cells"] = seeded(
        lambda: outcome(
            tf,
            layers.RNN([layers.LSTMCell(3), layers.GRUCell(2)], return_sequences=True),
            _input(tf, SEQUENCE),
        )
    )
    found["TimeDistributed"] = seeded(
        lambda: outcome(tf, layers.TimeDistributed(layers.Dense(2)), _input(tf, SEQUENCE))
    )
    for kind, options in (
        ("Dropout", {"rate": 0.4}),
        ("Dropout", {"rate": 0.4, "noise_shape": (2, 1, 3)}),
        ("SpatialDropout1D", {"rate": 0.4}),
        ("GaussianNoise", {"stddev": 0.5}),
        ("GaussianDropout", {"rate": 0.4}),
    ):
        found[f"{kind} {options}"] = seeded(
            lambda k=kind, o=options: getattr(layers, k)(**o, seed=3)(_input(tf, SEQUENCE), training=True)
        )
    found["Embedding, masked"] = seeded(
        lambda: layers.GlobalAveragePooling1D()(
            layers.Embedding(5, 3, mask_zero=True)(np.array([[1, 2, 0], [3, 0, 0]]))
        )
    )
    found["Normalization, adapted"] = lambda: _adapted(layers)
    return found


def _adapted(layers: Any) -> Any:
    layer = layers.Normalization()
    data = np.random.RandomState(1).randn(20, 3).astype("f") * 3 + 1
    layer.adapt(data)
    return layer(data)
