"""Native code of programs with lists of constants, and of lists with parts of different lengths."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors.llvm import CompilationError, JitFunction


def parts(lengths: list[int]) -> tf.TensorArray:
    made = tf.TensorArray(tf.float32, len(lengths), element_shape=None, infer_shape=False)
    return made.split(tf.ones([6, 2]), lengths)


def test_parts_of_different_lengths_are_not_compiled() -> None:
    with pytest.raises(CompilationError, match="array_concat"):
        JitFunction(tf.function(lambda: parts([4, 2]).concat()).get_concrete_function().graph).run([])


def program(*, first: int, second: int, behind: int | None = None) -> Any:
    """A list of numbers that are constants, of which the last one is taken."""

    def taken(n: Any, p: Any) -> Any:
        found: Any = []
        for i in tf.range(n):
            if i > p:
                found.append(first)
            else:
                found.append(second)
        if behind is not None:
            found.append(behind)
        return found.pop()

    return tf.autograph.to_graph(taken)


def test_popping_an_empty_list_is_still_an_error() -> None:
    """Though there is but one number that it can be."""
    graph = tf.function(program(first=3, second=3)).get_concrete_function(*[tf.TensorSpec([], tf.int32)] * 2)
    native = JitFunction(graph.graph)
    assert native.run([np.int32(2), np.int32(0)])[0] == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="pop from empty list"):
        native.run([np.int32(0), np.int32(0)])


@pytest.mark.parametrize(("n", "p"), [(1, 1), (3, 0)])
def test_lists_of_different_constants(n: int, p: int) -> None:
    @tf.function(jit_compile=True)
    def both(n: Any, p: Any) -> Any:
        return program(first=3, second=4)(n, p), program(first=3, second=3, behind=5)(n, p)

    assert [int(x) for x in both(tf.constant(n), tf.constant(p))] == [3 if n > 1 else 4, 5]
