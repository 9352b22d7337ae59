"""A step of training of many equal dense layers with Adam, on request with recomputed blocks of √n layers."""

from __future__ import annotations

import functools
import math

import numpy as np

TITLE = "{layers} dense layers of {width}, batch {batch}{note}"
FULL = {"note": ""}
TINY = {"batch": 3, "width": 8, "layers": 9}
STEPS = 3
TOLERANCE = 1e-3
RATE, FIRST, SECOND, SMALL = 1e-3, 0.9, 0.99, 1e-3


def _data(batch, width, layers):
    """The input, and for each layer the matrix and Adam's moments, in memory that the system has given already."""
    random = np.random.default_rng(0)
    x, scale = random.standard_normal((batch, width), np.float32), np.float32(width**-0.5)
    weights = [random.standard_normal((width, width), np.float32) * scale for _ in range(layers)]
    return x, weights, [np.full_like(weight, 0) for weight in weights], [np.full_like(w, 1) for w in weights]


def _blocks(weights, recomputed):
    size = math.isqrt(len(weights)) if recomputed else len(weights)
    return [weights[i : i + size] for i in range(0, len(weights), size)]


def tensorflow(tf, compiled, batch, width, layers, recomputed=False, note=""):
    def block(some, h):
        for weight in some:
            h = tf.tanh(tf.matmul(h, weight))
        return h

    @tf.function(jit_compile=compiled)
    def step(x):
        with tf.GradientTape() as tape:
            h = x
            for some in _blocks(weights, recomputed):
                layer = functools.partial(block, some)
                h = tf.recompute_grad(layer)(h) if recomputed else layer(h)
            loss = tf.reduce_mean(tf.square(h))
        for g, w, m, v in zip(tape.gradient(loss, weights), weights, ms, vs):  # noqa: B905
            m.assign(FIRST * m + (1 - FIRST) * g)
            v.assign(SECOND * v + (1 - SECOND) * tf.square(g))
            w.assign_sub(RATE * m / (tf.sqrt(v) + SMALL))
        return loss

    x, *state = _data(batch, width, layers)
    weights, ms, vs = ([tf.Variable(value) for value in some] for some in state)
    x = tf.constant(x)
    return lambda: step(x)


def jax(jax, batch, width, layers, recomputed=False, note=""):
    numpy = jax.numpy

    def block(some, h):
        for weight in some:
            h = numpy.tanh(h @ weight)
        return h

    def loss(weights, x):
        for some in _blocks(weights, recomputed):
            x = (jax.checkpoint(block) if recomputed else block)(some, x)
        return numpy.mean(numpy.square(x))

    @functools.partial(jax.jit, donate_argnums=(0, 1, 2))
    def step(weights, ms, vs, x):
        value, gradients = jax.value_and_grad(loss)(weights, x)
        ms = [FIRST * m + (1 - FIRST) * g for m, g in zip(ms, gradients, strict=True)]
        vs = [SECOND * v + (1 - SECOND) * numpy.square(g) for v, g in zip(vs, gradients, strict=True)]
        rows = zip(weights, ms, vs, strict=True)
        return [w - RATE * m / (numpy.sqrt(v) + SMALL) for w, m, v in rows], ms, vs, value

    def run():
        nonlocal state
        *state, value = step(*state, x)
        return jax.block_until_ready((state, value))[1]

    x, *state = _data(batch, width, layers)
    state = [[numpy.array(value) for value in some] for some in state]
    x = numpy.asarray(x)
    return run


def torch(torch, compiled, batch, width, layers, recomputed=False, note=""):
    from torch.utils.checkpoint import checkpoint

    def block(some, h):
        for weight in some:
            h = torch.tanh(h @ weight)
        return h

    def loss_of(h):
        for some in _blocks(weights, recomputed):
            h = checkpoint(block, some, h, use_reentrant=False) if recomputed else block(some, h)
        return torch.square(h).mean()

    def step():
        loss = forward(x)
        gradients = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for g, w, m, v in zip(gradients, weights, ms, vs, strict=True):
                m.mul_(FIRST).add_(g, alpha=1 - FIRST)
                v.mul_(SECOND).addcmul_(g, g, value=1 - SECOND)
                w.addcdiv_(m, v.sqrt().add_(SMALL), value=-RATE)
        return loss.detach()

    x, *state = _data(batch, width, layers)
    weights, ms, vs = ([torch.from_numpy(value) for value in some] for some in state)
    for weight in weights:
        weight.requires_grad_()
    x = torch.from_numpy(x)
    forward = torch.compile(loss_of) if compiled else loss_of
    return step


def by_hand(batch, width, layers, recomputed=False, note=""):
    def step():
        hidden = [x]
        for weight in weights:
            hidden.append(np.tanh(hidden[-1] @ weight))
        loss = np.mean(np.square(hidden[-1]))
        d = 2 * hidden[-1] / np.float32(hidden[-1].size)
        for i in reversed(range(layers)):
            d = d * (1 - np.square(hidden[i + 1]))
            gradient, d = hidden[i].T @ d, d @ weights[i].T
            ms[i] += (gradient - ms[i]) * np.float32(1 - FIRST)
            vs[i] += (np.square(gradient) - vs[i]) * np.float32(1 - SECOND)
            weights[i] -= np.float32(RATE) * ms[i] / (np.sqrt(vs[i]) + np.float32(SMALL))
        return loss

    x, weights, ms, vs = _data(batch, width, layers)
    return step
