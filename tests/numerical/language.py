"""What the language offers around numbers: loops in loops, gradients of gradients, functions that call functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np

from .program import Program, integers, normal, plain


def fft(x: Any) -> Any:
    """Cooley and Tukey's, by rows whose number halves."""
    n = x.shape[0]
    x = tf.cast(x, tf.complex64)[:, None]
    while x.shape[0] > 1:
        half = x.shape[0] // 2
        even, odd = x[:half], x[half:]
        width = x.shape[1]
        turns = tf.exp(tf.complex(0.0, -np.pi * tf.range(width, dtype=tf.float32) / width))
        x = tf.concat([even + turns * odd, even - turns * odd], 1)
    assert x.shape[1] == n
    return tf.math.real(x[0]), tf.math.imag(x[0])


def first_pair(numbers: Any, wanted: Any) -> Any:
    """A loop in a loop, and out of both at once."""
    for i in tf.range(tf.size(numbers)):
        for j in tf.range(i + 1, tf.size(numbers)):
            if numbers[i] + numbers[j] == wanted:
                return i, j
            if numbers[j] > wanted:
                break
    return -1, -1


def pythagorean(limit: Any) -> Any:
    """Three loops with jumps; an `else` of a loop."""
    count = last = 0
    for a in tf.range(1, limit):
        for b in tf.range(a, limit):
            c = b
            while c < limit:
                if a * a + b * b < c * c:
                    break
                if a * a + b * b == c * c:
                    count += 1
                    last = a * 10000 + b * 100 + c
                    break
                c += 1
            else:
                continue
            if count >= 6:
                return count, last
    return count, last


def while_loops(x: Any) -> Any:
    """tf.while_loop within tf.while_loop, with tf.cond, tf.case and tf.switch_case in it."""

    def inner(i: Any, y: Any) -> Any:
        def body(j: Any, z: Any) -> Any:
            z = tf.switch_case(j % 3, [lambda: z + 1.0, lambda: z * 1.5, lambda: -z])
            return j + 1, tf.cond(tf.reduce_sum(z) > 10.0, lambda: z / 4.0, lambda: z)

        _, y = tf.while_loop(lambda j, z: j < i, body, [0, y])
        y = tf.case([(i < 2, lambda: y), (tf.reduce_max(y) > 3.0, lambda: y - 3.0)], default=lambda: y * y)
        return i + 1, y

    return tf.while_loop(lambda i, y: (i < 8) & (tf.reduce_max(tf.abs(y)) < 1e6), inner, [tf.constant(0), x])


def clipped_gradient(x: Any) -> Any:
    """A gradient that is said by hand, in a loop."""

    @tf.custom_gradient
    def clipped(v: Any) -> Any:
        def back(upstream: Any) -> Any:
            return tf.clip_by_value(upstream, -0.5, 0.5) * 2.0

        return v * v, back

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in tf.range(3):
            y = clipped(y) * 0.7
        loss = tf.reduce_sum(y)
    return loss, tape.gradient(loss, x)


def second_order(x: Any) -> Any:
    """Gradients of gradients, of a loop and of a branch; a Hessian."""
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x
            for _ in tf.range(3):
                y = tf.sin(y) * x if tf.reduce_sum(y) > 0.0 else y * y - x
            y = tf.reduce_sum(y)
        gradient = inner.gradient(y, x)
    return gradient, outer.jacobian(gradient, x)


def third_order(x: Any) -> Any:
    with tf.GradientTape() as t3:
        t3.watch(x)
        with tf.GradientTape() as t2:
            t2.watch(x)
            with tf.GradientTape() as t1:
                t1.watch(x)
                y = tf.exp(tf.tanh(x)) / (1.0 + x * x)
            first = t1.gradient(y, x)
        second = t2.gradient(first, x)
    return first, second, t3.gradient(second, x)


