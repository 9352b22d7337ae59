"""Converted code keeps the user's own code and runs it while nothing is staged."""

import ast
import contextlib
import sys
import traceback
import warnings

import pytest
from agc.autograph import operators as ag__
from agc.autograph import staging
from agc.autograph.api import compile_source, convert, strip_frames
from agc.autograph.conversion.multiversioning import with_both_versions
from agc.autograph.passes import pipeline
from agc.autograph.passes.base import Context
from agc.autograph.syntax.gast_bridge import Translation
from agc.autograph.syntax.unparse import unparse


@pytest.fixture
def at_rest(monkeypatch):
    """No backend owns values, whichever ones other tests have registered."""
    monkeypatch.setattr(ag__, "live", 0)
    monkeypatch.setattr(ag__, "building", 0)


def both_halves(text):
    translation = Translation(ast.parse(text))
    after = pipeline.run(translation.tree, Context(source=text))
    return unparse(with_both_versions(translation, after, "ag__"))


def module(text, name="halves"):
    namespace = {"__name__": name}
    exec(compile_source(text, f"{name}.py"), namespace)
    return namespace


PICTURE = """\
def f(x):
    if ag__.live:
        def loop_body(x):
            x = ag__.converted(step)(x)
            return (x,)
        (x,) = ag__.while_loop(lambda x: x > 1, loop_body, (x,))
        return x
    else:
        while x > 1:
            x = step(x)
        return x
"""


def test_the_example_of_the_docstring():
    assert both_halves("def f(x):\n    while x > 1:\n        x = step(x)\n    return x") == PICTURE


def test_the_docstring_stays_a_docstring():
    assert module("def f(x):\n    'Doc.'\n    if x:\n        return x")["f"].__doc__ == "Doc."


def test_an_unchanged_function_has_one_version():
    text = "def f(x):\n    return x + 1"
    assert both_halves(text).strip() == text


def test_a_lambda():
    text = "def f(x):\n    return lambda y: y or x"
    assert "return lambda y: ag__.or_(y, lambda: x) if ag__.live else y or x" in both_halves(text)


def test_declarations_precede_both_versions():
    namespace = module("n = 0\ndef f(x):\n    if x > 1:\n        global n\n        n = x\n    return n")
    assert namespace["f"](3) == namespace["n"] == 3
    with staging.live():
        assert namespace["f"](5) == namespace["n"] == 5


INSIDE = """
def f(x):
    def g(y):
        nonlocal x
        if y > 1:
            x = x * y
        return x
    return g
"""


def test_a_function_made_outside_of_tracing_is_converted(at_rest):
    g = module(INSIDE)["f"](2)
    names = []
    hook = sys.getprofile()
    sys.setprofile(lambda frame, event, _: names.append((event, frame.f_code.co_qualname)))
    try:
        assert g(3) == 6
        ag__.live = 1
        assert g(2) == 12
    finally:
        sys.setprofile(hook)
    called = [name for event, name in names if event == "call"]
    assert called.count("f.<locals>.g") == 2
    assert [name for name in called if name.endswith("if_true")] == ["f.<locals>.g.<locals>.if_true"]


DEPTH = """
import sys
def caller():
    return sys._getframe(2).f_code.co_name
def f(xs):
    for x in xs:
        if x:
            return caller()
"""


def test_outside_of_tracing_there_is_no_frame_between_caller_and_callee(at_rest):
    assert module(DEPTH)["f"]([1]) == "test_outside_of_tracing_there_is_no_frame_between_caller_and_callee"


def test_tracebacks_are_the_same_in_both_versions(at_rest):
    f = module("def f(x):\n    for y in x:\n        if y > 1:\n            y / 0")["f"]

    def lines():
        with pytest.raises(ZeroDivisionError) as caught:
            f([1, 2])
        error = strip_frames(caught.value)
        return [(entry.name, entry.lineno) for entry in traceback.extract_tb(error.__traceback__)][1:]

    own = lines()
    ag__.live = 1
    assert own == lines() == [("f", 4)]


@pytest.mark.parametrize("live", [0, 1])
def test_generators_classes_and_coroutines(at_rest, live):
    ag__.live = live
    namespace = module(
        "def numbers(n):\n    for i in range(n):\n        if i > 1:\n            yield i\n"
        "class A:\n    def __init__(self, x):\n        super().__init__()\n        self.x = x if x > 0 else -x\n"
        "async def later(x):\n    if x > 1:\n        return x\n    return 0\n"
    )
    assert list(namespace["numbers"](4)) == [2, 3]
    assert namespace["A"](-3).x == 3
    with pytest.raises(StopIteration) as caught:
        namespace["later"](2).send(None)
    assert caught.value.value == 2


def test_live_counts():
    before = ag__.live, ag__.building
    with staging.live(), staging.live():
        assert (ag__.live, ag__.building) == (before[0] + 2, before[1] + 2)
    assert (ag__.live, ag__.building) == before


def test_in_a_graph_of_unconverted_code_only_functions_of_convert_are_staged():
    before = ag__.live, ag__.building
    staging.building(True)
    try:
        assert (ag__.live, ag__.building) == (before[0], before[1] + 1)
    finally:
        staging.building(False)
    assert (ag__.live, ag__.building) == before


