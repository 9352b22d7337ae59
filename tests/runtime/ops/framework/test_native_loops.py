"""Threads share the loops of NumPy's functions on large tensors, and give what one thread gives."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.kernels import native_pool
from agc.runtime.ops.framework import eager_calls

native = eager_calls.native
pytestmark = pytest.mark.skipif(
    native is None or native_pool.extension() is None, reason="the C extensions were not built"
)

Part = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
SIZE = 70_001
"""Elements of a tensor of which the last chunk is short."""


@pytest.fixture
def shared() -> Iterator[list[tuple[int, int]]]:
    """Return the numbers of threads for loops, and whether sleeping ones join; the parts run backwards."""
    found: list[tuple[int, int]] = []

    @ctypes.CFUNCTYPE(None, Part, ctypes.c_void_p, *[ctypes.c_int64] * 3)
    def run_parts(part: Callable[..., None], around: Any, rounds: int, threads: int, wakes: int) -> None:
        found.append((threads, wakes))
        for number in reversed(range(rounds)):
            part(around, number, number + 1)

    native.register(pool=lambda: (ctypes.cast(run_parts, ctypes.c_void_p).value, 3))
    yield found
    native.register(pool=eager_calls._pool)


OPERATIONS = {
    "add": lambda x: x + x,
    "a number": lambda x: 3 - x,
    "multiply": lambda x: x * x,
    "divide": lambda x: x / x,
}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_parts_of_a_loop_make_the_whole(name: str, dtype: str, shared: list[Any]) -> None:
    x = (np.arange(SIZE) % 100 + 1).astype(dtype)
    OPERATIONS[name](tf.constant(x))  # is checked
    shared.clear()
    found, wanted = OPERATIONS[name](tf.constant(x)), OPERATIONS[name](x)
    np.testing.assert_array_equal(found, wanted)
    assert shared == [(3, x.nbytes >= 1 << 19)]


def test_updates_are_shared_and_small_loops_are_not(shared: list[Any]) -> None:
    v, ones, few = tf.Variable(np.arange(SIZE, dtype=np.float32)), tf.ones([SIZE]), tf.ones([1_000])
    v.assign_sub(ones)
    few + few
    shared.clear()
    before = v._array.ctypes.data
    v.assign_sub(ones)
    assert (v._array.ctypes.data, shared) == (before, [(3, 0)])
    np.testing.assert_array_equal(v, np.arange(SIZE, dtype=np.float32) - 2)
    few + few
    assert len(shared) == 1


def test_the_number_of_threads_is_that_of_the_settings() -> None:
    x = np.arange(1 << 18, dtype=np.float32)
    try:
        for threads in (1, 2, 5):
            tf.config.threading.set_intra_op_parallelism_threads(threads)
            assert eager_calls._pool() == (native_pool.addresses()["run_parts"], threads)
            np.testing.assert_array_equal(tf.constant(x) * 2.0 + x, x * 3)
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(0)


def test_an_error_of_the_settings_is_raised() -> None:
    def fail() -> Any:
        raise RuntimeError("no settings")

    x, v = tf.ones([SIZE]), tf.Variable(tf.ones([SIZE]))
    v.assign_add(x + x)
    native.register(pool=fail)
    try:
        for run in (lambda: x + x, lambda: v.assign_add(x)):
            with pytest.raises(RuntimeError, match="no settings"):
                run()
    finally:
        native.register(pool=eager_calls._pool)
    np.testing.assert_array_equal(v.assign_add(x), np.full(SIZE, 4.0))
