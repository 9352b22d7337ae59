"""Converted text keeps the user's own text, comments and blank lines where no pass has changed a statement."""

import ast
import io
import os
import sysconfig
import tokenize
from pathlib import Path

import pytest
from agc.autograph import static
from agc.autograph.api import convert_source, to_code
from agc.autograph.errors import ConversionError
from agc.autograph.syntax.tree import deep_trees
from agc.autograph.syntax.unparse import unparse

AG = "from agc.autograph import operators as ag__\n"

KEPT = '''\
#!/usr/bin/env python
# licence

"""Documentation."""
{ag}
import os  # why

TABLE = {{  # a comment within
    'one': 1,   "two": 2,
}}

# about f
@decorated  # by it
def f(x: int,   # the first
      y=2) -> int:  # result
    """Says
      more."""
    # before a statement
    s = [1,  # up
         -1]
    text = \'\'\'not
indented\'\'\' \\
        "!"

    for i in (1, 2):  # stays Python
        s += [i]  # twice
    return (x)
    # the end of f


class A (object):  # a class

    k = 0x10
    # the end of A


# the end
'''


CHANGED = f"""\
{AG}

def f(x):
    # before
    # on the header
    def if_true(x):
        x = [x,  # indented anew
             1]
        y = 2  # after a semicolon
        return (x,)
    (x,) = ag__.cond(x > 0, if_true, ag__.keep, (x,))
    # one
    # two
    y = ag__.converted(f)(x, 2)
    return ag__.converted(f)(y)  # last
"""


def test_unchanged_statements_stay_word_for_word() -> None:
    call = "\n\ndef g(x):\n    return f(x)  # called\n"
    converted = "\n\ndef g(x):\n    return ag__.converted(f)(x)  # called\n"
    assert convert_source(KEPT.format(ag="") + call, "kept.py") == KEPT.format(ag=f"\n{AG}") + converted


def test_a_module_without_anything_to_convert_is_itself() -> None:
    original = "# one\r\nx = 1;y=2\r\n\r\n\tz=3\r\n".replace("\t", "")
    assert convert_source(original, "same.py") == original


def test_comments_of_changed_statements_are_kept() -> None:
    text = """\
def f(x):
    # before
    if x > 0:  # on the header
        x = [x,  # indented anew
             1]; y = 2  # after a semicolon
    y = f(x,  # one
          2)  # two
    return f(y)  # last
"""
    assert convert_source(text, "changed.py") == CHANGED


def test_to_code_keeps_text_too() -> None:
    def f(x: float) -> float:
        y = 0x10  # sixteen
        if x > 0:
            # inside
            y = 1_000
        return y

    code = to_code(f)
    assert "    y = 0x10  # sixteen\n" in code
    assert "        # inside\n        y = 1_000\n" in code


def _modules() -> list[Path]:
    folder = Path(sysconfig.get_path("stdlib"))
    if os.environ.get("AGC_FUZZ"):
        return [path for path in sorted(folder.rglob("*.py")) if path.stat().st_size < 300_000]
    return [folder / name for name in ("textwrap.py", "json/decoder.py", "types.py")]


@pytest.mark.parametrize("path", _modules(), ids=lambda path: path.stem)
def test_the_kept_text_is_the_same_program(path: Path) -> None:
    """The text means what the tree means that was printed without any of the user's text."""
    try:
        text = path.read_text(encoding="utf-8")
        plain = static.convert_module(text, str(path)).after
    except (ConversionError, UnicodeDecodeError):
        return  # tests of Python's own parser among them
    kept = convert_source(text, str(path))
    with deep_trees():
        assert ast.dump(ast.parse(kept)) == ast.dump(ast.parse(unparse(plain)))
    assert convert_source(kept, str(path)) == kept
    assert len(_comments(kept)) >= 0.9 * len(_comments(text))


def _comments(text: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]
