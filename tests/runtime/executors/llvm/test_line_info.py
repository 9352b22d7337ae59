"""Lines of user code in the text of native code."""

import agc.runtime as tf
import pytest

pytest.importorskip("llvmlite")
from agc.runtime.executors.llvm import text, text_with_origins


def settle(x, rounds):
    for _ in tf.range(rounds):
        if tf.reduce_sum(x) > 1.0:
            x = tf.tanh(x) * 0.5
    return x


FIRST = settle.__code__.co_firstlineno


@pytest.fixture(scope="module")
def graph():
    return tf.function(settle).get_concrete_function(tf.ones([64]), tf.constant(3)).graph


def test_instructions_have_the_lines_that_they_come_from(graph):
    whole, origins = text_with_origins(graph)
    lines = whole.splitlines()
    assert len(lines) == len(origins)
    found = {origin.line - FIRST for origin in origins if origin is not None}
    assert found <= {1, 2, 3} and 3 in found
    products = [origin for line, origin in zip(lines, origins, strict=True) if " = fmul " in line]
    assert {origin.line - FIRST for origin in products if origin is not None} == {3}


def test_the_code_is_that_without_lines(graph):
    whole, _ = text_with_origins(graph)
    assert "!dbg" not in whole and "!DI" not in whole
    assert " = fmul " in whole and whole.count("define ") == text(graph).count("define ")


def test_shared_formulas_stay_as_they_are(graph):
    before = text(graph)
    text_with_origins(graph)
    assert text(graph) == before
