"""Programs over the whole grammar do the same before and after conversion, in all the ways in which it is run.

`AGC_FUZZ=5000 pytest tests/autograph/agreement/test_grammar.py` grows that many programs instead of a few.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from agc.autograph.errors import ConversionError
from grammar.statements import Grower
from grammar.ways import compiles, differences
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.semantics import PREFIXES

COUNT = os.environ.get("AGC_FUZZ")
SOME = ["lower_match", "lower_continue", "stage_blocks", "stage_logic"]


@st.composite
def programs(draw: st.DrawFn) -> str:
    return Grower(lambda count: draw(st.integers(0, count - 1)), size=draw(st.integers(3, 25))).program()


def test_programs_of_every_kind_keep_their_behavior() -> None:
    seen: Counter[str] = Counter()

    @settings(
        max_examples=int(COUNT or 30),
        suppress_health_check=list(HealthCheck),
        derandomize=COUNT is None,
    )
    @given(programs())
    def run(text: str) -> None:
        if not compiles(text):
            seen["not Python"] += 1  # such as `nonlocal c` after `c = 1`
            return
        try:
            found = next(differences(text, PREFIXES if COUNT else SOME), None)
        except ConversionError as error:
            assert error.diagnostic.code == "AGC110", f"{error}\n{text}"  # a jump out of `finally`
            seen["refused"] += 1
            return
        assert found is None, f"{found}\n{text}"
        seen["same"] += 1

    run()
    assert seen["same"] > 0.8 * seen.total(), f"{seen}: too many are no Python, or refused"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def program(a, b):\n    t(1, a)\n    return v(2)", id="effects"),
        pytest.param("def program(a, b):\n    raise Stop(a) from KeyError(b)", id="a cause"),
        pytest.param("def program(a, b):\n    print(a)\n    while b: t(1)", id="too long"),
    ],
)
def test_a_program_is_the_same_as_itself_and_not_as_another(text: str) -> None:
    assert next(differences(text), None) is None
