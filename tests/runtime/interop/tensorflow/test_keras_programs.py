"""Keras's own answers, recorded from TensorFlow 2.21: agc computes the same. The programs are in `keras_cases`."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import keras_cases
import pytest

RECORDED = {module: keras_cases.read(module) for module in keras_cases.MODULES}


NAMES = [(module, name) for module, answers in RECORDED.items() for name in answers]


@pytest.mark.filterwarnings("ignore:In loss categorical_crossentropy:SyntaxWarning")
@pytest.mark.parametrize(("module", "name"), NAMES)
def test_the_answer_is_that_of_keras(module: str, name: str, programs: dict[str, keras_cases.Cases]) -> None:
    got, expected = keras_cases.answer(programs[module][name]), RECORDED[module][name]
    assert keras_cases.agree(got, expected), f"{name}\n  Keras  {expected}\n  agc    {got}"


@pytest.fixture(scope="module")
def programs() -> dict[str, Any]:
    return {module: keras_cases.cases(module, tf) for module in keras_cases.MODULES}
