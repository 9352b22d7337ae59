"""Random programs on numbers: graphs give what Python gives, in results, effects and errors.

`AGC_FUZZ=5000 pytest tests/runtime/agreement/test_random_programs.py` grows that many programs instead of a few.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import staged_grammar, staged_programs
from support.staged_judging import PYTHON_NUMBERS, verdicts

COUNT = os.environ.get("AGC_FUZZ")


@st.composite
def programs(draw: st.DrawFn, grower: type[staged_programs.Grower]) -> str:
    return grower(lambda count: draw(st.integers(0, count - 1)), size=draw(st.integers(3, 28))).program()


@pytest.mark.parametrize(
    ("grower", "few", "most_refused"),
    [
        pytest.param(staged_programs.Grower, 45, 0.03, id="control flow"),
        pytest.param(staged_grammar.Grower, 24, 0.25, id="more of Python"),
    ],
)
def test_random_programs_agree_with_python(
    grower: type[staged_programs.Grower], few: int, most_refused: float
) -> None:
    seen: Counter[str] = Counter()

    @settings(
        max_examples=int(COUNT or few),
        suppress_health_check=list(HealthCheck),
        derandomize=COUNT is None,
    )
    @given(programs(grower), st.integers(0, 2 * len(PYTHON_NUMBERS) - 1))
    def run(text: str, mode: int) -> None:
        seen.update(verdicts(text, mode))

    run()
    refused = seen.total() - seen["agree"]
    assert refused <= most_refused * seen.total(), f"{seen}: too many are refused"
