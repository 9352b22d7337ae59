"""The shape of an error, and tracebacks without frames of agc."""

import json
import os
import pickle
import sys
import traceback

import pytest
from agc.autograph import operators as ag__
from agc.autograph.errors import ConversionError, Diagnostic, Note, Where, is_own_file, strip_frames

LINES = {
    9: "    loss = measure(x)",
    12: "    if loss < best:",
    13: "        step = tf.constant(1)",
    15: "        step = tf.constant(0.5)",
}


def at(line, column=0, end_column=0):
    return Where("train.py", line, column, end_column, "fit", LINES[line])


DIAGNOSTIC = Diagnostic(
    code="AGC201",
    title="the branches of this `if` give `step` different dtypes",
    where=at(12, 8, 19),
    label="decided when the graph runs; `loss` was made at line 9",
    notes=(Note(at(13), "int32[]"), Note(at(15), "float32[]")),
    why="a value in a graph has one dtype, and two tensors are never promoted silently",
    fix="make them agree, for instance tf.cast(step, tf.float32) at line 13",
)

TEXT = """\
error[AGC201]: the branches of this `if` give `step` different dtypes
  --> train.py:12:8, in fit
 12 |     if loss < best:
    |        ^^^^^^^^^^^ decided when the graph runs; `loss` was made at line 9
 13 |         step = tf.constant(1)         int32[]
 15 |         step = tf.constant(0.5)       float32[]
why: a value in a graph has one dtype, and two tensors are never promoted silently
fix: make them agree, for instance tf.cast(step, tf.float32) at line 13"""


def test_a_diagnostic_prints_all_its_parts():
    assert DIAGNOSTIC.format() == TEXT
    assert str(DIAGNOSTIC) == TEXT
    assert str(ConversionError(DIAGNOSTIC)) == TEXT


def test_color_adds_only_escapes():
    import re

    colored = DIAGNOSTIC.format(color=True)
    assert colored != TEXT
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == TEXT


def test_text_of_others_does_not_control_the_terminal():
    """A name or a line could set the title of the window, hide text, or begin a line that a CI server obeys."""
    line = Where("a\x1b]0;x\x07\n::error::b.py", 1, 11, 14, source="x = 1 # \u202e\x9b \x1b[2J")
    found = Diagnostic("AGC303", "bad `\x1b[31m`\n::stop", line, why="\x1b[1m", fix="a\nb").format()
    assert found == (
        "error[AGC303]: bad `␛[31m`␊::stop\n"
        "  --> a␛]0;x␇␊::error::b.py:1:11\n"
        " 1 | x = 1 # \ufffd\ufffd ␛[2J\n"
        "   |           ^^^\n"
        "why: ␛[1m\n"
        "fix: a\nb"
    )


def test_json_holds_everything():
    data = json.loads(DIAGNOSTIC.to_json())
    assert data["code"] == "AGC201"
    assert data["where"] == {
        "file": "train.py",
        "line": 12,
        "column": 8,
        "end_column": 19,
        "function": "fit",
        "source": LINES[12],
    }
    assert [note["label"] for note in data["notes"]] == ["int32[]", "float32[]"]


def test_line_numbers_share_a_gutter():
    where = Where("a.py", 99, 1, 2, source="x")
    text = Diagnostic("AGC201", "t", where, "here", (Note(Where("a.py", 100, source="y"), "there"),)).format()
    assert text.splitlines()[2:] == ["  99 | x", "     | ^ here", " 100 | y       there"]


def test_a_note_in_another_file():
    note = Note(Where("b.py", 7, 1, function="g"), "comes from here")
    text = Diagnostic("AGC201", "t", Where("a.py", 1, 1, 2, source="x"), notes=(note,)).format()
    assert text.splitlines()[-1] == "  --> b.py:7:1, in g  comes from here"


@pytest.mark.parametrize(
    ("line", "column", "end", "caret"),
    [
        ("\tif x:", 5, 6, "\t   ^"),
        ("字 = x", 5, 6, "     ^"),
        ("y = 字", 5, 6, "    ^^"),
        ("x", 9, 12, " ^"),
        ("x = (", 5, 0, "    ^"),
    ],
)
def test_the_caret_is_below_its_text(line, column, end, caret):
    text = Diagnostic("AGC101", "t", Where("a.py", 1, column, end, source=line)).format()
    assert text.splitlines()[3] == f"   | {caret}"