def persistent(x: Any, w: Any) -> Any:
    """Compute three gradients from one tape."""
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, w])
        hidden = tf.nn.softplus(x @ w)
        norm = tf.norm(hidden)
        total = tf.reduce_sum(tf.math.cumsum(hidden, axis=1))
    return tape.gradient(norm, x), tape.gradient(total, w), tape.gradient([norm, total], [x, w])


def forward_mode(x: Any, direction: Any) -> Any:
    with tf.autodiff.ForwardAccumulator(x, direction) as forward:
        y = tf.reduce_prod(x) * tf.exp(-tf.reduce_sum(x * x))
    return y, forward.jvp(y)


def gradient_of_while(x: Any, steps: Any) -> Any:
    """Through a loop whose length is data, with TensorArrays and a value that is read twice."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        kept = tf.TensorArray(tf.float32, steps, clear_after_read=False)
        y = x
        for i in tf.range(steps):
            y = y * tf.cos(y) + x
            kept = kept.write(i, y)
        loss = 0.0
        for i in tf.range(0, steps, 2):
            loss += tf.reduce_sum(kept.read(i) * kept.read(steps - 1))
        loss += tf.reduce_sum(y)
    return loss, tape.gradient(loss, x)


def checkpointed(x: Any, w: Any) -> Any:
    """Where only every fourth state is kept for the gradient."""
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = x
        for _ in tf.range(13):
            tf.autograph.experimental.set_loop_options(checkpoint_every=4)
            y = tf.tanh(y @ w) + 0.1 * x
        loss = tf.reduce_sum(y * y)
    return loss, tape.gradient(loss, [x, w])


def recomputed(x: Any, w: Any) -> Any:
    @tf.recompute_grad
    def block(v: Any) -> Any:
        return tf.nn.relu(v @ w) + tf.sin(v)

    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_mean(block(block(x)))
    return tape.gradient(loss, x)


def functions_of_functions() -> Callable[..., Any]:
    """Three functions, each compiled in a way of its own; one with a variable."""
    count = tf.Variable(0)

    @tf.function(jit_compile=True)
    def compiled(x: Any) -> Any:
        total = tf.zeros_like(x[0])
        for row in x:
            total += row * row
        return total

    @tf.function(jit_compile=False)
    def planned(x: Any) -> Any:
        count.assign_add(1)
        return compiled(x) - compiled(x + 1.0)

    @tf.function
    def whichever(x: Any, n: Any) -> Any:
        y = tf.zeros_like(x[0])
        for _ in tf.range(n):
            y += planned(x) * 0.5
        return y

    def outermost(x: Any, n: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(whichever(x, n))
        return y, tape.gradient(y, x), count.read_value()

    return outermost


def collected(x: Any) -> Any:
    """Python's own things: lists that grow, dictionaries of state, comprehensions, nested tuples."""
    found: list[Any] = []
    state = {"low": x[0], "high": x[0]}
    for i in tf.range(4):
        found.append(x[i] * 2)
        state["low"] = min(state["low"], x[i])
        state["high"] = max(state["high"], x[i])
    squares = [v * v for v in tf.unstack(x)[:3]]
    return tf.stack(found), state, (sum(squares), [tf.size(x), *squares[:1]])


def items(x: Any) -> Any:
    """Slices, steps, new axes, masks and items that are assigned."""
    x = tf.identity(x)
    x[1:3] = x[0:2] * 10
    for i in tf.range(tf.shape(x)[0]):
        if i % 2 == 0:
            x[i] = x[i] + tf.cast(i, x.dtype)
    return x, x[::-1], x[..., None][:, 0], x[-2:], x[x > 5]


def mapped(x: Any) -> Any:
    """map_fn, scan, vectorized_map, foldl."""
    squares = tf.map_fn(lambda row: tf.reduce_sum(row * row), x)
    sums = tf.scan(lambda a, row: a * 0.5 + row, x)
    last = tf.foldl(lambda a, row: a - row, x)
    outer = tf.vectorized_map(lambda row: row[:, None] * row[None, :], x)
    return squares, sums, last, outer


