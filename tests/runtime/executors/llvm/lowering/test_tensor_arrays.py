"""TensorArrays and lists in native code: written in place, and still every version is what it was."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import CompilationError, JitFunction, text
from agc.runtime.optimize import simplify_loops
from support import list_programs

ROWS = np.arange(12, dtype=np.float32).reshape(4, 3)


def stacked(x: Any) -> Any:
    a = tf.TensorArray(tf.float32, 4)
    for i in tf.range(4):
        a = a.write(i, x[i] * 2)
    return a.stack()


def old_versions(x: Any) -> Any:
    a = tf.TensorArray(tf.float32, 2, clear_after_read=False)
    a = a.write(0, x[0])
    b = a.write(0, x[1])
    return a.read(0) + 10 * b.read(0), b.stack()


def never_written(x: Any) -> Any:
    a = tf.TensorArray(tf.int32, 5)
    for i in tf.range(5):
        if i % 2 == 0:
            a = a.write(i, i * i)
    return a.stack(), x


def only_read(x: Any) -> Any:
    """Read elements that were never written, also in a loop that runs no iteration."""
    a = tf.TensorArray(tf.float32, 2, element_shape=[3], clear_after_read=False)
    b = tf.TensorArray(tf.int32, 0, dynamic_size=True, element_shape=[], clear_after_read=False)
    total, count = x[0], 0
    for i in tf.range(2):
        total += a.read(i)
    for i in tf.range(b.size()):
        count += b.read(i)
    return total, count


def grown(x: Any) -> Any:
    a = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    for i in tf.range(40):
        a = a.write(i, x[i % 4] * 2)
    return a.size(), a.read(27)


def unstacked(x: Any) -> Any:
    a = tf.TensorArray(tf.float32, 4, clear_after_read=False).unstack(x)
    total = x[0]
    for i in tf.range(4):
        total = total + a.read(i) * a.read((i + 1) % 4)
    return total


def read_and_replaced(x: Any) -> Any:
    a = tf.TensorArray(tf.float32, 3, clear_after_read=False)
    y = x[0]
    for i in tf.range(3):
        a = a.write(i, x[i] + y)
        y = a.read(i) * 2
        a = a.write(i, y + 1)
    return a.stack(), y


def a_branch_writes(x: Any) -> Any:
    a = tf.TensorArray(tf.float32, 2, clear_after_read=False).unstack(x[:2])
    b = a.write(0, x[3]) if x[0, 0] > -1.0 else a
    return a.stack(), b.stack()


def fibonacci(n: Any) -> Any:
    a = tf.TensorArray(tf.int32, n, clear_after_read=False)
    a = a.write(0, 0).write(1, 1)
    for i in tf.range(2, n):
        a = a.write(i, a.read(i - 1) + a.read(i - 2))
    return a.read(n - 1)


def python_list(x: Any) -> Any:
    seen = []
    for i in tf.range(30):
        seen.append(x[i % 4])
    last = seen.pop()
    seen[-2] = last
    return len(seen), seen[-2], seen[3]


PROGRAMS = (
    stacked, old_versions, never_written, only_read, grown, unstacked, read_and_replaced, a_branch_writes, python_list,
)  # fmt: skip


def check(program: Any, argument: Any) -> None:
    graph = tf.function(program).get_concrete_function(tf.constant(argument)).graph
    wanted = interpret(graph, [np.asarray(argument)])
    native = JitFunction(graph)
    for _ in range(2):
        found = native.run([np.asarray(argument)])
        for one, other in zip(found, wanted, strict=True):
            assert one.dtype == np.asarray(other).dtype
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_lists_agree_with_the_interpreter(program: Any) -> None:
    check(program, ROWS)


@pytest.mark.parametrize("program", list_programs.PROGRAMS, ids=lambda program: program.__name__)
def test_lists_under_several_names(program: Any, given_up: list[str]) -> None:
    for n in (1, 3):
        check(program, np.int32(n))
    if program is list_programs.taken_from_places:
        given_up.clear()  # elements that are not the last one are taken by the plan


def test_the_size_of_a_list_may_be_dynamic() -> None:
    check(fibonacci, np.int32(20))


def test_an_index_out_of_range_is_the_plans_error() -> None:
    graph = tf.function(fibonacci).get_concrete_function(tf.constant(1)).graph
    with pytest.raises(tf.errors.InvalidArgumentError, match="Tried to write to index 1"):
        JitFunction(graph).run([np.array(1, np.int32)])


def test_lists_of_tensors_of_several_sizes_are_refused() -> None:
    def either(x: Any) -> Any:
        rows = []
        for i in tf.range(3):
            if x[i, 0] > 2.0:
                rows.append(x[0])
            else:
                rows.append(x[0, :2])
        return tf.stack(rows)

    graph = tf.function(either).get_concrete_function(tf.constant(ROWS)).graph
    with pytest.raises(
        CompilationError, match=r"its branches return array float32\[3\] and array float32\[2\]"
    ):
        JitFunction(graph).run([ROWS])


# Elements that are not zeros before they are written


def backwards(x: Any) -> Any:
    a = tf.TensorArray(tf.float32, 4)
    for i in tf.range(3, -1, -1):
        a = a.write(i, x[i] + 1)
    return a.stack()


def some(x: Any) -> Any:
    a = tf.TensorArray(tf.float32, 4)
    for i in tf.range(1, 4):
        a = a.write(i, x[i] + 1)
    return a.stack()


def one_of_them(x: Any) -> Any:
    a = tf.TensorArray(tf.float32, 4)
    for i in tf.range(4):
        a = a.write(tf.cast(x[i, 0] * 0, tf.int32) + 2, x[i])
    return a.stack()


def every_other(x: Any) -> Any:
    a = tf.TensorArray(tf.float32, 8)
    for i in tf.range(0, 8, 2):
        a = a.write(i, x[i // 2])
    return a.stack()


def until_stopped(x: Any) -> Any:
    a = tf.TensorArray(tf.float32, 4, element_shape=[3])
    for i in tf.range(4):
        if x[i, 0] > 2.0:
            break
        a = a.write(i, x[i])
    return a.stack()


def read_before(x: Any) -> Any:
    a = tf.TensorArray(tf.float32, 4, clear_after_read=False, element_shape=[3])
    total = x[0]
    for i in tf.range(4):
        total += a.read(3 - i)
        a = a.write(i, x[i])
    return a.stack(), total


@pytest.mark.parametrize("program", [backwards, some, one_of_them, every_other, until_stopped, read_before])
def test_elements_are_zero_until_they_are_written(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the memory was in use before."""
    monkeypatch.setattr(simplify_loops, "MOST", 0)  # no loop is unrolled
    graph = tf.function(program).get_concrete_function(tf.constant(ROWS)).graph
    run = JitFunction(graph).run
    for rows in (ROWS + 7, ROWS):
        for found, wanted in zip(run([rows]), interpret(graph, [rows]), strict=True):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("steps", [range(11), range(10, -1, -1)])
def test_memory_that_a_loop_writes_is_not_cleared(steps: range) -> None:
    def written(x: Any, start: int = 0) -> Any:
        a = tf.TensorArray(tf.float32, 11)
        for i in tf.range(steps.start + start, steps.stop, steps.step):
            a = a.write(i, x * tf.cast(i, tf.float32))
        return tf.reduce_sum(a.stack(), 1)

    def code(*rest: int) -> str:
        graph = tf.function(written).get_concrete_function(tf.TensorSpec([5000]), *rest).graph
        return str(text(graph))

    assert "memset" not in code()
    assert "memset" in code(steps.step)
