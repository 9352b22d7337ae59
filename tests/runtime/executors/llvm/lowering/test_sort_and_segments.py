"""Sorting, searching, groups and places in native code: to the last bit what the interpreter gives."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction

ROWS = np.random.default_rng(1).integers(-20, 20, (3, 40)).astype(np.int32)
FLOATS = (ROWS / 4).astype(np.float32)
FLOATS[0, ::7], FLOATS[1, ::5], FLOATS[2, ::3] = np.nan, -0.0, np.inf
IDS = np.array([2, 0, -1, 2, 2])
# Times 1 the first is no number.
COMPLEX = np.array([complex(np.inf, 0), 2, 3 - 1j, 0.5j, complex(0, -np.inf)])


def ordered(x: Any) -> Any:
    return [
        each(x, axis=axis, direction=direction)
        for each in (tf.sort, tf.argsort)
        for axis in (0, 1)
        for direction in ("ASCENDING", "DESCENDING")
    ]


def best(x: Any) -> Any:
    return [*tf.math.top_k(x, 3), tf.math.in_top_k(tf.constant([0, 5, 99]), tf.cast(x, tf.float32), 20)]


def searched(x: Any) -> Any:
    row = tf.sort(x[0])
    return [tf.searchsorted(row, x, side) for side in ("left", "right")] + [
        tf.searchsorted(tf.sort(x), x, "right", out_type=tf.int64)
    ]


def grouped(x: Any, ids: Any) -> Any:
    rows = x[:, :5]
    return [
        each(rows, tf.constant([[1, 3, 3, 0, -1]] * 3), 4)
        for each in (tf.math.unsorted_segment_sum, tf.math.unsorted_segment_max, tf.math.unsorted_segment_min)
    ] + [tf.math.unsorted_segment_prod(x[0, :5], ids, 4), tf.math.segment_max(rows, [0, 2, 2])]


def groups_of_complex(z: Any, ids: Any) -> Any:
    return [
        tf.math.unsorted_segment_sum(z, ids, 4),
        tf.math.unsorted_segment_prod(z, ids, 4),
        tf.math.segment_prod(z, [0, 0, 1, 3, 3]),
        tf.math.cumprod(z),
        tf.math.cumprod(z, exclusive=True),
        tf.math.cumprod(z, exclusive=True, reverse=True),
    ]


def by_lengths(x: Any, lengths: Any) -> Any:
    return [
        tf.sequence_mask(lengths, 7),
        tf.sequence_mask(lengths, 3, dtype=tf.float32),
        tf.reverse_sequence(x[:, :6], lengths, seq_axis=1),
    ]


def permuted(order: Any) -> Any:
    return tf.math.invert_permutation(order), tf.unravel_index(order, [2, 3])


LENGTHS, ORDER = np.array([2, 0, 6]), np.array([2, 4, 0, 1, 5, 3])
CASES = [
    (ordered, (ROWS,)),
    (ordered, (FLOATS,)),
    (ordered, (ROWS.astype(np.uint8),)),
    (ordered, (ROWS.astype(np.uint32),)),
    (ordered, (ROWS.astype(np.int64) << 40,)),
    (ordered, (FLOATS.astype(np.float16),)),
    (ordered, (FLOATS.astype(np.float64),)),
    (ordered, (np.repeat(ROWS, 2, 1),)),  # more than native code sorts
    (best, (ROWS,)),
    (best, (FLOATS,)),
    (best, (np.sort(np.repeat(FLOATS, 3, 1)),)),  # the last ones are kept
    (searched, (ROWS,)),
    (searched, (FLOATS,)),
    (grouped, (ROWS, IDS)),
    (grouped, (FLOATS, IDS)),
    (groups_of_complex, (COMPLEX, IDS)),
    (by_lengths, (ROWS, LENGTHS)),
    (permuted, (ORDER,)),
]


@pytest.mark.parametrize(("program", "arrays"), CASES)
def test_native_code_agrees_with_the_interpreter(program: Any, arrays: tuple[Any, ...]) -> None:
    graph = tf.function(program).get_concrete_function(*map(tf.constant, arrays)).graph
    for found, wanted in zip(
        JitFunction(graph).run(list(arrays)), interpret(graph, list(arrays)), strict=True
    ):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("program", "values", "message"),
    [
        (tf.math.invert_permutation, [1, 1, 0], "1 is duplicated"),
        (tf.math.invert_permutation, [3, 1, 0], "3 is not between 0 and 3"),
        (lambda x: tf.math.unsorted_segment_sum(x, x, 3), [0, 3, 1], "is out of range"),
        (lambda x: tf.math.segment_sum(x, x), [0, 3, 1], "not increasing"),
        (lambda x: tf.math.segment_sum(x, x), [-1, 0, 1], "out of range"),
        (lambda x: tf.reverse_sequence([[1, 2], [3, 4]], x[:2], seq_axis=1), [1, 3, 0], "seq_lens"),
    ],
)
def test_failures_equal_the_plans(program: Any, values: list[int], message: str) -> None:
    array = np.array(values)
    graph = tf.function(program).get_concrete_function(tf.constant(array)).graph
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        JitFunction(graph).run([array])
