"""Each statement around a `with` block, and each one of a generator, runs in the version of its time.

A graph may begin inside of a `with` block, or while a generator is suspended.
"""

import contextlib
import functools
import warnings

import pytest
from agc.autograph import operators as ag__
from agc.autograph.api import convert
from support.entered_code import names_entered

pytestmark = pytest.mark.at_rest

frames_of = functools.partial(names_entered, __file__)


def helper(x):
    for _ in range(2):
        x = x + 0
    return x * 2


def in_with_block(x):
    with warnings.catch_warnings():
        if x > 0:
            x = helper(x)
    return x


def doubled(x):
    return x * 2 if x > 0 else x


def numbers(n):
    for i in range(n):
        if i > 0:
            yield doubled(i)


class Graph(contextlib.AbstractContextManager):
    """Builds a graph inside of a `with` block."""

    def __enter__(self):
        ag__.building = 1

    def __exit__(self, *error):
        ag__.building = 0


def in_graph(x):
    with Graph():
        if x > 0:
            x = x * 2
    return x


def test_a_with_block_may_begin_a_graph():
    assert "in_graph.<locals>.if_true" in frames_of(convert(in_graph), 3)


def test_statements_in_a_with_block_run_as_they_are_at_rest():
    assert frames_of(convert(in_with_block), 3) == ["in_with_block", "helper"]


def in_a_loop(names):
    seen = 0
    for name in names:
        with contextlib.suppress(KeyError):
            last: str = name
            for letter in name:
                if letter > "a":
                    del names
                seen += 1
    return seen, last, lambda: names


def first_above(xs, limit):
    with warnings.catch_warnings():
        for x in xs:
            if helper(x) > limit:
                return x
    return None


def test_a_loop_with_the_first_return_runs_as_it_is_at_rest():
    assert frames_of(convert(first_above), [1, 2, 3], 3) == ["first_above", "helper", "helper"]
    assert convert(first_above)([1, 2], 9) is None


@pytest.mark.parametrize("names", [["a", "aa"], ["a", "ab", "bb"]])
def test_blocks_around_a_with_block_choose_versions(names):
    def end(f):
        try:
            return f(names)[:2]
        except NameError as error:
            return type(error), str(error)

    assert end(convert(in_a_loop)) == end(in_a_loop)


def unbound_default(n):
    if n > 3:
        step = 1

    def shift(x, by=step):
        return x + by if x > 3 and by else x

    with contextlib.suppress(KeyError):
        n = shift(n)
        step = n
    return n, step


def test_defaults_of_functions_in_a_with_function_are_checked():
    assert convert(unbound_default)(4) == (5, 5)
    with pytest.raises(UnboundLocalError, match="'step'"):
        convert(unbound_default)(3)


def between(n):
    for i in range(n):
        if i > 1 and i != 3:
            largest = i
        yield largest if n > 4 and i > 1 else i


def test_statements_of_a_generator_run_as_they_are_at_rest():
    names = frames_of(lambda: list(convert(between)(6)))
    assert names.count("between") == 7  # it begins, and resumes 6 times
    assert [name for name in names if name.startswith("between.")] == []


def test_each_statement_of_a_generator_has_the_version_of_its_time():
    waiting = convert(between)(6)

    def resumed(building):
        ag__.building = building
        return any(name.startswith("between.") for name in frames_of(lambda: next(waiting)))

    assert [resumed(building) for building in (0, 1, 0, 1, 0, 1)] == [False, True] * 3


def unchanged_inside(n):
    def numbers():
        xs = [n]
        yield xs[0]

    yield from numbers()


def test_a_generator_in_a_generator_may_have_nothing_to_convert():
    assert list(convert(unchanged_inside)(3)) == [3]


def may_be_unbound(n):
    if n > 3:
        last = 1
    yield n
    last += 1
    if n > 4:
        del last
    yield last and [last]


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("building", [0, 1])
def test_reads_of_unbound_variables_fail_in_both_versions(building, n):
    def end(f):
        try:
            return list(f(n))
        except UnboundLocalError as error:
            return str(error)

    expected = end(may_be_unbound)
    ag__.building = building
    assert end(convert(may_be_unbound)) == expected


@pytest.mark.parametrize("live", [0, 1])
def test_a_graph_may_begin_while_a_generator_is_suspended(live):
    ag__.building = live
    waiting = convert(numbers)(4)
    assert next(waiting) == 2
    ag__.building = 1 - live
    assert list(waiting) == [4, 6]


def shifted(n):
    def shift(x):
        if x > 1:
            x = x + offset
        return x

    offset = 10
    for i in range(n):
        yield shift(i) if i != 3 else (lambda: i > 0 and i)()


@pytest.mark.parametrize("building", [0, 1])
def test_functions_in_a_generator_have_both_versions(building):
    ag__.building = building
    names = frames_of(lambda: [*convert(shifted)(4)] == [0, 1, 12, 3] or pytest.fail("wrong values"))
    assert ("shifted.<locals>.shift.<locals>.if_true" in names) is bool(building)
