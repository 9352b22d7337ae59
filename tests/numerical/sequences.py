"""Sequences: dynamic programming, searching, sorting, hashing."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np

from .program import integers, normal, plain


def viterbi(observed: Any, start: Any, transition: Any, emission: Any) -> Any:
    """The likeliest states: forward with pointers, and back along them."""
    n = tf.shape(observed)[0]
    score = start + emission[:, observed[0]]
    pointers = tf.TensorArray(tf.int32, n, clear_after_read=False, element_shape=[start.shape[0]])
    for t in tf.range(1, n):
        candidates = score[:, None] + transition
        pointers = pointers.write(t, tf.argmax(candidates, 0, output_type=tf.int32))
        score = tf.reduce_max(candidates, 0) + emission[:, observed[t]]
    state = tf.argmax(score, output_type=tf.int32)
    path = tf.TensorArray(tf.int32, n)
    path = path.write(n - 1, state)
    for t in tf.range(n - 1, 0, -1):
        state = pointers.read(t)[state]
        path = path.write(t - 1, state)
    return path.stack(), tf.reduce_max(score)


def beam_search(scores: Any, follow: Any, steps: Any) -> Any:
    """The best three sequences of symbols, kept in a matrix that a loop fills."""
    width, symbols = 3, scores.shape[0]
    best, beams = tf.math.top_k(scores, width)
    words = tf.zeros([width, 6], tf.int32)
    words = tf.concat([beams[:, None], words[:, 1:]], 1)
    for t in tf.range(1, steps):
        all_scores = best[:, None] + tf.gather(follow, beams)
        best, places = tf.math.top_k(tf.reshape(all_scores, [width * symbols]), width)
        parents, beams = places // symbols, places % symbols
        words = tf.gather(words, parents)
        words = tf.where(tf.range(6)[None, :] == t, beams[:, None], words)
    return words, best


def levenshtein(a: Any, b: Any) -> Any:
    row = tf.range(tf.size(b) + 1)
    for i in tf.range(tf.size(a)):
        left = i + 1
        new = tf.TensorArray(tf.int32, tf.size(b) + 1)
        new = new.write(0, left)
        for j in tf.range(tf.size(b)):
            cost = 0 if a[i] == b[j] else 1
            left = tf.minimum(tf.minimum(left + 1, row[j + 1] + 1), row[j] + cost)
            new = new.write(j + 1, left)
        row = new.stack()
    return row[-1]


def longest_common(a: Any, b: Any) -> Any:
    """The table of lengths, written item by item into a tensor."""
    table = tf.zeros([a.shape[0] + 1, b.shape[0] + 1], tf.int64)
    for i in tf.range(a.shape[0]):
        for j in tf.range(b.shape[0]):
            value = table[i, j] + 1 if a[i] == b[j] else tf.maximum(table[i, j + 1], table[i + 1, j])
            table = tf.tensor_scatter_nd_update(table, [[i + 1, j + 1]], [value])
    return table


def knapsack(weights: Any, values: Any, room: Any) -> Any:
    best = tf.zeros([31], tf.int32)
    places = tf.range(31)
    for i in tf.range(tf.shape(weights)[0]):
        moved = tf.gather(best, tf.maximum(places - weights[i], 0)) + values[i]
        best = tf.where((places >= weights[i]) & (moved > best), moved, best)
    return best[room]


def sorting_network(x: Any) -> Any:
    """Batcher's: sixteen numbers in a fixed order of comparisons, of whole rows."""
    n = 16
    p = 1
    while p < n:
        k = p
        while k >= 1:
            lower = [
                i + j
                for j in range(k % p, n - k, 2 * k)
                for i in range(min(k, n - j - k))
                if (i + j) // (2 * p) == (i + j + k) // (2 * p)
            ]
            upper = [i + k for i in lower]
            a, b = tf.gather(x, lower, axis=1), tf.gather(x, upper, axis=1)
            both = tf.concat([tf.minimum(a, b), tf.maximum(a, b)], 1)
            rest = [i for i in range(n) if i not in lower + upper]
            places = lower + upper + rest
            joined = tf.concat([both, tf.gather(x, rest, axis=1)], 1) if rest else both
            x = tf.gather(joined, [places.index(i) for i in range(n)], axis=1)
            k //= 2
        p *= 2
    return x


def insertion_sort(x: Any) -> Any:
    """With items assigned in place, and a loop that a comparison ends."""
    x = tf.identity(x)
    moves = 0
    for i in tf.range(1, tf.size(x)):
        value = x[i]
        j = i
        while j > 0 and x[j - 1] > value:
            x = tf.tensor_scatter_nd_update(x, [[j]], [x[j - 1]])
            j -= 1
            moves += 1
        x = tf.tensor_scatter_nd_update(x, [[j]], [value])
    return x, moves


def hashes(text: Any) -> Any:
    """FNV-1a in int64, which wraps, and Adler's checksum."""
    h = tf.constant(-3750763034362895579, tf.int64)
    a, b = 1, 0
    for byte in text:
        h = tf.bitwise.bitwise_xor(h, tf.cast(byte, tf.int64)) * 1099511628211
        a = (a + tf.cast(byte, tf.int32)) % 65521
        b = (b + a) % 65521
    return h, tf.bitwise.bitwise_or(tf.bitwise.left_shift(b, 16), a)


