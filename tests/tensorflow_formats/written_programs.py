"""Programs with lists, TensorArrays, variables and gradients: what the examples of single operations cannot show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import agc.runtime as tf

ANSWERS = Path(__file__).parents[2] / "fixtures" / "tensorflow" / "written_programs.json"
"""What TensorFlow makes of the written programs; `make formats PEER=… WITH=--record` writes the file."""

V = tf.Variable([1.0, 2.0, 3.0], name="v")


def lists(n: Any) -> Any:
    xs = [n]
    for i in tf.range(n):
        xs.append(i * 2)
    xs[1] = n + 7
    xs.insert(2, n * 100)
    xs.extend(tf.range(3))
    last = xs.pop()
    third = xs.pop(2)
    other = xs[1:4]
    xs.reverse()
    return tf.stack(xs), last, third, len(xs), xs[-2], tf.stack(other), xs.index(n), xs.count(n)


def repeated_lists(n: Any) -> Any:
    xs = [n]
    for i in tf.range(n):
        xs.append(i)
    twice = xs * 2
    twice.extend(xs)
    return tf.stack(twice), xs == twice, xs == xs


def arrays(n: Any) -> Any:
    xs = tf.TensorArray(tf.float32, 4, element_shape=[2])
    for i in tf.range(4):
        xs = xs.write(i, tf.cast([i, n], tf.float32))
    ys = tf.TensorArray(tf.float32, 3, element_shape=[2]).unstack(xs.gather([2, 0, 1]))
    zs = tf.TensorArray(tf.float32, 3, element_shape=[2]).scatter([2, 0, 1], ys.stack())
    parts = tf.TensorArray(tf.float32, 2, infer_shape=False).split(tf.cast(tf.range(5), tf.float32), [2, 3])
    return xs.stack(), xs.read(1), xs.size(), ys.concat(), zs.stack(), parts.read(1), parts.concat()


def growing_arrays(n: Any) -> Any:
    xs = tf.TensorArray(tf.int32, 0, dynamic_size=True)
    for i in tf.range(n):
        xs = xs.write(i, i * i)
    return xs.stack()


def gradients_of_arrays(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        xs = tf.TensorArray(tf.float32, 3, element_shape=[])
        for i in tf.range(3):
            xs = xs.write(i, x[i] * tf.cast(i + 1, tf.float32))
        ys = tf.TensorArray(tf.float32, 3, element_shape=[]).unstack(xs.stack() * x)
        loss = tf.reduce_sum(ys.gather([0, 2])) + ys.read(1) * xs.read(0) + tf.reduce_sum(ys.stack() ** 2.0)
    return loss, tape.gradient(loss, x)


def gradients_of_loops(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        total, i = x * 0.0, 0
        while tf.reduce_sum(total) < 50.0:
            total = tf.tanh(total) + x * tf.cast(i, tf.float32)
            if i % 2 == 0:
                total = total * 1.5
            i += 1
        loss = tf.reduce_sum(total * total)
    return loss, tape.gradient(loss, x)


def variables(x: Any) -> Any:
    V.assign(x)
    V.assign_add([1.0, 1.0, 1.0])
    V.assign_sub(x * 0.5)
    V.scatter_update(tf.IndexedSlices(tf.constant([9.0]), tf.constant([1])))
    V.scatter_nd_add([[0], [2]], [0.5, 0.25])
    return V.read_value(), tf.reduce_sum(V)


def checks(x: Any) -> Any:
    tf.debugging.assert_non_negative(x)
    if tf.reduce_sum(x) > 1000.0:
        raise ValueError("too large")
    return tf.debugging.check_numerics(x, "x")


def sorting(x: Any) -> Any:
    ways = ("ASCENDING", "DESCENDING")
    return [tf.sort(x, axis=0, direction=way) for way in ways] + [
        tf.argsort(x, direction=way) for way in ways
    ]


PROGRAMS: dict[str, tuple[Any, list[Any]]] = {
    "lists": (lists, [3]),
    "repeated lists": (repeated_lists, [3]),
    "arrays": (arrays, [3]),
    "growing arrays": (growing_arrays, [5]),
    "gradients of arrays": (gradients_of_arrays, [[1.0, 2.0, 3.0]]),
    "gradients of loops": (gradients_of_loops, [[0.5, 0.25]]),
    "variables": (variables, [[1.0, 2.0, 3.0]]),
    "checks": (checks, [[1.0, 2.0]]),
    "sorting": (sorting, [[[3.0, float("nan")], [float("inf"), 1.0], [float("nan"), float("inf")]]]),
}
