"""Comprehensions over tensors, and with conditions on tensors: what they give on Python's numbers."""

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc import autograph


def plainly(value: Any) -> Any:
    return tf.nest.map_structure(lambda leaf: np.asarray(leaf).tolist(), value)


def agrees(f: Any, *inputs: Any) -> None:
    for args in inputs:
        args = args if isinstance(args, tuple) else (args,)
        expected = f(*args)
        converted = autograph.convert(f)
        assert converted(*args) == expected
        for run in (converted, tf.function(f), tf.function(f, experimental_executor="interpret")):
            assert plainly(run(*map(tf.constant, args))) == plainly(expected)


def test_over_a_tensor() -> None:
    agrees(lambda xs: [x * x for x in xs], ([1, 2, 3],))


def test_with_conditions() -> None:
    def f(xs, n):
        return [x * x for x in xs if x > n if x < 9], [-x for x in xs if 2 < x <= n or x == 1]

    agrees(f, ([1, 5, 3, 10], 2), ([1], 5))


def test_over_ranges_and_pairs() -> None:
    def f(xs, n):
        return [i * n for i in range(n)], [i * x for i, x in enumerate(xs) if i != n], [x for x in xs]  # noqa: C416

    agrees(f, ([4, 5, 6], 2), ([4], 0))


def test_a_condition_on_tensors_over_pythons_items() -> None:
    def f(a, b, c):
        return [x * 2 for x in (a, b, c) if x > 1], len([x for x in (a, b) if x != c])

    agrees(f, (1, 2, 3), (0, 0, 0))


def test_generators_that_are_used_up() -> None:
    def f(xs):
        return sum(x * x for x in xs), max(x + 1 for x in xs), min(-x for x in xs)

    agrees(f, ([1, 5, 3],))


def test_the_result_is_a_list_like_any_other() -> None:
    def f(xs):
        out = [x for x in xs if x > 1]
        for x in xs:
            if x > 2:
                out.append(x)
        return out, len(out)

    agrees(f, ([1, 2, 3],))


def test_only_the_chosen_elements_are_computed() -> None:
    counter = tf.Variable(0)

    def noted(x):
        counter.assign_add(1)
        return x

    @tf.function
    def f(xs):
        return [noted(x) for x in xs if x > 1]

    assert plainly(f(tf.constant([1, 2, 3]))) == [2, 3]
    assert counter.numpy() == 2


def test_sets_and_dicts_are_refused() -> None:
    for f in (lambda xs: {x for x in xs}, lambda xs: {x: 1 for x in xs}):  # noqa: C416, C420
        with pytest.raises(TypeError, match="Tensor is unhashable"):
            tf.function(f)(tf.constant([1, 2]))


def test_plain_python_does_not_notice() -> None:
    log = []

    def note(x):
        log.append(x)
        return x

    def f(xs, n):
        it = iter(xs)
        return [note(x) for x in map(note, xs) if note(x * 2) > n], [next(it) for x in xs if x != n]

    for args in (([1, 2, 3], 2), ([], 0), ((5,), 9)):
        log.clear()
        expected, order = f(*args), list(log)
        log.clear()
        assert autograph.convert(f)(*args) == expected
        assert log == order
    with pytest.raises(StopIteration):
        autograph.convert(lambda it, xs: [next(it) for x in xs if x > 0])(iter(()), [1])
    assert autograph.convert(lambda xs: any(1 / x for x in xs))([1, 0])  # lazily
