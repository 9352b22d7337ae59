"""A step of training: an LSTM that names the class of a sequence by its last state, gradients through time, and SGD."""

from __future__ import annotations

import functools

import numpy as np

TITLE = "LSTM training step, 100 time steps"
FULL = {"batch": 32, "steps": 100, "inputs": 64, "units": 128, "classes": 10}
TINY = {"batch": 3, "steps": 4, "inputs": 5, "units": 6, "classes": 4}
RATE = 0.1
STEPS = 3
EAGER = False
UNROLLED = True


def _data(batch, steps, inputs, units, classes):
    """Return sequences with the time first, labels, and the weights: of the gates i, f, g, o, and of the classes."""
    random = np.random.default_rng(0)
    x = random.standard_normal((steps, batch, inputs), np.float32)
    labels = random.integers(0, classes, batch, np.int32)
    weights = []
    for rows, columns in ((inputs, 4 * units), (units, 4 * units), (units, classes)):
        weights.append(random.standard_normal((rows, columns), np.float32) * np.float32(rows**-0.5))
    biases = np.full(4 * units, 0.1, np.float32), np.zeros(classes, np.float32)
    kernel, recurrent, out = weights
    return x, labels, [kernel, recurrent, biases[0], out, biases[1]]


def tensorflow(tf, compiled, batch, steps, units, **sizes):
    @tf.function(jit_compile=compiled)
    def step(x, labels):
        with tf.GradientTape() as tape:
            h, c = tf.zeros([batch, units]), tf.zeros([batch, units])
            for t in tf.range(steps):
                gates = tf.matmul(x[t], weights[0]) + tf.matmul(h, weights[1]) + weights[2]
                i, f, g, o = tf.split(gates, 4, axis=1)
                c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
                h = tf.sigmoid(o) * tf.tanh(c)
            logits = tf.matmul(h, weights[3]) + weights[4]
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(losses)
        for gradient, weight in zip(tape.gradient(loss, weights), weights):  # noqa: B905
            weight.assign_sub(RATE * gradient)
        return loss

    x, labels, initial = _data(batch, steps, units=units, **sizes)
    weights = [tf.Variable(value) for value in initial]
    x, labels = tf.constant(x), tf.constant(labels)
    return lambda: step(x, labels)


