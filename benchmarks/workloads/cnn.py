"""A step of training: a convolutional network for small images, cross entropy, gradients, and momentum."""

from __future__ import annotations

import numpy as np

from .momentum import MOMENTUM, RATE, jax_run, numpy_run, torch_run

TITLE = "CNN 28x28 training step, momentum"
FULL = {"batch": 64, "size": 28, "widths": (32, 64), "hidden": 128, "classes": 10}
TINY = {"batch": 3, "size": 8, "widths": (3, 4), "hidden": 6, "classes": 5}
STEPS = 3
TOLERANCE = 5e-3
"""Where two pixels of a pool are almost equal, rounding decides which of them gets the gradient."""
EAGER = False


def _data(batch, size, widths, hidden, classes):
    """Return images with the channels last, labels, and the weights: of two convolutions and two dense layers."""
    random = np.random.default_rng(0)
    x = random.standard_normal((batch, size, size, 1), np.float32)
    labels = random.integers(0, classes, batch, np.int32)
    first, second = widths
    flat = (size // 4) ** 2 * second
    weights = []
    for shape in ((3, 3, 1, first), (3, 3, first, second), (flat, hidden), (hidden, classes)):
        scale = np.float32(np.prod(shape[:-1]) ** -0.5)
        weights.append(random.standard_normal(shape, np.float32) * scale)
        weights.append(np.full(shape[-1], 0.1, np.float32))
    return x, labels, weights


def tensorflow(tf, compiled, **sizes):
    @tf.function(jit_compile=compiled)
    def step(x, labels):
        with tf.GradientTape() as tape:
            h = tf.nn.relu(tf.nn.conv2d(x, weights[0], 1, "SAME") + weights[1])
            h = tf.nn.max_pool2d(h, 2, 2, "VALID")
            h = tf.nn.relu(tf.nn.conv2d(h, weights[2], 1, "SAME") + weights[3])
            h = tf.nn.max_pool2d(h, 2, 2, "VALID")
            h = tf.reshape(h, (x.shape[0], -1))
            h = tf.nn.relu(tf.matmul(h, weights[4]) + weights[5])
            logits = tf.matmul(h, weights[6]) + weights[7]
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(losses)
        for gradient, weight, velocity in zip(tape.gradient(loss, weights), weights, velocities):  # noqa: B905
            velocity.assign(MOMENTUM * velocity + gradient)
            weight.assign_sub(RATE * velocity)
        return loss

    x, labels, initial = _data(**sizes)
    weights = [tf.Variable(value) for value in initial]
    velocities = [tf.Variable(tf.zeros_like(value)) for value in initial]
    x, labels = tf.constant(x), tf.constant(labels)
    return lambda: step(x, labels)


def jax(jax, **sizes):
    numpy, lax = jax.numpy, jax.lax

    def convolved(x, filters, bias):
        y = lax.conv_general_dilated(x, filters, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jax.nn.relu(y + bias)

    def pooled(x):
        return lax.reduce_window(x, -numpy.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def logits(weights, x):
        h = pooled(convolved(x, *weights[:2]))
        h = pooled(convolved(h, *weights[2:4])).reshape(x.shape[0], -1)
        h = jax.nn.relu(h @ weights[4] + weights[5])
        return h @ weights[6] + weights[7]

    x, labels, weights = _data(**sizes)
    return jax_run(jax, logits, weights, x, labels)


def torch(torch, compiled, **sizes):
    """Images have their channels first, and so have the rows of the first dense layer."""
    layers = torch.nn.functional

    def logits(weights, x):
        h = layers.max_pool2d(torch.relu(layers.conv2d(x, weights[0], weights[1], padding="same")), 2)
        h = layers.max_pool2d(torch.relu(layers.conv2d(h, weights[2], weights[3], padding="same")), 2)
        h = torch.relu(h.flatten(1) @ weights[4] + weights[5])
        return h @ weights[6] + weights[7]

    x, labels, weights = _data(**sizes)
    side, channels = sizes["size"] // 4, sizes["widths"][1]
    for number in (0, 2):
        weights[number] = weights[number].transpose(3, 2, 0, 1).copy()
    rows = weights[4].reshape(side, side, channels, -1)
    weights[4] = rows.transpose(2, 0, 1, 3).reshape(weights[4].shape)
    return torch_run(torch, compiled, logits, weights, x.transpose(0, 3, 1, 2).copy(), labels)


def _windows(x):
    """Return the 3x3 windows around each element: [image, row, column, window and channels]."""
    wide = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), (1, 2))
    return windows.transpose(0, 1, 2, 4, 5, 3).reshape(*x.shape[:3], -1)


def _blocks(x):
    """Return the 2x2 blocks of images: [image, row, column, channel, element]."""
    count, rows, columns, channels = x.shape
    split = x.reshape(count, rows // 2, 2, columns // 2, 2, channels)
    return split.transpose(0, 1, 3, 5, 2, 4).reshape(count, rows // 2, columns // 2, channels, 4)


def _unpooled(dy, x):
    """Return the gradient of the maximum of blocks: it goes to the first largest element."""
    blocks = _blocks(x)
    one_hot = np.eye(4, dtype=x.dtype)[blocks.argmax(-1)]
    count, rows, columns, channels = dy.shape
    split = (one_hot * dy[..., None]).reshape(count, rows, columns, channels, 2, 2)
    return split.transpose(0, 1, 4, 2, 5, 3).reshape(x.shape)


def by_hand(**sizes):
    def gradients(weights, losses):
        w1, b1, w2, b2, w3, b3, w4, b4 = weights
        rows1 = _windows(x)
        h1 = np.maximum(rows1 @ w1.reshape(-1, w1.shape[-1]) + b1, 0)
        p1 = _blocks(h1).max(-1)
        rows2 = _windows(p1)
        h2 = np.maximum(rows2 @ w2.reshape(-1, w2.shape[-1]) + b2, 0)
        p2 = _blocks(h2).max(-1)
        flat = p2.reshape(len(x), -1)
        h3 = np.maximum(flat @ w3 + b3, 0)
        loss, d4 = losses(h3 @ w4 + b4)
        d3 = (d4 @ w4.T) * (h3 > 0)
        d2 = _unpooled((d3 @ w3.T).reshape(p2.shape), h2) * (h2 > 0)
        flipped = w2[::-1, ::-1].swapaxes(2, 3)
        d1 = _unpooled(_windows(d2) @ flipped.reshape(-1, flipped.shape[-1]), h1) * (h1 > 0)
        axes = (0, 1, 2)
        return loss, (
            np.tensordot(rows1, d1, (axes, axes)).reshape(w1.shape), d1.sum(axes),
            np.tensordot(rows2, d2, (axes, axes)).reshape(w2.shape), d2.sum(axes),
            flat.T @ d3, d3.sum(0), h3.T @ d4, d4.sum(0),
        )  # fmt: skip

    x, labels, weights = _data(**sizes)
    return numpy_run(gradients, weights, labels, sizes["classes"])


def limit(compiled_c, batch, size, widths, hidden, classes):
    """The products alone: forward, and back to each matrix and to the input of each but the first."""

    def products():
        for number, (a, b) in enumerate(factors):
            c = np.matmul(a, b)
            np.matmul(a.T, c)
            if number:
                np.matmul(c, b.T)

    first, second = widths
    shapes = (
        (batch * size**2, 9, first),
        (batch * (size // 2) ** 2, 9 * first, second),
        (batch, (size // 4) ** 2 * second, hidden),
        (batch, hidden, classes),
    )
    factors = [(np.ones((m, k), np.float32), np.ones((k, n), np.float32)) for m, k, n in shapes]
    return products
