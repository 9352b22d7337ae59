"""Every program of the corpus does the same after every prefix of the pipeline."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import gast
import pytest
from agc.autograph.passes import pipeline
from agc.autograph.passes.base import Context
from support.each_case import each_case
from support.semantics import PREFIXES, converted_text, module_of, module_of_tree, outcome

CORPUS = Path(__file__).parents[3] / "fixtures" / "corpus" / "programs.py"
SOURCE = CORPUS.read_text()


@cache
def original() -> dict[str, Any]:
    return module_of(SOURCE)


@cache
def printed(after: str) -> dict[str, Any]:
    return module_of(converted_text(SOURCE, after), f"<after {after}>")


@cache
def compiled() -> dict[str, Any]:
    return module_of_tree(pipeline.run(gast.parse(SOURCE), Context(source=SOURCE)), str(CORPUS))


@cache
def expected(name: str) -> list[tuple[str, ...]]:
    """What Python makes of all inputs of a program."""
    return [outcome(original()[name], args) for args in dict(original()["CASES"])[name]]


CASES = [pytest.param(name, inputs, id=name) for name, inputs in original()["CASES"]]


@each_case("after", PREFIXES)
@each_case(("name", "inputs"), CASES)
def test_same_behavior_after_each_pass(name: str, inputs: Any, after: str) -> None:
    for args, wanted in zip(inputs, expected(name), strict=True):
        assert outcome(printed(after)[name], args) == wanted, f"{name}{args} after {after}"


@each_case(("name", "inputs"), CASES)
def test_same_behavior_of_the_tree_itself(name: str, inputs: Any) -> None:
    for args, wanted in zip(inputs, expected(name), strict=True):
        assert outcome(compiled()[name], args) == wanted


def test_the_corpus_is_not_small() -> None:
    assert len(CASES) >= 60
