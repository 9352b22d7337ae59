"""Learning: what is estimated, trained or propagated back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np

from .program import Program, integers, normal, plain


def k_means(points: Any, centres: Any) -> Any:
    assigned = tf.zeros([points.shape[0]], tf.int32)
    for i in tf.range(20):
        far = tf.reduce_sum((points[:, None, :] - centres[None, :, :]) ** 2, -1)
        nearest = tf.argmin(far, 1, output_type=tf.int32)
        ones = tf.one_hot(nearest, centres.shape[0])
        counts = tf.maximum(tf.reduce_sum(ones, 0), 1.0)
        centres = tf.matmul(ones, points, transpose_a=True) / counts[:, None]
        if i > 0 and tf.reduce_all(nearest == assigned):
            break
        assigned = nearest
    return centres, assigned, tf.math.unsorted_segment_sum(points, assigned, 3)


def kalman(measured: Any, f: Any, h: Any) -> Any:
    x, p = tf.zeros([2, 1], tf.float64), tf.eye(2, dtype=tf.float64)
    q, r = 0.01 * tf.eye(2, dtype=tf.float64), tf.constant([[0.5]], tf.float64)
    estimates = tf.TensorArray(tf.float64, tf.shape(measured)[0])
    for i in tf.range(tf.shape(measured)[0]):
        x, p = f @ x, f @ p @ tf.transpose(f) + q
        s = h @ p @ tf.transpose(h) + r
        gain = p @ tf.transpose(h) @ tf.linalg.inv(s)
        x = x + gain @ (measured[i] - h @ x)
        p = (tf.eye(2, dtype=tf.float64) - gain @ h) @ p
        estimates = estimates.write(i, x[:, 0])
    return estimates.stack(), p


def page_rank(links: Any, tolerance: Any) -> Any:
    n = links.shape[0]
    shares = links / tf.maximum(tf.reduce_sum(links, 1, keepdims=True), 1.0)
    rank = tf.fill([n], 1.0 / n)
    for i in tf.range(100):
        new = 0.15 / n + 0.85 * tf.linalg.matvec(shares, rank, transpose_a=True)
        if tf.reduce_sum(tf.abs(new - rank)) < tolerance:
            return new, i
        rank = new
    return rank, 100


def lstm(x: Any, lengths: Any, kernel: Any, recurrent: Any) -> Any:
    """Sequences of different lengths: who has ended keeps its state."""
    batch, units = tf.shape(x)[0], recurrent.shape[0]
    h = c = tf.zeros([batch, units])
    outputs = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    for t in tf.range(tf.reduce_max(lengths)):
        gates = x[:, t] @ kernel + h @ recurrent
        i, f, g, o = tf.split(gates, 4, axis=1)
        new_c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(g)
        new_h = tf.sigmoid(o) * tf.tanh(new_c)
        goes_on = (t < lengths)[:, None]
        c, h = tf.where(goes_on, new_c, c), tf.where(goes_on, new_h, h)
        outputs = outputs.write(t, tf.where(goes_on, new_h, 0.0))
    return tf.transpose(outputs.stack(), [1, 0, 2]), h, c


def gru_gradient(x: Any, w: Any, u: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch([w, u])
        h = tf.zeros([x.shape[1], u.shape[0]])
        for row in x:
            z, r, n = tf.split(row @ w, 3, axis=1)
            uz, ur, un = tf.split(h @ u, 3, axis=1)
            z = tf.sigmoid(z + uz)
            h = z * h + (1.0 - z) * tf.tanh(n + tf.sigmoid(r + ur) * un)
        loss = tf.reduce_mean(h * h)
    return loss, tape.gradient(loss, [w, u])


def attention(x: Any, wq: Any, wk: Any, wv: Any, wo: Any) -> Any:
    """A block of a transformer: masked heads, a residual, layer norm, GELU; and its gradient."""
    batch, length, units = x.shape
    heads = 2

    def split(t: Any) -> Any:
        return tf.transpose(tf.reshape(t, [batch, length, heads, units // heads]), [0, 2, 1, 3])

    with tf.GradientTape() as tape:
        tape.watch([x, wq, wo])
        q, k, v = split(x @ wq), split(x @ wk), split(x @ wv)
        scores = tf.matmul(q, k, transpose_b=True) / (units // heads) ** 0.5
        causal = tf.linalg.band_part(tf.ones([length, length], tf.bool), -1, 0)
        weights = tf.nn.softmax(tf.where(causal, scores, -1e9))
        mixed = tf.reshape(tf.transpose(weights @ v, [0, 2, 1, 3]), [batch, length, units])
        y = x + mixed @ wo
        mean, variance = tf.nn.moments(y, -1, keepdims=True)
        y = tf.nn.gelu((y - mean) * tf.math.rsqrt(variance + 1e-5))
        loss = tf.reduce_sum(y**3)
    return y, tape.gradient(loss, [x, wq, wo])


def adam() -> Callable[..., Any]:
    """Training with variables, the count of steps among them."""
    w = tf.Variable(normal(4, 3) * 0.1)
    b = tf.Variable(tf.zeros([3]))
    slots = [(tf.Variable(tf.zeros_like(v)), tf.Variable(tf.zeros_like(v))) for v in (w, b)]
    count = tf.Variable(0, dtype=tf.int64)

    def step(x: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = x @ w + b
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        gradients = tape.gradient(loss, [w, b])
        gradients, norm = tf.clip_by_global_norm(gradients, 0.5)
        count.assign_add(1)
        t = tf.cast(count, tf.float32)
        rate = 0.01 * tf.sqrt(1.0 - 0.999**t) / (1.0 - 0.9**t)
        for variable, gradient, (m, v) in zip((w, b), gradients, slots, strict=True):
            m.assign(0.9 * m + 0.1 * gradient)
            v.assign(0.999 * v + 0.001 * gradient * gradient)
            variable.assign_sub(rate * m / (tf.sqrt(v) + 1e-7))
        return loss, norm, count.read_value(), w.read_value()

    return step


def trained_in_a_loop() -> Callable[..., Any]:
    """The whole of training as one graph, which ends when it is good enough."""
    w = tf.Variable([0.0, 0.0])

    def train(x: Any, y: Any, most: Any) -> Any:
        steps = 0
        loss = tf.constant(0.0)
        while steps < most:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((tf.linalg.matvec(x, w) - y) ** 2)
            w.assign_sub(0.1 * tape.gradient(loss, w))
            steps += 1
            if loss < 1e-3:
                break
        return loss, steps, w.read_value()

    return train


def batch_norm() -> Callable[..., Any]:
    """What is remembered of batches changes in one branch only."""
    mean, variance = tf.Variable(tf.zeros([3])), tf.Variable(tf.ones([3]))

    def normalized(x: Any, training: Any) -> Any:
        if training:
            m, v = tf.nn.moments(x, [0])
            mean.assign(0.9 * mean + 0.1 * m)
            variance.assign(0.9 * variance + 0.1 * v)
        else:
            m, v = mean.read_value(), variance.read_value()
        return (x - m) / tf.sqrt(v + 1e-3), mean.read_value()

    return normalized


def dense_by_hand() -> Callable[..., Any]:
    """Layers as modules, Keras' way, made of variables."""

    class Dense(tf.Module):
        def __init__(self, rows: int, columns: int, seed: int) -> None:
            super().__init__()
            self.kernel = tf.Variable(normal(rows, columns, seed=seed) * 0.3)
            self.bias = tf.Variable(tf.zeros([columns]))

        def __call__(self, x: Any) -> Any:
            return x @ self.kernel + self.bias

    class Network(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = [Dense(4, 6, 0), Dense(6, 6, 1), Dense(6, 1, 2)]

        def __call__(self, x: Any) -> Any:
            for layer in self.layers[:-1]:
                x = tf.nn.silu(layer(x))
            return self.layers[-1](x)

    network = Network()

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            error = network(x) - y
            loss = tf.reduce_mean(tf.where(tf.abs(error) < 1.0, 0.5 * error**2, tf.abs(error) - 0.5))
            penalty = tf.add_n([tf.nn.l2_loss(v) for v in network.trainable_variables])
        first = tape.gradient(loss, network.trainable_variables)
        second = tape.gradient(penalty, network.trainable_variables, unconnected_gradients="zero")
        for variable, one, other in zip(network.trainable_variables, first, second, strict=True):
            variable.assign_sub(0.1 * one + 0.01 * other)
        return loss, penalty

    return step


def logistic_newton(x: Any, y: Any) -> Any:
    """Iteratively reweighted least squares: a solver in a loop."""
    w = tf.zeros([x.shape[1]], tf.float64)
    for i in tf.range(25):
        p = tf.sigmoid(tf.linalg.matvec(x, w))
        gradient = tf.linalg.matvec(x, p - y, transpose_a=True) + 0.1 * w
        hessian = tf.matmul(x, x * (p * (1 - p))[:, None], transpose_a=True)
        step = tf.linalg.solve(hessian + 0.1 * tf.eye(x.shape[1], dtype=tf.float64), gradient[:, None])
        w = w - step[:, 0]
        if tf.reduce_max(tf.abs(step)) < 1e-8:
            return w, i
    return w, 25


def power_iteration(a: Any) -> Any:
    """In float64: when it stops must not depend on the last bit of a sum, of which each order has another."""
    v = tf.ones([a.shape[0]], tf.float64)
    value = tf.constant(0.0, tf.float64)
    for _ in tf.range(100):
        w = tf.linalg.matvec(a, v)
        new = tf.norm(w)
        v = w / new
        if tf.abs(new - value) < 1e-6 * new:
            break
        value = new
    return value, tf.abs(v)


def gaussian_mixture(x: Any, means: Any) -> Any:
    """Expectation and maximization, with logarithms added up."""
    count = means.shape[0]
    logs = tf.fill([count], -tf.math.log(float(count)))
    scales = tf.ones([count])
    previous = tf.constant(-1e30)
    for _ in tf.range(15):
        each = logs - tf.math.log(scales) - 0.5 * ((x[:, None] - means) / scales) ** 2
        total = tf.reduce_logsumexp(each, 1)
        r = tf.exp(each - total[:, None])
        weight = tf.reduce_sum(r, 0) + 1e-6
        means = tf.reduce_sum(r * x[:, None], 0) / weight
        scales = tf.sqrt(tf.reduce_sum(r * (x[:, None] - means) ** 2, 0) / weight + 1e-3)
        logs = tf.math.log(weight / tf.cast(tf.size(x), tf.float32))
        likelihood = tf.reduce_sum(total)
        if likelihood - previous < 1e-3:
            break
        previous = likelihood
    return means, scales, logs


_POINTS = np.concatenate([normal(12, 2, seed=i) * 0.4 + 3 * i for i in range(3)])
_X, _Y = normal(20, 2, seed=5), normal(20, 2, seed=5) @ np.array([1.5, -0.5], np.float32)

PROGRAMS = {
    "k-means": plain(k_means, (_POINTS, _POINTS[[0, 1, 30]])),
    "Kalman": plain(
        kalman,
        (normal(15, 1, 1, dtype=np.float64), np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[1.0, 0.0]])),
        tolerance=1e-12,
    ),
    "PageRank": plain(page_rank, (np.float32(normal(7, 7) > 0), 1e-6)),
    "LSTM": plain(
        lstm,
        (normal(3, 6, 4), np.array([6, 2, 4], np.int32), normal(4, 20, seed=1), normal(5, 20, seed=2)),
        (normal(2, 3, 4), np.array([1, 0], np.int32), normal(4, 20, seed=1), normal(5, 20, seed=2)),
    ),
    "GRU gradient": plain(gru_gradient, (normal(6, 2, 3), normal(3, 12, seed=1), normal(4, 12, seed=2))),
    "attention": plain(
        attention,
        (normal(2, 5, 8), *(normal(8, 8, seed=i) * np.float32(0.3) for i in range(4))),
        tolerance=1e-4,
    ),
    "Adam": Program(adam, [(normal(6, 4), integers(0, 3, 6)), (normal(6, 4, seed=1), integers(0, 3, 6))]),
    "training in a loop": Program(trained_in_a_loop, [(_X, _Y, 5), (_X, _Y, 200)], 1e-4),
    "batch norm": Program(batch_norm, [(normal(6, 3), True), (normal(6, 3, seed=1), False)]),
    "dense by hand": Program(dense_by_hand, [(normal(9, 4), normal(9, 1, seed=1))]),
    "logistic Newton": plain(
        logistic_newton,
        (normal(30, 3, dtype=np.float64), np.float64(normal(30, seed=2) > 0)),
        tolerance=1e-9,
    ),
    "power iteration": plain(power_iteration, (np.abs(normal(6, 6, dtype=np.float64)),)),
    "Gaussian mixture": plain(
        gaussian_mixture, (_POINTS[:, 0].copy(), np.array([0.0, 2.0, 5.0], np.float32))
    ),
}
