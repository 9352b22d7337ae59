"""A recurrent network, forward and backward through time."""

from __future__ import annotations

import numpy as np

from .rnn import FULL, TINY, arguments

TITLE = "RNN forward + gradient"
UNROLLED = True
TOLERANCE = 1e-3
__all__ = ["FULL", "TINY", "TITLE", "TOLERANCE", "UNROLLED"]


def tensorflow(tf, compiled, batch, steps, units):
    @tf.function(jit_compile=compiled)
    def gradients(sequence, kernel, recurrent, bias):
        with tf.GradientTape() as tape:
            tape.watch([kernel, recurrent, bias])
            state = tf.zeros([batch, units])
            outputs = tf.TensorArray(tf.float32, steps)
            for i in tf.range(steps):
                state = tf.tanh(tf.matmul(sequence[i], kernel) + tf.matmul(state, recurrent) + bias)
                outputs = outputs.write(i, state)
            loss = tf.reduce_sum(outputs.stack() ** 2)
        return tape.gradient(loss, [kernel, recurrent, bias])

    given = [tf.constant(value) for value in arguments(batch, steps, units)]
    return lambda: gradients(*given)


def jax(jax, batch, steps, units):
    numpy = jax.numpy

    def loss(kernel, recurrent, bias, sequence):
        def step(state, x):
            state = numpy.tanh(x @ kernel + state @ recurrent + bias)
            return state, state

        outputs = jax.lax.scan(step, numpy.zeros((batch, units), "float32"), sequence)[1]
        return numpy.sum(outputs**2)

    gradients = jax.jit(jax.grad(loss, argnums=(0, 1, 2)))
    sequence, *weights = map(numpy.asarray, arguments(batch, steps, units))
    return lambda: jax.block_until_ready(gradients(*weights, sequence))


def torch(torch, compiled, batch, steps, units):
    def loss():
        state = torch.zeros(batch, units)
        outputs = []
        for x in sequence:
            state = torch.tanh(x @ weights[0] + state @ weights[1] + weights[2])
            outputs.append(state)
        return torch.sum(torch.stack(outputs) ** 2)

    sequence, *weights = map(torch.from_numpy, arguments(batch, steps, units))
    for weight in weights:
        weight.requires_grad_()
    run = torch.compile(loss) if compiled else loss
    return lambda: torch.autograd.grad(run(), weights)


def by_hand(batch, steps, units):
    def gradients():
        states = np.zeros((steps + 1, batch, units), np.float32)
        for i in range(steps):
            states[i + 1] = np.tanh(sequence[i] @ kernel + states[i] @ recurrent + bias)
        d_kernel, d_recurrent, d_bias = np.zeros_like(kernel), np.zeros_like(recurrent), np.zeros_like(bias)
        carried = np.zeros((batch, units), np.float32)
        for i in reversed(range(steps)):
            state = states[i + 1]
            d_sum = (2 * state + carried) * (1 - state * state)
            d_kernel += sequence[i].T @ d_sum
            d_recurrent += states[i].T @ d_sum
            d_bias += d_sum.sum(0)
            carried = d_sum @ recurrent.T
        return d_kernel, d_recurrent, d_bias

    sequence, kernel, recurrent, bias = arguments(batch, steps, units)
    return gradients


def limit(compiled_c, batch, steps, units):
    """The products alone: two of a step forward, three of a step back."""

    def products():
        for x in sequence:
            np.matmul(x, kernel, out=projected)
            np.matmul(state, recurrent, out=projected)
        for x in sequence:
            np.matmul(x.T, state, out=d_kernel)
            np.matmul(projected.T, state, out=d_recurrent)
            np.matmul(state, recurrent.T, out=projected)

    sequence, kernel, recurrent, _ = arguments(batch, steps, units)
    state, projected = sequence[0].copy(), np.empty((batch, units), np.float32)
    d_kernel, d_recurrent = np.empty_like(kernel), np.empty_like(recurrent)
    return products
