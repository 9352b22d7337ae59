"""Some of the random programs whose sizes show only while they run; `make fuzz` runs many, in child processes."""

from __future__ import annotations

import os

import pytest
from support import sized_programs


@pytest.mark.parametrize("seed", [64, 96, 27, 33, 1037, 1051][: None if os.environ.get("AGC_FUZZ") else 2])
def test_executors_agree(seed: int) -> None:
    assert list(sized_programs.differences(seed)) == []


def test_a_random_program_accepts_its_first_inputs() -> None:
    steps, many = sized_programs.program(sized_programs.random.Random(64))
    assert len(sized_programs.run(steps, *map(sized_programs.tf.constant, many[0]))) == len(steps) >= 5
