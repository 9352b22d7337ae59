"""Colors: when they are used, and that they change nothing but the color."""

import io
import re

import pytest
from agc.cli import color


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def surroundings(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    yield
    color.choose("auto")


@pytest.mark.parametrize(
    ("choice", "stream", "environment", "expected"),
    [
        ("auto", Terminal(), {}, True),
        ("auto", io.StringIO(), {}, False),
        ("auto", Terminal(), {"NO_COLOR": "1"}, False),
        ("auto", Terminal(), {"NO_COLOR": ""}, True),  # set but empty is not set: no-color.org
        ("auto", Terminal(), {"TERM": "dumb"}, False),
        ("auto", None, {}, False),
        ("always", io.StringIO(), {"NO_COLOR": "1"}, True),
        ("never", Terminal(), {}, False),
    ],
)
def test_color_follows_options_and_environment(monkeypatch, choice, stream, environment, expected):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    color.choose(choice)
    assert color.wanted(stream) is expected


def test_tokens_are_colored_by_kind():
    code = '@d\ndef f(x):  # why\n    return ag__.cond(x, "é", 1.5)\n'
    marks = {
        color.KEYWORD: "<k ",
        color.DEFINED: "<d ",
        color.COMMENT: "<c ",
        color.OPERATORS: "<o ",
        color.STRING: "<s ",
        color.NUMBER: "<n ",
        color.RESET: ">",
    }
    painted = color.python(code)
    for escape, mark in marks.items():
        painted = painted.replace(escape, mark)
    assert painted == (
        '@d\n<k def> <d f>(x):  <c # why>\n    <k return> <o ag__>.cond(x, <s "é">, <n 1.5>)\n'
    )


@pytest.mark.parametrize(
    "code",
    [
        "",
        "x",
        "x = '''a\n  b\n\nc'''\n",
        "f'{a!r:>{b}} {{}} {c[\"k\"]}'\n",
        "f'''\n{a}\n  {{x}} b\n'''\ny = 2\n",
        "\tif x:\n",  # not even Python: what tokenize refuses stays plain
        "x = 'open\n",
        "def f():\n\tpass\n\x0c\nclass A: 'é字'\n",
    ],
)
def test_the_text_under_the_colors_is_the_text(code):
    assert re.sub(r"\x1b\[[0-9;]*m", "", color.python(code)) == code


def test_every_line_ends_without_color(request):
    """So that any part of the text is shown rightly by a pager."""
    code = request.path.read_text(encoding="utf-8")
    painted = color.python(code)
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == code
    for line in painted.split("\n"):
        escapes = re.findall(r"\x1b\[[0-9;]*m", line)
        assert escapes[1::2] == [color.RESET] * (len(escapes) // 2) and len(escapes) % 2 == 0


def test_a_diff():
    text = "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n same\n"
    lines = color.diff(text).splitlines()
    starts = [color.HEADER, color.HEADER, color.HUNK, color.REMOVED, color.ADDED, " same"]
    assert all(line.startswith(start) for line, start in zip(lines, starts, strict=True))
    assert re.sub(r"\x1b\[[0-9;]*m", "", color.diff(text)) == text
