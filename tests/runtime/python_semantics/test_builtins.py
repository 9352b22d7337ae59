"""Python's built-in functions on tensors give what Python gives on numbers, or say why they cannot."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.autograph import StagingError
from agc.runtime.python_semantics import builtins, late_builtins
from support.each_case import each_case

V = [3, 1, -2, 7]
EXECUTORS: tuple[dict[str, Any], ...] = ({}, {"experimental_executor": "interpret"})


def test_the_functions_are_listed_without_their_implementations() -> None:
    assert set(late_builtins.FUNCTIONS) == set(builtins.BUILTINS)
    assert dict(late_builtins.BUILTINS) == builtins.BUILTINS


def values(result: Any) -> Any:
    """Tensors as Python's numbers and lists."""
    return tf.nest.map_structure(lambda x: x.numpy().tolist() if tf.is_tensor(x) else x, result)


def agrees(f: Callable[..., Any], *args: Any, unknown: bool = True) -> None:
    """On Python's numbers and in graphs, with known shapes and (`unknown`) with none, the result is the same."""
    expected = repr(f(*args))
    tensors = [tf.constant(arg) for arg in args]
    signature = [tf.TensorSpec([None] * x.shape.rank, x.dtype) for x in tensors]
    for options in (*EXECUTORS, *([{"input_signature": signature}] if unknown else [])):
        assert repr(values(tf.function(f, **options)(*tensors))) == expected, options


# fmt: off
ON_VECTORS = {
    "max": lambda x: max(x), "min": lambda x: min(x),
    "max with a key": lambda x: max(x, key=lambda v: -v), "min with a key": lambda x: min(x, key=abs),
    "max: the first of the best": lambda x: max(x, key=lambda v: v % 2),
    "max with a default": lambda x: max(x, default=3),
    "max of several": lambda x: max(x[0], x[1], 2), "max of a list": lambda x: max([x[0], x[1], 4]),
    "max of a list, key": lambda x: max([x[0], x[1], x[3]], key=lambda v: v % 3),
    "max of several, key": lambda x: min(x[0], x[1], x[3], key=lambda v: v % 3),
    "sum": lambda x: sum(x), "sum, start": lambda x: sum(x, 10), "sum of a list": lambda x: sum([x[0], x[1]], x[2]),
    "sum of a generator": lambda x: sum(v * 2 for v in (x[0], x[1])), "sum of map": lambda x: sum(map(abs, x)),
    "sum of a generator, start": lambda x: sum((2 * v for v in (x[0], x[1])), x[2]),
    "sum of a dict, start": lambda x: sum({"a": x[0], "b": x[1]}.values(), x[2]),
    "max of a generator, default": lambda x: max((v for v in (x[0], x[1])), default=x[2]),
    "max of nothing": lambda x: max((v for v in ()), key=abs, default=x[2]),
    "any": lambda x: any(x), "all": lambda x: all(x),
    "any of a generator": lambda x: any(v > 5 for v in [x[0], x[3]]),
    "all of a list": lambda x: all([x[0] > 0, x[2] > 0]),
    "sorted list": lambda x: sorted([x[0], x[1], x[2]]),
    "sorted list, key": lambda x: sorted(x[:3], key=lambda v: -v)[0],
    "len": lambda x: len(x), "len of a range": lambda x: len(range(x[0])), "item of a range": lambda x: range(x[0])[1],
    "last of a range": lambda x: range(2, x[3], 2)[-1], "range downwards": lambda x: len(range(x[3], x[2], -2)),
    "divmod": lambda x: divmod(x[3], -2), "pow": lambda x: pow(x[0], 2), "pow modulo": lambda x: pow(x[0], 200, 1000),
    "pow modulo, negative": lambda x: pow(x[2], 3, -5),
    "abs": lambda x: abs(x[2]), "float": lambda x: float(x[0]), "int": lambda x: int(x[0]),
    "bool": lambda x: bool(x[0]),
    "complex": lambda x: complex(x[0], 1), "complex of one": lambda x: complex(x[1]),
    "int of a text": lambda x: int("3") + x[0], "int in base 2": lambda x: int("11", 2) + x[0],
    "isinstance": lambda x: isinstance(x, int),
    "operator": lambda x: operator.add(x[0], operator.itemgetter(1)(x)),
}
# fmt: on


@each_case("name", ON_VECTORS)
def test_builtins_of_a_vector(name: str) -> None:
    agrees(ON_VECTORS[name], V)


