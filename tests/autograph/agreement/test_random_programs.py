"""Random programs do the same before and after conversion, after every prefix of the pipeline.

`AGC_FUZZ=5000 pytest tests/autograph/agreement/test_random_programs.py` grows that many programs instead of a few.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import gast
import pytest
from agc.autograph import operators
from agc.autograph.errors import ConversionError
from agc.autograph.passes import pipeline
from agc.autograph.passes.base import Context
from agc.autograph.syntax.unparse import unparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.random_programs import Grower, environment
from support.semantics import PREFIXES, module_of_tree

COUNT = int(os.environ.get("AGC_FUZZ", "90"))
SCRIPTS = [[0, 1, 2, 3, 4], [4, 0, 3, 0, 1, 1, 2], [2], [0]]


@st.composite
def programs(draw: st.DrawFn) -> str:
    return Grower(lambda count: draw(st.integers(0, count - 1)), size=draw(st.integers(3, 40))).program()


def behavior(module: dict[str, Any], script: list[int]) -> tuple[Any, ...]:
    names = environment(script)
    module.update(names)
    module.pop("g", None)
    module["Box"].value = 0
    end: tuple[Any, ...]
    try:
        end = ("returned", repr(module["program"](1, 2)))
    except Exception as error:
        end = (type(error).__name__, str(error))
    return end, names["TRACE"], module.get("g"), module["Box"].value


def compiled_text(text: str, name: str) -> dict[str, Any]:
    code = operators.converter.adopt(compile(text, name, "exec"))
    module: dict[str, Any] = {"ag__": operators, "__name__": "random_program"}
    exec(code, module)
    return module


def check(text: str, prefixes: list[str]) -> None:
    warnings.simplefilter("ignore", SyntaxWarning)  # `1 is None` and the like
    try:
        original = compiled_text(text, "<program>")
    except SyntaxError:
        return  # such as a name that is a parameter and global
    expected = [behavior(original, script) for script in SCRIPTS]
    for after in prefixes:
        tree = pipeline.run(gast.parse(text), Context(source=text), after)
        module = module_of_tree(tree, "<tree>")
        for script, before in zip(SCRIPTS, expected, strict=True):
            now = behavior(module, script)
            assert now == before, f"after {after}, script {script}\n{text}\n--- becomes ---\n{unparse(tree)}"


@settings(max_examples=COUNT, suppress_health_check=list(HealthCheck), derandomize=COUNT == 90)
@given(programs())
def test_random_programs_keep_their_behavior(text: str) -> None:
    check(
        text, PREFIXES if COUNT > 1000 else ["lower_return", "lower_continue", "stage_blocks", "stage_calls"]
    )


def test_a_jump_out_of_a_staged_finally_is_refused() -> None:
    text = """
def f(xs):
    for x in xs:
        try:
            return g(x)
        finally:
            if x > 0:
                break
"""
    with pytest.raises(ConversionError, match="AGC110"):
        pipeline.run(gast.parse(text), Context(source=text))
