"""A Python loop over a picture of complex numbers, without a graph: points that left the circle stay where they are."""

from __future__ import annotations

import numpy as np

TITLE = "eager Mandelbrot 64x64, 50 iterations"
ONLY_EAGER = True
FULL = {"side": 64, "iterations": 50}
TINY = {"side": 8, "iterations": 5}
DIFFERENT = 0.01
"""So many of the pixels may differ: those at the edge, where the last bit of a product decides."""


def _plane(side):
    re, im = np.meshgrid(np.linspace(-2.0, 0.6, side), np.linspace(-1.2, 1.2, side))
    return (re + 1j * im).astype(np.complex64)


def tensorflow(tf, compiled, side, iterations):
    def mandelbrot():
        z = tf.zeros_like(c)
        times = tf.zeros([side, side], tf.int32)
        inside = tf.ones([side, side], tf.bool)
        for _ in range(iterations):
            z = tf.where(inside, z * z + c, z)
            inside = tf.abs(z) <= 2.0
            times += tf.cast(inside, tf.int32)
        return times

    c = tf.constant(_plane(side))
    return mandelbrot


def torch(torch, compiled, side, iterations):
    def mandelbrot():
        z = torch.zeros_like(c)
        times = torch.zeros(c.shape, dtype=torch.int32)
        inside = torch.ones(c.shape, dtype=torch.bool)
        for _ in range(iterations):
            z = torch.where(inside, z * z + c, z)
            inside = torch.abs(z) <= 2.0
            times = times + inside
        return times

    c = torch.from_numpy(_plane(side))
    return mandelbrot


def by_hand(side, iterations):
    def mandelbrot():
        z = np.zeros_like(c)
        times = np.zeros([side, side], np.int32)
        inside = np.ones([side, side], bool)
        for _ in range(iterations):
            z = np.where(inside, z * z + c, z)
            inside = np.abs(z) <= 2
            times += inside
        return times

    c = _plane(side)
    return mandelbrot
