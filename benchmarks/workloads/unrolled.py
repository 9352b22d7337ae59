"""A recurrent network whose loop is unrolled by Python: a graph of many small operations, in one row."""

from __future__ import annotations

import numpy as np

TITLE = "RNN, 10,000 steps unrolled"
FULL = {"steps": 10_000, "batch": 4, "units": 8}
TINY = {"steps": 20, "batch": 2, "units": 3}
EAGER = False
UNROLLED = True


def _arguments(batch, units):
    random = np.random.default_rng(0)
    kernel, recurrent = random.standard_normal((2, units, units), np.float32) * np.float32(0.5 / units**0.5)
    return random.standard_normal((batch, units), np.float32), kernel, recurrent


def tensorflow(tf, compiled, steps, batch, units):
    @tf.function(jit_compile=compiled)
    def last_state(x, kernel, recurrent):
        state = x
        for _ in range(steps):
            state = tf.tanh(tf.matmul(x, kernel) + tf.matmul(state, recurrent))
        return state

    given = [tf.constant(value) for value in _arguments(batch, units)]
    return lambda: last_state(*given)


def jax(jax, steps, batch, units):
    @jax.jit
    def last_state(x, kernel, recurrent):
        state = x
        for _ in range(steps):
            state = jax.numpy.tanh(x @ kernel + state @ recurrent)
        return state

    given = [jax.numpy.asarray(value) for value in _arguments(batch, units)]
    return lambda: last_state(*given).block_until_ready()


def torch(torch, compiled, steps, batch, units):
    def last_state(x, kernel, recurrent):
        state = x
        for _ in range(steps):
            state = torch.tanh(x @ kernel + state @ recurrent)
        return state

    given = [torch.from_numpy(value) for value in _arguments(batch, units)]
    run = torch.compile(last_state) if compiled else last_state
    return lambda: run(*given)


def by_hand(steps, batch, units):
    def last_state():
        state = x
        for _ in range(steps):
            state = np.tanh(x @ kernel + state @ recurrent)
        return state

    x, kernel, recurrent = _arguments(batch, units)
    return last_state
