"""Numerical programs give the same in all ways of running them: tests/numerical says which and how."""

from __future__ import annotations

import pytest
from numerical import equations, judging, language, learning, sequences, simulations
from numerical.program import Program
from support.selection import in_turn

MODULES = (equations, language, learning, sequences, simulations)
PROGRAMS = [(name, program) for module in MODULES for name, program in module.PROGRAMS.items()]
WAYS = ("native", "automatic", "eager", "plan")

CASES = [
    pytest.param(program, way, id=f"{name}-{way}")
    for place, (name, program) in enumerate(PROGRAMS)
    for way in in_turn(WAYS if program.is_python else ("native", "automatic", "plan"), place)
]


@pytest.mark.parametrize(("program", "way"), CASES)
def test_all_ways_agree(program: Program, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Automatic compilation is of whole programs, or of loops: of three calls, the plan makes the first."""
    times = 3 if way == "automatic" else 1
    wanted = judging.outcomes(program, "interpret", times)
    if way == "automatic":
        judging.make_everything_hot(monkeypatch)
    with judging.what_fails(monkeypatch) as left_to_the_plan:
        found = judging.outcomes(program, way, times)
    assert judging.differences(program, wanted, found) == []
    if way == "native":
        assert len(left_to_the_plan) == sum(isinstance(outcome, str) for outcome in wanted)
