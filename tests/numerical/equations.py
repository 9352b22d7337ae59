"""Equations: differential, linear, and zeros of functions."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np

from .program import normal, plain


def runge_kutta(state: Any, steps: Any, h: Any) -> Any:
    """The Lorenz system, by the classical method of order four."""

    def slope(s: Any) -> Any:
        x, y, z = tf.unstack(s)
        return tf.stack([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])

    path = tf.TensorArray(state.dtype, size=steps + 1)
    path = path.write(0, state)
    for i in tf.range(steps):
        k1 = slope(state)
        k2 = slope(state + h / 2 * k1)
        k3 = slope(state + h / 2 * k2)
        k4 = slope(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path = path.write(i + 1, state)
    return path.stack()


def adaptive_steps(y: Any, end: Any) -> Any:
    """Heun's method with steps as long as the difference to Euler's allows."""
    t, h, taken, rejected = 0.0, 0.1, 0, 0
    while t < end:
        h = tf.minimum(h, end - t)
        k1 = -2.0 * t * y
        k2 = -2.0 * (t + h) * (y + h * k1)
        error = tf.reduce_max(tf.abs(h / 2 * (k2 - k1)))
        if error > 1e-3:
            h = h / 2
            rejected += 1
            continue
        y = y + h / 2 * (k1 + k2)
        t += h
        taken += 1
        if error < 1e-4:
            h = h * 2
        if taken > 500:
            break
    return y, taken, rejected


def conjugate_gradient(a: Any, b: Any) -> Any:
    x = tf.zeros_like(b)
    r = b - tf.linalg.matvec(a, x)
    p = r
    rr = tf.reduce_sum(r * r)
    steps = 0
    while rr > 1e-10 and steps < 50:
        ap = tf.linalg.matvec(a, p)
        alpha = rr / tf.tensordot(p, ap, 1)
        x += alpha * p
        r -= alpha * ap
        rest = tf.reduce_sum(r * r)
        p = r + rest / rr * p
        rr = rest
        steps += 1
    return x


def gauss_seidel(grid: Any, sweeps: Any) -> Any:
    """Relaxation of Laplace's equation, red and black cells by turns."""
    rows, columns = grid.shape
    parity = (tf.range(rows)[:, None] + tf.range(columns)[None, :]) % 2
    inner = tf.pad(tf.ones([rows - 2, columns - 2], tf.bool), [[1, 1], [1, 1]])
    for _ in tf.range(sweeps):
        for color in range(2):
            around = tf.roll(grid, 1, 0) + tf.roll(grid, -1, 0) + tf.roll(grid, 1, 1) + tf.roll(grid, -1, 1)
            grid = tf.where(inner & (parity == color), around / 4.0, grid)
    return grid


def newton(x: Any) -> Any:
    """Square roots, each number with a loop of its own that stops when it has arrived."""
    roots = tf.TensorArray(x.dtype, size=tf.shape(x)[0])
    total = 0
    for i in tf.range(tf.shape(x)[0]):
        guess = x[i]
        for _ in tf.range(60):
            nearer = 0.5 * (guess + x[i] / guess)
            total += 1
            if tf.abs(nearer - guess) <= 1e-6 * nearer:
                break
            guess = nearer
        roots = roots.write(i, guess)
    return roots.stack(), total


def bisection(low: Any, high: Any) -> Any:
    """A zero of x³ - x - 2; -1 where the signs do not differ."""

    def value(x: Any) -> Any:
        return x * x * x - x - 2.0

    if value(low) * value(high) > 0:
        return tf.constant(-1.0, tf.float64), 0
    steps = 0
    while high - low > 1e-9:
        middle = (low + high) / 2
        if value(middle) == 0:
            return middle, steps
        if value(low) * value(middle) < 0:
            high = middle
        else:
            low = middle
        steps += 1
    return (low + high) / 2, steps


def durand_kerner(coefficients: Any) -> Any:
    """All zeros of a polynomial at once, in complex numbers."""
    degree = coefficients.shape[0] - 1
    zeros = tf.pow(tf.constant(0.4 + 0.9j, tf.complex128), tf.cast(tf.range(degree), tf.complex128))
    for _ in tf.range(60):
        value = tf.zeros([degree], tf.complex128) + coefficients[0]
        for k in range(1, degree + 1):
            value = value * zeros + coefficients[k]
        differences = zeros[:, None] - zeros[None, :] + tf.eye(degree, dtype=tf.complex128)
        zeros = zeros - value / tf.reduce_prod(differences, axis=1)
    return tf.math.real(zeros), tf.math.imag(zeros)


