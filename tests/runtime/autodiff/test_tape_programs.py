"""What programs with tapes give, clause by clause, is what TensorFlow gives."""

from __future__ import annotations

import agc.runtime as tf
from support import tape_programs
from support.each_case import each_case

RECORDED = tape_programs.read()


@each_case("name", tape_programs.PROGRAMS)
def test_answers_equal_tensorflows(name: str) -> None:
    got, expected = tape_programs.answer(tape_programs.PROGRAMS[name], tf), RECORDED[name]
    same = tape_programs.agree(got, expected)
    assert same is (name not in tape_programs.DIFFERENT), f"TensorFlow  {expected}\nagc         {got}"
