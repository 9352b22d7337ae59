"""TensorFlow's own answers, recorded: agc gives the same values, dtypes, shapes and classes of errors."""

from __future__ import annotations

import agc.runtime as tf
from support import answers
from support.each_case import each_case


@each_case(("expression", "expected"), [x for x in answers.read() if x[0] not in answers.DIFFERENT])
def test_answers_equal_tensorflows(expression: str, expected: str) -> None:
    got = answers.answer(expression, tf)
    assert answers.agree(got, expected), f"{expression}\n  TensorFlow  {expected}\n  agc         {got}"


def test_known_differences_still_differ() -> None:
    recorded = dict(answers.read())
    assert set(recorded) >= answers.DIFFERENT
    assert not [
        x
        for x in answers.DIFFERENT
        if answers.agree(answers.answer(x, tf), recorded[x]) and "uint64" not in x
    ]