def lu_solved(a: Any, b: Any) -> Any:
    """Elimination with the largest pivot, rows exchanged by items."""
    n = a.shape[0]
    a, b = tf.identity(a), tf.identity(b)
    for k in range(n):
        pivot = tf.argmax(tf.abs(a[k:, k]), output_type=tf.int32) + k
        order = tf.range(n)
        order = tf.tensor_scatter_nd_update(order, [[k], [pivot]], [pivot, k])
        a, b = tf.gather(a, order), tf.gather(b, order)
        factors = tf.where(tf.range(n) > k, a[:, k] / a[k, k], 0.0)
        a = a - factors[:, None] * a[k][None, :]
        b = b - factors * b[k]
    x = tf.zeros_like(b)
    for k in range(n - 1, -1, -1):
        rest = b[k] - tf.reduce_sum(a[k] * x)
        x = tf.tensor_scatter_nd_update(x, [[k]], [rest / a[k, k]])
    return x


def thomas(lower: Any, main: Any, upper: Any, right: Any) -> Any:
    """A tridiagonal system: a sweep there, and one back over what it kept."""
    n = tf.shape(main)[0]
    cs = tf.TensorArray(tf.float64, n, clear_after_read=False)
    ds = tf.TensorArray(tf.float64, n, clear_after_read=False)
    c, d = upper[0] / main[0], right[0] / main[0]
    cs, ds = cs.write(0, c), ds.write(0, d)
    for i in tf.range(1, n):
        m = main[i] - lower[i] * c
        c, d = upper[i] / m, (right[i] - lower[i] * d) / m
        cs, ds = cs.write(i, c), ds.write(i, d)
    xs = tf.TensorArray(tf.float64, n)
    x = d
    xs = xs.write(n - 1, x)
    for i in tf.range(n - 2, -1, -1):
        x = ds.read(i) - cs.read(i) * x
        xs = xs.write(i, x)
    return xs.stack()


_HALF = normal(8, 8)
_MATRIX = _HALF @ _HALF.T + 8 * np.eye(8, dtype=np.float32)
_GRID = np.zeros((9, 12), np.float32)
_GRID[0] = 1.0

PROGRAMS = {
    "Runge-Kutta": plain(
        runge_kutta,
        (np.array([1.0, 1.0, 1.0], np.float32), 40, 0.01),
        (np.array([1.0, 1.0, 1.0], np.float32), 0, 0.01),
        (np.array([3.0, -1.0, 20.0], np.float64), 30, np.float64(0.005)),
        tolerance=2e-5,
    ),
    "adaptive steps": plain(
        adaptive_steps,
        (np.array([1.0, 0.5], np.float32), 2.0),
        (np.array([1.0], np.float32), 0.0),
        tolerance=1e-4,
    ),
    "conjugate gradient": plain(conjugate_gradient, (_MATRIX, normal(8, seed=1)), tolerance=1e-4),
    "Gauss-Seidel": plain(gauss_seidel, (_GRID, 30), (_GRID, 0)),
    "Newton": plain(newton, (np.array([2.0, 9.0, 1e-4, 1e6, 1.0], np.float32),)),
    "bisection": plain(
        bisection, (np.float64(1.0), np.float64(2.0)), (np.float64(3.0), np.float64(4.0)), tolerance=1e-12
    ),
    "Durand-Kerner": plain(
        durand_kerner, (np.array([1.0, -6.0, 11.0, -6.0], np.complex128),), tolerance=1e-9
    ),
    "LU": plain(lu_solved, (normal(6, 6), normal(6, seed=2)), tolerance=1e-4),
    "Thomas": plain(
        thomas,
        (
            normal(20, dtype=np.float64),
            8 + normal(20, seed=1, dtype=np.float64),
            normal(20, seed=2, dtype=np.float64),
            normal(20, seed=3, dtype=np.float64),
        ),
        tolerance=1e-12,
    ),
}
