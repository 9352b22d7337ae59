"""Converted code keeps the user's own code and runs it while nothing is staged."""

import ast
import contextlib
import functools
import inspect
import traceback

import pytest
from agc.autograph import operators as ag__
from agc.autograph import staging
from agc.autograph.api import compile_source, convert, strip_frames
from agc.autograph.conversion.multiversioning import with_both_versions
from agc.autograph.passes import pipeline
from agc.autograph.passes.base import Context
from agc.autograph.syntax.gast_bridge import Translation
from agc.autograph.syntax.unparse import unparse
from support.entered_code import entered, names_entered

pytestmark = pytest.mark.at_rest


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
        def ag__version(x):
            def loop_body(x):
                x = ag__.converted(step)(x)
                return (x,)
            (x,) = ag__.while_loop(lambda x: x > 1, loop_body, (x,))
            return x
        return ag__version(x)
    else:
        while x > 1:
            x = step(x)
        return x
"""


def test_the_example_of_the_docstring():
    assert both_halves("def f(x):\n    while x > 1:\n        x = step(x)\n    return x") == PICTURE


def joined(parts, *more, end="", **options):
    text = ""
    for part in parts + more:
        if part == end:
            return text, options
        text += part
    return text or end, options


def test_variables_that_blocks_read_are_plain_in_the_users_version():
    """Python extends a text in place only if no function captures its variable; else this takes quadratic time."""
    for f in (module(inspect.getsource(joined))["joined"], convert(joined)):
        assert f.__code__.co_cellvars == ()
        for state in (contextlib.nullcontext, staging.live):
            with state():
                assert f(("a", "b"), "c", "d", "e", end="d", key=1) == ("abc", {"key": 1})


def test_a_parameter_may_have_the_name_of_the_converted_version():
    f = module("def f(n, ag__version=5):\n    if n > 1:\n        return ag__version + n\n    return n")["f"]
    with staging.live():
        assert (f(1), f(3), f(3, 4)) == (1, 8, 7)


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


calls = 0


def of_the_module(x):
    """Count the calls."""
    global calls
    calls += 1
    return x if x > 0 else calls


def of_a_function():
    count = 0

    def bump(x):
        nonlocal count
        count += 1
        return x if x > 0 else count

    return bump


def test_both_versions_assign_the_variables_of_the_module_and_of_the_function_around():
    text = "calls = 0\n" + inspect.getsource(of_the_module) + inspect.getsource(of_a_function)
    namespace = module(text)
    whole = namespace["of_the_module"], namespace["of_a_function"](), namespace
    alone = convert(of_the_module), convert(of_a_function()), globals()
    for in_module, in_function, variables in (whole, alone):
        for count, state in enumerate((contextlib.nullcontext, staging.live, staging.live), start=1):
            with state():
                assert in_module(0) == variables["calls"] == in_function(-1) == count


INSIDE = """
def f(x):
    def g(y):
        nonlocal x
        if y > 1:
            x = x * y
        return x
    return g
"""


def test_a_function_made_outside_of_tracing_is_converted():
    g = module(INSIDE)["f"](2)
    result, called = entered(g, 3)
    assert result == 6
    assert [code.co_qualname for code in called] == ["f.<locals>.g"]
    ag__.live = 1
    result, called = entered(g, 2)
    names = [code.co_qualname for code in called]
    assert result == 12
    assert names[0] == "f.<locals>.g"
    assert [name for name in names if name.endswith("if_true")] == ["f.<locals>.g.<locals>.if_true"]


DEPTH = """
import sys
def caller():
    return sys._getframe(2).f_code.co_name
def f(xs):
    for x in xs:
        if x:
            return caller()
"""


def test_outside_of_tracing_there_is_no_frame_between_caller_and_callee():
    assert module(DEPTH)["f"]([1]) == "test_outside_of_tracing_there_is_no_frame_between_caller_and_callee"


def test_tracebacks_are_the_same_in_both_versions():
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
def test_generators_classes_and_coroutines(live):
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


frames_of = functools.partial(names_entered, __file__)


def doubled(x):
    return helper(x) if x > 0 else x


def helper(x):
    for _ in range(2):
        x = x + 0
    return x * 2


def test_a_function_of_convert_runs_its_own_control_flow_at_rest():
    assert frames_of(convert(doubled), 3) == ["doubled", "helper"]


def test_a_function_of_convert_runs_its_converted_version_while_a_graph_is_made():
    def summed(xs):  # not `helper`, whose code would stay converted for other tests
        total = 0
        for x in xs:
            total += x
        return total

    with staging.live():
        assert any("summed.<locals>.loop_body" in name for name in frames_of(convert(lambda: summed([1]))))


def test_a_function_converted_for_a_trace_is_converted_again_for_plain_values():
    def f(x):
        if x > 0:
            x = -x
        return x

    ag__.building = 1
    convert(f)
    ag__.building = 0
    assert frames_of(convert(f), 3) == [f.__qualname__]


def test_a_function_that_plain_values_need_not_have_converted_is_called_itself():
    def leaf(x):
        return x if x > 0 else -x

    assert ag__.converted(leaf)(-3) == 3
    assert ag__.converted(leaf) is leaf
    assert ag__.converter.converted(leaf) is not leaf
    ag__.building = 1
    assert ag__.converted(leaf) is not leaf


def functions():
    calls = 0

    def counted(step):
        nonlocal calls
        calls += step
        if calls > 4:
            calls = 0
        return calls

    def until(n):
        i = 0
        while i < n:
            got = yield i
            i += got or 1
        else:
            yield "end"

    def divided(x):
        try:
            return 1 / x if x < 2 else 0
        except ZeroDivisionError as error:
            return type(error.__cause__ or error)
        finally:
            counted(1)

    class Shape:
        def area(self, a):
            return a if a > 0 else 0

    class Square(Shape):
        def area(self, a):
            return super().area(a) * (a or 1)

    def matched(value):
        match value:
            case [first, *rest] if first:
                return rest
            case {"key": found}:
                return found
        return None

    return counted, until, divided, Square().area, matched


def observed(counted, until, divided, area, matched):
    values = until(4)
    found = [
        counted(2),
        counted(2),
        counted(2),
        next(values),
        values.send(2),
        *values,
        divided(0),
        divided(2),
    ]
    return [
        *found,
        counted(0),
        area(3),
        area(-3),
        matched([1, 2]),
        matched([0]),
        matched({"key": 5}),
        matched(3),
    ]


def test_functions_that_a_trace_defines_and_keeps_behave_as_in_python_later():
    ag__.building = 1
    kept = convert(functions)()
    ag__.building = 0
    assert "if_true" in kept[0].__code__.co_varnames
    assert observed(*kept) == observed(*functions())
