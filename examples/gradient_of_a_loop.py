"""Differentiate through a `while` loop: how a square root by Newton's method depends on its argument.

The number of iterations depends on the value, and the gradient follows the iterations that ran.
"""

import agc.runtime as tf


@tf.function
def root(x):
    guess = x
    while tf.abs(guess * guess - x) > 1e-12:
        guess = 0.5 * (guess + x / guess)
    return guess


@tf.function
def slope(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = root(x)
        first = inner.gradient(y, x)
    return y, first, outer.gradient(first, x)


for x in (2.0, 4.0, 9.0):
    y, first, second = slope(tf.constant(x, tf.float64))
    print(f"x = {x}: root {y:.6f}, first derivative {first:.6f}, second {second:.6f}")

# Output:
# x = 2.0: root 1.414214, first derivative 0.353553, second -0.088388
# x = 4.0: root 2.000000, first derivative 0.250000, second -0.031250
# x = 9.0: root 3.000000, first derivative 0.166667, second -0.009259