def linear_congruence(seed: Any, count: Any) -> Any:
    """Numbers of a generator in int32 that wraps, shifted right as signed numbers are."""
    found = tf.TensorArray(tf.int32, 0, dynamic_size=True)
    state = seed
    for i in tf.range(count):
        state = state * 1664525 + 1013904223
        mixed = tf.bitwise.bitwise_xor(state, tf.bitwise.right_shift(state, 13))
        found = found.write(i, mixed % 100 - mixed // 7)
    return found.stack()


def xorshift(seed: Any) -> Any:
    """Of uint32 and uint64: shifts that lose bits, a product that wraps."""
    x = seed
    total = tf.zeros([], tf.uint64)
    for _ in tf.range(20):
        x = tf.bitwise.bitwise_xor(x, tf.bitwise.left_shift(x, tf.constant(13, tf.uint32)))
        x = tf.bitwise.bitwise_xor(x, tf.bitwise.right_shift(x, tf.constant(17, tf.uint32)))
        x = tf.bitwise.bitwise_xor(x, tf.bitwise.left_shift(x, tf.constant(5, tf.uint32)))
        total = total * tf.constant(6364136223846793005, tf.uint64) + tf.cast(x, tf.uint64)
    return x, total


def binary_search(numbers: Any, wanted: Any) -> Any:
    low, high = 0, tf.size(numbers)
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] == wanted:
            return middle
        if numbers[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return -1


def primes(limit: Any) -> Any:
    """Eratosthenes: rows of a mask that only some rounds change."""
    numbers = tf.range(100)
    is_prime = numbers >= 2
    i = 2
    while i * i < limit:
        if is_prime[i]:
            is_prime = is_prime & ((numbers % i != 0) | (numbers <= i))
        i += 1
    return is_prime & (numbers < limit), tf.math.count_nonzero(is_prime & (numbers < limit))


def maximal_sum(x: Any) -> Any:
    """Kadane's, with the place where it is."""
    best, current = x[0], x[0]
    start = first = last = 0
    for i in tf.range(1, tf.size(x)):
        if current < 0:
            current, start = x[i], i
        else:
            current += x[i]
        if current > best:
            best, first, last = current, start, i
    return best, first, last


def run_lengths(x: Any) -> Any:
    """Find runs of equal numbers, with arrays that grow, since the number of runs is unknown."""
    values = tf.TensorArray(tf.int32, 0, dynamic_size=True)
    lengths = tf.TensorArray(tf.int32, 0, dynamic_size=True)
    count, length = 0, 1
    for i in tf.range(1, tf.size(x) + 1):
        if i == tf.size(x) or x[i] != x[i - 1]:
            values = values.write(count, x[i - 1])
            lengths = lengths.write(count, length)
            count += 1
            length = 1
        else:
            length += 1
    return values.stack(), lengths.stack()


_LOGS = np.log(np.array([[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.1, 0.3, 0.6]], np.float32))

PROGRAMS = {
    "Viterbi": plain(
        viterbi,
        (integers(0, 4, 12), _LOGS[0], _LOGS, normal(3, 4)),
        (integers(0, 4, 2), _LOGS[0], _LOGS, normal(3, 4)),
    ),
    "beam search": plain(beam_search, (normal(5), normal(5, 5, seed=1), 6), (normal(5), normal(5, 5), 1)),
    "Levenshtein": plain(
        levenshtein,
        (integers(0, 4, 9), integers(0, 4, 7, seed=1)),
        (integers(0, 4, 3), np.zeros(1, np.int32)),
    ),
    "longest common": plain(longest_common, (integers(0, 3, 7), integers(0, 3, 6, seed=1))),
    "knapsack": plain(knapsack, (integers(1, 12, 8), integers(1, 50, 8, seed=1), 30)),
    "sorting network": plain(sorting_network, (integers(-99, 99, 5, 16),), (integers(0, 5, 1, 16),)),
    "insertion sort": plain(insertion_sort, (integers(-9, 9, 12),), (np.arange(5, dtype=np.int32),)),
    "hashes": plain(hashes, (np.frombuffer(b"the quick brown fox", np.uint8),), (np.zeros(1, np.uint8),)),
    "linear congruence": plain(linear_congruence, (12345, 30), (-7, 1)),
    "xorshift": plain(xorshift, (np.uint32(2463534242),)),
    "binary search": plain(
        binary_search, *((np.arange(0, 60, 3, dtype=np.int32), wanted) for wanted in (27, 28, 0, -5, 99))
    ),
    "primes": plain(primes, (100,), (2,), (50,)),
    "maximal sum": plain(maximal_sum, (integers(-9, 9, 20),), (normal(30),), (-np.ones(4, np.float32),)),
    "run lengths": plain(run_lengths, (integers(0, 2, 20),), (np.ones(6, np.int32),)),
}
