"""Modules are printed as llvmlite prints them, in less time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import llvmlite.binding as llvm
import pytest
from agc.runtime.executors.llvm import gil  # noqa: F401  (shared functions are registered)
from agc.runtime.executors.llvm.codegen.shared_functions import WRITERS, written
from agc.runtime.executors.llvm.compile_graph import lowered
from agc.runtime.executors.llvm.llvm_printer import distinct, printed
from agc.runtime.executors.llvm.vectorize import vectorize
from llvmlite import ir


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


def module_of(program: Callable[[Any], Any]) -> Any:
    graph = tf.function(program).get_concrete_function(tf.TensorSpec([30, 40])).graph
    unit = lowered(graph, [value.spec for value in graph.inputs])
    unit.host.finish()
    return unit.module


def shared_functions() -> Any:
    module = ir.Module()
    for name in WRITERS:
        written(module, name)
    return module


def read(text: str) -> str:
    """A text as LLVM would print it."""
    module = llvm.parse_assembly(text)
    module.triple = ""
    module.verify()
    return str(module)


@pytest.mark.parametrize("program", [elements, places, jumps], ids=lambda each: str(each.__name__))
def test_modules_print_as_in_llvmlite(program: Callable[[Any], Any]) -> None:
    module = module_of(program)
    assert read(printed(module)) == read(distinct(str(module)))


def test_shared_functions() -> None:
    module = shared_functions()
    assert read(printed(module)) == read(str(module))


def test_loops_are_printed_with_vectors() -> None:
    module = module_of(lambda x: tf.tanh(x) + tf.reduce_sum(x, -1, keepdims=True))
    assert vectorize(module)
    assert read(printed(module)) == read(distinct(str(module)))


def test_loop_metadata_can_be_left_out() -> None:
    module = module_of(lambda x: tf.gather(tf.exp(x), tf.cast(x[:, 0], tf.int32)))
    text = printed(module, with_loops=False)
    assert "llvm.loop" in printed(module) and "llvm." not in read(text).partition("!0 =")[2]
    assert "branch_weights" in text and "access.group" not in text
