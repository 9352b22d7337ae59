"""Numerical programs give the same in all ways of running them: tests/numerical says which and how."""

from __future__ import annotations

import pytest
from numerical import equations, judging, language, learning, sequences, simulations
from numerical.program import Program

MODULES = (equations, language, learning, sequences, simulations)
PROGRAMS = [pytest.param(program, id=name) for module in MODULES for name, program in module.PROGRAMS.items()]


@pytest.mark.parametrize("program", PROGRAMS)
def test_all_executors_agree(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = judging.outcomes(program, "interpret")
    for way in ("eager", "plan") if program.is_python else ("plan",):
        assert judging.differences(program, wanted, judging.outcomes(program, way)) == [], way
    with judging.what_fails(monkeypatch) as left_to_the_plan:
        found = judging.outcomes(program, "native")
    assert judging.differences(program, wanted, found) == []
    assert len(left_to_the_plan) == sum(isinstance(outcome, str) for outcome in wanted)


@pytest.mark.parametrize("program", PROGRAMS)
def test_automatic_compilation_agrees(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole programs, or their loops. Each call is made three times: by the plan, and then by native code."""
    wanted = judging.outcomes(program, "interpret", times=3)
    judging.make_everything_hot(monkeypatch)
    found = judging.outcomes(program, "automatic", times=3)
    assert judging.differences(program, wanted, found) == []
