"""Time eager programs on small tensors, where the library takes more time than the arithmetic: microseconds a call.

python -m benchmarks.eager_steps                              agc
PEER -m benchmarks.eager_steps tensorflow                     another library, by the interpreter that has it
PEER -m benchmarks.eager_steps torch

eager_operations.py measures single operations.
"""

from __future__ import annotations

import importlib
import sys
import timeit
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Program = tuple[str, Callable[[], Any]]
LASTING = 0.02


def arrays() -> tuple[np.ndarray[Any, Any], ...]:
    """The input, the target, the matrices of a dense and a recurrent layer, a sequence, images, and their filters."""
    random = np.random.default_rng(0)
    shapes = (8, 16), (8, 16), (16, 16), (16, 32), (32, 32), (10, 8, 16), (2, 8, 8, 3), (3, 3, 3, 4), (64, 10)
    return tuple((0.1 * random.standard_normal(shape)).astype(np.float32) for shape in shapes)


def of_tensorflow(tf: Any) -> Iterator[Program]:
    """The programs in TensorFlow's words, which are agc's."""
    given = arrays()
    x, y, sequence = (tf.constant(given[i]) for i in (0, 1, 5))
    w, w_in, w_out = (tf.Variable(given[i]) for i in (2, 3, 4))
    b, ids = tf.Variable(np.zeros(16, np.float32)), tf.constant([1, 2, 3])
    images, labels, shape = tf.constant(given[6]), tf.constant([3, 7]), tf.constant([16, 8])
    filters, w_logits = tf.Variable(given[7]), tf.Variable(given[8])

    def regression():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.matmul(x, w) + b - y) ** 2)
        dw, db = tape.gradient(loss, [w, b])
        w.assign_sub(0.001 * dw)
        b.assign_sub(0.001 * db)
        return loss

    def recurrent():
        with tf.GradientTape() as tape:
            h = tf.zeros([8, 32])
            for i in range(10):
                h = tf.tanh(tf.matmul(sequence[i], w_in) + tf.matmul(h, w_out))
            loss = tf.reduce_sum(h * h)
        return tape.gradient(loss, [w_in, w_out])

    def second_derivative():
        z = tf.constant(2.0)
        with tf.GradientTape() as outer:
            outer.watch(z)
            with tf.GradientTape() as inner:
                inner.watch(z)
                cube = z * z * z
            slope = inner.gradient(cube, z)
        return outer.gradient(slope, z)

    def normalized():
        mean = tf.reduce_mean(x, -1, keepdims=True)
        variance = tf.reduce_mean(tf.square(x - mean), -1, keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-5)

    def attention():
        scores = tf.matmul(sequence, sequence, transpose_b=True) / 4.0
        return tf.matmul(tf.nn.softmax(scores), sequence)

    def convolutional():
        with tf.GradientTape() as tape:
            h = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(images, filters, 1, "SAME")), 2, 2, "VALID")
            logits = tf.matmul(tf.reshape(h, [2, -1]), w_logits)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        for variable, grad in zip((filters, w_logits), tape.gradient(loss, (filters, w_logits)), strict=True):
            variable.assign_sub(0.001 * grad)
        return loss

    def attentive():
        with tf.GradientTape() as tape:
            q = tf.matmul(sequence, w)
            loss = tf.reduce_sum(
                tf.matmul(tf.nn.softmax(tf.matmul(q, sequence, transpose_b=True) / 4.0), sequence)
            )
        w.assign_sub(0.001 * tape.gradient(loss, w))
        return loss

    def collected():
        array = tf.TensorArray(tf.float32, 10)
        for i in range(10):
            array = array.write(i, sequence[i] * 2.0)
        return array.stack()

    yield "linear regression, a step of training", regression
    yield "RNN, 10 steps with gradients", recurrent
    yield "second derivative of a cube", second_derivative
    yield "layer normalization", normalized
    yield "attention", attention
    yield "convolution, a step of training", convolutional
    yield "attention, a step of training", attentive
    yield "a TensorArray of 10 rows", collected
    yield "a shape in a tensor, an array of NumPy", lambda: tf.matmul(tf.reshape(x, shape), given[0])
    yield "Collatz, 111 steps", lambda: collatz(tf.constant(27))
    yield "20 scalar steps", lambda: scalars(tf.constant(0.0))
    yield "8 items of a matrix", lambda: items(x)
    yield "rows by their indices", lambda: tf.gather(x, ids)
    yield "a tensor of a list", lambda: tf.constant([[1.0, 2.0], [3.0, 4.0]])


