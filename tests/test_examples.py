"""The scripts in examples/ print what the comment at their end says; `--update-golden` writes it anew."""

import contextlib
import io
import runpy

import pytest
from support.documents import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
MARK = "\n\n# Output:\n"


def printed(path):
    """The output of a script, each line as a comment."""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        runpy.run_path(str(path), run_name="__main__")
    return "".join(f"# {line}".rstrip() + "\n" for line in stream.getvalue().rstrip("\n").split("\n"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_prints_its_output(path, update_golden):
    code, _, expected = path.read_text().partition(MARK)
    found = printed(path)
    if update_golden:
        path.write_text(code.rstrip("\n") + MARK + found)
        return
    assert found == expected


def test_each_example_says_what_it_shows():
    assert len(EXAMPLES) == 10
    assert [path for path in EXAMPLES if not path.read_text().startswith('"""')] == []
