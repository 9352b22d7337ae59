"""Simulations: bodies, cells, chance, pictures."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np

from .program import integers, normal, plain


def bodies(places: Any, speeds: Any, masses: Any, steps: Any) -> Any:
    """Gravitation, by leaps."""

    def forces(at: Any) -> Any:
        apart = at[None, :, :] - at[:, None, :]
        squares = tf.reduce_sum(apart * apart, -1) + 0.01
        return tf.reduce_sum(apart * (masses[None, :] * squares**-1.5)[:, :, None], axis=1)

    for _ in tf.range(steps):
        speeds += 0.005 * forces(places)
        places += 0.01 * speeds
        speeds += 0.005 * forces(places)
    return places, speeds, 0.5 * tf.reduce_sum(masses[:, None] * speeds * speeds)


def life(cells: Any, rounds: Any) -> Any:
    """Until nothing changes, or so many rounds."""
    for i in tf.range(rounds):
        count = tf.zeros_like(cells, tf.int32)
        for down in (-1, 0, 1):
            for right in (-1, 0, 1):
                if down or right:
                    count += tf.cast(tf.roll(cells, [down, right], [0, 1]), tf.int32)
        new = (count == 3) | (cells & (count == 2))
        if tf.reduce_all(new == cells):
            return cells, i
        cells = new
    return cells, rounds


def rule_110(row: Any, rounds: Any) -> Any:
    rows = tf.TensorArray(tf.bool, rounds)
    for i in tf.range(rounds):
        left, right = tf.roll(row, 1, 0), tf.roll(row, -1, 0)
        row = (row | right) & ~(left & row & right)
        rows = rows.write(i, row)
    return rows.stack()


def monte_carlo(seed: Any, rounds: Any) -> Any:
    """π by numbers that depend on nothing but the seed."""
    inside = 0
    for i in tf.range(rounds):
        points = tf.random.stateless_uniform([64, 2], tf.stack([seed, i]))
        inside += tf.math.count_nonzero(tf.reduce_sum(points * points, 1) < 1.0, dtype=tf.int32)
    return 4.0 * tf.cast(inside, tf.float32) / tf.cast(64 * rounds, tf.float32), inside


def metropolis(seed: Any, x: Any) -> Any:
    """A walk that takes a step where chance and a ratio allow it."""
    taken, total = 0, tf.zeros_like(x)
    for i in tf.range(50):
        move = tf.random.stateless_normal(x.shape, tf.stack([seed, i]))
        chance = tf.random.stateless_uniform([], tf.stack([i, seed]))
        new = x + 0.5 * move
        ratio = tf.exp(0.5 * (tf.reduce_sum(x * x) - tf.reduce_sum(new * new)))
        if chance < ratio:
            x = new
            taken += 1
        total += x
    return total / 50.0, taken


def heat(rod: Any, source: Any, steps: Any) -> Any:
    """A rod whose ends are held, in slices."""
    for i in tf.range(steps):
        inner = rod[1:-1] + 0.2 * (rod[2:] - 2 * rod[1:-1] + rod[:-2]) + tf.where(i < 5, source[1:-1], 0.0)
        rod = tf.concat([rod[:1], inner, rod[-1:]], 0)
    return rod, tf.reduce_max(rod), tf.argmax(rod)


def waves(pool: Any, steps: Any) -> Any:
    """Two states of which each becomes the other."""
    before, now = pool, pool
    for _ in tf.range(steps):
        padded = tf.pad(now, [[1, 1], [1, 1]], "SYMMETRIC")
        bend = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:] - 4.0 * now
        before, now = now, 2.0 * now - before + 0.1 * bend
    return now


def blurred(picture: Any) -> Any:
    """Bytes: a box of nine, the halves of differences, what saturates and what wraps."""
    wide = tf.cast(tf.pad(picture, [[1, 1], [1, 1]], "REFLECT"), tf.int32)
    rows, columns = picture.shape
    total = tf.zeros([rows, columns], tf.int32)
    for i in range(3):
        for j in range(3):
            total += wide[i : i + rows, j : j + columns]
    mean = tf.cast(total // 9, tf.uint8)
    sharp = tf.saturate_cast(tf.cast(picture, tf.int32) * 2 - total // 9, tf.uint8)
    wrapped = picture * tf.constant(3, tf.uint8) + tf.constant(7, tf.uint8)
    return mean, sharp, wrapped, 255 - tf.cast(mean, tf.int32)


def dithered(picture: Any) -> Any:
    """Floyd and Steinberg's, along a row: each pixel depends on the error of the last."""
    rows = tf.TensorArray(tf.uint8, picture.shape[0])
    for y in tf.range(picture.shape[0]):
        error = 0
        row = tf.TensorArray(tf.uint8, picture.shape[1])
        for x in tf.range(picture.shape[1]):
            value = tf.cast(picture[y, x], tf.int32) + error
            bright = value >= 128
            error = (value - 255 if bright else value) // 2
            row = row.write(x, tf.cast(bright, tf.uint8) * 255)
        rows = rows.write(y, row.stack())
    return rows.stack()


