"""Time single eager operations: NumPy's function, and what agc and its tape add to it, in microseconds.

python -m benchmarks.eager_operations [TEXT]     the operations whose names contain the text

The texts in NumPy and in TensorFlow's words have the same names: x, y, … are arrays or tensors. The last line counts
the operations that add more than a microsecond. Each operation recurs until its kernel is native code; AGC_JIT=0 in the
environment keeps NumPy's kernels.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np

from .timing import repetitions, seconds

MOST = 1.0

WARM = 0.2
"""Seconds in which an operation recurs before it is timed."""

OPERATIONS = """
x + y                           x + y
x - y                           x - y
x * y                           x * y
x / y                           x / y
x * 0.5                         x * np.float32(0.5)
1.0 - x                         np.float32(1) - x
x + row                         x + row
variable + y                    x + y
variable * 0.5                  x * np.float32(0.5)
x // y                          x // p
x % y                           x % p
x ** 2                          x ** 2
p ** y                          p ** y
-x                              -x
tf.abs(x)                       np.abs(x)
tf.add(x, y)                    np.add(x, y)
tf.divide(x, y)                 np.divide(x, y)
tf.maximum(x, y)                np.maximum(x, y)
tf.minimum(x, 0.0)              np.minimum(x, 0.0)
tf.square(x)                    np.square(x)
tf.sqrt(p)                      np.sqrt(p)
tf.math.rsqrt(p)                1 / np.sqrt(p)
tf.exp(x)                       np.exp(x)
tf.math.log(p)                  np.log(p)
tf.math.log1p(p)                np.log1p(p)
tf.sin(x)                       np.sin(x)
tf.tanh(x)                      np.tanh(x)
tf.sigmoid(x)                   1 / (1 + np.exp(-x))
tf.math.softplus(x)             np.logaddexp(x, 0)
tf.math.erf(x)                  np.exp(x)
tf.sign(x)                      np.sign(x)
tf.floor(x)                     np.floor(x)
tf.round(x)                     np.rint(x)
tf.math.reciprocal(p)           np.reciprocal(p)
tf.math.squared_difference(x, y)  (x - y) * (x - y)
tf.clip_by_value(x, -1.0, 1.0)  np.minimum(np.maximum(x, -1), 1)
tf.add_n([x, y, p])             x + y + p
tf.math.is_finite(x)            np.isfinite(x)
tf.math.atan2(x, y)             np.arctan2(x, y)
s + t                           s[()] + t[()]
s * 0.5                         s[()] * np.float32(0.5)
s < t                           s[()] < t[()]
n + 1                           n[()] + np.int32(1)
float(s)                        float(s)
bool(s < t)                     bool(s[()] < t[()])
x < y                           x < y
x > 0.0                         x > np.float32(0)
x == y                          x == y
tf.equal(x, y)                  x == y
x != y                          x != y
tf.logical_and(mask, mask)      mask & mask
tf.logical_not(mask)            ~mask
mask & mask                     mask & mask
~mask                           ~mask
ids + ids                       ids + ids
tf.bitwise.bitwise_and(ids, ids)  ids & ids
tf.cast(x, tf.float64)          x.astype(np.float64)
tf.cast(mask, tf.float32)       mask.astype(np.float32)
tf.cast(ids, tf.float32)        ids.astype(np.float32)
tf.cast(x, tf.float32)          None
tf.identity(x)                  None
tf.stop_gradient(x)             None
tf.constant(1.0)                np.array(1.0, np.float32)
tf.constant([1.0, 2.0])         np.array([1.0, 2.0], np.float32)
tf.convert_to_tensor(x)         None
tf.zeros([8, 16])               np.zeros((8, 16), np.float32)
tf.ones([8, 16])                np.ones((8, 16), np.float32)
tf.fill([8, 16], 2.0)           np.full((8, 16), 2.0, np.float32)
tf.zeros_like(x)                np.zeros_like(x)
tf.ones_like(x)                 np.ones_like(x)
tf.eye(8)                       np.eye(8, dtype=np.float32)
tf.range(10)                    np.arange(10, dtype=np.int32)
tf.range(n)                     np.arange(n, dtype=np.int32)
tf.linspace(0.0, 1.0, 10)       np.linspace(0.0, 1.0, 10, dtype=np.float32)
tf.shape(x)                     np.array(x.shape, np.int32)
tf.size(x)                      np.array(x.size, np.int32)
tf.shape(x)[0]                  np.array(x.shape, np.int32)[0]
x.shape[0]                      x.shape[0]
x.dtype                         x.dtype
x.numpy()                       x.copy()
tf.reduce_sum(x)                np.add.reduce(x, None)
tf.reduce_sum(x, 1)             np.add.reduce(x, 1)
tf.reduce_sum(x, axis=-1, keepdims=True)  np.add.reduce(x, -1, keepdims=True)
tf.reduce_mean(x)               np.add.reduce(x, None) / np.float32(128)
tf.reduce_mean(x, 1)            np.add.reduce(x, 1) / np.float32(16)
tf.reduce_max(x, 1)             np.maximum.reduce(x, 1)
tf.reduce_min(x)                np.minimum.reduce(x, None)
tf.reduce_prod(x, 1)            np.multiply.reduce(x, 1)
tf.reduce_any(mask)             np.logical_or.reduce(mask, None)
tf.reduce_all(mask, 1)          np.logical_and.reduce(mask, 1)
tf.reduce_logsumexp(x, 1)       np.logaddexp.reduce(x, 1)
tf.math.reduce_variance(x, 1)   np.var(x, 1)
tf.math.reduce_std(x, 1)        np.std(x, 1)
tf.norm(x)                      np.sqrt(np.add.reduce(x * x, None))
tf.argmax(x, 1)                 np.argmax(x, 1)
tf.argmin(x, 1)                 np.argmin(x, 1)
tf.cumsum(x, 1)                 np.cumsum(x, 1)
tf.sort(x)                      np.sort(x)
tf.argsort(x)                   np.argsort(x)
tf.math.top_k(x, 3)             np.sort(x), np.argsort(x)
tf.unique(ids)                  np.unique(ids, return_inverse=True)
tf.matmul(x, w)                 x @ w
x @ w                           x @ w
tf.matmul(x, y, transpose_b=True)  x @ y.T
tf.matmul(batch, batch, transpose_b=True)  batch @ batch.transpose(0, 2, 1)
tf.linalg.matvec(x, v)          x @ v
tf.tensordot(x, w, 1)           np.tensordot(x, w, 1)
tf.einsum('ij,jk->ik', x, w)    np.einsum('ij,jk->ik', x, w)
tf.reshape(x, [16, 8])          x.reshape(16, 8)
tf.reshape(x, [-1])             x.reshape(-1)
tf.reshape(x, shape)            x.reshape(16, 8)
tf.transpose(x)                 x.T
tf.transpose(batch, [0, 2, 1])  batch.transpose(0, 2, 1)
tf.expand_dims(x, 0)            x[np.newaxis]
tf.expand_dims(x, -1)           x[..., np.newaxis]
tf.squeeze(one)                 one.squeeze()
tf.squeeze(one, [0])            one.squeeze(0)
tf.broadcast_to(row, [8, 16])   np.broadcast_to(row, (8, 16))
tf.tile(x, [2, 1])              np.tile(x, (2, 1))
tf.repeat(x, 2, 0)              np.repeat(x, 2, 0)
tf.reverse(x, [0])              x[::-1]
tf.roll(x, 1, 0)                np.roll(x, 1, 0)
tf.pad(x, [[1, 1], [0, 0]])     np.pad(x, ((1, 1), (0, 0)))
tf.concat([x, y], 0)            np.concatenate([x, y], 0)
tf.concat([x, y], axis=-1)      np.concatenate([x, y], -1)
tf.stack([x, y])                np.stack([x, y])
tf.stack([x, y], axis=1)        np.stack([x, y], 1)
tf.unstack(x)                   [*x]
tf.split(x, 2)                  np.split(x, 2)
tf.split(x, 2, axis=1)          np.split(x, 2, 1)
x[0]                            x[0]
x[1, 2]                         x[1, 2]
x[-1]                           x[-1]
x[1:3]                          x[1:3]
x[:, 0]                         x[:, 0]
x[:, 1:5]                       x[:, 1:5]
x[..., -1]                      x[..., -1]
x[:, tf.newaxis]                x[:, np.newaxis]
x[::2]                          x[::2]
x[n]                            x[n]
variable[0]                     x[0]
tf.slice(x, [0, 1], [2, 3])     x[0:2, 1:4]
tf.gather(x, ids)               x[ids]
tf.gather(x, long)              x[long]
tf.gather(x, ids, axis=1)       x[:, ids]
tf.gather(x, 1)                 x[1]
tf.gather(variable, ids)        x[ids]
tf.nn.embedding_lookup(variable, ids)  x[ids]
tf.gather_nd(x, pairs)          x[pairs[:, 0], pairs[:, 1]]
tf.boolean_mask(x, mask)        x[mask]
tf.where(mask, x, y)            np.where(mask, x, y)
tf.where(mask)                  np.argwhere(mask)
tf.tensor_scatter_nd_update(x, pairs, s3)  x[pairs[:, 0], pairs[:, 1]]
tf.scatter_nd(pairs, s3, [8, 16])  np.zeros((8, 16), np.float32)
tf.math.segment_sum(x, segments)  np.add.reduceat(x, [0, 4])
tf.math.unsorted_segment_sum(x, segments, 2)  np.add.reduceat(x, [0, 4])
tf.one_hot(ids, 10)             np.eye(10, dtype=np.float32)[ids]
tf.sequence_mask(ids, 5)        np.arange(5) < ids[:, np.newaxis]
tf.linalg.band_part(w, -1, 0)   np.tril(w)
tf.linalg.diag(v)               np.diag(v)
tf.linalg.inv(w)                np.linalg.inv(w)
tf.nn.relu(x)                   np.maximum(x, 0)
tf.nn.leaky_relu(x)             np.maximum(x, x * 0.2)
tf.nn.elu(x)                    np.where(x > 0, x, np.expm1(x))
tf.nn.gelu(x)                   x * (1 + np.tanh(x))
tf.nn.silu(x)                   x / (1 + np.exp(-x))
tf.nn.softmax(x)                softmax(x)
tf.nn.log_softmax(x)            log_softmax(x)
tf.nn.bias_add(x, v)            x + v
tf.nn.l2_loss(x)                np.add.reduce(x * x, None) * 0.5
tf.nn.dropout(x, 0.5)           np.where(random.random(x.shape, np.float32) < 0.5, 0, x)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x)  cross_entropy(labels, x)
tf.nn.softmax_cross_entropy_with_logits(y, x)  np.add.reduce(y * log_softmax(x), 1)
tf.nn.sigmoid_cross_entropy_with_logits(y, x)  np.maximum(x, 0) - x * y + np.log1p(np.exp(-np.abs(x)))
tf.nn.moments(x, [0])           np.mean(x, 0), np.var(x, 0)
tf.nn.conv2d(images, filters, 1, 'SAME')  convolved(images, filters)
tf.nn.max_pool2d(images, 2, 2, 'VALID')  images.reshape(2, 4, 2, 4, 2, 3).max((2, 4))
tf.random.normal([8, 16])       random.standard_normal((8, 16), np.float32)
tf.random.uniform([8, 16])      random.random((8, 16), np.float32)
variable.value()                None
variable.assign(y)              None
variable.assign_add(y)          x + y
variable.assign_sub(y)          x - y
variable.assign_sub(y * 0.1)    x - y * np.float32(0.1)
counter.assign_add(1)           n + 1
variable.scatter_nd_update(pairs, s3)  x.copy()
array.write(3, row)             None
array.read(3)                   None
array.stack()                   x.copy()
"""


def names() -> tuple[dict[str, Any], dict[str, Any]]:
    """The names in the texts: as arrays, and as tensors."""
    random = np.random.default_rng(0)

    def normal(*shape: int) -> Any:
        return random.standard_normal(shape, np.float32)

    x = normal(8, 16)
    arrays = {
        "x": x, "y": normal(8, 16), "p": np.abs(normal(8, 16)) + 1, "row": normal(16), "w": normal(16, 16),
        "v": normal(16), "batch": normal(4, 8, 16), "one": normal(1, 8, 1), "s": np.array(1.5, np.float32),
        "t": np.array(2.5, np.float32), "n": np.array(3, np.int32), "mask": x > 0, "ids": np.array([1, 2, 3], np.int32),
        "long": np.array([1, 2, 3]), "shape": np.array([16, 8], np.int32), "labels": np.arange(8, dtype=np.int32),
        "segments": np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32), "images": normal(2, 8, 8, 3),
        "filters": normal(3, 3, 3, 4), "pairs": np.array([[0, 1], [2, 3], [4, 5]], np.int32), "s3": normal(3),
    }  # fmt: skip
    tensors = {name: tf.constant(array) for name, array in arrays.items()}
    tensors["variable"], tensors["counter"] = tf.Variable(x), tf.Variable(3)
    tensors["array"] = tf.TensorArray(tf.float32, 8, clear_after_read=False).unstack(tensors["x"])
    return {
        **arrays, "np": np, "random": random, "softmax": softmax, "log_softmax": log_softmax, "convolved": convolved,
        "cross_entropy": lambda labels, x: log_softmax(x)[np.arange(8), labels],
    }, {**tensors, "tf": tf}  # fmt: skip


def softmax(x: Any) -> Any:
    powers = np.exp(x - np.maximum.reduce(x, 1, keepdims=True))
    return powers / np.add.reduce(powers, 1, keepdims=True)


def log_softmax(x: Any) -> Any:
    x = x - np.maximum.reduce(x, 1, keepdims=True)
    return x - np.log(np.add.reduce(np.exp(x), 1, keepdims=True))


def convolved(images: Any, filters: Any) -> Any:
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))
    return np.tensordot(windows, filters, ((4, 5, 3), (0, 1, 2)))


def call(text: str, known: dict[str, Any]) -> Callable[[], Any]:
    """Return a function that computes a text, whose names are local variables."""
    made: dict[str, Any] = {}
    exec(f"def make({', '.join(known)}):\n    return lambda: ({text})", made)
    return made["make"](**known)  # type: ignore[no-any-return]


def taped(run: Callable[[], Any], x: Any) -> Callable[[], None]:
    """Return a function that calls another fifty times on a tape."""

    def recorded() -> None:
        with tf.GradientTape() as tape:
            tape.watch(x)
            for _ in range(50):
                run()

    return recorded


def least(runs: list[tuple[Callable[[], Any], int]]) -> list[float]:
    """The least time of a call of each function in microseconds, where one has so many calls; they take turns.

    The turns are short: on a busy machine, some of them run without an interruption. First calls take long, so they do
    not tell how many calls a turn has; nor does an interrupted call, so the largest of some numbers counts.
    """
    for run, _ in runs:
        seconds(run, 20)
    counts = [max(repetitions(run, 1e-4) for _ in range(5)) for run, _ in runs]
    times = [[seconds(run, n) / n for (run, _), n in zip(runs, counts, strict=True)] for _ in range(100)]
    return [1e6 * min(row) / calls for row, (_, calls) in zip(zip(*times, strict=True), runs, strict=True)]


def main(part: str = "") -> None:
    """Print NumPy's time, the difference of ours, and what a tape adds."""
    arrays, tensors = names()
    late = late_on_tape = 0
    for line in OPERATIONS.strip().splitlines():
        text, _, in_numpy = line.partition("  ")
        if part not in text:
            continue
        run = call(text, tensors)
        begin = time.perf_counter()
        while time.perf_counter() - begin < WARM:
            run()
        bare, ours, recorded = least(
            [(call(in_numpy.strip(), arrays), 1), (run, 1), (taped(run, tensors["x"]), 50)]
        )
        late, late_on_tape = late + (ours - bare > MOST), late_on_tape + (recorded - ours > MOST)
        print(f"{text:60s} {bare:7.2f} {ours - bare:7.2f} {recorded - ours:7.2f}")
    print(f"more than {MOST} microseconds: {late}, on a tape: {late_on_tape}")


if __name__ == "__main__":
    main(*sys.argv[1:])
