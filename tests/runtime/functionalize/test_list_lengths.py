"""The lengths of lists in specialized graphs."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import pytest
from agc.runtime.functionalize.shapes import specialized

ROWS = tf.ones([3, 2])
ROW = [1.0, 2.0]


def result(program: Any) -> Any:
    """The result of a specialized graph of two integers."""
    graph = tf.function(program).get_concrete_function(*[tf.TensorSpec([], tf.int32)] * 2).graph
    (found,) = specialized(graph, [value.spec for value in graph.inputs], with_sizes=True).outputs
    return found


def array(size: Any, **options: Any) -> tf.TensorArray:
    return tf.TensorArray(tf.float32, size, element_shape=[2], clear_after_read=False, **options)


def parts(lengths: list[int]) -> tf.TensorArray:
    made = tf.TensorArray(tf.float32, len(lengths), element_shape=None, infer_shape=False)
    return made.split(tf.ones([6, 2]), lengths)


def repeated(start: Any, body: Any) -> Any:
    return lambda n, p: tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, body(a)), (0, start()))[1]


def counts(least: int, most: int) -> Any:
    return lambda n, p: tf.math.bincount(tf.stack([n, p]), minlength=least, maxlength=most)


@pytest.mark.parametrize(
    ("program", "shape"),
    [
        (lambda n, p: array(3).write(n, ROW).stack(), (3, 2)),
        (lambda n, p: array(n).write(0, ROW).stack(), (None, 2)),
        (lambda n, p: array(3, dynamic_size=True).write(n, ROW).stack(), (None, 2)),
        (lambda n, p: array(3).unstack(ROWS).stack(), (3, 2)),
        (lambda n, p: array(3).unstack(ROWS).concat(), (6,)),
        (lambda n, p: array(n).unstack(ROWS).concat(), (None,)),
        (lambda n, p: parts([2, 2, 2]).stack(), (3, 2, 2)),
        (lambda n, p: tf.cond(n > p, lambda: array(3), lambda: array(3).write(0, ROW)).stack(), (3, 2)),
        (lambda n, p: tf.cond(n > p, lambda: array(3), lambda: array(4)).stack(), (None, 2)),
        (lambda n, p: repeated(lambda: array(3), lambda a: a.write(0, ROW))(n, p).stack(), (3, 2)),
        (lambda n, p: repeated(lambda: array(3), lambda a: array(4))(n, p).stack(), (None, 2)),
        (counts(5, 5), (5,)),
        (counts(4, 5), (None,)),
        (counts(6, 5), (5,)),
    ],
)
def test_list_lengths_are_inferred(program: Any, shape: Any) -> None:
    assert result(program).spec.shape == shape
