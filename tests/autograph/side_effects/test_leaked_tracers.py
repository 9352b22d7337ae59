"""Attributes that a finished trace has left a tensor in, as layers do that keep their last scores for a picture."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import pytest


class Doubling:
    """A layer that remembers what it gave last, in `last` and in a list."""

    def __call__(self, x: Any) -> Any:
        self.last = x * 2
        self.all = [self.last, x]
        return self.last


@pytest.fixture
def layer() -> Doubling:
    made = Doubling()
    tf.function(lambda x: made(x))(tf.constant([1.0, 2.0]))
    return made


def test_a_loop_overwrites_a_leaked_attribute(layer: Doubling) -> None:
    @tf.function
    def doubled(x: Any) -> Any:
        for _ in tf.range(3):
            x = layer(x)
        layer(x)
        return x, layer.last

    x, last = doubled(tf.constant(1.0))
    assert (float(x), float(last)) == (8, 16)


def test_a_branch_overwrites_a_leaked_attribute(layer: Doubling) -> None:
    @tf.function
    def doubled(x: Any) -> Any:
        if x > 0:
            x = layer(x)
        return x

    assert float(doubled(tf.constant(1.0))) == 2
    assert float(doubled(tf.constant(-1.0))) == -1


def test_both_branches_overwrite_a_leaked_attribute(layer: Doubling) -> None:
    @tf.function
    def last(x: Any) -> Any:
        if x > 0:
            layer(x)
        else:
            layer(-x)
        return layer.last

    assert float(last(tf.constant(-1.0))) == 2


def test_a_leaked_attribute_that_may_survive_a_block_cannot_be_used(layer: Doubling) -> None:
    @tf.function
    def last(x: Any) -> Any:
        while x < 10:
            x = layer(x)
        return layer.last

    with pytest.raises(tf.errors.InaccessibleTensorError, match="`last` uses a traced tensor"):
        last(tf.constant(1.0))


def test_a_block_that_reads_a_leaked_attribute_is_refused(layer: Doubling) -> None:
    @tf.function
    def total(x: Any) -> Any:
        for _ in tf.range(3):
            x = x + layer.last
            layer(x)
        return x

    with pytest.raises(tf.errors.InaccessibleTensorError, match="outside of `lambda_`"):
        total(tf.constant(1.0))
