"""Values of variables that executors hold, and the turns of runs that overwrite them."""

from __future__ import annotations

import copy
import threading
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.core.held_values import Turn, hold, snapshot


class Held:
    """An array of an executor; a run may take its memory."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if self.array is None:
            raise RuntimeError("the memory has been donated")
        return self.array


def held(value: Any) -> tf.Variable:
    variable = tf.Variable(value)
    hold(vars(variable), Held)
    return variable


def turn_with(variable: tf.Variable) -> Turn:
    before = snapshot([variable])
    return Turn(before.states, before.held, lambda results, values: [Held(np.asarray(results))])


def test_the_first_reader_gets_an_array_of_numpy() -> None:
    v = held([1.0, 2.0])
    assert "_array" not in vars(v) and type(snapshot([v]).values[0]) is Held
    assert v.numpy().tolist() == [1, 2] and snapshot([v]).values[0] is v._array
    assert copy.deepcopy(held(3.0)).numpy() == 3


def test_results_become_the_value_at_the_end_of_the_turn() -> None:
    v = held(1.0)
    turn = turn_with(v)
    assert turn.begin()
    with turn:
        turn.results.append(np.float32(5))
    assert float(v) == 5


def test_a_run_without_results_leaves_the_old_value() -> None:
    v = held(1.0)
    turn = turn_with(v)
    assert turn.begin()
    with pytest.raises(KeyboardInterrupt), turn:
        raise KeyboardInterrupt
    assert float(v) == 1


def test_a_turn_begins_only_with_the_values_that_it_saw() -> None:
    v = held(1.0)
    turn = turn_with(v)
    v.assign(2.0)
    assert not turn.begin() and float(v) == 2


def test_an_assignment_during_a_run_counts_as_one_after_it() -> None:
    v = held(1.0)
    turn = turn_with(v)
    assert turn.begin()
    with turn:
        turn.results.append(np.float32(5))
        v.assign(7.0)
    assert float(v) == 7


def test_code_that_interrupts_a_run_reads_a_copy_of_the_old_value() -> None:
    v = held([1.0])
    turn = turn_with(v)
    (value,) = snapshot([v]).held
    assert turn.begin()
    with turn:
        assert v.numpy().tolist() == [1] and v.numpy() is not value.array
        with pytest.raises(RuntimeError, match="interrupted"):
            snapshot([v])
        turn.results.append(np.ones(1, np.float32) * 9)
        assert v.numpy().tolist() == [9]  # as of now, the run has succeeded
        v.assign([3.0])
    assert v.numpy().tolist() == [3]


def test_other_threads_wait_for_the_end_of_a_run() -> None:
    v = held(1.0)
    turn = turn_with(v)
    assert turn.begin()
    found: list[float] = []
    reader = threading.Thread(target=lambda: found.append(float(v)))
    with turn:
        reader.start()
        turn.results.append(np.float32(5))
    reader.join()
    assert found == [5]


def test_a_value_whose_memory_is_gone_is_named() -> None:
    v = held(1.0)
    snapshot([v]).held[0].array = None
    with pytest.raises(RuntimeError, match="value of Variable:0 was lost"):
        v.numpy()
