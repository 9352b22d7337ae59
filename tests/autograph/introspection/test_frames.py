"""Code that looks at frames sees the stack that the user wrote, at any depth of blocks.

Each question is put to the module below as it is, and converted."""

import sys
import warnings

import pytest
from agc import autograph

SOURCE = """
import logging, sys, warnings
from sys import _getframe

def name(depth):
    return _getframe(depth).f_code.co_name

def names():
    frame, found = sys._getframe(), []
    while frame is not None:
        found.append((frame.f_code.co_name, frame.f_lineno))
        frame = frame.f_back
    return found

def caller_module():
    return sys._getframe(1).f_globals["__name__"]

def warn(level):
    warnings.warn("something", UserWarning, level)

def log(level):
    logging.getLogger("users_own").warning("something", stacklevel=level)

def in_blocks(n, ask):
    for i in range(n):
        if i == n - 1:
            return ask()

def around(n, ask):
    while n:
        if n > 0 and ask:
            return in_blocks(n, ask)
        n -= 1

def variables(n):
    found = None
    if n > 0:
        found = sorted(sys._getframe().f_locals)
    return found

def calls_seen(n, f):
    seen = []
    if n > 0:
        sys.settrace(lambda frame, event, argument: seen.append(frame.f_code.co_name))
    for _ in range(n):
        f()
    if n > 0:
        sys.settrace(None)
    return seen

def lines_seen(n, f):
    seen = []
    def trace(frame, event, argument):
        if event == "line":
            seen.append(frame.f_lineno)
        return trace
    if n > 0:
        sys.settrace(trace)
    f(n)
    if n > 0:
        sys.settrace(None)
    return sorted(set(seen))

def tracer_of(n, tracer):
    if n > 0:
        before = sys.gettrace()
        sys.settrace(tracer)
        found = sys.gettrace()
        sys.settrace(before)
        return found is tracer
"""


def module(code):
    namespace = {"__name__": "users_own"}
    exec(code, namespace)
    return namespace


PLAIN = module(compile(SOURCE, "users_own.py", "exec"))
CONVERTED = module(autograph.compile_source(SOURCE, "users_own.py"))


def line_of(text):
    """The line of the module that holds a text."""
    return next(number for number, line in enumerate(SOURCE.splitlines(), 1) if text in line)


def both(question):
    """The answer of the plain module, which must be that of the converted one."""
    answer = question(PLAIN)
    assert question(CONVERTED) == answer
    return answer


@pytest.mark.parametrize(
    "depth, expected", [(0, "name"), (1, "<lambda>"), (2, "in_blocks"), (3, "around"), (4, "<lambda>")]
)
def test_frames_are_counted_as_the_user_would(depth, expected):
    answer = both(lambda m: m["around"](3, lambda: m["name"](depth)))
    assert answer == expected


def test_walking_back_passes_each_function_once_at_the_line_in_its_block():
    answer = both(lambda m: m["around"](3, m["names"])[:3])
    assert answer == [
        ("names", line_of("found.append")),
        ("in_blocks", line_of("return ask()")),
        ("around", line_of("return in_blocks")),
    ]


def test_walking_past_the_last_frame_fails_as_in_python():
    with pytest.raises(ValueError, match="call stack is not deep enough"):
        CONVERTED["name"](100_000)


def test_globals_of_the_caller():
    assert both(lambda m: m["in_blocks"](2, m["caller_module"])) == "users_own"


@pytest.mark.parametrize(
    "level, expected",
    [(1, "warnings.warn"), (2, None), (3, "return ask()"), (4, "return in_blocks"), (5, None)],
)
def test_stacklevel_of_a_warning_selects_the_users_line(level, expected):
    def line(m):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            m["around"](3, lambda: m["warn"](level))
        (warning,) = caught
        return warning.filename, warning.lineno

    filename, number = both(line)
    if expected is None:
        assert filename == __file__
    else:
        assert (filename, number) == ("users_own.py", line_of(expected))


@pytest.mark.parametrize("level, expected", [(1, "log"), (2, "<lambda>"), (3, "in_blocks"), (4, "around")])
def test_stacklevel_of_a_log_record_selects_the_users_function(level, expected, caplog):
    def name(m):
        caplog.clear()
        m["around"](3, lambda: m["log"](level))
        (record,) = caplog.records
        return record.funcName, record.lineno

    assert both(name)[0] == expected


def test_user_functions_can_forward_a_stacklevel():
    """Check that only code that counts frames treats the frames of agc specially."""
    question = """
def told(message, stacklevel):
    return stacklevel

def telling(n):
    if n > 0:
        return told("something", stacklevel=n)
"""
    m = module(autograph.compile_source(question, "users_own.py"))
    assert m["telling"](3) == 3


@pytest.mark.skipif(sys.version_info < (3, 12), reason="skip_file_prefixes came with Python 3.12")
def test_skip_file_prefixes_of_a_warning_are_respected():
    def line(m):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            skipping = ("users_own",)
            m["around"](3, lambda: m["warnings"].warn("something", skip_file_prefixes=skipping))
        return caught[0].filename

    assert both(line) == __file__


def test_a_function_that_reads_frame_variables_is_not_split():
    assert both(lambda m: m["variables"](3)) == ["found", "n"]


def test_a_tracer_sees_no_frames_of_agc():
    assert both(lambda m: m["calls_seen"](2, m["caller_module"])) == ["caller_module", "caller_module"]


def test_blocks_are_no_calls_but_have_lines():
    assert both(lambda m: m["calls_seen"](2, lambda: m["variables"](1))) == ["<lambda>", "variables"] * 2
    first, *others = both(lambda m: m["lines_seen"](1, m["variables"]))
    assert others == [first + 1, first + 2, first + 3]


def test_gettrace_returns_the_installed_tracer():
    assert both(lambda m: m["tracer_of"](1, lambda *event: None)) is True


def test_conversion_is_not_traced():
    """The first call of a function decides what becomes of it, which is no business of the user's tools."""
    f = module(compile("def f(x):\n    return x", "users_other.py", "exec"))["f"]
    seen = set()
    before = sys.gettrace()
    sys.settrace(lambda frame, event, argument: seen.add(frame.f_code.co_filename))
    try:
        autograph.converted_call(f, (1,))
    finally:
        sys.settrace(before)
    assert "users_other.py" in seen
    assert not any(filename.endswith(("policy.py", "loader.py", "posixpath.py")) for filename in seen)
