"""Ctrl-C ends a long loop of compiled code."""

from __future__ import annotations

import _thread
import signal
import threading
from collections.abc import Callable
from typing import Any, ClassVar

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors.llvm.codegen import interrupts
from agc.runtime.executors.llvm.lowering import gemm_selection, matmul


@pytest.mark.parametrize("calls", [1, 3], ids=["called by Python", "called without Python"])
def test_a_long_loop_can_be_interrupted(calls: int) -> None:
    @tf.function(jit_compile=True)
    def endless(n: Any) -> Any:
        while n >= 0:
            n = (n + 1) % 1000
        return n

    for _ in range(calls):
        endless(tf.constant(-1))
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        endless(tf.constant(0))


def test_a_kernel_that_is_called_can_be_interrupted() -> None:
    @tf.function(jit_compile=True)
    def shares(a: Any, rounds: Any) -> Any:
        for _ in tf.range(rounds):
            a = tf.math.betainc(a, a, a) + 1.0
        return a

    a = tf.constant([0.5, 0.6], tf.float64)
    shares(a, tf.constant(0))
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        shares(a, tf.constant(10_000_000))


def test_parallel_loops_may_follow_a_product_that_can_be_interrupted() -> None:
    """Leave the way out of the function after a loop in the function when the loop moves to a part."""

    @tf.function(jit_compile=True)
    def layers(x: Any, w: Any) -> Any:
        y = tf.nn.relu(tf.matmul(x, w))
        return tf.nn.relu(tf.matmul(y, w)), tf.nn.relu(y - 1.0)

    x = np.random.default_rng(0).standard_normal((2048, 512)).astype(np.float32)
    w = np.random.default_rng(1).standard_normal((512, 512)).astype(np.float32)
    wanted = np.maximum(x @ w, 0)
    second, shifted = layers(tf.constant(x), tf.constant(w))
    np.testing.assert_allclose(second, np.maximum(wanted @ w, 0), rtol=1e-4, atol=1e-2)
    np.testing.assert_allclose(shifted, np.maximum(wanted - 1, 0), rtol=1e-4, atol=1e-3)


#: Delays of the alarm in seconds. A fast machine may end its run before an alarm; the next ones come sooner.
DELAYS = [seconds for seconds in (0.005, 0.002, 0.001) for _ in range(5)]


def interrupted(compute: Callable[[Any], Any], x: Any, ended: tf.Variable, seconds: float) -> bool:
    """Return whether an alarm after `seconds` ends `compute(x)` before it sets `ended`."""
    ended.assign(False)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        compute(x)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        return not ended
    return False


class TestLongOperations:
    """An operation that takes long asks between its parts. The variable shows whether the run has come to its end."""

    @pytest.fixture(autouse=True)
    def often(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Parts are small, so that the tests are short."""
        for module, name, value in (
            (gemm_selection, "PATIENCE", 1 << 24),
            (gemm_selection, "_PIECE", 1 << 26),
            (gemm_selection, "_ROWS", 64),
            (matmul, "PATIENCE", 1 << 24),
            (interrupts, "PATIENCE", 1 << 24),
        ):
            monkeypatch.setattr(module, name, value)

    OPERATIONS: ClassVar[dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]]] = {
        "product": (lambda x: x @ x, (1100, 1100)),
        "transposed": (lambda x: tf.matmul(x, x, transpose_a=True), (1100, 1100)),
        "products": (lambda x: x @ x, (64, 200, 200)),
    }

    @pytest.mark.parametrize("name", OPERATIONS)
    def test_an_uninterrupted_loop_gives_the_same_result(self, name: str) -> None:
        compute, shape = self.OPERATIONS[name]
        x = tf.constant(np.random.default_rng(1).random(shape, np.float32))
        ended = tf.Variable(False)

        @tf.function(jit_compile=True)
        def long(x: Any) -> Any:
            result = compute(x)
            ended.assign(True)
            return result

        found = long(x)
        np.testing.assert_allclose(found, compute(x), 1e-4)
        ended.assign(False)
        long.get_concrete_function(x)
        before = signal.signal(signal.SIGALRM, signal.default_int_handler)
        try:
            assert any(interrupted(long, x, ended, seconds) for seconds in DELAYS)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        ended.assign(False)
        np.testing.assert_array_equal(long(x), found)
        assert ended
