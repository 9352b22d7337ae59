"""Items of plain values are assigned by Python itself."""

import pytest
from agc.autograph import operators as ag__
from agc.autograph.api import convert

pytestmark = pytest.mark.at_rest


def updated(xs, rows, i):
    xs[i] += 1
    xs[0] = xs[i] * 2
    rows[i][0] -= 5
    return xs, rows


def test_items_of_plain_values_are_assigned_by_python(monkeypatch):
    """`put` is called for values of other backends, and for containers in containers that are no lists."""
    calls = []
    for name in ("put", "put_updated"):
        operator = getattr(ag__, name)
        monkeypatch.setattr(ag__, name, lambda *given, do=operator: calls.append(given) or do(*given))
    converted = convert(updated)
    assert converted([1, 2], [[3], [4]], 1) == ([6, 3], [[3], [-1]])
    assert calls == []
    assert converted([1, 2], {1: [4]}, 1) == ([6, 3], {1: [-1]})
    assert [given[0] for given in calls] == ["-="]


def test_unbound_variables_with_items_raise_what_python_raises():
    def f(is_bound, noted):
        if is_bound:
            xs = [1]
        xs[0] = noted.append(1)
        return xs

    noted = []
    with pytest.raises(UnboundLocalError):
        convert(f)(False, noted)
    assert noted == [1]


def filled(xs, n, where):
    ys = [0] * n
    for i in range(n):
        ys[i] = xs[i] = where(i)
        xs[i], ys[i] = ys[i], xs[i] + 1
        xs[i] += 1
    return xs, ys


def swapped(xs):
    xs[0], other = xs[1], xs
    for i in range(len(other)):
        other[i] = i
    xs = tuple(xs)
    return xs, other


def test_variables_that_hold_one_object_are_tested_once(monkeypatch):
    asked = []

    class Backends(type(ag__.backends)):
        def __getitem__(self, kind):
            asked.append(kind)
            return ag__.PYTHON

    monkeypatch.setattr(ag__, "backends", Backends())
    assert convert(filled)([0, 0], 2, abs) == ([1, 2], [1, 2])
    assert asked == [list, list]


def test_variables_that_are_bound_in_two_places_are_tested_where_they_are_used():
    assert convert(swapped)([1, 2]) == swapped([1, 2]) == ((0, 1), [0, 1])
