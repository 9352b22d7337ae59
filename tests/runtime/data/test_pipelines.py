"""Pipelines give what TensorFlow's give: the same elements, specs and classes of errors (recorded from TensorFlow)."""

from __future__ import annotations

import agc.runtime as tf
from support import pipelines
from support.each_case import each_case

DIFFERENT = {
    # A lambda in an expression that is evaluated has no source: there is no converted form to run.
    "D.range(5).map(lambda x: x if x % 2 == 0 else -x)",
    # What is no dataset is a TypeError here, in `interleave` as in `flat_map`.
    "D.range(3).interleave(lambda x: x, cycle_length=2)",
    # TensorFlow fails on row splits of int32 along several axes.
    "D.range(1, 4).map(lambda x: tf.fill([x, x], x)).ragged_batch(3, row_splits_dtype=tf.int32)",
    # There is no fused transformation, so none is shown.
    "D.range(10).apply(X.map_and_batch(lambda x: x * 2, 4))",
}


@each_case(("expression", "expected"), [row for row in pipelines.read() if row[0] not in DIFFERENT])
def test_elements_equal_tensorflows(expression: str, expected: str) -> None:
    got = pipelines.answer(expression, tf)
    assert pipelines.agree(got, expected), f"{expression}\n  TensorFlow  {expected}\n  agc         {got}"


def test_known_differences_still_differ() -> None:
    recorded = dict(pipelines.read())
    assert set(recorded) >= DIFFERENT
    assert not [x for x in DIFFERENT if pipelines.agree(pipelines.answer(x, tf), recorded[x])]
