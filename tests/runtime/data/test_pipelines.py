"""Pipelines give what TensorFlow's give: the same elements, specs and classes of errors (recorded from TensorFlow)."""

from __future__ import annotations

import agc.runtime as tf
import pipelines
import pytest

DIFFERENT = {
    # A lambda in an expression that is evaluated has no source: there is no converted form to run.
    "D.range(5).map(lambda x: x if x % 2 == 0 else -x)",
    # What is no dataset is a TypeError here, in `interleave` as in `flat_map`.
    "D.range(3).interleave(lambda x: x, cycle_length=2)",
}


@pytest.mark.parametrize(
    ("expression", "expected"), [row for row in pipelines.read() if row[0] not in DIFFERENT]
)
def test_the_elements_are_tensorflows(expression: str, expected: str) -> None:
    got = pipelines.answer(expression, tf)
    assert pipelines.agree(got, expected), f"{expression}\n  TensorFlow  {expected}\n  agc         {got}"


def test_the_known_differences_are_differences() -> None:
    recorded = dict(pipelines.read())
    assert set(recorded) >= DIFFERENT
    assert not [x for x in DIFFERENT if pipelines.agree(pipelines.answer(x, tf), recorded[x])]
