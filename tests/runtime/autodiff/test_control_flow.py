"""Gradients through control flow: eager = plan = interpret = differences, to third order.

Each program is a function of one number (or vector) that AutoGraph stages. Its derivatives are taken by tapes inside of
a function, by tapes around calls of one, and by tapes around the eager program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from support.verifier import verify

V = tf.Variable(tf.constant(2.0, tf.float64))


def branch(x: Any) -> Any:
    y = tf.sin(x) * x if x > 2.0 else x * x * V
    return y + x


def one_branch_saves(x: Any) -> Any:
    y = x
    if x > 0.5:
        y = tf.exp(x * x) * x
    return y * y


def switch(x: Any) -> Any:
    index = tf.cast(x, tf.int32)
    return tf.switch_case(index, [lambda: x * x, lambda: tf.sin(x) * x, lambda: x**3])


def for_loop(x: Any) -> Any:
    y = x
    for _ in tf.range(3):
        y = y * x + tf.sin(y) * V
    return y


def while_unknown_times(x: Any) -> Any:
    y, scale = x, tf.exp(x)
    while tf.reduce_sum(y) < 100.0:
        y = y * x + scale if y < 10.0 else y * y
    return y


def nested_loops(x: Any) -> Any:
    y = x
    for i in tf.range(3):
        z = y
        for _ in tf.range(i + 1):
            z = z * x
        y = z + tf.sin(y)
    return y


def loop_in_a_branch_in_a_loop(x: Any) -> Any:
    y = x
    for i in tf.range(3):
        if i % 2 == 0:
            z = y
            while z < 5.0:
                z = z * z + x
            y = y + z
        else:
            y = tf.cos(y)
    return y


def breaks_and_continues(x: Any) -> Any:
    total = x
    for i in tf.range(10):
        if i == 1:
            continue
        total = total * x + 1.0
        if total > 50.0:
            break
    return total


def tensor_array(x: Any) -> Any:
    array = tf.TensorArray(tf.float64, size=3)
    for i in tf.range(3):
        array = array.write(i, x * tf.cast(i, tf.float64) + x * x)
    last = array.read(2) * array.gather([0, 1])[1]
    return tf.reduce_sum(array.stack() ** 2) + last


def array_of_rows(x: Any) -> Any:
    rows = tf.TensorArray(tf.float64, size=2).unstack(tf.stack([[x, x * x], [x * x, x]]))
    return tf.reduce_sum(rows.concat() ** 3) + tf.reduce_prod(rows.read(0))


def growing_list(x: Any) -> Any:
    xs = []
    for i in tf.range(4):
        xs.append(x * tf.cast(i, tf.float64) + x * x)
    popped = xs.pop()
    return xs[-1] * xs[0] * tf.reduce_sum(tf.stack(xs)) * popped


def list_changed_in_place(x: Any) -> Any:
    xs = [x, x * x]
    for i in tf.range(2):
        xs.append(xs[i] * x)
    xs.insert(1, x**3)
    xs[0] = xs[2] * x
    ys = xs[1:4]
    total = x
    for y in ys:
        total = total * y + xs[0]
    return total


def vector(x: Any) -> Any:
    v = tf.stack([x, x * x, tf.sin(x)])
    total = x * 0.0
    for element in v:
        total = total + element**3 * v[0]
    return total


def growing_shape(x: Any) -> Any:
    v = tf.reshape(x, [1])
    for _ in tf.range(3):
        v = tf.concat([v, v * x], axis=0)
    return tf.reduce_sum(v**2)


@tf.function
def callee(x: Any) -> Any:
    return tf.sin(x) * tf.exp(x) * V


def call(x: Any) -> Any:
    return callee(x) * callee(x * 0.5)


def call_in_a_loop(x: Any) -> Any:
    y = x
    for _ in tf.range(2):
        y = callee(y) + y
    return y


PROGRAMS = [
    branch, one_branch_saves, switch, for_loop, while_unknown_times, nested_loops, loop_in_a_branch_in_a_loop,
    breaks_and_continues, tensor_array, array_of_rows, growing_list, list_changed_in_place, vector, growing_shape, call,
    call_in_a_loop,
]  # fmt: skip


def number(x: float) -> Any:
    return tf.constant(x, tf.float64)


def slope(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def derivative(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    return derivative


def difference(f: Callable[[Any], Any], x: float, h: float = 1e-4) -> float:
    wide = (f(number(x + 2 * h)) - f(number(x - 2 * h))) / (4 * h)
    narrow = (f(number(x + h)) - f(number(x - h))) / (2 * h)
    return float((4 * narrow - wide) / 3)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_derivatives_agree_with_differences(program: Any) -> None:
    """The functions are traced once, for numbers that take different branches."""
    staged = tf.function(program)
    first = tf.function(slope(staged))
    second = tf.function(slope(first))
    third = slope(second)
    interpreted = tf.function(slope(slope(staged)), experimental_executor="interpret")
    for x in (1.3, 2.2):
        values = [f(number(x)).numpy() for f in (first, second, third)]
        expected = [difference(f, x) for f in (staged, first, second)]
        assert values == pytest.approx(expected, rel=1e-5)
        assert interpreted(number(x)).numpy() == pytest.approx(values[1])
    for f in (first, second):
        verify(f.get_concrete_function(number(x)).graph)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_tapes_around_a_call_and_around_eager_code_agree(program: Any) -> None:
    x = number(1.3)
    staged = tf.function(program)
    around, around_twice = slope(staged)(x), slope(slope(staged))(x)
    inside = tf.function(slope(program))(x), tf.function(slope(slope(program)))(x)
    assert [around.numpy(), around_twice.numpy()] == pytest.approx([d.numpy() for d in inside])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = staged(x)
        slow = tape.gradient(y, x)
    assert [slow.numpy(), tape.gradient(slow, x).numpy()] == pytest.approx([d.numpy() for d in inside])


EAGER = [program for program in PROGRAMS if program not in (growing_list, list_changed_in_place)]


@pytest.mark.parametrize("program", EAGER, ids=lambda program: program.__name__)
def test_eager_control_flow_is_differentiated(program: Any) -> None:
    x = number(1.3)
    assert slope(program)(x).numpy() == pytest.approx(tf.function(slope(program))(x).numpy())


def test_variables_have_gradients_through_loops_branches_and_calls() -> None:
    for program in (branch, for_loop, call, call_in_a_loop):
        x = number(1.3)

        def of_variable(x: Any, program: Any = program) -> Any:
            with tf.GradientTape() as tape:
                y = program(x)
            return tape.gradient(y, V)

        staged = tf.function(program)
        inside = tf.function(of_variable)(x)
        around = of_variable(x, staged)
        assert [inside.numpy(), around.numpy()] == pytest.approx([of_variable(x).numpy()] * 2)
        before = V.numpy()

        def moved(step: float, program: Any = staged, x: Any = x, before: Any = before) -> float:
            V.assign(before + step)
            value = float(program(x))
            V.assign(before)
            return value

        assert inside.numpy() == pytest.approx((moved(1e-5) - moved(-1e-5)) / 2e-5, rel=1e-6)


def test_a_variable_that_a_loop_assigns() -> None:
    v = tf.Variable(3.0)

    @tf.function
    def f() -> Any:
        with tf.GradientTape() as tape:
            total = tf.constant(0.0)
            for _ in tf.range(3):
                total += v * v
                v.assign_add(1.0)
        return tape.gradient(total, v)

    assert f().numpy() == 2 * (3.0 + 4.0 + 5.0)


def test_tapes_inside_of_loops_and_branches() -> None:
    @tf.function
    def descended(x: Any, steps: Any) -> Any:
        for _ in tf.range(steps):
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = tf.square(x - 3.0)
                if loss > 1.0:
                    loss = loss * 0.5
            x -= 0.1 * tape.gradient(loss, x)
        return x

    x = 10.0
    for _ in range(20):
        loss = (x - 3.0) ** 2
        x -= 0.1 * (2 * (x - 3.0)) * (0.5 if loss > 1.0 else 1.0)
    assert descended(tf.constant(10.0), tf.constant(20)).numpy() == pytest.approx(x, rel=1e-6)


def test_a_gradient_requested_in_a_branch_of_an_outer_tape() -> None:
    @tf.function
    def f(x: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
            if y > 4.0:
                z = y * x
                d = tape.gradient(z, x)
            else:
                d = tape.gradient(y, x)
        return d

    assert f(tf.constant(3.0)).numpy() == 27.0
    assert f(tf.constant(1.0)).numpy() == 2.0


def test_a_loop_saves_no_invariant_values() -> None:
    @tf.function
    def f(x: Any, w: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = x
            for _ in tf.range(5):
                y = tf.tanh(tf.matmul(y, w))
            loss = tf.reduce_sum(y)
        return tape.gradient(loss, [x, w])

    graph = f.get_concrete_function(tf.ones([2, 3]), tf.ones([3, 3])).graph
    loops = [operation for operation in graph.operations if operation.type == "while"]
    assert len(loops) == 2
    saved = [str(value.spec) for value in loops[0].outputs if str(value.spec).startswith("array")]
    assert saved == ["array float32[2, 3]"]  # each y, once: it ends a round and starts the next; not w


def test_an_unknown_trip_count_may_be_zero() -> None:
    @tf.function
    def f(x: Any, n: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(n):
                y = y * x
        return tape.gradient(y, x)

    assert [f(tf.constant(2.0), tf.constant(n)).numpy() for n in range(4)] == [1.0, 4.0, 12.0, 32.0]


def test_the_backward_pass_of_a_call_is_planned_once() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tf.sin(x) * x

    x = tf.constant(2.0)
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert tape.gradient(y, x).numpy() == pytest.approx(np.cos(2) * 2 + np.sin(2))
    simple, _ = f.get_concrete_function(x).ways[()]
    assert len(simple.ways) == 1
    assert f.experimental_get_tracing_count() == 1


def test_nested_tapes_record_a_call_as_one_step() -> None:
    v = tf.Variable(1.1)

    @tf.function
    def f(x: Any) -> Any:
        for _ in tf.range(9):
            x = tf.sin(x * v)
        return x

    x = tf.constant(1.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape(persistent=True) as inner:
            inner.watch(x)
            y = f(x)
        found = inner.gradient(y, x)
    assert len(inner._records) == 2  # the variable is read, the function is called
    assert len(outer._records) == 4  # as is its way back, from the gradient of y on
    v.assign(5.0)  # too late to change anything
    again = inner.gradient(y, x), outer.gradient(y, x)
    v.assign(1.1)
    first = tf.function(slope(f))
    assert [d.numpy() for d in (found, *again)] == pytest.approx([first(x).numpy()] * 3)
    assert outer.gradient(found, x).numpy() == pytest.approx(tf.function(slope(first))(x).numpy())


def test_nested_tapes_inline_a_call_with_effects() -> None:
    seen = tf.Variable(0, trainable=False)

    @tf.function
    def f(x: Any) -> Any:
        seen.assign_add(1)
        return tf.sin(x) * x

    x = tf.constant(1.3)
    first, second = np.sin(1.3) + 1.3 * np.cos(1.3), 2 * np.cos(1.3) - 1.3 * np.sin(1.3)
    assert slope(f)(x).numpy() == pytest.approx(first, rel=1e-6)
    assert slope(slope(f))(x).numpy() == pytest.approx(second, rel=1e-5)
    assert seen.numpy() == 2