def histogram(picture: Any) -> Any:
    """Otsu's threshold of a picture."""
    counts = tf.math.bincount(tf.cast(tf.reshape(picture, [-1]), tf.int32), minlength=256, maxlength=256)
    shares = tf.cast(counts, tf.float64) / tf.cast(tf.reduce_sum(counts), tf.float64)
    levels = tf.range(256, dtype=tf.float64)
    best, threshold = tf.constant(-1.0, tf.float64), 0
    for t in tf.range(1, 256):
        low = tf.reduce_sum(shares[:t])
        if low <= 0.0 or low >= 1.0:
            continue
        m0 = tf.reduce_sum(shares[:t] * levels[:t]) / low
        m1 = tf.reduce_sum(shares[t:] * levels[t:]) / (1.0 - low)
        between = low * (1.0 - low) * (m0 - m1) ** 2
        if between - best > 1e-9:  # thresholds at which no pixel is are equally good
            best, threshold = between, t
    return threshold, best


def distances(mask: Any) -> Any:
    """How far every cell is from the next that is set: waves until nothing grows."""
    far = tf.where(mask, 0, 1000)
    changed = tf.constant(True)
    rounds = 0
    while changed:
        new = far
        for axis in (0, 1):
            for way in (-1, 1):
                new = tf.minimum(new, tf.roll(far, way, axis) + 1)
        changed = tf.reduce_any(new != far)
        far = new
        rounds += 1
    return far, rounds


def escape(c: Any) -> Any:
    """Mandelbrot's set in complex numbers."""
    z = tf.zeros_like(c)
    times = tf.zeros(c.shape, tf.int32)
    for _ in tf.range(20):
        inside = tf.abs(z) <= 2.0
        z = tf.where(inside, z * z + c, z)
        times += tf.cast(inside, tf.int32)
    return times


def queue(arrivals: Any, service: Any) -> Any:
    """Lindley's recursion of waiting times, with the longest queue."""
    waiting = tf.constant(0.0)
    total, longest = 0.0, 0
    busy = tf.constant(0)
    for i in tf.range(tf.size(arrivals)):
        waiting = tf.maximum(waiting + service[i] - arrivals[i], 0.0)
        busy = busy + 1 if waiting > 0.0 else 0
        longest = max(longest, busy)
        total += waiting
    return total, longest


def masked(x: Any, y: Any) -> Any:
    """Booleans: masks of masks, what is chosen, counted and replaced."""
    high = x > 0
    both = tf.logical_and(high, y < 0.5)
    either = tf.math.logical_xor(high, both)
    rows = tf.reduce_any(both, axis=1)
    chosen = tf.boolean_mask(x, rows)
    count = tf.reduce_sum(tf.cast(either, tf.int64), axis=0)
    return tf.where(both, x, -y), rows, count, tf.reduce_sum(chosen), tf.where(rows)


_PICTURE = integers(0, 256, 8, 11, dtype=np.uint8)

PROGRAMS = {
    "bodies": plain(bodies, (normal(5, 3), normal(5, 3, seed=1), np.abs(normal(5, seed=2)), 10)),
    "life": plain(
        life, (normal(9, 10) > 0.3, 20), (np.zeros((4, 4), bool), 5), (normal(6, 6, seed=4) > 0, 0)
    ),
    "rule 110": plain(rule_110, (np.arange(31) == 30, 16)),
    "Monte Carlo": plain(monte_carlo, (7, 10), (8, 3)),
    "Metropolis": plain(metropolis, (3, np.zeros(4, np.float32)), tolerance=1e-4),
    "heat": plain(heat, (normal(20), normal(20, seed=1), 15)),
    "waves": plain(waves, (normal(7, 9), 12), (normal(7, 9), 0)),
    "blurred": plain(blurred, (_PICTURE,)),
    "dithered": plain(dithered, (_PICTURE,)),
    "histogram": plain(histogram, (_PICTURE,), tolerance=1e-9),
    "distances": plain(distances, (normal(8, 8) > 1.2,)),
    "escape": plain(
        escape,
        ((np.linspace(-2, 1, 12)[None, :] + 1j * np.linspace(-1, 1, 9)[:, None]).astype(np.complex64),),
    ),
    "queue": plain(queue, (np.abs(normal(40)), np.abs(normal(40, seed=1)))),
    "masked": plain(masked, (normal(6, 5), normal(6, 5, seed=1)), (-np.ones((3, 2), np.float32),) * 2),
}