def jax(jax, batch, steps, units, **sizes):
    numpy = jax.numpy

    def loss_of(weights, x, labels):
        kernel, recurrent, bias, matrix, offset = weights

        def cell(state, x):
            h, c = state
            i, f, g, o = numpy.split(x @ kernel + h @ recurrent + bias, 4, axis=1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * numpy.tanh(g)
            return (jax.nn.sigmoid(o) * numpy.tanh(c), c), None

        zeros = numpy.zeros((batch, units), "float32")
        (h, _), _ = jax.lax.scan(cell, (zeros, zeros), x)
        chosen = numpy.take_along_axis(jax.nn.log_softmax(h @ matrix + offset), labels[:, None], 1)
        return -numpy.mean(chosen)

    @functools.partial(jax.jit, donate_argnums=0)
    def step(weights, x, labels):
        loss, gradients = jax.value_and_grad(loss_of)(weights, x, labels)
        return [w - RATE * g for w, g in zip(weights, gradients, strict=True)], loss

    def run():
        nonlocal weights
        weights, loss = step(weights, x, labels)
        return jax.block_until_ready((weights, loss))[1]

    x, labels, initial = _data(batch, steps, units=units, **sizes)
    weights = [numpy.array(value) for value in initial]
    x, labels = numpy.asarray(x), numpy.asarray(labels)
    return run


def torch(torch, compiled, batch, steps, units, inputs, classes):
    """The library's own layer, whose second bias stays zero."""

    def step():
        _, (h, _) = layer(x)
        loss = torch.nn.functional.cross_entropy(out(h[0]), labels)
        gradients = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            torch._foreach_add_(weights, gradients, alpha=-RATE)
        return loss.detach()

    x, labels, initial = _data(batch, steps, inputs, units, classes)
    x, labels = torch.from_numpy(x), torch.from_numpy(labels).long()
    kernel, recurrent, bias, matrix, offset = map(torch.from_numpy, initial)
    layer, out = torch.nn.LSTM(inputs, units), torch.nn.Linear(units, classes)
    weights = [layer.weight_ih_l0, layer.weight_hh_l0, layer.bias_ih_l0, out.weight, out.bias]
    with torch.no_grad():
        for weight, value in zip(weights, (kernel.T, recurrent.T, bias, matrix.T, offset), strict=True):
            weight.copy_(value)
        layer.bias_hh_l0.zero_()
    return step


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def by_hand(batch, steps, inputs, units, classes):
    def forward(gates):
        """Return the last state, and what the way back needs of each step."""
        h = c = np.zeros((batch, units), np.float32)
        kept = []
        for t in range(steps):
            i, f, g, o = np.split(gates[t] + h @ weights[1], 4, axis=1)
            i, f, g, o = _sigmoid(i), _sigmoid(f), np.tanh(g), _sigmoid(o)
            before, c = c, f * c + i * g
            kept.append((h, before, i, f, g, o, np.tanh(c)))
            h = o * kept[-1][-1]
        return h, kept

    def backward(dh, kept):
        """Return the gradients of the gates."""
        changes = np.empty((steps, batch, 4 * units), np.float32)
        dc = np.zeros((batch, units), np.float32)
        for t in reversed(range(steps)):
            _, before, i, f, g, o, tanh = kept[t]
            dc = dc + dh * o * (1 - tanh * tanh)
            parts = (
                dc * g * i * (1 - i),
                dc * before * f * (1 - f),
                dc * i * (1 - g * g),
                dh * tanh * o * (1 - o),
            )
            np.concatenate(parts, 1, out=changes[t])
            dh = changes[t] @ weights[1].T
            dc = dc * f
        return changes.reshape(steps * batch, 4 * units)

    def step():
        h, kept = forward((x.reshape(-1, inputs) @ weights[0] + weights[2]).reshape(steps, batch, 4 * units))
        logits = h @ weights[3] + weights[4]
        logits -= logits.max(1, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(1, keepdims=True))
        d = (np.exp(logs) - one_hot) / np.float32(batch)
        changes = backward(d @ weights[3].T, kept)
        states = np.stack([each[0] for each in kept]).reshape(steps * batch, units)
        gradients = x.reshape(-1, inputs).T @ changes, states.T @ changes, changes.sum(0), h.T @ d, d.sum(0)
        for weight, gradient in zip(weights, gradients, strict=True):
            weight -= np.float32(RATE) * gradient
        return -logs[np.arange(batch), labels].mean()

    x, labels, weights = _data(batch, steps, inputs, units, classes)
    one_hot = np.eye(classes, dtype=np.float32)[labels]
    return step


def limit(compiled_c, batch, steps, inputs, units, classes):
    """The products alone: of each state forward and back, and of all inputs and states at once."""

    def products():
        np.matmul(x, weights[0], out=gates)
        for _ in range(steps):
            np.matmul(h, weights[1], out=some)
        for _ in range(steps):
            np.matmul(some, weights[1].T, out=h)
        np.matmul(x.T, gates, out=by_kernel)
        np.matmul(states.T, gates, out=by_recurrent)

    x, _, weights = _data(batch, steps, inputs, units, classes)
    x = x.reshape(-1, inputs)
    h, some = np.ones((batch, units), np.float32), np.ones((batch, 4 * units), np.float32)
    states, gates = (np.ones((steps * batch, width), np.float32) for width in (units, 4 * units))
    by_kernel, by_recurrent = np.empty_like(weights[0]), np.empty_like(weights[1])
    return products
