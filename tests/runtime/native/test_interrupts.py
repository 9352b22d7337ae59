"""Ctrl-C ends a long loop of compiled code."""

from __future__ import annotations

import _thread
import threading
from typing import Any

import agc.runtime as tf
import pytest


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