IN_LISTS = {
    "list": lambda x: list(x),
    "list of map": lambda x: list(map(lambda v: v + 1, x)),  # noqa: C417
    "list of zip": lambda x: list(zip(x, reversed(x), strict=True)),
    "list of filter": lambda x: list(filter(lambda v: v > 1, x)),
    "sorted": lambda x: list(sorted(x)),  # noqa: C413
}


@pytest.mark.parametrize("name", IN_LISTS)
def test_lists_of_builtins(name: str) -> None:
    agrees(IN_LISTS[name], V)


OF_KNOWN_LENGTH = {
    "tuple": lambda x: tuple(x),
    "list of enumerate": lambda x: [*enumerate(x, 3)],
    "sorted, reverse": lambda x: [*sorted(x, reverse=True)],
    "sorted, key": lambda x: [*sorted(x, key=lambda v: v * v)],
    "sorted is stable": lambda x: [*sorted(x, key=lambda v: v % 2, reverse=True)],
    "reduce": lambda x: functools.reduce(lambda a, b: a * 2 + b, x),
    "unpacking": lambda x: [x[1], *x],
}


@pytest.mark.parametrize("name", OF_KNOWN_LENGTH)
def test_python_lists_need_a_known_length(name: str) -> None:
    f = OF_KNOWN_LENGTH[name]
    agrees(f, V, unknown=False)
    unknown = tf.function(f, input_signature=[tf.TensorSpec([None], tf.int32)])
    with pytest.raises((tf.errors.OperatorNotAllowedInGraphError, TypeError)):
        unknown(tf.constant(V))


def test_rounding_is_pythons() -> None:
    agrees(lambda x: [round(x[0]), round(x[1]), round(x[2])], [0.5, 1.5, -2.5])
    agrees(lambda x: [int(x[0]), int(x[1])], [2.7, -2.7])
    agrees(lambda x: round(x[0], 2), [5])
    with pytest.raises(TypeError, match=r"takes no number of digits.*tf.round\(x \* 100\) / 100"):
        tf.function(lambda x: round(x, 1))(tf.constant(2.71))


def test_wide_numbers_are_not_cut() -> None:
    @tf.function
    def f(i, x):
        return int(i), float(x)

    i, x = f(tf.constant(2**40, tf.int64), tf.constant(0.1, tf.float64))
    assert (int(i), float(x)) == (2**40, 0.1)


@pytest.mark.parametrize("f", [max, min], ids=["max", "min"])
def test_max_of_an_empty_tensor(f: Callable[..., Any]) -> None:
    name = f.__name__
    text = rf"{name}\(\) arg is an empty sequence"
    with pytest.raises(ValueError, match=text):
        tf.function(lambda x: f(x))(tf.zeros([0]))
    unknown = tf.function(lambda x: f(x), input_signature=[tf.TensorSpec([None])])
    assert float(unknown(tf.constant([2.0]))) == 2.0
    with pytest.raises(ValueError, match=text):
        unknown(tf.zeros([0]))
    with_default = tf.function(lambda x: f(x, default=5.0), input_signature=[tf.TensorSpec([None])])
    assert [float(with_default(tf.zeros([n]))) for n in (0, 2)] == [5.0, 0.0]


def test_any_and_all_short_circuit() -> None:
    asked: list[int] = []

    def asks(x, number):
        asked.append(number)
        return x > number

    @tf.function
    def f(xs, x):
        return (
            any(xs[i] > 5 for i in (0, 3)),
            any(asks(n, 1) for n in (0, 2, 4)),
            all(asks(x, n) for n in (0, 9)),
        )

    first, second, third = f(tf.constant(V), tf.constant(5))
    assert bool(first) and bool(second) and not bool(third)
    assert asked == [1, 1, 0, 9]


def test_rows_have_no_order() -> None:
    m = tf.constant([[1, 2], [3, 4]])
    for f, fix in (
        (max, "tf.reduce_max"),
        (min, "tf.reduce_min"),
        (any, "tf.reduce_any"),
        (sorted, "give it a `key`"),
    ):
        with pytest.raises(TypeError, match=fix):
            tf.function(lambda x, f=f: f(x))(m)
    by_second = tf.function(lambda x: sorted(x, key=lambda row: -row[1]))
    assert by_second(m).numpy().tolist() == [[3, 4], [1, 2]]
    largest = tf.function(lambda x: max(x, key=lambda row: row[0]))
    assert largest(m).numpy().tolist() == [3, 4]
    assert tf.function(lambda x: sum(x))(m).numpy().tolist() == [4, 6]


