"""How much code programs become: LLVM takes long for much of it. What is counted is the text that LLVM is given."""

from __future__ import annotations

import re
from typing import Any

import agc.runtime as tf
from agc.runtime.native.running import lowered, prepared


def text(body: Any, *specs: Any) -> str:
    """The module of a function for such arguments."""
    graph, _ = prepared(tf.function(body).get_concrete_function(*specs).graph)
    return str(lowered(graph, [value.spec for value in graph.inputs]).text())


def defined(text: str) -> list[str]:
    """The names of the functions that a module defines."""
    return re.findall(r'^define .*?@"([^"(]+)"\(', text, re.MULTILINE)


def lines(text: str) -> int:
    return text.count("\n")


VECTOR = tf.TensorSpec([10], tf.float32)
LARGE = tf.TensorSpec([1 << 20], tf.float32)


def test_what_all_functions_share_is_in_none_of_them() -> None:
    assert defined(text(lambda x: x * 2.0, VECTOR)) == ["kernel", "run"]
    assert defined(text(lambda x: x * 2.0, LARGE))[:2] == ["kernel", "run"]
    assert "agc_run_part" not in defined(text(lambda x: x * 2.0, LARGE))


def test_arguments_cost_little() -> None:
    few, many = (text(lambda *x: sum(x[1:], x[0]), *[VECTOR] * count) for count in (2, 12))
    assert lines(many) - lines(few) < 10 * 8


def test_small_tensors_are_written_out_in_loops_only() -> None:
    def once(x: Any) -> Any:
        return x * x + x

    def often(x: Any, n: Any) -> Any:
        for _ in tf.range(n):
            x = x * x + x
        return x

    assert text(once, VECTOR).count(" fmul ") == 1
    assert text(often, VECTOR, tf.TensorSpec([], tf.int32)).count(" fmul ") == 10