def chained_exceptions(x: Any, low: Any) -> Any:
    """Checks that hold: assertions in a loop, and what a division would do."""
    total = 0
    for i in tf.range(tf.size(x)):
        assert x[i] >= low, "too low"
        tf.debugging.assert_less(x[i], 100)
        if x[i] != 0:
            total += 1000 // x[i] + 1000 % x[i]
    return total


def extremes(x: Any) -> Any:
    """Numbers at the ends: NaN, infinities, zeros with a sign, the least integer."""
    least = tf.constant(-(2**31), tf.int32)
    integer = tf.stack([least // tf.constant(1), -least, tf.abs(least), least - 1, least * least + 5])
    values = tf.stack(
        [tf.minimum(x, 0.0), tf.maximum(x, 0.0), tf.sign(x), tf.floor(x), tf.round(x), x % 3.0, x // 3.0]
    )
    same = tf.stack([x == x, tf.math.is_nan(x), tf.math.is_inf(x), x > 0.0, x >= -x])
    return (
        integer,
        values,
        same,
        1.0 / tf.where(x == 0.0, x, 1.0),
        tf.argmax(x),
        tf.reduce_max(x),
        tf.cast(-2.7, tf.int32),
    )


def small_floats(x: Any) -> Any:
    """Half precision, and sums of it; int8 and int16 that wrap."""
    half = tf.cast(x, tf.float16)
    total = tf.zeros([], tf.float16)
    for i in tf.range(tf.size(half)):
        total = total * tf.constant(0.5, tf.float16) + half[i]
    byte = tf.cast(tf.cast(x * 100.0, tf.int32), tf.int8)
    short = tf.cast(tf.cast(x * 100.0, tf.int32), tf.int16) * tf.constant(300, tf.int16)
    return half * half, total, byte * byte + byte, short


_W = normal(4, 4) * np.float32(0.3)

PROGRAMS = {
    "FFT": plain(fft, (normal(32),), (normal(1),), tolerance=1e-4),
    "first pair": plain(
        first_pair, (integers(0, 30, 12), 37), (integers(0, 30, 12), 1000), (integers(0, 9, 1), 4)
    ),
    "Pythagorean": plain(pythagorean, (25,), (40,), (2,)),
    "while loops": plain(while_loops, (np.array([0.5, -2.0, 3.0], np.float32),), (np.float32(1.0),)),
    "clipped gradient": plain(clipped_gradient, (normal(5),)),
    "second order": plain(second_order, (np.abs(normal(3)),), (-np.abs(normal(3)),), tolerance=1e-4),
    "third order": plain(third_order, (normal(4, dtype=np.float64),), tolerance=1e-10),
    "persistent tape": plain(persistent, (normal(3, 4), _W)),
    "forward mode": plain(forward_mode, (normal(4), normal(4, seed=1))),
    "gradient of a loop": plain(gradient_of_while, (normal(3) * np.float32(0.3), 5), (normal(3), 1)),
    "checkpoints": plain(checkpointed, (normal(2, 4), _W)),
    "recomputed": plain(recomputed, (normal(3, 4), _W)),
    "functions of functions": Program(functions_of_functions, [(normal(3, 2), 3), (normal(3, 2), 1)]),
    "collected": plain(collected, (integers(-9, 9, 5),), (normal(6),)),
    "items": plain(items, (integers(-9, 9, 6),), (normal(5),), is_python=False),
    "mapped": plain(mapped, (normal(5, 3),)),
    "checks": plain(
        chained_exceptions, (integers(0, 20, 9), 0), (integers(0, 20, 9), 5), (integers(90, 120, 9), 0)
    ),
    "extremes": plain(
        extremes,
        (np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -7.25, 1e30], np.float32),),
        (np.array([0.0, -0.0, 3.5, -3.5], np.float64),),
    ),
    "small floats": plain(small_floats, (normal(9),), tolerance=1e-3),
}
