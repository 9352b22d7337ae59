"""`agc explain`: the manual of error codes, wherever agc is installed."""

import json
import tomllib
from pathlib import Path

import pytest
from agc.cli import error_manual

ROOT = Path(__file__).parent.parent.parent


def test_a_page_is_plain_text(inside):
    result = inside("explain", "AGC207")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(
        "AGC207: the condition is not a scalar\n\nThe condition of an `if`, `while` or similar"
    )
    assert "\n    $ agc run several.py::magnitude '[1, -2]'\n" in result.stdout
    assert result.stdout.endswith("element by element, use `tf.where`.\n")
    assert "```" not in result.stdout
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize(
    "spelled", ["AGC207", "agc207", "207", "[AGC207]", "error[AGC207]", "warning[agc207]"]
)
def test_every_spelling_of_a_code_is_accepted(inside, spelled):
    assert inside("explain", spelled).stdout == inside("explain", "AGC207").stdout


def test_several_codes(inside):
    said = inside("explain", "AGC201", "AGC105").stdout
    headings = [line for line in said.splitlines() if line.startswith("AGC")]
    assert headings[0].startswith("AGC201: ")
    assert headings[1].startswith("AGC105: ")


def test_without_a_code_all_are_listed(inside):
    lines = inside("explain").stdout.splitlines()
    assert lines[:2] == ["AGC1xx: the source, or its conversion", "  AGC101  the source cannot be found"]
    assert [line.split()[0] for line in lines if line.startswith("  ")] == list(error_manual.pages())
    assert [line for line in lines if line.startswith("AGC3")] == ["AGC3xx: the command line"]
    assert lines.count("") == 2


def test_explanations_are_colored_on_request(inside):
    assert inside("explain", "AGC207", "--color", "always").stdout.startswith("\x1b[1mAGC207: ")


@pytest.mark.parametrize(
    ("wrong", "fix"),
    [
        ("AGC2007", "did you mean `AGC"),
        ("banana", "`agc explain` lists all codes"),
    ],
)
def test_an_unknown_code_is_wrong_usage(inside, wrong, fix):
    result = inside("explain", wrong)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error[AGC300]: there is no error code `{wrong}`\nfix: {fix}")


def test_json(inside):
    (page,) = json.loads(inside("explain", "AGC207", "--json").stdout)
    assert page == error_manual.pages()["AGC207"]._asdict()
    assert "```console\n$ agc run several.py" in page["text"]
    assert [page["code"] for page in json.loads(inside("explain", "--json").stdout)] == list(
        error_manual.pages()
    )


def test_the_shell_completes_codes(agc):
    env = {"_AGC_COMPLETE": "bash_complete", "COMP_WORDS": "agc explain agc25", "COMP_CWORD": "2"}
    assert "plain,AGC250" in agc(env=env).stdout.splitlines()


def test_the_manual_ships_with_the_package():
    # One text: the package holds a link to the document, and a build follows it.
    assert (ROOT / "cli" / "errors.md").samefile(ROOT / "docs" / "errors.md")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert "errors.md" in settings["package-data"]["agc.cli"]


def test_every_page_can_be_read_without_markdown():
    for page in error_manual.pages().values():
        text = error_manual.plain(f"{page.title}\n{page.text}")
        assert "```" not in text
        assert "](" not in "".join(line for line in text.splitlines() if not line.startswith("    "))
