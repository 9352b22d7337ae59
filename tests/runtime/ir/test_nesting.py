"""Graphs whose regions are nested more deeply than Python's frames allow by default."""

from __future__ import annotations

import sys
from typing import Any

import agc.runtime as tf
import pytest
from agc.runtime.ir.nesting import depth, room_for

DEEP = 220


def branches(x: Any, levels: int) -> Any:
    if not levels:
        return x * 2.0
    return tf.cond(x > float(levels), lambda: branches(x - 1.0, levels - 1), lambda: x)


def loops(x: Any, levels: int) -> Any:
    if not levels:
        return x + 1.0
    return tf.while_loop(lambda i, x: i < 1, lambda i, x: (i + 1, loops(x, levels - 1)), (0, x))[1]


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize(("program", "expected"), [(branches, 2 * (1000.0 - DEEP)), (loops, 1001.0)])
def test_deeply_nested_regions_run(program: Any, expected: float, jit_compile: bool) -> None:
    limit = sys.getrecursionlimit()
    run = tf.function(lambda x: program(x, DEEP), jit_compile=jit_compile)
    assert float(run(tf.constant(1000.0))) == expected
    assert depth(run.get_concrete_function(tf.constant(1000.0)).graph) == DEEP
    assert sys.getrecursionlimit() == limit


def test_room_is_made_for_deep_graphs_only() -> None:
    limit, found = sys.getrecursionlimit(), []
    for levels in (3, 60):
        graph = tf.function(loops).get_concrete_function(tf.constant(1.0), levels).graph
        with room_for(graph):
            found.append(sys.getrecursionlimit())
    assert found[0] == limit < found[1] and sys.getrecursionlimit() == limit