def test_pow_reports_invalid_arguments_at_run_time() -> None:
    f = tf.function(lambda x, e, m: pow(x, e, m))
    assert int(f(tf.constant(7), tf.constant(123), tf.constant(1009))) == pow(7, 123, 1009)
    with pytest.raises(ValueError, match="cannot be 0"):
        f(tf.constant(7), tf.constant(1), tf.constant(0))
    with pytest.raises(ValueError, match="negative exponent"):
        f(tf.constant(7), tf.constant(-1), tf.constant(5))


@pytest.mark.parametrize("x", [0, 2, 3, 5, -4])
def test_membership_in_a_tensor(x: int) -> None:
    def f(x, n):
        a = 1 if x in (1, 2, 3) else 0
        b = 1 if x not in [n, 5] else 0
        c = 1 if x in range(n) else 0
        d = 1 if x in range(5, -6, -3) else 0
        e = 1 if n in (1, x) and not x in (2,) else 0  # noqa: E713
        if 0 < n in {3, 4}:
            e += 10
        return [a, b, c, d, e]

    for n in (3, -1, 5):
        expected = f(x, n)
        for options in EXECUTORS:
            assert values(tf.function(f, **options)(tf.constant(x), tf.constant(n))) == expected
            assert values(tf.function(f, **options)(tf.constant(x), n)) == expected


def test_a_range_that_a_tensor_bounds_is_checked_when_the_graph_runs() -> None:
    f = tf.function(lambda n, i: range(2, n, 3)[i])
    assert [int(f(tf.constant(12), tf.constant(i))) for i in (0, 3, -1)] == [2, 11, 11]
    with pytest.raises(IndexError, match="range object index out of range"):
        f(tf.constant(12), tf.constant(4))


def test_a_function_of_math_names_that_of_tensorflow() -> None:
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match=r"that of tf\.math"):
        tf.function(lambda x: math.sqrt(x))(tf.constant(2.0))


def test_plain_values_are_left_to_python() -> None:
    @tf.function
    def f(x):
        return [
            max([3, 1]),
            sum(n for n in (1, 2)),
            any([0, ""]),
            sorted("ba"),
            int("7"),
            max("ab", key=ord),
        ], x

    assert f(tf.constant(0))[0] == [3, 3, False, ["a", "b"], 7, "b"]
    with pytest.raises(ValueError, match="empty"):
        tf.function(lambda: max([]))()
    assert np.isclose(tf.function(lambda: sum([0.5, 0.25]))(), 0.75)


def test_elements_of_any_and_all_that_change_something_are_refused() -> None:
    @tf.function
    def f(x):
        asked = {"times": 0}

        def asks(number):
            asked["times"] += 1
            return x > number

        return any(asks(n) for n in (0, 2)), asked["times"]

    @tf.function
    def g(x):
        times = 0

        def asks(number):
            nonlocal times
            times += 1
            return x > number

        return all(map(asks, (0, 2))), times

    @tf.function
    def h(x):
        return any((last := number) > 1 for number in (0, x, 3)), last

    for function, changed in (
        (f, "`any` after the first changes `asked"),
        (g, "`all` after the first changes `times`"),
        (h, "`any` after the first changes `last`"),
    ):
        with pytest.raises(StagingError, match=f"AGC291.*{changed}"):
            function(tf.constant(5))


def first_and_others(items: Any) -> Any:
    iterator = iter(items)
    return next(iterator), [y + 1 for y in iterator]


@each_case(
    "use",
    [
        lambda xs, key: [y + 1 for y in map(key, xs)],
        lambda xs, key: [(i, x, y) for i, (x, y) in enumerate(zip(xs, map(key, xs), strict=True))],
        lambda xs, key: [x + 1 for x in filter(key, xs)],
        lambda xs, key: [y + 1 for y in map(key, filter(lambda x: x > 2, xs))],
        lambda xs, key: first_and_others(map(key, xs)),
        lambda xs, key: list(map(key, map(key, xs))),
        lambda xs, key: sum(map(key, xs)),
        lambda xs, key: sorted(xs, key=key),
        lambda xs, key: max(xs, key=key),
        lambda xs, key: min(map(key, xs)),
        lambda xs, key: (any(map(key, xs)), all(map(key, xs))),
    ],
)
def test_functions_that_builtins_call_may_change_variables_around_them(use: Callable[..., Any]) -> None:
    def f(xs: Any) -> Any:
        calls = last = 0

        def key(x: Any) -> Any:
            nonlocal calls, last
            calls, last = calls + 1, x
            return (x - 5) * (x - 5)

        return use(xs, key), calls, last

    agrees(f, [5, 4, 9, 0, 5, 1, 2, 3, 4, 5, 6])
