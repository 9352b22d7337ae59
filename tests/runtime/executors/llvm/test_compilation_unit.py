"""Modules are valid LLVM IR, and their loops are distinct."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import llvmlite.binding as llvm
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction
from agc.runtime.executors.llvm.compile_graph import lowered
from agc.runtime.executors.llvm.unit_text import with_distinct_loops


def elements(x: Any) -> Any:
    return tf.tanh(x) + tf.where(x > 0.5, tf.sin(x), -x), tf.reduce_max(x, -1), x @ tf.transpose(x)


def places(x: Any) -> Any:
    i = tf.cast(x[0] * 10.0, tf.int32)
    return tf.gather(x, tf.abs(i) % 3), tf.cast(i, tf.complex64) * 2j, tf.reduce_any(x > 1.0, 0)


def jumps(x: Any) -> Any:
    i = 0
    while tf.reduce_sum(x) < 100.0 and i < 50:
        x, i = tf.cond(x[0, 0] > 3.0, lambda x=x: x + 1.0, lambda x=x: x * 2.0), i + 1
    return x


PROGRAMS = [elements, places, jumps]


def graph_of(program: Callable[[Any], Any]) -> Any:
    return tf.function(program).get_concrete_function(tf.TensorSpec([30, 40])).graph


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: str(each.__name__))
def test_modules_are_valid(program: Callable[[Any], Any]) -> None:
    graph = graph_of(program)
    specs = [value.spec for value in graph.inputs]
    llvm.parse_assembly(lowered(graph, specs).text()).verify()
    llvm.parse_assembly(lowered(graph, specs).code()[0]).verify()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: str(each.__name__))
def test_modules_compute_what_the_interpreter_does(program: Callable[[Any], Any]) -> None:
    graph = graph_of(program)
    x = np.random.default_rng(0).uniform(0, 1, (30, 40)).astype(np.float32)
    for found, wanted in zip(JitFunction(graph).run([x]), interpret(graph, [x]), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_loops_and_access_groups_are_distinct_nodes() -> None:
    text = """!0 = !{ !"group1" }
!1 = !{ !"loop2", !3 }
!2 = !{ !"loop3" }
!3 = !{ !"llvm.loop.parallel_accesses", !0 }"""
    assert with_distinct_loops(text).splitlines() == [
        "!0 = distinct !{}",
        "!1 = distinct !{ !1, !3 }",
        "!2 = distinct !{ !2 }",
        '!3 = !{ !"llvm.loop.parallel_accesses", !0 }',
    ]
