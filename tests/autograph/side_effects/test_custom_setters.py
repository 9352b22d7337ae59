"""Staged blocks assign attributes and items that an object sets by a function of its own: it runs as in Python."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import pytest


class Scaled:
    """A property that does not give what it was given, and counts."""

    def __init__(self) -> None:
        self.kept = tf.Variable(1)
        self.writes = tf.constant(0)

    @property
    def value(self) -> Any:
        return self.kept * 10

    @value.setter
    def value(self, new: Any) -> None:
        if new > 0:
            self.kept.assign(new)
        self.writes += 1


class Row:
    def __init__(self) -> None:
        self.items = [tf.constant(1), tf.constant(5)]
        self.writes = tf.constant(0)

    def __getitem__(self, i: int) -> Any:
        return self.items[i] * 2

    def __setitem__(self, i: int, value: Any) -> None:
        self.items[i] = value
        self.writes += 1


class Logged(list[Any]):
    """A list that has a function of its own for items only."""

    def __init__(self, items: list[Any]) -> None:
        super().__init__(items)
        self.writes = tf.constant(0)

    def __setitem__(self, i: Any, value: Any) -> None:
        super().__setitem__(i, value)
        self.writes += 1


class Counting:
    def __init__(self) -> None:
        object.__setattr__(self, "writes", tf.constant(0))
        self.value = tf.constant(1)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, "writes", self.writes + 1)
        object.__setattr__(self, name, value)


def attribute_in_loop(it: Any, n: Any) -> Any:
    for i in tf.range(n):
        it.value = it.value + i
    return it.value, it.writes


def attribute_in_branch(it: Any, n: Any) -> Any:
    if n > 2:
        it.value += n
    return it.value, it.writes


def item_in_loop(it: Any, n: Any) -> Any:
    for i in tf.range(n):
        it[0] = it[0] + i
    return it[0], it.writes


def item_in_branch(it: Any, n: Any) -> Any:
    if n > 2:
        it[1] += n
    else:
        it[0] = n
    return it[0], it[1], it.writes


def item_in_while(it: Any, n: Any) -> Any:
    while it[0] < 20:
        it[0] += n
    return it[0], it.writes


@pytest.mark.parametrize(
    ("kind", "program"),
    [
        *(
            (kind, program)
            for kind in (Scaled, Counting)
            for program in (attribute_in_loop, attribute_in_branch)
        ),
        *(
            (kind, program)
            for kind in (Row, lambda: Logged([tf.constant(1), tf.constant(5)]))
            for program in (item_in_loop, item_in_branch, item_in_while)
        ),
    ],
)
@pytest.mark.parametrize("n", [2, 3])
def test_custom_setters_are_called_as_in_python(kind: Any, program: Any, n: int) -> None:
    expected = [int(x) for x in program(kind(), tf.constant(n))]
    it = kind()
    assert [int(x) for x in tf.function(lambda n: program(it, n))(tf.constant(n))] == expected


def test_a_manual_schedule_sets_the_learning_rate() -> None:
    optimizer = tf.keras.optimizers.SGD(1.0)

    @tf.function
    def halved(n: Any) -> Any:
        for i in tf.range(n):
            if i % 2 == 0:
                optimizer.learning_rate = optimizer.learning_rate * 0.5

    halved(tf.constant(5))
    assert float(optimizer.learning_rate) == 0.125
