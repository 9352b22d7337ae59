"""Jumps out of a `finally` block that depend on tensors."""

# ruff: noqa: B012

import agc.runtime as tf
import pytest
from agc.autograph import StagingError
from support.each_case import each_case

both_executors = pytest.mark.parametrize("executor", ["plan", "interpret"])


def returned(n):
    try:
        x = n * 2
    finally:
        if n > 2:
            return n
    return x


def broken(n):
    total = 0
    while n > 0:
        try:
            n -= 1
        finally:
            if n < 3:
                break
            total += n
    return total, n


def continued(n):
    total = 0
    for i in tf.range(n):
        try:
            total += 1
        finally:
            if i < 3:
                continue
        total += 10
    return total


def nested(n):
    total = 0
    for i in tf.range(n):
        try:
            total += 1
        except ValueError:
            total += 1000
        else:
            total += 5
        finally:
            try:
                total += 100
            finally:
                if i == 2:
                    break
                if i == 1:
                    continue
        total += 10000
    return total


def discarding(n):
    """Python raises while the function is traced, and the graph decides whether a jump discards the exception."""
    total = 0
    for i in tf.range(n):
        try:
            total += 1
            int("x")
        finally:
            total += 2
            if i < 3:
                continue
            break
    return total


@both_executors
@each_case("function", [returned, broken, continued, nested, discarding])
@each_case("n", [0, 1, 2, 5])
def test_the_graph_jumps_as_python_does(function, n, executor):
    graph = tf.function(function, experimental_executor=executor)
    found, expected = graph(tf.constant(n)), function(tf.constant(n))
    assert [int(x) for x in tf.nest.flatten(found)] == [int(x) for x in tf.nest.flatten(expected)]


def test_an_exception_that_a_jump_would_discard_is_refused():
    @tf.function
    def swallowed(n):
        total = 0
        for i in tf.range(n):
            try:
                if i > 0:
                    raise ValueError("never seen")
                total += 1
            finally:
                if i < 3:
                    continue
        return total

    with pytest.raises(StagingError, match=r"AGC260(.|\n)*continue"):
        swallowed(tf.constant(5))


def test_an_inner_loops_jump_discards_nothing():
    @tf.function
    def checked(n):
        try:
            if n > 3:
                raise ValueError("too large")
        finally:
            for k in (1, 2):
                if k == 2:
                    break
        return n

    assert checked(tf.constant(1)).numpy() == 1
    with pytest.raises(ValueError, match="too large"):
        checked(tf.constant(4))