def of_torch(torch: Any) -> Iterator[Program]:
    given = arrays()
    x, y, w, w_in, w_out, sequence = map(torch.from_numpy, given[:6])
    b, ids = torch.zeros(16), torch.tensor([1, 2, 3])
    images, labels = torch.from_numpy(given[6].transpose(0, 3, 1, 2).copy()), torch.tensor([3, 7])
    filters, w_logits = torch.from_numpy(given[7].transpose(3, 2, 0, 1).copy()), torch.from_numpy(given[8])
    for parameter in (w, w_in, w_out, b, filters, w_logits):
        parameter.requires_grad_()

    def regression():
        loss = ((x @ w + b - y) ** 2).mean()
        dw, db = torch.autograd.grad(loss, [w, b])
        with torch.no_grad():
            w.sub_(0.001 * dw)
            b.sub_(0.001 * db)
        return loss

    def recurrent():
        h = torch.zeros(8, 32)
        for i in range(10):
            h = torch.tanh(sequence[i] @ w_in + h @ w_out)
        return torch.autograd.grad((h * h).sum(), [w_in, w_out])

    def second_derivative():
        z = torch.tensor(2.0, requires_grad=True)
        (slope,) = torch.autograd.grad(z * z * z, z, create_graph=True)
        return torch.autograd.grad(slope, z)

    def normalized():
        mean = x.mean(-1, keepdim=True)
        variance = ((x - mean) ** 2).mean(-1, keepdim=True)
        return (x - mean) * torch.rsqrt(variance + 1e-5)

    def convolutional():
        h = torch.max_pool2d(torch.relu(torch.nn.functional.conv2d(images, filters, padding=1)), 2)
        loss = torch.nn.functional.cross_entropy(h.reshape(2, -1) @ w_logits, labels)
        grads = torch.autograd.grad(loss, (filters, w_logits))
        with torch.no_grad():
            for parameter, grad in zip((filters, w_logits), grads, strict=True):
                parameter.sub_(0.001 * grad)
        return loss

    def attentive():
        loss = (torch.softmax((sequence @ w) @ sequence.transpose(1, 2) / 4.0, -1) @ sequence).sum()
        (dw,) = torch.autograd.grad(loss, [w])
        with torch.no_grad():
            w.sub_(0.001 * dw)
        return loss

    yield "linear regression, a step of training", regression
    yield "RNN, 10 steps with gradients", recurrent
    yield "second derivative of a cube", second_derivative
    yield "layer normalization", normalized
    yield "attention", lambda: torch.softmax(sequence @ sequence.transpose(1, 2) / 4.0, -1) @ sequence
    yield "convolution, a step of training", convolutional
    yield "attention, a step of training", attentive
    yield "a TensorArray of 10 rows", lambda: torch.stack([sequence[i] * 2.0 for i in range(10)])
    yield "a shape in a tensor, an array of NumPy", lambda: x.reshape(16, 8) @ torch.from_numpy(given[0])
    yield "Collatz, 111 steps", lambda: collatz(torch.tensor(27))
    yield "20 scalar steps", lambda: scalars(torch.tensor(0.0))
    yield "8 items of a matrix", lambda: items(x)
    yield "rows by their indices", lambda: x[ids]
    yield "a tensor of a list", lambda: torch.tensor([[1.0, 2.0], [3.0, 4.0]])


def collatz(n: Any) -> int:
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def scalars(x: Any) -> Any:
    for _ in range(20):
        x = x * 0.9 + 1.0
    return x


def items(x: Any) -> Any:
    total = 0.0
    for i in range(8):
        total = total + x[i, 0]
    return total


def seconds(run: Callable[[], Any]) -> float:
    """The time of a call, at best, after those in which libraries prepare themselves."""
    timeit.timeit(run, number=100)
    count = max(1, round(LASTING / (timeit.timeit(run, number=10) / 10)))
    return min(timeit.repeat(run, number=count, repeat=5)) / count


def main(library: str = "agc.runtime") -> None:
    module = importlib.import_module(library)
    for name, run in of_torch(module) if library == "torch" else of_tensorflow(module):
        print(f"{name:40s} {seconds(run) * 1e6:8.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
