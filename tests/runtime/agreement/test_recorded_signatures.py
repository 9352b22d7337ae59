"""TensorFlow's names and parameters, recorded: what agc lacks is known with its reason, and calls mean the same."""

from __future__ import annotations

import functools

import agc.runtime as tf
import pytest
from differential import meant, signatures
from differential.judging import Refusal, outcome, verdict


@functools.cache
def compared() -> list[signatures.Comparison]:
    return list(signatures.compare(signatures.read(), tf))


def test_every_missing_parameter_has_a_reason() -> None:
    assert [found.what for found in compared() if found.result == "differ" and found.mine == "nothing"] == []


@pytest.mark.parametrize("parameter", meant.PARAMETERS_LEFT_OUT)
def test_a_parameter_with_a_reason_is_left_out(parameter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    agreed = [found for found in compared() if found.result == "agree" and parameter in found.theirs]
    monkeypatch.delitem(meant.PARAMETERS_LEFT_OUT, parameter)
    pairs = [(signatures.parameters(found.mine), signatures.parameters(found.theirs)) for found in agreed]
    assert not all(signatures.same(*pair) for pair in pairs)


def test_every_reason_is_about_a_name_that_is_missing() -> None:
    assert [found.what for found in signatures.there_by_now(compared())] == []


def test_parameters_are_tensorflows() -> None:
    different = [found for found in compared() if found.result == "differ" and found.mine != "nothing"]
    assert [found for found in different if not meant.reason(found.what)] == []
    assert len(compared()) > 2_000


@pytest.mark.parametrize(
    ("mine", "theirs", "fit"),
    [
        ("(x, y, name=None)", "(x, y, name='Add')", True),
        ("(x, y)", "(y, x)", False),
        ("(x, axis=None)", "(x, axis=0)", False),
        ("(x, axis=0)", "(x, axis)", True),
        ("(x)", "(x, axis=None)", False),
        ("(x, axis=None)", "(x)", True),
        ("(x, axis)", "(x)", False),
        ("(x, **kwargs)", "(x, axis=None)", True),
        ("(x, dtype='float32')", "(x, dtype=tf.float32)", True),
        ("(x, strides=(1, 1))", "(x, strides=[1, 1])", True),
        ("(x, /, *, k)", "(x, *, k)", True),
        ("(...)", "(x)", True),
    ],
)
def test_when_parameters_mean_the_same(mine: str, theirs: str, fit: bool) -> None:
    assert signatures.same(signatures.parameters(mine), signatures.parameters(theirs)) is fit


def test_parameters_are_written_down() -> None:
    def f(x: int, *rest: int, key: object = object(), dtype: tf.DType = tf.float32) -> None: ...

    assert signatures.parameters_of(f) == "(x, *rest, key=..., dtype=tf.float32)"
    assert signatures.parameters_of(3) == "(...)"


def test_verdicts() -> None:
    wrong = outcome(lambda: tf.reshape([1, 2], [3]))
    assert isinstance(wrong, Refusal) and wrong == "! InvalidArgumentError"
    assert verdict(tf.constant([1.0]), tf.constant([1.0 + 1e-7])) == "agree"
    assert verdict(tf.constant([1.0]), tf.constant([1.0], tf.float64)) == "differ"
    assert verdict(tf.constant([1]), wrong) == "wider"
    assert verdict(wrong, tf.constant([1])) == "differ"
    assert verdict(wrong, outcome(lambda: [][0])) == "other class"
    assert verdict({"a": (tf.constant(1), "b")}, {"a": [tf.constant(1), "b"]}) == "agree"
