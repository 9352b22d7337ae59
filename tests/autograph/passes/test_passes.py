"""What each pass makes of a program: `fixtures/passes/<pass>.txt` is the manual of the passes."""

from __future__ import annotations

import ast
from pathlib import Path

import gast
import pytest
from agc.autograph.errors import ConversionError
from agc.autograph.passes import pipeline
from agc.autograph.passes.base import Context, Registry
from agc.autograph.syntax.gast_bridge import to_ast
from agc.autograph.syntax.tree_queries import walk
from agc.autograph.syntax.unparse import unparse
from support import golden
from support.each_case import each_case
from support.semantics import PREFIXES, converted_text

FOLDER = Path(__file__).parents[3] / "fixtures" / "passes"
CASES = [
    pytest.param(name, case, id=f"{name}: {case.title}")
    for name in PREFIXES
    for case in golden.read(FOLDER / f"{name}.txt")
]


@each_case(("name", "case"), CASES)
def test_result_of_a_pass(name: str, case: golden.Case, update_golden: bool) -> None:
    result = converted_text(case.source, after=name)
    ast.parse(result)
    if update_golden:
        path = FOLDER / f"{name}.txt"
        cases = [old._replace(result=result) if old.title == case.title else old for old in golden.read(path)]
        golden.write(path, cases)
    else:
        assert result == case.result


def test_every_pass_has_cases() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(PREFIXES)


def test_every_pass_is_in_the_file_of_its_name() -> None:
    for step in pipeline.PIPELINE:
        assert step.__module__.rpartition(".")[2] == step.name


def test_the_error_for_an_unknown_pass_lists_the_valid_passes() -> None:
    with pytest.raises(
        ValueError,
        match="no pass 'lower_brake'; the passes are stage_equality, check_loop_directives, lower_match",
    ):
        pipeline.run(gast.parse("x = 1"), Context(), after="lower_brake")


def test_passes_do_not_mutate_their_input_tree() -> None:
    source = Path(FOLDER.parent / "corpus" / "programs.py").read_text()
    tree = gast.parse(source)
    before = gast.dump(tree, include_attributes=True)
    pipeline.run(tree, Context(source=source))
    assert gast.dump(tree, include_attributes=True) == before


def test_passes_declare_the_node_kinds_they_emit() -> None:
    corpus = (FOLDER.parent / "corpus" / "programs.py").read_text()
    sources = [corpus, *(param.values[1].source for param in CASES)]
    concerned = frozenset[type]().union(*(step.concerns for step in pipeline.PIPELINE))
    for source in sources:
        for statement in gast.parse(source).body:
            tree, registry = gast.Module([statement], []), Registry()
            for step in pipeline.PIPELINE:
                new = step(Context(source=source), registry).run(tree)
                made = {*map(type, walk(new))} - {*map(type, walk(tree))}
                assert made & concerned <= step.emits, (step.name, unparse(tree))
                tree = new


TOGETHER = """
def f(self, x, xs, table):
    a = not f(x) and g(x) in range(len(xs)) or x in (f(1), 2)
    b = f(1) < g(2) < h(3) in range(3) if (f or g)(x) and x is not None else list(x if x else f(x))
    c = super().f(not x) and super().g(lambda: not f(x)).f_back.h(0 < f(x) < 2)
    assert not f(x), g(x if x else f(x))
    return sys._getframe(not x).f_back, log.info(not x, stacklevel=f(2)), [f(x) for x in f(xs) if not f(x)]
"""


def test_fused_passes_give_the_result_of_separate_passes() -> None:
    corpus = (FOLDER.parent / "corpus" / "programs.py").read_text()
    for source in (corpus, TOGETHER, *(param.values[1].source for param in CASES)):
        tree, context = gast.parse(source), Context(source=source)
        one_after_the_other = pipeline.run(tree, context, after=PREFIXES[-1])
        assert unparse(pipeline.run(tree, context)) == unparse(one_after_the_other)


def test_user_lines_stay() -> None:
    source = "def f(n):\n    while n > 1:\n        n = g(n)\n    return n\n"
    tree = pipeline.run(gast.parse(source), Context(source=source))
    lines = {node.lineno for node in gast.walk(tree) if hasattr(node, "lineno")}
    (call,) = [n for n in gast.walk(tree) if isinstance(n, gast.Name) and n.id == "g"]
    assert lines == {1, 2, 3, 4}
    assert call.lineno == 3