def frames_of(f, *arguments):
    """The qualified names of the functions of this file that a call of `f` enters."""
    names = []
    hook = sys.getprofile()

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename == __file__:
            names.append(frame.f_code.co_qualname)

    sys.setprofile(note)
    try:
        f(*arguments)
    finally:
        sys.setprofile(hook)
    return names


def doubled(x):
    return helper(x) if x > 0 else x


def helper(x):
    for _ in range(2):
        x = x + 0
    return x * 2


def in_with_block(x):
    with warnings.catch_warnings():
        if x > 0:
            x = helper(x)
    return x


def numbers(n):
    for i in range(n):
        if i > 0:
            yield doubled(i)


def test_a_function_of_convert_runs_its_own_control_flow_at_rest(at_rest):
    assert frames_of(convert(doubled), 3) == ["doubled", "helper"]


def test_a_function_of_convert_runs_its_converted_version_while_a_graph_is_made():
    with staging.live():
        assert "helper.<locals>.loop_body" in frames_of(convert(doubled), 3)


def test_a_function_converted_for_a_trace_is_converted_again_for_plain_values(at_rest):
    def f(x):
        if x > 0:
            x = -x
        return x

    ag__.building = 1
    convert(f)
    ag__.building = 0
    assert frames_of(convert(f), 3) == [f.__qualname__]


class Graph(contextlib.AbstractContextManager):
    """Builds a graph inside of a `with` block."""

    def __enter__(self):
        ag__.building = 1

    def __exit__(self, *error):
        ag__.building = 0


def in_graph(x):
    with Graph():
        if x > 0:
            x = helper(x)
    return x


def test_a_with_block_may_begin_a_graph(at_rest):
    assert "in_graph.<locals>.if_true" in frames_of(convert(in_graph), 3)


def test_statements_in_a_with_block_run_as_they_are_at_rest(at_rest):
    assert frames_of(convert(in_with_block), 3) == ["in_with_block", "helper"]


def between(n):
    for i in range(n):
        if i > 1 and i != 3:
            largest = i
        yield largest if n > 4 and i > 1 else i


def test_statements_of_a_generator_run_as_they_are_at_rest(at_rest):
    names = frames_of(lambda: list(convert(between)(6)))
    assert names.count("between") == 7  # it begins, and resumes 6 times
    assert [name for name in names if name.startswith("between.")] == []


def test_each_statement_of_a_generator_has_the_version_of_its_time(at_rest):
    waiting = convert(between)(6)

    def resumed(building):
        ag__.building = building
        return any(name.startswith("between.") for name in frames_of(lambda: next(waiting)))

    assert [resumed(building) for building in (0, 1, 0, 1, 0, 1)] == [False, True] * 3


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


@pytest.mark.parametrize("names", [["a", "aa"], ["a", "ab", "bb"]])
def test_blocks_around_a_with_block_choose_versions(at_rest, names):
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


def test_defaults_of_functions_in_a_with_function_are_checked(at_rest):
    assert convert(unbound_default)(4) == (5, 5)
    with pytest.raises(UnboundLocalError, match="'step'"):
        convert(unbound_default)(3)


def unchanged_inside(n):
    def numbers():
        xs = [n]
        yield xs[0]

    yield from numbers()


def test_a_generator_in_a_generator_may_have_nothing_to_convert(at_rest):
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
def test_reads_of_unbound_variables_fail_in_both_versions(at_rest, building, n):
    def end(f):
        try:
            return list(f(n))
        except UnboundLocalError as error:
            return str(error)

    expected = end(may_be_unbound)
    ag__.building = building
    assert end(convert(may_be_unbound)) == expected


@pytest.mark.parametrize("live", [0, 1])
def test_a_graph_may_begin_while_a_generator_is_suspended(at_rest, live):
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
def test_functions_in_a_generator_have_both_versions(at_rest, building):
    ag__.building = building
    names = frames_of(lambda: [*convert(shifted)(4)] == [0, 1, 12, 3] or pytest.fail("wrong values"))
    assert ("shifted.<locals>.shift.<locals>.if_true" in names) is bool(building)


def test_a_function_that_plain_values_need_not_have_converted_is_called_itself(at_rest):
    def leaf(x):
        return x if x > 0 else -x

    assert ag__.converted(leaf)(-3) == 3
    assert ag__.converted(leaf) is leaf
    assert ag__.converter.converted(leaf) is not leaf
    ag__.building = 1
    assert ag__.converted(leaf) is not leaf


def updated(xs, rows, i):
    xs[i] += 1
    xs[0] = xs[i] * 2
    rows[i][0] -= 5
    return xs, rows


def test_items_of_plain_values_are_assigned_by_python(at_rest, monkeypatch):
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


def test_unbound_variables_with_items_raise_what_python_raises(at_rest):
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


def test_variables_that_hold_one_object_are_tested_once(at_rest, monkeypatch):
    asked = []

    class Backends(type(ag__.backends)):
        def __getitem__(self, kind):
            asked.append(kind)
            return ag__.PYTHON

    monkeypatch.setattr(ag__, "backends", Backends())
    assert convert(filled)([0, 0], 2, abs) == ([1, 2], [1, 2])
    assert asked == [list, list]


def test_variables_that_are_bound_in_two_places_are_tested_where_they_are_used(at_rest):
    assert convert(swapped)([1, 2]) == swapped([1, 2]) == ((0, 1), [0, 1])
