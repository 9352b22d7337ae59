"""The garbage collector runs rarely during a trace, and as the program wants it afterwards."""

import gc

import agc.runtime as tf
import pytest
from agc.autograph.introspection.garbage import MANY, rare_collections


@pytest.fixture(autouse=True)
def threshold():
    before = gc.get_threshold()
    gc.set_threshold(700, 9, 8)
    yield
    gc.set_threshold(*before)


def test_the_program_s_thresholds_are_restored():
    with rare_collections():
        assert gc.get_threshold() == (MANY, 9, 8)
        with rare_collections():
            assert gc.get_threshold()[0] == MANY
        assert gc.get_threshold()[0] == MANY
    assert gc.get_threshold() == (700, 9, 8)


@pytest.mark.parametrize("number", [0, 2 * MANY])
def test_a_collector_that_is_rarer_or_off_stays_so(number):
    gc.set_threshold(number, 9, 8)
    with rare_collections():
        assert gc.get_threshold() == (number, 9, 8)
    assert gc.get_threshold() == (number, 9, 8)


def test_a_threshold_that_the_program_sets_meanwhile_stays():
    with rare_collections():
        gc.set_threshold(500, 5, 5)
    assert gc.get_threshold() == (500, 5, 5)


def test_a_trace_collects_rarely():
    seen = []

    def f(x):
        seen.append(gc.get_threshold()[0])
        return x

    tf.function(f)(tf.constant(1))
    assert seen == [MANY]
    assert gc.get_threshold()[0] == 700
