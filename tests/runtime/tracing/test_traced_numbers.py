"""Numbers that functions take as arguments may be traced tensors: the graph computes what eager code does."""

import agc.runtime as tf
import numpy as np
from support.each_case import each_case

X = tf.constant([[-1.0, 0.5], [2.0, -3.0]])
IMAGE = tf.reshape(tf.range(48.0), [1, 4, 4, 3]) / 48
BOXES, SCORES = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.9, 1.0]], [0.5, 0.4]
SEED = [1, 2]

CALLS = {
    "uniform, lower bound": (-1.0, lambda p: tf.random.uniform([3], p, 2.0, seed=5)),
    "uniform, upper bound": (2.0, lambda p: tf.random.uniform([3], 0, p, seed=5)),
    "uniform, both bounds": (2.0, lambda p: tf.random.uniform([3], -p, p, seed=5)),
    "uniform, integers": (9, lambda p: tf.random.uniform([3], 0, p, tf.int32, seed=5)),
    "normal": (2.0, lambda p: tf.random.normal([3], p, p, seed=5)),
    "truncated_normal": (2.0, lambda p: tf.random.truncated_normal([3], p, p, seed=5)),
    "gamma": (2.0, lambda p: tf.random.gamma([3], p, p, seed=5)),
    "poisson": (2.0, lambda p: tf.random.poisson([3], p, seed=5)),
    "stateless_uniform": (2.0, lambda p: tf.random.stateless_uniform([3], SEED, -p, p)),
    "stateless_uniform, integers": (9, lambda p: tf.random.stateless_uniform([3], SEED, -p, p, tf.int32)),
    "stateless_normal": (2.0, lambda p: tf.random.stateless_normal([3], SEED, p, p)),
    "stateless_binomial": (0.5, lambda p: tf.random.stateless_binomial([3], SEED, 10.0, p)),
    "dropout": (0.5, lambda p: tf.nn.dropout(X, p, seed=5)),
    "silu": (0.5, lambda p: tf.nn.silu(X, p)),
    "batch_normalization": (0.5, lambda p: tf.nn.batch_normalization(X, p, p, None, p, p)),
    "weighted_cross_entropy": (0.5, lambda p: tf.nn.weighted_cross_entropy_with_logits(X, X, p)),
    "l2_normalize": (0.5, lambda p: tf.nn.l2_normalize(X, 0, p)),
    "clip_by_value": (0.5, lambda p: tf.clip_by_value(X, -p, p)),
    "clip_by_norm": (0.5, lambda p: tf.clip_by_norm(X, p)),
    "clip_by_global_norm": (0.5, lambda p: tf.clip_by_global_norm([X], 1.0, p)[0][0]),
    "linspace": (0.5, lambda p: tf.linspace(p, 2 * p, 3)),
    "range": (0.5, lambda p: tf.range(0.0, 3.0, p)),
    "one_hot": (0.5, lambda p: tf.one_hot([1, 2], 3, p, -p)),
    "pad": (0.5, lambda p: tf.pad(X, [[1, 0], [0, 0]], constant_values=p)),
    "lstsq": (0.5, lambda p: tf.linalg.lstsq(X, X, p)),
    "pinv": (0.5, lambda p: tf.linalg.pinv(X, p)),
    "diag": (0.5, lambda p: tf.linalg.diag([1.0, 2.0], padding_value=p)),
    "kaiser_window": (2.0, lambda p: tf.signal.kaiser_window(4, p)),
    "frame": (0.5, lambda p: tf.signal.frame(X, 2, 1, pad_end=True, pad_value=p)),
    "bincount": (3, lambda p: tf.math.bincount([0, 1], minlength=p)),
    "confusion_matrix": (3, lambda p: tf.math.confusion_matrix([0, 1], [1, 1], p)),
    "histogram": (2, lambda p: tf.histogram_fixed_width(X, [0.0, 1.0], p)),
    "sequence_mask": (3, lambda p: tf.sequence_mask([1, 2], p)),
    "roll": (1, lambda p: tf.roll(X, p, 0)),
    "adjust_brightness": (0.2, lambda p: tf.image.adjust_brightness(IMAGE, p)),
    "adjust_gamma": (0.2, lambda p: tf.image.adjust_gamma(IMAGE, 1.0, p)),
    "adjust_hue": (0.2, lambda p: tf.image.adjust_hue(IMAGE, p)),
    "psnr": (1.0, lambda p: tf.image.psnr(IMAGE, IMAGE * 0.5, p)),
    "non_max_suppression": (0.5, lambda p: tf.image.non_max_suppression(BOXES, SCORES, 2, p, p)),
    "rot90": (1, lambda p: tf.image.rot90(IMAGE, p)),
    "to_dense": (0.5, lambda p: tf.sparse.to_dense(tf.SparseTensor([[0, 1]], [1.0], [2, 2]), p)),
}


@each_case("name", CALLS)
def test_traced_numbers_agree_with_python_numbers(name):
    value, call = CALLS[name]
    tf.random.set_seed(3)
    expected = call(value)
    tf.random.set_seed(3)
    staged = tf.function(call, autograph=False)(tf.constant(value))
    np.testing.assert_allclose(staged.numpy(), expected.numpy(), rtol=1e-5)
