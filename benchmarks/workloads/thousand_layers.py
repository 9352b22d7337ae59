"""A step of training of a very deep dense network with shortcuts: thousands of variables, each used once."""

from __future__ import annotations

import functools

import numpy as np

TITLE = "1,000 dense layers, training step"
FULL = {"layers": 1_000, "batch": 8, "units": 32}
TINY = {"layers": 20, "batch": 2, "units": 3}
RATE = 0.02
STEPS = 2
EAGER = False
UNROLLED = True


def _data(layers, batch, units):
    """Return the inputs, and a matrix and a bias of each layer."""
    random = np.random.default_rng(0)
    scale = np.float32(units**-0.5 / layers)
    matrices = random.standard_normal((layers, units, units), np.float32) * scale
    x = random.standard_normal((batch, units), np.float32)
    return x, list(matrices), [np.zeros(units, np.float32) for _ in range(layers)]


def tensorflow(tf, compiled, layers, batch, units):
    @tf.function(jit_compile=compiled)
    def step(x):
        with tf.GradientTape() as tape:
            h = x
            for matrix, bias in zip(matrices, biases):  # noqa: B905
                h += tf.nn.relu(tf.matmul(h, matrix) + bias)
            loss = tf.reduce_mean(h * h)
        weights = [*matrices, *biases]
        for gradient, weight in zip(tape.gradient(loss, weights), weights):  # noqa: B905
            weight.assign_sub(RATE * gradient)
        return loss

    x, *initial = _data(layers, batch, units)
    matrices, biases = ([tf.Variable(value) for value in values] for values in initial)
    x = tf.constant(x)
    return lambda: step(x)


def jax(jax, layers, batch, units):
    numpy = jax.numpy

    def loss_of(weights, x):
        for matrix, bias in zip(*weights, strict=True):
            x += jax.nn.relu(x @ matrix + bias)
        return numpy.mean(x * x)

    @functools.partial(jax.jit, donate_argnums=0)
    def step(weights, x):
        loss, gradients = jax.value_and_grad(loss_of)(weights, x)
        return jax.tree.map(lambda w, g: w - RATE * g, weights, gradients), loss

    def run():
        nonlocal weights
        weights, loss = step(weights, x)
        return jax.block_until_ready((weights, loss))[1]

    x, *initial = _data(layers, batch, units)
    weights = jax.tree.map(numpy.array, initial)
    x = numpy.asarray(x)
    return run


def torch(torch, compiled, layers, batch, units):
    def loss_of(x):
        for matrix, bias in zip(matrices, biases, strict=True):
            x = x + torch.relu(x @ matrix + bias)
        return torch.mean(x * x)

    def step():
        loss = forward(x)
        gradients = torch.autograd.grad(loss, [*matrices, *biases])
        with torch.no_grad():
            torch._foreach_add_([*matrices, *biases], gradients, alpha=-RATE)
        return loss.detach()

    x, *initial = _data(layers, batch, units)
    x = torch.from_numpy(x)
    matrices, biases = ([torch.from_numpy(v.copy()).requires_grad_() for v in values] for values in initial)
    forward = torch.compile(loss_of) if compiled else loss_of
    return step


def by_hand(layers, batch, units):
    def step():
        inputs, sums = [x], []
        for matrix, bias in zip(matrices, biases, strict=True):
            sums.append(inputs[-1] @ matrix + bias)
            inputs.append(inputs[-1] + np.maximum(sums[-1], 0))
        loss = np.mean(inputs[-1] ** 2)
        change = inputs[-1] * np.float32(2 / x.size)
        for i in reversed(range(layers)):
            inner = change * (sums[i] > 0)
            change = change + inner @ matrices[i].T
            matrices[i] -= np.float32(RATE) * (inputs[i].T @ inner)
            biases[i] -= np.float32(RATE) * inner.sum(0)
        return loss

    x, matrices, biases = _data(layers, batch, units)
    return step


def limit(compiled_c, layers, batch, units):
    """The products alone: one forward and two back for each layer."""

    def products():
        for matrix, gradient in zip(matrices, gradients, strict=True):
            np.matmul(x, matrix, out=y)
            np.matmul(x.T, y, out=gradient)
            np.matmul(y, matrix.T, out=x)

    x, matrices, _ = _data(layers, batch, units)
    x, y = np.ones_like(x), np.ones_like(x)
    gradients = [np.empty_like(matrix) for matrix in matrices]
    return products
