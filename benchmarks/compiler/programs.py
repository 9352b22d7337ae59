"""The programs that are measured, in the words of TensorFlow's users.

This file is not imported: `cases.load` runs it with `tf` set to the library that is measured.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import Any

tf: Any = globals()["tf"]


def successor(x):
    return x + 1


def ends(a, b, c, d, e, f, g, h, i, j):
    return a + j


def count(limit):
    i = 0
    while i < limit:
        i += 1
    return i


def total(items):
    result = tf.constant(0, tf.int64)
    for item in items:
        result += item
    return result


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def chain(x, y):
    """A hundred operations on small vectors, which stay finite."""
    for _ in range(50):
        x = x * y
        x = x + y
    return x


def power(x, y):
    result = tf.eye(10, dtype=tf.dtypes.int32)
    for _ in range(y):
        result = tf.matmul(x, result)
    return result


def escape_times(limit, width, height):
    c_re, c_im = tf.meshgrid(tf.linspace(-2.0, 0.6, width), tf.linspace(-1.2, 1.2, height))
    z_re = tf.zeros_like(c_re)
    z_im = tf.zeros_like(c_im)
    times = tf.zeros([height, width], dtype=tf.int32)
    inside = tf.ones([height, width], dtype=tf.bool)
    step = 0
    while step < limit and tf.reduce_any(inside):
        step += 1
        re = z_re * z_re - z_im * z_im + c_re
        im = 2.0 * z_re * z_im + c_im
        z_re = tf.where(inside, re, z_re)
        z_im = tf.where(inside, im, z_im)
        escaped = tf.logical_and(inside, z_re * z_re + z_im * z_im > 4.0)
        times = tf.where(escaped, step, times)
        inside = tf.logical_and(inside, tf.logical_not(escaped))
    return times


def waves(rows, columns, frequency):
    """Weights without luck: the same in every library."""
    steps = tf.range(rows * columns, dtype=tf.float32)
    return tf.reshape(tf.sin(steps * frequency), [rows, columns]) * 0.5


class DynamicRNN:
    """A recurrent network that reads a batch of sequences step by step."""

    def __init__(self, features, units):
        self.units = units
        self.kernel = tf.Variable(waves(features, units, 0.7))
        self.recurrent = tf.Variable(waves(units, units, 1.3))
        self.bias = tf.Variable(tf.fill([units], 0.1))

    def step(self, inputs, state):
        return tf.tanh(tf.matmul(inputs, self.kernel) + tf.matmul(state, self.recurrent) + self.bias)

    def __call__(self, batch):
        batch = tf.transpose(batch, [1, 0, 2])
        outputs = tf.TensorArray(tf.float32, batch.shape[0])
        state = tf.zeros([batch.shape[1], self.units])
        for i in tf.range(batch.shape[0]):
            state = self.step(batch[i], state)
            outputs = outputs.write(i, state)
        return tf.transpose(outputs.stack(), [1, 0, 2])
