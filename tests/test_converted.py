"""What `agc convert` prints for the programs, kept to be read: would a person have written it so?

`pytest --update-golden tests/test_converted.py` writes the files of fixtures/converted anew.
"""

import ast
from pathlib import Path

import pytest
from agc import autograph

FIXTURES = Path(__file__).parents[1] / "fixtures"
SOURCES = sorted(
    path
    for folder in ("programs", "stranger")
    for path in (FIXTURES / folder).glob("*.py")
    if not path.name.startswith("_")
)


@pytest.mark.parametrize("path", SOURCES, ids=[f"{path.parent.name}-{path.stem}" for path in SOURCES])
def test_the_converted_text_of_a_program(path: Path, update_golden: bool) -> None:
    text = autograph.convert_source(path.read_text(), str(path))
    ast.parse(text)
    golden = FIXTURES / "converted" / path.parent.name / path.name
    if update_golden:
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text)
    assert text == golden.read_text()


def test_every_golden_text_has_its_program() -> None:
    golden = (FIXTURES / "converted").glob("*/*.py")
    assert sorted((path.parent.name, path.name) for path in golden) == sorted(
        (path.parent.name, path.name) for path in SOURCES
    )
