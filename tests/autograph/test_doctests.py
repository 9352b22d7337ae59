"""The examples in the documentation of agc.autograph."""

import doctest
import importlib
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent
PATHS = sorted((ROOT / "autograph").rglob("*.py"))
MODULES = [".".join(["agc", *path.relative_to(ROOT).with_suffix("").parts]) for path in PATHS]


@pytest.mark.parametrize("name", [name.removesuffix(".__init__") for name in MODULES])
def test_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    with_examples = [
        name for name in MODULES if any(test.examples for test in finder.find(importlib.import_module(name)))
    ]
    assert len(with_examples) > 10