def test_no_excerpt_without_the_line():
    assert (
        Diagnostic("AGC101", "t", Where("nowhere.py", 3)).format() == "error[AGC101]: t\n  --> nowhere.py:3"
    )
    assert Diagnostic("AGC101", "t").format() == "error[AGC101]: t"


def test_the_excerpt_is_read_from_the_file(tmp_path, monkeypatch):
    path = tmp_path / "train.py"
    path.write_text("x = 1\ny = 2\n")
    monkeypatch.chdir(tmp_path)
    text = Diagnostic("AGC101", "t", Where(str(path), 2, 1, 2)).format()
    assert text.splitlines()[1:] == ["  --> train.py:2:1", " 2 | y = 2", "   | ^"]


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be deleted")
def test_an_error_prints_in_a_folder_that_was_deleted(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    path = str(tmp_path / "train.py")
    assert str(Where(path, 3)) == f"{path}:3"


def test_an_error_can_be_sent_to_another_process():
    error = pickle.loads(pickle.dumps(ConversionError(DIAGNOSTIC)))
    assert error.diagnostic == DIAGNOSTIC


def test_tests_are_not_agc_s_own_code():
    assert not is_own_file(__file__)
    assert is_own_file(ag__.__file__)


def boom():
    raise ValueError("boom")


def functions(error):
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)]


@pytest.fixture
def stripped(monkeypatch):
    monkeypatch.delenv("AGC_FULL_TRACEBACK", raising=False)


CALLS = {
    "cond": lambda: ag__.cond(True, boom, ag__.keep),
    "while_loop": lambda: ag__.while_loop(lambda: True, boom),
    "while_loop test": lambda: ag__.while_loop(boom, ag__.keep),
    "for_loop": lambda: ag__.for_loop([1], lambda item: boom()),
    "for_loop until": lambda: ag__.for_loop([1], lambda item, stop: boom(), (False,), until="stop"),
    "if_exp": lambda: ag__.if_exp(False, ag__.keep, boom),
    "and_": lambda: ag__.and_(True, boom),
    "or_": lambda: ag__.or_(False, boom),
    "compare": lambda: ag__.compare(1, "<", boom),
}


@pytest.mark.parametrize("name", CALLS)
def test_operators_leave_no_trace(name, stripped):
    with pytest.raises(ValueError) as caught:
        CALLS[name]()
    assert not any(is_own_file(f.filename) for f in traceback.extract_tb(caught.value.__traceback__))
    assert functions(caught.value)[-1] == "boom"


def test_an_error_of_the_operator_itself_is_at_the_user_s_line(stripped):
    with pytest.raises(TypeError) as caught:
        ag__.for_loop(3, ag__.keep)
    assert functions(caught.value) == ["test_an_error_of_the_operator_itself_is_at_the_user_s_line"]
    with pytest.raises(UnboundLocalError) as caught_too:
        ag__.ld(ag__.Undefined("y"), "y")
    assert functions(caught_too.value) == ["test_an_error_of_the_operator_itself_is_at_the_user_s_line"]


def test_all_frames_on_request(monkeypatch):
    monkeypatch.setenv("AGC_FULL_TRACEBACK", "1")
    with pytest.raises(ValueError) as caught:
        ag__.cond(True, boom, ag__.keep)
    assert "cond" in functions(caught.value)
    assert "cond" in functions(strip_frames(caught.value))


def test_strip_frames_follows_causes_and_groups(monkeypatch):
    monkeypatch.setenv("AGC_FULL_TRACEBACK", "1")

    def chained():
        try:
            ag__.cond(True, boom, ag__.keep)
        except ValueError as error:
            raise ExceptionGroup("several", [KeyError("x"), error]) from error

    with pytest.raises(ExceptionGroup) as caught:
        chained()
    monkeypatch.delenv("AGC_FULL_TRACEBACK")
    group = strip_frames(caught.value)
    assert functions(group.__cause__) == ["chained", "boom"]
    assert group.__cause__ is group.exceptions[1]


def test_strip_frames_accepts_an_immutable_exception(stripped):
    try:
        Where("a.py").file.nothing  # noqa: B018
    except AttributeError as error:
        assert strip_frames(error) is error
    error = ValueError("never raised")
    assert strip_frames(error).__traceback__ is None
    assert os.sep not in str(error)
