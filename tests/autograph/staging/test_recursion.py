"""Functions that call themselves: Python's values may end that, a tensor cannot."""

import sys
from contextlib import contextmanager

import agc.runtime as tf
import pytest
from agc.autograph import StagingError
from agc.autograph.staging import recursion


def refused(f, *args, match):
    limit = sys.getrecursionlimit()
    with counted_decisions() as decisions, pytest.raises(StagingError, match=match) as caught:
        tf.function(f)(*args)
    assert caught.value.diagnostic.code == "AGC280"
    assert len(decisions) < 100, "the calls are followed along one path: along all, there would be 2 ** 20"
    assert sys.getrecursionlimit() == limit
    return caught.value.diagnostic


@contextmanager
def counted_decisions():
    """Collect the staged decisions that are traced."""
    traced, enter = [], recursion.deciding.__enter__

    def counted(decision):
        traced.append(decision.line)
        enter(decision)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recursion.deciding, "__enter__", counted)
        yield traced


# A tensor decides: refused.


def fact(n):
    if n <= 1:
        return 1
    return n * fact(n - 1)


def test_the_function_its_line_and_the_line_that_decides():
    said = refused(fact, tf.constant(5), match="`fact` calls itself")
    first = fact.__code__.co_firstlineno
    assert (said.where.line, said.where.function) == (first + 3, "fact")
    assert [note.where.line for note in said.notes] == [first + 1]
    assert "while" in said.fix


def test_a_ternary():
    def fact(n):
        return 1 if n <= 1 else n * fact(n - 1)

    refused(fact, tf.constant(5), match="`fact`")


def test_and():
    def runs_out(n):
        return n > 0 and runs_out(n - 1)

    refused(runs_out, tf.constant(5), match="`runs_out`")


def test_inside_a_loop():
    def visit(n):
        total = 0
        for i in range(n):
            total += visit(i)
        return total

    refused(visit, tf.constant(3), match="`visit`")


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def test_mutual_recursion():
    refused(is_even, tf.constant(3), match="`is_(even|odd)` calls itself")


class Countdown:
    def __init__(self, step):
        self.step = step

    def run(self, n):
        if n > 0:
            return self.run(n - self.step)
        return n

    def __getitem__(self, n):
        return self[n - 1] if n > 0 else n


def test_methods():
    refused(Countdown(1).run, tf.constant(3), match="`run`")
    refused(lambda n: Countdown(1)[n], tf.constant(3), match="`__getitem__`")


def test_a_traced_function_that_calls_itself():
    @tf.function
    def down(n):
        if n > 0:
            return down(n - 1)
        return n

    assert down(tf.constant(3)).numpy() == 0


def test_recursion_over_a_growing_number_with_a_tensor_test(monkeypatch):
    monkeypatch.setattr(recursion, "_MOST", 60)

    def f(n, depth):
        if n > 0:
            return f(n - 1, depth + 1)
        return n + depth

    refused(f, tf.constant(3), 0, match="`f`")


# Python decides.


def test_recursion_over_a_python_number():
    def power(x, n):
        if n == 0:
            return 1
        half = power(x, n // 2)
        return half * half * x if n % 2 else half * half

    def clipped(x, times):
        if times == 0:
            return x
        if x > 10:
            x -= 1
        return clipped(x, times - 1)

    assert tf.function(power)(tf.constant(3), 9).numpy() == 3**9
    assert tf.function(clipped)(tf.constant(100), 50).numpy() == 50


def linked(n, x):
    node = None
    for _ in range(n):
        node = {"value": x, "rest": node}
    return node


def test_a_deep_structure_with_tensors_as_leaves():
    def total(node):
        if node is None:
            return 0
        return node["value"] + total(node["rest"])

    def first_positive(node):
        if node is None:
            return -1
        if node["value"] > 0:
            return node["value"]
        return first_positive(node["rest"])

    def in_loops(nodes):
        found = 0
        for node in nodes:
            found += in_loops(node) if isinstance(node, list) else node
        return found

    def nested(n, x):
        nodes = [x]
        for _ in range(n):
            nodes = [nodes, x]
        return nodes

    x = tf.constant(1)
    assert tf.function(lambda x: total(linked(500, x)))(x).numpy() == 500
    assert tf.function(lambda x: in_loops(nested(500, x)))(x).numpy() == 501
    assert tf.function(lambda x: first_positive(linked(60, x)))(x).numpy() == 1


def test_a_library_bounds_its_recursion_by_a_number(monkeypatch):
    """Count the frame that decides, but no other frames of a library."""
    monkeypatch.setattr(recursion, "is_library_file", lambda *_: True)

    def doubled(x, levels):
        if levels == 0:
            return x
        return tf.cond(x > 100, lambda: x, lambda: doubled(x * 2, levels and levels - 1))

    assert tf.function(lambda x: doubled(x, 25), autograph=False)(tf.constant(1)).numpy() == 128
    with pytest.raises(StagingError, match="`doubled` calls itself"):
        tf.function(lambda x: doubled(x, None), autograph=False)(tf.constant(1))


def test_recursion_without_a_staged_decision_is_python_s_error():
    def forever(x):
        return forever(x)

    with pytest.raises(RecursionError):
        tf.function(forever)(tf.constant(1))


def wrapped(function):
    return lambda x: function(x) if x > 0 else x


def chain(length):
    found = lambda x: x + 1  # noqa: E731
    for _ in range(length):
        found = wrapped(found)
    return found


def test_a_chain_of_closures_ends():
    assert tf.function(chain(40))(tf.constant(1)).numpy() == 2


def test_a_very_long_chain_of_closures_is_refused_with_the_true_reason():
    with pytest.raises(StagingError, match="calls of `<lambda>` are nested very deeply") as caught:
        tf.function(chain(230))(tf.constant(1))
    assert "more than 200 calls" in caught.value.diagnostic.why
