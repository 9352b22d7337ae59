"""Between ast and gast: the trees that gast itself makes, and what is untouched comes back as it was."""

import ast
from pathlib import Path

import gast
import pytest
from agc.autograph.syntax.gast_bridge import Translation, to_ast
from agc.autograph.syntax.nesting import deep_trees
from support.selection import each_nth

# The grammar's own tests in the standard library, and what has every kind of statement.
MODULES = [
    Path(ast.__file__).with_name(name) for name in ("argparse.py", "ast.py", "typing.py", "tarfile.py")
]
KINDS = """
@decorated
def f(a, /, b: int = 1, *args: str, c, d=2, **kwargs) -> None:
    global g
    try:
        async with x as (y, z), w: ...
    except* A as error: raise B from error
    else: del q[1:2, ...], r.s
    match a:
        case {"k": 1, **rest} | C(1, k=None): pass
        case [1, *_, x] if x: pass
        case str() as t: pass
async def g():
    async for i in a: await b
    return [x async for x in y if x], {**d, 1: (yield)}, f"{x!r:>{w}}", lambda *a, k=1: (b := a)
class C(B, metaclass=M):
    x: int = 1
"""


def dump(tree: ast.AST) -> str:
    return ast.dump(tree, include_attributes=True)


@pytest.mark.parametrize(
    "text", each_nth(2, [KINDS, *MODULES]), ids=lambda text: getattr(text, "name", "every kind")
)
def test_trees_equal_those_of_gast(text: str | Path) -> None:
    tree = ast.parse(text if isinstance(text, str) else text.read_text())
    with deep_trees():
        expected = gast.ast_to_gast(tree)
        assert dump(Translation(tree).tree) == dump(expected)
        assert dump(to_ast(expected)) == dump(tree)


def test_unchanged_nodes_are_returned_by_identity() -> None:
    tree = ast.parse("x = f(1)\ny = 2")
    translation = Translation(tree)
    assert translation.back(translation.tree) is tree
    first, second = translation.tree.body
    changed = translation.back(gast.Module([second, gast.Expr(first.value)], []))
    assert changed.body[0] is tree.body[1]
    assert changed.body[1].value is tree.body[0].value
    assert translation.new == {ast.Expr: [changed.body[1]], ast.Module: [changed]}


def test_a_node_without_a_position_gets_its_parents() -> None:
    (statement,) = gast.parse("\n\nx = y").body
    statement.value = gast.Name("z", gast.Load(), None, None)
    value = to_ast(gast.Module([statement], [])).body[0].value
    assert (value.lineno, value.col_offset, value.end_lineno, value.end_col_offset) == (3, 0, 3, 5)


def test_an_unknown_node_kind_passes_through() -> None:
    class Newer(ast.expr):
        _fields = ("value",)

    tree = ast.Module([ast.Expr(Newer(ast.Name("x", ast.Load())))], [])
    translation = Translation(tree)
    assert translation.tree.body[0].value is tree.body[0].value
    assert translation.back(gast.Module(translation.tree.body, [])).body[0] is tree.body[0]
