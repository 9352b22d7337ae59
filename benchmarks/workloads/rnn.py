"""A recurrent network, forward: small products of matrices in a loop, and all states stacked."""

from __future__ import annotations

import numpy as np

TITLE = "RNN forward, batch 32, 100 steps, hidden 128"
UNROLLED = True
FULL = {"batch": 32, "steps": 100, "units": 128}
TINY = {"batch": 2, "steps": 4, "units": 8}


def arguments(batch, steps, units):
    """The sequence, the two matrices and the bias."""
    random = np.random.default_rng(0)
    sequence = random.standard_normal((steps, batch, units), np.float32)
    kernel, recurrent = random.standard_normal((2, units, units), np.float32) * np.float32(0.5 / units**0.5)
    return sequence, kernel, recurrent, np.full(units, 0.1, np.float32)


def tensorflow(tf, compiled, batch, steps, units):
    @tf.function(jit_compile=compiled)
    def forward(sequence, kernel, recurrent, bias):
        state = tf.zeros([batch, units])
        outputs = tf.TensorArray(tf.float32, steps)
        for i in tf.range(steps):
            state = tf.tanh(tf.matmul(sequence[i], kernel) + tf.matmul(state, recurrent) + bias)
            outputs = outputs.write(i, state)
        return outputs.stack()

    given = [tf.constant(value) for value in arguments(batch, steps, units)]
    return lambda: forward(*given)


def jax(jax, batch, steps, units):
    numpy = jax.numpy

    @jax.jit
    def forward(sequence, kernel, recurrent, bias):
        def step(state, x):
            state = numpy.tanh(x @ kernel + state @ recurrent + bias)
            return state, state

        return jax.lax.scan(step, numpy.zeros((batch, units), "float32"), sequence)[1]

    given = [*map(numpy.asarray, arguments(batch, steps, units))]
    return lambda: forward(*given).block_until_ready()


def torch(torch, compiled, batch, steps, units):
    def forward(sequence, kernel, recurrent, bias):
        state = torch.zeros(batch, units)
        outputs = []
        for x in sequence:
            state = torch.tanh(x @ kernel + state @ recurrent + bias)
            outputs.append(state)
        return torch.stack(outputs)

    given = [*map(torch.from_numpy, arguments(batch, steps, units))]
    run = torch.compile(forward) if compiled else forward
    return lambda: run(*given)


def by_hand(batch, steps, units):
    def forward():
        state = np.zeros((batch, units), np.float32)
        outputs = np.empty((steps, batch, units), np.float32)
        for i in range(steps):
            state = outputs[i] = np.tanh(sequence[i] @ kernel + state @ recurrent + bias)
        return outputs

    sequence, kernel, recurrent, bias = arguments(batch, steps, units)
    return forward


def limit(compiled_c, batch, steps, units):
    """The products alone."""

    def products():
        for x in sequence:
            np.matmul(x, kernel, out=projected)
            np.matmul(state, recurrent, out=projected)

    sequence, kernel, recurrent, _ = arguments(batch, steps, units)
    state, projected = sequence[0].copy(), np.empty((batch, units), np.float32)
    return products
