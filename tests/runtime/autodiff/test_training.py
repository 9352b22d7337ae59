"""Training from given initial values: eagerly and in functions the same losses, and those are TensorFlow's."""

from __future__ import annotations

import agc.runtime as tf
import numpy as np
import pytest
from support import training_cases


@pytest.mark.parametrize("way", training_cases.WAYS)
@pytest.mark.parametrize("name", training_cases.CASES)
def test_the_losses_are_tensorflows(name: str, way: str) -> None:
    expected = training_cases.read()[name]
    assert expected[-1] < 0.2 * expected[0]
    np.testing.assert_allclose(training_cases.losses(tf, name, way), expected, rtol=1e-5, atol=0)


@pytest.mark.parametrize("name", training_cases.CASES)
def test_the_losses_are_the_same_eagerly_and_in_functions(name: str) -> None:
    eager = training_cases.losses(tf, name, "eager")
    for way in ("function", "loop"):
        np.testing.assert_allclose(training_cases.losses(tf, name, way), eager, rtol=1e-5, atol=0)
