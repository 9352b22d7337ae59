"""Lists are changed in place only when the old version is dead."""

from __future__ import annotations

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import EXECUTORS, Plan
from agc.runtime.ir.parser import parse
from hypothesis import given, settings
from hypothesis import strategies as st
from support.list_programs import PROGRAMS
from support.verifier import verify


def in_place(text: str) -> int:
    """How many writes of a graph change the list itself."""
    return Plan(verify(parse(text))).source.count("_in_place(")


NEW = "array_new 3 [dtype=float32, element_shape=(), dynamic=False] : array float32[]"
STACK = "array_stack {} [dtype=float32, element_shape=()] : float32[?]"


def test_a_write_changes_an_unshared_list_in_place() -> None:
    assert in_place(f"""\
graph f(x: float32[]) -> float32[?]
  a = {NEW}
  b = array_write a, 0, x [infer_shape=True]    : array float32[]
  c = array_write b, 1, x [infer_shape=True]    : array float32[]
  y = {STACK.format("c")}
  return y
""") == 2  # fmt: skip


def test_a_write_copies_a_list_that_is_read_later() -> None:
    text = f"""\
graph f(x: float32[]) -> float32[?], float32[?]
  a = {NEW}
  b = array_write a, 0, x [infer_shape=True]    : array float32[]
  c = array_write b, 1, x [infer_shape=True]    : array float32[]
  y = {STACK.format("c")}
  z = {STACK.format("b")}
  return y, z
"""
    assert in_place(text) == 1
    y, z = Plan(parse(text))(np.array(2.0, np.float32))
    assert (y.tolist(), z.tolist()) == ([2, 2, 0], [2, 0, 0])


LOOP = """\
graph f(n: int32[], x: float32[]) -> {results}
  a = {NEW}
  i, b = while 0, a, n, x                       : int32[], array float32[]
    test i, b, n, x
      go = less i, n                            : bool[]
      yield go
    body i, b, n, x
      b.1 = array_write b, i, x [infer_shape=True] : array float32[]
      i.1 = add i, 1                            : int32[]
      yield i.1, b.1
  y = {Y}
  {more}
"""


def test_a_loop_writes_in_place_to_its_initial_list() -> None:
    text = LOOP.format(results="float32[?]", NEW=NEW, Y=STACK.format("b"), more="return y")
    assert in_place(text) == 1
    assert Plan(parse(text))(np.array(2, np.int32), np.array(1.0, np.float32))[0].tolist() == [1, 1, 0]


def test_a_loop_copies_an_initial_list_that_is_read_later() -> None:
    more = f"z = {STACK.format('a')}\n  return y, z"
    text = LOOP.format(results="float32[?], float32[?]", NEW=NEW, Y=STACK.format("b"), more=more)
    assert in_place(text) == 0
    y, z = Plan(parse(text))(np.array(2, np.int32), np.array(1.0, np.float32))
    assert (y.tolist(), z.tolist()) == ([1, 1, 0], [0, 0, 0])


def both(function: object, *arguments: object) -> int:
    """What the plan gives is what the interpreter gives; how many of its writes are in place."""
    concrete = tf.function(function).get_concrete_function(*arguments)
    values = [np.asarray(argument) for argument in arguments]
    expected, found = (EXECUTORS[name](concrete.graph)(values) for name in ("interpret", "plan"))
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)
    return Plan(concrete.graph).source.count("_in_place(")


def test_lists_of_python_grow_and_shrink_in_place() -> None:
    def program(n: tf.Tensor) -> tf.Tensor:
        found = []
        for i in tf.range(n):
            found.append(i * 2)
            if i % 3 == 2:
                last = found.pop()
                found.append(found[0] + last - 7)
        return tf.stack(found)

    assert both(program, tf.constant(8)) >= 2


def test_branches_and_loops_within_loops_keep_the_list() -> None:
    def program(n: tf.Tensor) -> tf.Tensor:
        triangle = tf.TensorArray(tf.int32, n * n)
        for i in tf.range(n):
            for k in tf.range(i):
                if k % 2 == 0:
                    triangle = triangle.write(i * n + k, i + k)
        return triangle.stack()

    assert both(program, tf.constant(5)) == 1


def test_a_list_that_a_loop_swaps_with_another_one() -> None:
    def program(n: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        one, other = tf.TensorArray(tf.int32, n), tf.TensorArray(tf.int32, n)
        for i in tf.range(n):
            one, other = other, one.write(i, i + 1)
        return one.stack(), other.stack()

    assert both(program, tf.constant(5)) == 1


def test_a_list_that_a_loop_keeps_an_old_version_of() -> None:
    def program(n: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        new = old = tf.TensorArray(tf.int32, n)
        for i in tf.range(n):
            old, new = new, new.write(i, i + 1)
        return old.stack(), new.stack()

    assert both(program, tf.constant(5)) == 0


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_other_uses_of_a_list_prevent_in_place_writes(program: object) -> None:
    assert both(program, tf.constant(3)) == PROGRAMS[program]


@given(st.lists(st.sampled_from(["write", "branch", "keep", "back", "read", "swap"]), min_size=1, max_size=6))
@settings(max_examples=25)
def test_random_list_loops_agree_with_the_interpreter(steps: list[str]) -> None:
    def program(n: tf.Tensor) -> list[tf.Tensor]:
        a, b = (tf.TensorArray(tf.int32, n, element_shape=[]) for _ in range(2))
        total = n * 0
        for i in tf.range(n):
            for step in steps:  # known when the graph is made
                if step == "write":
                    a = a.write(i, i + total)
                elif step == "branch":
                    if i % 2 == 0:
                        a = a.write(n - 1 - i, total)
                elif step == "keep":
                    b = a
                elif step == "back":
                    a = b.write(0, i)
                elif step == "swap":
                    a, b = b, a
                else:
                    total += b.read(i // 2) + a.read(0)
        return [a.stack(), b.stack(), total]

    both(program, tf.constant(4))


def test_the_backward_loop_reads_each_list_before_it_changes_it() -> None:
    def program(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(x)
            states = tf.TensorArray(tf.float32, 4)
            for i in tf.range(4):
                states = states.write(i, x * tf.cast(i, tf.float32))
            y = tf.reduce_sum(states.stack() ** 2)
        return tape.gradient(y, x)

    assert both(program, tf.constant([1.0, 2.0])) >= 2


def test_an_index_past_the_end_is_refused_as_before() -> None:
    @tf.function(jit_compile=False)
    def program(n):
        states = tf.TensorArray(tf.int32, 2)
        for i in tf.range(n):
            states = states.write(i, i)
        return states.stack()

    with pytest.raises(
        tf.errors.InvalidArgumentError, match="index 2 but array is not resizeable and size is: 2"
    ):
        program(tf.constant(3))
