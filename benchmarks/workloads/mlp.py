"""A step of training: a dense network, cross entropy, gradients, and momentum."""

from __future__ import annotations

import itertools

import numpy as np

from .momentum import MOMENTUM, RATE, jax_run, numpy_run, torch_run

TITLE = "MLP 784-256-128-10 training step, momentum"
FULL = {"batch": 64, "layers": (784, 256, 128, 10)}
TINY = {"batch": 4, "layers": (12, 8, 6, 5)}
STEPS = 3
"""The loss of so many steps is compared, for each changes the weights."""


def _data(batch, layers):
    random = np.random.default_rng(0)
    x = random.standard_normal((batch, layers[0]), np.float32)
    labels = random.integers(0, layers[-1], batch, np.int32)
    weights = []
    for rows, columns in itertools.pairwise(layers):
        weights.append(random.standard_normal((rows, columns), np.float32) * np.float32(rows**-0.5))
        weights.append(np.full(columns, 0.1, np.float32))
    return x, labels, weights


def tensorflow(tf, compiled, batch, layers):
    step, x, labels = _step(tf, batch, layers)
    compiled_step = tf.function(step, jit_compile=compiled)
    return lambda: compiled_step(x, labels)


def _step(tf, batch, layers):
    """Return a step of training, images and labels."""

    def step(x, labels):
        with tf.GradientTape() as tape:
            h = tf.nn.relu(tf.matmul(x, weights[0]) + weights[1])
            h = tf.nn.relu(tf.matmul(h, weights[2]) + weights[3])
            logits = tf.matmul(h, weights[4]) + weights[5]
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(losses)
        for gradient, weight, velocity in zip(tape.gradient(loss, weights), weights, velocities):  # noqa: B905
            velocity.assign(MOMENTUM * velocity + gradient)
            weight.assign_sub(RATE * velocity)
        return loss

    x, labels, initial = _data(batch, layers)
    weights = [tf.Variable(value) for value in initial]
    velocities = [tf.Variable(tf.zeros_like(value)) for value in initial]
    return step, tf.constant(x), tf.constant(labels)


def jax(jax, batch, layers):
    def logits(weights, x):
        h = jax.nn.relu(x @ weights[0] + weights[1])
        h = jax.nn.relu(h @ weights[2] + weights[3])
        return h @ weights[4] + weights[5]

    x, labels, weights = _data(batch, layers)
    return jax_run(jax, logits, weights, x, labels)


def torch(torch, compiled, batch, layers):
    def logits(weights, x):
        h = torch.relu(x @ weights[0] + weights[1])
        h = torch.relu(h @ weights[2] + weights[3])
        return h @ weights[4] + weights[5]

    x, labels, weights = _data(batch, layers)
    return torch_run(torch, compiled, logits, weights, x, labels)


def by_hand(batch, layers):
    def gradients(weights, losses):
        w1, b1, w2, b2, w3, b3 = weights
        h1 = np.maximum(x @ w1 + b1, 0)
        h2 = np.maximum(h1 @ w2 + b2, 0)
        loss, d3 = losses(h2 @ w3 + b3)
        d2 = (d3 @ w3.T) * (h2 > 0)
        d1 = (d2 @ w2.T) * (h1 > 0)
        return loss, (x.T @ d1, d1.sum(0), h1.T @ d2, d2.sum(0), h2.T @ d3, d3.sum(0))

    x, labels, weights = _data(batch, layers)
    return numpy_run(gradients, weights, labels, layers[-1])


def limit(compiled_c, batch, layers):
    """The products alone: forward, and back to each matrix and to the input of each but the first."""

    def products():
        for i, weight in enumerate(matrices):
            np.matmul(hidden[i], weight, out=hidden[i + 1])
        for i in reversed(range(len(matrices))):
            np.matmul(hidden[i].T, hidden[i + 1], out=gradients[i])
            if i:
                np.matmul(hidden[i + 1], matrices[i].T, out=back[i])

    x, _, weights = _data(batch, layers)
    matrices = weights[::2]
    hidden = [x, *(np.ones((batch, width), np.float32) for width in layers[1:])]
    back = [np.empty_like(value) for value in hidden]
    gradients = [np.empty_like(weight) for weight in matrices]
    return products
