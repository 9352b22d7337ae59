"""A step of training: a dense network, cross entropy, gradients, and momentum."""

from __future__ import annotations

import functools
import itertools

import numpy as np

TITLE = "MLP 784-256-128-10 training step, momentum"
FULL = {"batch": 64, "layers": (784, 256, 128, 10)}
TINY = {"batch": 4, "layers": (12, 8, 6, 5)}
RATE, MOMENTUM = 0.01, 0.9
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
    @tf.function(jit_compile=compiled)
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
    x, labels = tf.constant(x), tf.constant(labels)
    return lambda: step(x, labels)


def jax(jax, batch, layers):
    numpy = jax.numpy

    def loss(weights, x, labels):
        h = jax.nn.relu(x @ weights[0] + weights[1])
        h = jax.nn.relu(h @ weights[2] + weights[3])
        logits = h @ weights[4] + weights[5]
        chosen = numpy.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
        return -numpy.mean(chosen)

    @functools.partial(jax.jit, donate_argnums=(0, 1))  # what is replaced lends its memory
    def step(weights, velocities, x, labels):
        value, gradients = jax.value_and_grad(loss)(weights, x, labels)
        velocities = [MOMENTUM * v + g for v, g in zip(velocities, gradients, strict=True)]
        return [w - RATE * v for w, v in zip(weights, velocities, strict=True)], velocities, value

    def run():
        nonlocal weights, velocities
        weights, velocities, value = step(weights, velocities, x, labels)
        return jax.block_until_ready((weights, value))[1]

    x, labels, initial = _data(batch, layers)
    weights = [numpy.array(value) for value in initial]
    velocities = [numpy.zeros_like(value) for value in weights]
    x, labels = numpy.asarray(x), numpy.asarray(labels)
    return run


def torch(torch, compiled, batch, layers):
    def loss_of(x, labels):
        h = torch.relu(x @ weights[0] + weights[1])
        h = torch.relu(h @ weights[2] + weights[3])
        return torch.nn.functional.cross_entropy(h @ weights[4] + weights[5], labels)

    def step():
        loss = forward(x, labels)
        gradients = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            torch._foreach_mul_(velocities, MOMENTUM)
            torch._foreach_add_(velocities, gradients)
            torch._foreach_add_(weights, velocities, alpha=-RATE)
        return loss.detach()

    x, labels, initial = _data(batch, layers)
    weights = [torch.from_numpy(value.copy()).requires_grad_() for value in initial]
    velocities = [torch.zeros_like(value) for value in weights]
    x, labels = torch.from_numpy(x), torch.from_numpy(labels).long()
    forward = torch.compile(loss_of) if compiled else loss_of
    return step


def by_hand(batch, layers):
    def step():
        w1, b1, w2, b2, w3, b3 = weights
        h1 = np.maximum(x @ w1 + b1, 0)
        h2 = np.maximum(h1 @ w2 + b2, 0)
        logits = h2 @ w3 + b3
        logits -= logits.max(1, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(1, keepdims=True))
        loss = -logs[np.arange(batch), labels].mean()
        d3 = (np.exp(logs) - one_hot) / np.float32(batch)
        d2 = (d3 @ w3.T) * (h2 > 0)
        d1 = (d2 @ w2.T) * (h1 > 0)
        gradients = x.T @ d1, d1.sum(0), h1.T @ d2, d2.sum(0), h2.T @ d3, d3.sum(0)
        for weight, velocity, gradient in zip(weights, velocities, gradients, strict=True):
            velocity *= np.float32(MOMENTUM)
            velocity += gradient
            weight -= np.float32(RATE) * velocity
        return loss

    x, labels, weights = _data(batch, layers)
    velocities = [np.zeros_like(value) for value in weights]
    one_hot = np.eye(layers[-1], dtype=np.float32)[labels]
    return step


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
