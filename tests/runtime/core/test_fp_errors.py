"""Kernels run without NumPy's warnings, in memory that begins at a cache line; programs keep NumPy's settings."""

from __future__ import annotations

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.core.fp_errors import SILENCE, SILENT, begin, end
from numpy._core.multiarray import get_handler_name

aligned = pytest.mark.skipif(type(SILENCE) is not tuple, reason="the C extension was not built")


def results():
    """Yield arrays that kernels make: of an operation, of an assigned variable, and of a plan."""
    x = tf.constant(np.ones(1000, np.float32))
    v = tf.Variable(x)
    plan = tf.function(lambda x: 2 * x - x / 3, experimental_executor="plan")
    for _ in range(3):
        y = x + x
        v.assign(y * 2)
        z = plan(x)
    yield from (y._array, v._array, z._array)


@aligned
def test_results_of_kernels_begin_at_a_cache_line():
    for array in results():
        assert get_handler_name(array) == "agc_aligned"
        assert array.ctypes.data % 64 == 0


@aligned
def test_arrays_of_programs_have_the_memory_of_numpy():
    list(results())
    assert get_handler_name(np.ones(1000)) == "default_allocator"
    assert get_handler_name(tf.ones([1000]).numpy()) == "default_allocator"


@aligned
@pytest.mark.parametrize("dtype", ["int8", "float64", "V5000"])
def test_arrays_of_all_sizes_are_made_resized_and_freed(dtype):
    for count in (0, 1, 7, 64, 511, 512, 513, 70_000 // np.dtype(dtype).itemsize):
        array = SILENT.run(np.zeros, count, dtype)
        assert not any(array.tobytes())
        for size in (count + 1, 3 * count, count // 2, 0, 2):
            array.resize(size, refcheck=False)
            array[...] = np.ones(1, np.uint8).view("b")[0] if dtype != "V5000" else array
        assert array.shape == (2,)


@aligned
def test_too_large_arrays_raise_memory_errors():
    for make in (np.empty, np.zeros):
        with pytest.raises(MemoryError):
            SILENT.run(make, (1 << 59,))


def test_the_settings_end_with_a_kernel_also_after_an_error():
    with np.errstate(all="raise"):
        before = begin(SILENCE)
        np.float32(1) / np.float32(0)
        end(before)
        with pytest.raises(FloatingPointError):
            np.float32(1) / np.float32(0)
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.function(lambda x: tf.gather(x, 5), experimental_executor="plan")(tf.zeros([3]))
        with pytest.raises(FloatingPointError):
            np.float32(1) / np.float32(0)
        assert get_handler_name(np.ones(3)) == "default_allocator"
