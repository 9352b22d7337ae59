"""A tape keeps the same records with and without the C extension."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import agc.runtime as tf
import pytest
from agc.runtime.autodiff import tape_recording as tapes
from agc.runtime.autodiff.tape_records import Pullback, Record
from agc.runtime.core.tensor import EagerTensor
from agc.runtime.core.variable import Variable

pytestmark = pytest.mark.skipif(tapes.native is None, reason="the C extension is switched off")


def kept(inputs: list[Any], outputs: list[Any], watched: list[Any]) -> tuple[int, list[bool], int]:
    """Return the number of records that a tape keeps, which outputs it tracks, and how many variables it watches."""
    with tf.GradientTape() as tape:
        tape.watch(watched)
        tape.keep(Pullback(inputs, outputs, lambda grads, wanted: grads))
    assert tape._records is not None
    return len(tape._records), [id(y) in tape._tracked for y in outputs], len(tape.watched_variables())


def cases() -> list[tuple[list[Any], list[Any], list[Any]]]:
    x, y = EagerTensor(tf.constant(1.0)._array), EagerTensor(tf.constant(2.0)._array)
    number = tf.constant(3)
    variable, fixed = tf.Variable(1.0), tf.Variable(1.0, trainable=False)
    return [
        ([x], [y], [x]),
        ([x], [y], []),
        ([y, x], [number, y], [x]),
        ([variable], [y], []),
        ([fixed, number], [y], []),
        ([], [y], [x]),
    ]


def test_records_with_gradient_functions_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    by_c = [kept(*case) for case in cases()]
    monkeypatch.setattr(tapes, "keep_fast", None)
    assert by_c == [kept(*case) for case in cases()]
    assert by_c[:5] == [
        (1, [True], 0),
        (0, [False], 0),
        (1, [False, True], 0),
        (1, [True], 1),
        (0, [False], 0),
    ]


def test_python_keeps_records_of_other_tapes_and_tensors() -> None:
    x, y = tf.constant(1.0), tf.constant(2.0)
    record = Pullback([x], [object()], lambda grads, wanted: grads)
    with tf.GradientTape() as tape:
        tape.watch(x)
        assert not tapes.native.tape_keep(tape, record)
        record.outputs = [y]
        assert tapes.native.tape_keep(tape, record)
        with pytest.raises(TypeError, match="tape_keep"):
            tapes.native.tape_keep(x, record)

    @tf.function
    def traced(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            assert not tapes.native.tape_keep(tape, record)
        return x

    traced(x)


def test_the_record_of_a_call_has_the_line_of_user_code() -> None:
    @tf.custom_gradient
    def halved(x: Any) -> Any:
        return tf.identity(x), lambda dy: dy * 0.5

    variable: Variable = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        halved(variable)
    records: list[Record] = tape._records or []
    origin = records[-1].origin
    assert origin is not None and origin.function == "test_the_record_of_a_call_has_the_line_of_user_code"


@pytest.mark.parametrize("holder", ["the variable", "a result"])
def test_cycles_with_tapes_are_freed(holder: str) -> None:
    """Tensors may have attributes, and the result of `v[0]` refers to `v`: the collector has to visit them."""
    v = tf.Variable([3.0, 1.0])
    for _ in range(3):  # calls are kept when they come again
        with tf.GradientTape() as tape:
            part = v[0]
            y = part * part
    (v if holder == "the variable" else y).tape = tape
    seen = weakref.ref(tape)
    del v, tape, part, y
    gc.collect()
    assert seen() is None


def test_a_tape_records_operations_of_its_thread_outside_of_graphs() -> None:
    x = tf.constant(2.0)
    others: list[Any] = []
    with tf.GradientTape() as tape:
        tape.watch(x)
        for _ in range(3):
            y = x * x
            thread = threading.Thread(target=lambda: others.append(x * x))
            thread.start()
            thread.join()
            z = x * x
            with tf.Graph().as_default():
                others.append(x * x)
            with tape.stop_recording():
                others.append(x * x)
    assert len(tape._records or []) == 6
    assert tape.gradient([y, z], x).numpy() == 8.0
    assert [type(other) is EagerTensor for other in others] == [True, False, True] * 3


def test_operations_are_observed_from_one_call_to_the_next() -> None:
    x = tf.constant(0.0)
    with tf.GradientTape():
        for _ in range(3):
            assert tf.math.is_nan(x / x)
            tf.debugging.enable_check_numerics()
            try:
                with pytest.raises(tf.errors.InvalidArgumentError, match="Detected"):
                    x / x
            finally:
                tf.debugging.disable_check_numerics()
