"""Keep one graph for inputs of every length, with an unknown dimension in the signature."""

import agc.runtime as tf


@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def longest_rise(xs):
    """Return the length of the longest run of rising numbers."""
    best, length, previous = 0, 0, float("-inf")
    for x in xs:
        length = length + 1 if x > previous else 1
        best = tf.maximum(best, length)
        previous = x
    return best


for series in ([3.0, 1.0, 2.0, 5.0, 4.0], [1.0, 2.0], [5.0, 4.0, 3.0, 2.0, 1.0, 0.5]):
    print(len(series), "numbers, longest rise", longest_rise(series).numpy())
print("traces:", longest_rise.experimental_get_tracing_count())

# Output:
# 5 numbers, longest rise 3
# 2 numbers, longest rise 2
# 6 numbers, longest rise 1
# traces: 1
