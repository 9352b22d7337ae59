"""Converted code is at the user's lines: in tracebacks, warnings, logs, the debugger, and for a tracer."""

import linecache
import logging
import subprocess
import sys
import traceback
import warnings

import pytest
from agc.autograph import convert, staging
from agc.autograph import operators as ag__
from agc.autograph.errors import strip_frames


# fmt: off
def nested(rows):
    total = 0
    for row in rows:
        if row:
            for x in row:
                while x > 0:
                    x -= 1
                    total += 1 / (x - 3)
    return total


def calls(x):
    if x:
        return inner(x) + 1
    return 0


def inner(x):
    if x and x.missing:
        return 1
    return 2


def chained(x):
    try:
        if x:
            raise ValueError("first")
    except ValueError as error:
        if x:
            raise KeyError("second") from error


def asserts(x):
    for i in range(3):
        assert i < x, f"{i} is too large"


def warns(x):
    if x:
        warnings.warn("careful", stacklevel=1)


def logs(x):
    for _ in range(1):
        if x:
            logging.getLogger("user").warning("seen")


def unbound(x):
    if x:
        y = 1
    return y


def branches(n):
    total = 0
    for i in range(n):
        if i % 2:
            total += i
        else:
            total -= 1
        while total > 2:
            total -= 2
    if total > 100 and n:
        total = 0
    return total
# fmt: on


def failure(f, *arguments):
    try:
        f(*arguments)
    except Exception as error:
        return error
    raise AssertionError("it must fail")


def lines(error):
    """The entries of the traceback below this file's `failure`, as (function, line)."""
    entries = traceback.extract_tb(error.__traceback__)[1:]
    assert {entry.filename for entry in entries} <= {__file__}
    return [(entry.name, entry.line) for entry in entries]


@pytest.fixture(autouse=True)
def stripped(monkeypatch):
    monkeypatch.delenv("AGC_FULL_TRACEBACK", raising=False)


@pytest.fixture(autouse=True)
def live():
    """Converted functions run their converted version."""
    with staging.live():
        yield


def test_the_last_traceback_entry_is_pythons():
    for f, x in ((nested, [[5]]), (calls, 1), (inner, 1), (asserts, 2), (unbound, 0), (chained, 1)):
        expected, got = failure(f, x), failure(convert(f), x)
        assert type(got) is type(expected)
        assert str(got) == str(expected).partition("\nassert")[0]  # pytest adds a line to its own
        assert lines(got)[-1] == lines(expected)[-1]


def test_blocks_have_the_name_of_their_function():
    assert lines(failure(convert(nested), [[5]])) == [
        ("nested", "for row in rows:"),
        ("nested", "if row:"),
        ("nested", "for x in row:"),
        ("nested", "while x > 0:"),
        ("nested", "total += 1 / (x - 3)"),
    ]


def test_a_stripped_traceback_is_pythons():
    for f, x in ((nested, [[5]]), (calls, 1), (inner, 1), (asserts, 2), (unbound, 0), (chained, 1)):
        assert lines(strip_frames(failure(convert(f), x))) == lines(failure(f, x))


def recursive(n):
    if n > 0:
        return recursive(n - 1)
    return 1 / n


def test_calls_of_a_function_by_itself_are_all_shown():
    assert lines(strip_frames(failure(convert(recursive), 2))) == lines(failure(recursive, 2))


def test_no_frame_is_between_caller_and_callee():
    assert lines(failure(convert(calls), 1)) == [
        ("calls", "if x:"),
        ("calls", "return inner(x) + 1"),
        ("inner", "if x and x.missing:"),
        ("inner", "if x and x.missing:"),
    ]


def test_carets_are_below_the_user_s_columns():
    def columns(error):
        entry = traceback.extract_tb(error.__traceback__)[-1]
        return entry.lineno, entry.colno, entry.end_lineno, entry.end_colno

    assert columns(failure(convert(nested), [[5]])) == columns(failure(nested, [[5]]))


def test_causes_are_as_in_python():
    error = failure(convert(chained), 1)
    assert isinstance(error.__cause__, ValueError)
    assert error.__cause__ is error.__context__
    entries = traceback.extract_tb(error.__cause__.__traceback__)
    assert {entry.filename for entry in entries} == {__file__}


def test_all_frames_on_request(monkeypatch):
    monkeypatch.setenv("AGC_FULL_TRACEBACK", "1")
    entries = traceback.extract_tb(failure(convert(nested), [[5]]).__traceback__)
    assert {"for_loop", "while_loop", "cond"} <= {entry.name for entry in entries}


def test_warnings_are_at_the_user_s_line():
    def place(f):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            f(1)
        return [(warning.filename, warning.lineno) for warning in caught]

    assert place(convert(warns)) == place(warns)


def test_logs_name_the_user_s_function(caplog):
    convert(logs)(1)
    logs(1)
    converted, plain = caplog.records
    assert (converted.funcName, converted.lineno) == (plain.funcName, plain.lineno) == ("logs", plain.lineno)


def traced_lines(f, *arguments):
    """The lines of this file that run, as a coverage tool sees them."""
    seen = set()

    def trace(frame, event, argument):
        if frame.f_code.co_filename != __file__:
            return None
        if event == "line":
            seen.add(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        f(*arguments)
    finally:
        sys.settrace(before)
    return {linecache.getline(__file__, line).strip() for line in seen}


@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_a_tracer_sees_the_lines_that_run(n):
    expected, got = traced_lines(branches, n), traced_lines(convert(branches), n)
    # A line that only goes on to the next, such as `else:`, has no code in either.
    assert got == expected


PROGRAM = """\
from agc.autograph import convert, staging


def f(xs):
    total = 0
    for x in xs:
        if x > 1:
            total += x
    return total


with staging.live():
    print(convert(f)([1, 2, 3]))
"""


def test_the_debugger_stops_in_a_block_and_shows_its_variables(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    look = "print('at', x, total)"
    commands = "\n".join(["break 8", "continue", look, "where", "continue", look, "clear 1", "continue", ""])
    done = subprocess.run(
        [sys.executable, "-m", "pdb", str(program)],
        input=commands,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "at 2 0" in done.stdout
    assert "at 3 2" in done.stdout
    assert f"{program}(8)f()" in done.stdout
    assert "-> total += x" in done.stdout
    assert "(Pdb) 5\n" in done.stdout  # the program's own output


def test_a_printed_traceback(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace("[1, 2, 3]", "[1, 'two']"))
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True)
    assert done.returncode == 1
    lines = [line.strip().replace(str(program), "program.py") for line in done.stderr.splitlines()]
    assert [line for line in lines if line.strip("^~")] == [
        "Traceback (most recent call last):",
        'File "program.py", line 13, in <module>',
        "print(convert(f)([1, 'two']))",
        'File "program.py", line 6, in f',
        "for x in xs:",
        'File "program.py", line 7, in f',
        "if x > 1:",
        "TypeError: '>' not supported between instances of 'str' and 'int'",
    ]


def test_errors_that_pass_through_generated_lambdas_are_python_s_own():
    error = failure(lambda: ag__.and_(1, lambda: [][0]))
    assert isinstance(error, IndexError)
