"""Printed code parses back to the same tree, for what people write: a sample of the standard library.

`AGC_STDLIB=all pytest tests/autograph/syntax/test_unparse.py` takes all of it.
"""

from __future__ import annotations

import ast
import os
import sysconfig
import warnings
from pathlib import Path

import gast
import pytest
from agc.autograph.syntax.unparse import unparse
from support.selection import each_nth

STDLIB = Path(sysconfig.get_path("stdlib"))
SAMPLE = """
    abc argparse ast asyncio/base_events bisect collections/__init__ contextlib dataclasses dis enum fractions functools
    json/decoder logging/__init__ pathlib re/_parser statistics traceback types typing unittest/mock
"""


def files() -> list[Path]:
    if os.environ.get("AGC_STDLIB") == "all":
        skipped = ("site-packages", "lib2to3/tests/data", "test/bad")
        return [
            path for path in sorted(STDLIB.rglob("*.py")) if not any(part in str(path) for part in skipped)
        ]
    chosen = [STDLIB / f"{name}.py" for name in SAMPLE.split()]
    return [path for path in chosen if path.exists()]  # re/_parser has another place in older Pythons


@pytest.mark.parametrize("path", each_nth(3, files()), ids=lambda path: str(path.relative_to(STDLIB)))
def test_standard_library_prints_to_the_same_tree(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            pytest.skip("not a module of this Python")
        again = ast.parse(unparse(gast.ast_to_gast(tree)))
    # gast has no room for the `u` of u'text' prefixes on strings nor for type comments.
    assert ast.dump(again).replace(", kind='u'", "") == ast.dump(tree).replace(", kind='u'", "")


STATEMENTS = """from __future__ import annotations
x[:, 0] = y[..., *z]
with (a, b):
    pass
with ((a, b)) as c, d:
    pass
for i, *rest in *a, b:
    pass
try:
    pass
except* (A, B) as e:
    raise C from e
match x:
    case [1, -2.5, *_] | {'k': None, **rest}:
        pass
    case P(a, b=Q.c) as d if d:
        pass
    case 'x' | 1 + 2j:
        pass
def f[T](a, /, b: int=1, *args: int, c, d=2, **kw) -> T:
    return (yield)
async def g():
    async with a as b:
        async for x in y:
            await x
    return [x async for x in y if await x]
class A[T](B, metaclass=M):
    x: int
    (y): str = 'z'
type X[T] = list[T]
lambda *, a=1: (yield a)
(x := 5)
print(f'{x!r:>{width}} {{}} {"a"}')
del (a, b), c[0]
assert (a, b), 'text'
return_ = not (a and b or c) < d ** -e
x = -1 ** 2, (-1) ** 2, 1 .real, 1e400, -0.0, 1j
global_ = a if b else (c if d else e)
"""


def test_statements_print_to_the_same_tree() -> None:
    import sys

    text = STATEMENTS
    if sys.version_info < (3, 12):
        text = (
            text.replace("def f[T]", "def f")
            .replace("class A[T]", "class A")
            .replace("type X[T] = list[T]\n", "")
        )
    tree = ast.parse(text)
    again = ast.parse(unparse(gast.ast_to_gast(tree)))
    assert ast.dump(again) == ast.dump(tree)


def test_docstrings_are_printed_as_text() -> None:
    source = 'def f():\n    """One line.\n\n    And more.\n    """\n    return 1\n'
    assert unparse(gast.parse(source)) == source


def test_an_unprintable_docstring_becomes_a_string_literal() -> None:
    source = "def f():\n    'a\\\\b'\n"
    assert ast.dump(ast.parse(unparse(gast.parse(source)))) == ast.dump(ast.parse(source))


@pytest.mark.parametrize(
    "text",
    [
        "f\"{a['b']}, {', '.join(c)}\"",
        "f\"it's {x!r:>{w['a']}}\"",
        'f"""{f"{f\'{x}\'} {a[\'b\']}"}"""',
        "[f\"{a['b']}\", lambda x: f'x={x!r}' + f'{x:{y}}{{}}']",
    ],
)
def test_quotes_of_an_f_string_do_not_occur_inside(text: str) -> None:
    assert unparse(gast.parse(text)) == text + "\n"  # in each version of Python


def test_definitions_are_set_apart() -> None:
    source = "import a\ndef f():\n    def g():\n        pass\n    g()\nx = 1\n"
    source += "class B:\n    y = 2\n    def h(self):\n        pass\n"
    assert unparse(gast.parse(source)) == (
        "import a\n\n\ndef f():\n    def g():\n        pass\n    g()\n\n\nx = 1\n\n\n"
        "class B:\n    y = 2\n\n    def h(self):\n        pass\n"
    )


def test_long_calls_are_broken() -> None:
    source = f"total = combine({', '.join(f'argument_{n}' for n in range(12))})\n"
    text = unparse(gast.parse(source))
    assert max(map(len, text.splitlines())) <= 110
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(source))


def test_the_callee_of_a_long_call_keeps_its_parentheses() -> None:
    arguments = ", ".join(f"argument_{number}" for number in range(12))
    for callee in ("lambda *a: a", "f or g", "f if a else g", "await f", "-f", "f := g", "yield"):
        text = f"async def h():\n    x = ({callee})({arguments})"
        printed = unparse(gast.parse(text))
        assert ast.dump(ast.parse(printed)) == ast.dump(ast.parse(text))


def test_deep_expressions_print() -> None:
    # Built by hand: Python 3.12 cannot even parse a sum this long.
    total: gast.expr = gast.Name("a", gast.Load(), None, None)
    for _ in range(4999):
        total = gast.BinOp(total, gast.Add(), gast.Name("a", gast.Load(), None, None))
    assert unparse(gast.Module([gast.Expr(total)], [])) == " + ".join(["a"] * 5000) + "\n"


def test_annotated_code_shows_the_users_lines() -> None:
    from support.semantics import PREFIXES

    assert PREFIXES
    source = "def f(n):\n    while n != 1:\n        n = n // 2  # halve\n    return n\n"
    from agc.autograph.passes import pipeline
    from agc.autograph.passes.base import Context

    tree = pipeline.run(gast.parse(source), Context(source=source))
    assert unparse(tree, source) == (
        "# 1 | def f(n):\n"
        "def f(n):\n"
        "    # 2 |     while n != 1:\n"
        "    def loop_body(n):\n"
        "        # 3 |         n = n // 2  # halve\n"
        "        n = n // 2\n"
        "        return (n,)\n"
        "    (n,) = ag__.while_loop(lambda n: n != 1, loop_body, (n,))\n"
        "    # 4 |     return n\n"
        "    return n\n"
    )
