"""Converted text keeps the user's own text, comments and blank lines where no pass has changed a statement."""

import ast
import io
import os
import sysconfig
import textwrap
import tokenize
from collections import Counter
from pathlib import Path

import pytest
from agc.autograph import transpile
from agc.autograph.api import convert_source, to_code
from agc.autograph.errors import ConversionError
from agc.autograph.syntax.layout import Layout
from agc.autograph.syntax.nesting import deep_trees
from agc.autograph.syntax.unparse import text_of
from support.each_case import each_case

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


BLOCKS = {
    "if": """\
if x > 0:  # header
    x = 1
    # end of the branch
# above elif
elif x < -5:  # on elif
    x = 2

    # end after a blank line
# above else
else:  # on else
    # first
    x = 3
    # end of else""",
    "one line": "if x > 0: x = [1,  # one\n             2]  # two\nelif x: x = 2  # three\nelse: x = 3  # four",
    "returns": """\
if x > 0:  # header
    # above return
    return 1  # on return
# above if
if x < -5:  # second
    if x:  # third
        return 2  # on another
# above the last
return 3  # on the last""",
    "while": """\
while x > 0:  # header
    x = x - 1
    if x == 3:  # inner
        # above break
        break  # on break
        # end of if
    # end of while
else:  # on else
    x = 0
    # end of else""",
    "for": """\
for i in x:  # header
    if i > 2:  # inner
        continue  # on continue
    # between
    x = x + i
    # end of for""",
    "try": """\
try:  # on try
    x = f(x)
    # end of try
# above except
except (TypeError,  # one
        ValueError):  # on except
    x = 1  # in except
except OSError: x = 2  # one line
# above else
else:  # on else
    x = 3
# above finally
finally:  # on finally
    x = 4
    # end of finally""",
    "with": "with f(x) as y:  # header\n    # first\n    x = y\n    # end of with",
    "match": "match x:  # on match\n    # above case\n    case 1:  # on case\n        x = 1\n        # end of case",
    "function": """\
def g(y):  # header
    if y:  # inner
        y = 1
        # end of if
    return y
    # end of g""",
}


@each_case("block", BLOCKS.values(), ids=BLOCKS)
@each_case("around", ["", "for j in (1, 2):\n", "while x > 0:\n", "try:\n", "class A:\n"])
def test_each_comment_of_a_block_is_kept_once(block: str, around: str) -> None:
    body = textwrap.indent(block, "    ") if around else block
    tail = "finally:\n    pass" if around == "try:\n" else ""
    inner = textwrap.indent(f"# before\n{around}{body}\n# after\n{tail}", "    ")
    text = f"def f(x):\n{inner}\n    return x  # last\n# the end\n"
    ast.parse(text)
    kept = convert_source(text, "block.py")
    assert sorted(_comments(kept)) == sorted(_comments(text))
    assert convert_source(kept, "block.py") == kept


def test_comments_at_the_end_of_a_branch_stay_in_the_branch() -> None:
    branches = "if x > 0:\n        x = 1\n        # end\n    # above\n    else:  # on else\n        x = 2"
    text = f"def f(x):\n    {branches}\n    return x\n"
    expected = """
    def if_true():
        x = 1
        # end
        return (x,)

    def if_false():
        # above
        # on else
        x = 2
        return (x,)
"""
    assert expected in convert_source(text, "branch.py")


def _modules() -> list[Path]:
    folder = Path(sysconfig.get_path("stdlib"))
    if os.environ.get("AGC_FUZZ"):
        found = [path for path in sorted(folder.rglob("*.py")) if path.stat().st_size < 300_000]
        return [path for path in found if not {"test", "site-packages"} & set(path.parts)]
    return [folder / name for name in ("textwrap.py", "json/decoder.py", "types.py")]


@pytest.mark.parametrize("path", _modules(), ids=lambda path: path.stem)
def test_the_kept_text_is_the_same_program(path: Path) -> None:
    """The text means what the tree means that was printed without any of the user's text."""
    try:
        text = path.read_text(encoding="utf-8")
        translation, after, _ = transpile.convert_module(text, str(path))
    except (ConversionError, UnicodeDecodeError):
        return  # tests of Python's own parser among them
    with deep_trees():
        tree = translation.back(after)
        plain, kept = text_of(tree), text_of(tree, Layout(text, translation))
        assert ast.dump(ast.parse(kept)) == ast.dump(ast.parse(plain))
    assert convert_source(kept, str(path)) == kept
    assert Counter(_comments(kept)) == Counter(_comments(text))


def _comments(text: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def test_a_comment_after_a_function_stays_outside_of_it() -> None:
    text = "def f(x):\n    if x:\n        x = 1\n    return x\n\n# next\ny = f(1)\n"
    assert convert_source(text).endswith("\n    return x\n\n# next\ny = f(1)\n")