def test_the_replacement_of_a_block_ends_on_its_first_line() -> None:
    lines = [
        "def f(n):",
        "    while n > 1:  # so long",
        "        n = g(n)",
        "        if n == 7:",
        "            break",
        "    return n",
    ]
    source = "\n".join(lines)
    tree = pipeline.run(gast.parse(source), Context(source=source))
    made = [node for node in gast.walk(tree) if isinstance(node, (gast.Assign, gast.Return))]
    ends = {
        unparse(node).partition("ag__")[0].strip(): (node.end_lineno, node.end_col_offset) for node in made
    }
    assert ends == {
        "stop = False": (2, len(lines[1])),
        "(n, stop) =": (2, len(lines[1])),
        "n =": (3, len(lines[2])),
        "(stop,) =": (4, len(lines[3])),
        "return (n, stop)": (4, len(lines[3])),
        "return n": (6, len(lines[5])),
    }


def test_every_generated_node_has_a_position() -> None:
    source = Path(FOLDER.parent / "corpus" / "programs.py").read_text()
    tree = pipeline.run(gast.parse(source), Context(source=source))
    last = len(source.splitlines())
    for statement in gast.walk(tree):
        if isinstance(statement, gast.stmt):
            assert 0 < statement.lineno <= statement.end_lineno <= last, gast.dump(statement)
    for node in ast.walk(to_ast(tree)):
        if node._attributes:
            assert 0 < node.lineno <= node.end_lineno <= last, ast.dump(node)


def test_do_not_convert_is_left_alone() -> None:
    source = "@agc.do_not_convert\ndef f(x):\n    while x > 1:\n        x = g(x)\n    return x\n"
    assert converted_text(source) == source


def test_the_operators_can_have_another_name() -> None:
    source = "def f(ag__):\n    return g(ag__)\n"
    tree = pipeline.run(gast.parse(source), Context(source=source, ag="ag__1"))
    assert unparse(tree) == "def f(ag__):\n    return ag__1.converted(g)(ag__)\n"


def test_calls_into_a_library_stay() -> None:
    source = "def f(x, os):\n    return np.linalg.norm(x), os.getcwd(), my.f(x)\n"
    context = Context(source=source, is_library=lambda name: name in ("np", "os"))
    text = unparse(pipeline.run(gast.parse(source), context))
    assert "(np.linalg.norm(x), ag__.converted(os.getcwd)(), ag__.converted(my.f)(x))" in text


def test_a_refusal_shows_the_line() -> None:
    source = """
def f(xs):
    for x in xs:
        try:
            return g(x)
        finally:
            if x > 0:
                continue
        h(x)
"""
    with pytest.raises(ConversionError) as caught:
        pipeline.run(gast.parse(source), Context(source=source, filename="bad.py"))
    assert caught.value.diagnostic.format() == (
        "error[AGC110]: a jump leaves a `finally` block inside control flow that may be staged\n"
        "  --> bad.py:8:17\n"
        " 8 |                 continue\n"
        "   |                 ^^^^^^^^\n"
        "why: it would cancel a jump out of the `try` part, which a staged block cannot do\n"
        "fix: move the jump after the `try` statement"
    )


def test_deep_nesting_of_guards_stays_printable() -> None:
    guards = "".join(f"    if x == {n}:\n        return {n}\n    x = g(x)\n" for n in range(300))
    source = f"def f(x):\n{guards}    return x\n"
    text = converted_text(source)
    ast.parse(text)
    indent = max(len(line) - len(line.lstrip()) for line in text.splitlines())
    assert indent < 400


def test_cost_grows_with_the_size_of_a_function() -> None:
    """Ten times the lines cost about ten times the steps, however they hang together."""
    import sys

    def steps(count: int) -> int:
        body = "".join(
            f"    if x > {n}:\n        a{n} = x\n        x += 1\n    else:\n        a{n} = y{n % 7}\n"
            for n in range(count)
        )
        tree = gast.parse(f"def f(x, {', '.join(f'y{n}' for n in range(7))}):\n{body}    return x\n")
        calls = 0

        def count_calls(frame: object, event: str, argument: object) -> None:
            nonlocal calls
            calls += 1

        sys.setprofile(count_calls)
        try:
            pipeline.run(tree, Context())
        finally:
            sys.setprofile(None)
        return calls

    assert steps(400) < 12 * steps(40)
