"""Collect results of a loop of unknown length: an ordinary list, which the graph carries.

The Collatz sequence of a number ends after a number of steps that no formula predicts.
"""

import agc.runtime as tf


@tf.function
def sequence(n):
    seen = [n]
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        seen.append(n)
    return tf.stack(seen)


for start in (6, 7):
    print(*sequence(tf.constant(start)).numpy())

# Output:
# 6 3 10 5 16 8 4 2 1
# 7 22 11 34 17 52 26 13 40 20 10 5 16 8 4 2 1
