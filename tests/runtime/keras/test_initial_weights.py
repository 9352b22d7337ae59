"""Kernels of layers begin between ±sqrt(6 / (inputs + outputs)), as Glorot says; both counts are those of Keras."""

import math

import agc.runtime as tf
import numpy as np
import pytest

layers = tf.keras.layers
ROW, SEQUENCE, IMAGE, VOLUME = (2, 64), (2, 8, 48), (2, 8, 8, 24), (2, 4, 4, 4, 12)

KERNELS = {
    "Dense": (lambda: layers.Dense(96), [ROW], {(64, 96): (64, 96)}),
    "Dense of a sequence": (lambda: layers.Dense(96), [SEQUENCE], {(48, 96): (48, 96)}),
    "TimeDistributed": (lambda: layers.TimeDistributed(layers.Dense(96)), [SEQUENCE], {(48, 96): (48, 96)}),
    "Conv1D": (lambda: layers.Conv1D(40, 3), [SEQUENCE], {(3, 48, 40): (144, 120)}),
    "Conv2D": (lambda: layers.Conv2D(40, 3), [IMAGE], {(3, 3, 24, 40): (216, 360)}),
    "Conv2D in groups": (lambda: layers.Conv2D(48, 3, groups=4), [IMAGE], {(3, 3, 6, 48): (54, 432)}),
    "Conv3D": (lambda: layers.Conv3D(20, 2), [VOLUME], {(2, 2, 2, 12, 20): (96, 160)}),
    "Conv2DTranspose": (lambda: layers.Conv2DTranspose(40, 3), [IMAGE], {(3, 3, 40, 24): (360, 216)}),
    "DepthwiseConv2D": (lambda: layers.DepthwiseConv2D(3, depth_multiplier=4), [IMAGE], {(3, 3, 24, 4): (216, 36)}),
    "SeparableConv2D": (
        lambda: layers.SeparableConv2D(40, 3),
        [IMAGE],
        {(3, 3, 24, 1): (216, 9), (1, 1, 24, 40): (24, 40)},
    ),
    "LSTM": (lambda: layers.LSTM(64), [SEQUENCE], {(48, 256): (48, 256)}),
    "GRU": (lambda: layers.GRU(64), [SEQUENCE], {(48, 192): (48, 192)}),
    "MultiHeadAttention": (
        lambda: layers.MultiHeadAttention(4, 16, value_dim=32),
        [SEQUENCE, SEQUENCE],
        {(48, 4, 16): (48, 64), (48, 4, 32): (48, 128), (4, 32, 48): (128, 48)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
def test_the_scale_of_kernels(name):
    make, shapes, fans = KERNELS[name]
    tf.keras.utils.set_random_seed(1)
    layer = make()
    layer(*(tf.zeros(shape) for shape in shapes))
    found = {tuple(weight.shape): weight.numpy() for weight in layer.weights}
    for shape, (inputs, outputs) in fans.items():
        limit = math.sqrt(6 / (inputs + outputs))
        assert np.abs(found[shape]).max() <= limit
        assert found[shape].std() == pytest.approx(limit / math.sqrt(3), rel=0.1)
