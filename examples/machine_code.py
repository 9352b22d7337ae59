"""Compile nested loops to machine code, and see that the plan computes the same.

Needs LLVM: pip install '.[jit]'.
"""

import agc.runtime as tf


def longest(limit):
    """Return the start below `limit` of the longest Collatz sequence, and its length."""
    best, start = 0, 1
    for first in tf.range(1, limit):
        n, steps = tf.cast(first, tf.int64), 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        if steps > best:
            best, start = steps, first
    return start, best


native = tf.function(longest, jit_compile=True)
plan = tf.function(longest, jit_compile=False)
print([int(value) for value in native(tf.constant(100_000))])
print([int(value) for value in native(tf.constant(300))] == [int(value) for value in plan(tf.constant(300))])

# Output:
# [77031, 350]
# True
