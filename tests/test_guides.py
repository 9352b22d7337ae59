"""The guides under fixtures/guides: a document's code, its import changed, prints what the document prints.

In a `.out` file `...` stands for anything within its line, a line that is nothing but `...` for any lines.
"""

import ast
import contextlib
import difflib
import functools
import inspect
import io
import re
import runpy
from pathlib import Path
from typing import Any, NamedTuple

import pytest

GUIDES = Path(__file__).parent.parent / "fixtures" / "guides"
NAMES = sorted(path.stem for path in GUIDES.glob("*.py"))


class Run(NamedTuple):
    """The global names that a guide has set, and its output."""

    names: dict[str, Any]
    printed: str


@functools.cache
def run(name: str) -> Run:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        names = runpy.run_path(str(GUIDES / f"{name}.py"))
    return Run(names, printed.getvalue())


def pattern(expected: str) -> re.Pattern[str]:
    """Return the regular expression that an `.out` file means."""

    def line_pattern(line: str) -> str:
        if line == "...":
            return r"(?:.*\n)*?"
        return ".*".join(re.escape(part) for part in line.split("...")) + r"\n"

    return re.compile("".join(line_pattern(line) for line in expected.splitlines()))


def plain(text: str) -> str:
    """A tensor may print with or without the prefix `tf.`."""
    return re.sub(r"\btf\.(?=Tensor\b|Variable\b)", "", text)


def test_dots_in_an_out_file_match_their_lines_only() -> None:
    expected = pattern("took ... s\n...\nend\n")
    assert expected.fullmatch("took 3 s\nend\n")
    assert expected.fullmatch("took 3 s\nand\nmore\nend\n")
    assert not expected.fullmatch("took 3 s\nend\nmore\n")
    assert not expected.fullmatch("took 3\n s\nend\n")


@pytest.mark.parametrize("name", NAMES)
def test_guide_prints_what_its_document_prints(name: str) -> None:
    expected = plain((GUIDES / f"{name}.out").read_text(encoding="utf-8"))
    printed = plain(run(name).printed)
    if not pattern(expected).fullmatch(printed):
        changes = difflib.unified_diff(
            expected.splitlines(), printed.splitlines(), "document", "printed", "", "", 1
        )
        pytest.fail("\n".join(changes), pytrace=False)


def test_random_values_are_in_their_range_and_of_their_type() -> None:
    names = run("graphs").names
    for drawn in (names["y_true"], names["y_pred"]):
        assert drawn.dtype.name == "int32"
        assert all(0 <= number < 10 for number in drawn.numpy())
    assert set(names["x"].numpy().flat) <= {-1, 0, 1}


def test_eager_and_graph_execution_display_the_same_error() -> None:
    displayed = re.findall(r"dtype=int32, numpy=(\d+)>", run("graphs").printed)
    names = run("graphs").names
    difference = names["y_true"].numpy() - names["y_pred"].numpy()
    assert displayed == [str((difference**2).sum() // 5)] * 2


def test_power_is_the_same_product_in_both_executions() -> None:
    names = run("graphs").names
    assert (names["power"](names["x"], 7).numpy() == names["power_as_graph"](names["x"], 7).numpy()).all()


def test_code_of_a_function_without_control_flow_is_the_users_own() -> None:
    calc = run("calc").names["calc"].python_function
    printed = run("calc").printed.partition("e: 24\n")[2].partition("d: ")[0]
    generated = [node for node in ast.parse(printed).body if isinstance(node, ast.FunctionDef)]
    original = ast.parse(inspect.getsource(calc)).body[0]
    assert isinstance(original, ast.FunctionDef)
    assert [ast.dump(node) for node in generated[-1].body] == [ast.dump(node) for node in original.body]
    assert ast.dump(generated[-1].args) == ast.dump(original.args)


def test_a_function_makes_its_variables_on_the_first_call_only() -> None:
    names = run("function_reference").names
    tf, module = names["tf"], names["MyModule"]()
    assert module.call(tf.constant([2.0, 3.0])).numpy().tolist() == [2.0, 3.0]
    made = module.v
    assert module.call(tf.constant([4.0, 5.0])).numpy().tolist() == [4.0, 5.0]
    assert module.v is made


def test_summaries_of_the_guide_are_in_the_event_files() -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    folder = Path(run("effective").names["folder"]) / "summaries"
    for part, tag, steps in ((".", "loss", [42]), ("train", "loss", [90]), ("test", "loss", [92])):
        events = EventAccumulator(str(folder / part))
        events.Reload()
        assert [event.step for event in events.Tensors(tag)] == steps
