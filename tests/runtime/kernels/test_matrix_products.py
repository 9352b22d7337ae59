"""Matrix products of kernels: NumPy's results, computed in parts by threads that do not busy-wait."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import Plan
from agc.runtime.kernels import blas_limit, matrix_products
from agc.runtime.kernels.matrix_products import contract, multiply

needs_extension = pytest.mark.skipif(matrix_products._native() is None, reason="the extension was not built")


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    """Return small whole numbers, whose products are exact."""
    return np.random.default_rng(sum(shape)).integers(-3, 4, shape).astype(dtype)


def padded(x: Any) -> Any:
    wide = np.zeros((*x.shape[:-1], x.shape[-1] + 3), x.dtype)
    wide[..., 1:-2] = x
    return wide[..., 1:-2]


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "contiguous": lambda x: x,
    "transposed": lambda x: np.ascontiguousarray(x.mT).mT,
    "rows of a wider matrix": padded,
    "every second row": lambda x: np.repeat(x, 2, -2)[..., ::2, :],
    "every second column": lambda x: np.repeat(x, 2, -1)[..., ::2],
    "rows in reverse": lambda x: x[..., ::-1, :].copy()[..., ::-1, :],
    "batch axes last": lambda x: np.moveaxis(np.moveaxis(x, 0, -2).copy(), -2, 0),
    "swapped bytes": lambda x: x.astype(x.dtype.newbyteorder()),
}


@pytest.fixture
def everything_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix_products, "_SHARED", 0)


@pytest.mark.usefixtures("everything_is_shared")
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex64"])
def test_products_of_all_layouts(dtype: str) -> None:
    sizes = [(5, 7, 9), (1, 7, 9), (5, 1, 1), (70, 33, 50), (0, 3, 2), (3, 0, 2)]
    batches = [((), ()), ((3,), ()), ((2, 3), ()), ((2, 3), (2, 3)), ((3,), (2, 1)), ((2, 1, 2, 2), (2,))]
    for (first, second), (m, k, n) in itertools.product(batches, sizes):
        a, b = numbers(*first, m, k, dtype=dtype), numbers(*second, k, n, dtype=dtype)
        wanted = np.matmul(a, b)
        for one, other in itertools.product(LAYOUTS.values(), LAYOUTS.values()):
            if not a.size * b.size and one is not other:
                continue
            found = multiply(one(a), other(b))
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.usefixtures("everything_is_shared")
def test_products_are_written_to_an_array() -> None:
    a, b = numbers(3, 40, 50), numbers(50, 60)
    for out in (
        np.empty((3, 40, 60), np.float32),
        np.empty((60, 40, 3), np.float32).T,
        np.empty((3, 40, 60)),
    ):
        assert multiply(a, b, out) is out
        np.testing.assert_array_equal(out, a @ b)
    square = numbers(64, 64)
    wanted = square @ square
    np.testing.assert_array_equal(multiply(square, square, square), wanted)


@pytest.mark.usefixtures("everything_is_shared")
def test_shapes_that_do_not_fit_are_refused() -> None:
    for first, second in [((3, 4), (5, 6)), ((2, 3, 4), (3, 4, 5)), ((3,), (4, 5))]:
        with pytest.raises(ValueError, match=r"mismatch|broadcast"):
            multiply(np.ones(first, np.float32), np.ones(second, np.float32))
    with pytest.raises(ValueError, match="mismatch"):
        contract(np.ones((2, 3)), np.ones((3, 2)), [0, 1], [0, 1])


@needs_extension
@pytest.mark.parametrize("turned", [False, True])
def test_products_do_not_depend_on_the_number_of_threads(turned: bool) -> None:
    random = np.random.default_rng(1)
    left, right = random.standard_normal((2, 301, 301))
    left = left.T if turned else left
    found = []
    for threads in (1, 2, 3):
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        try:
            found.append(multiply(left, right))
        finally:
            tf.config.threading.set_intra_op_parallelism_threads(0)
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])
    np.testing.assert_allclose(found[0], left @ right, rtol=1e-12, atol=1e-12)


@needs_extension
def test_eager_products_are_those_of_native_code() -> None:
    """They have the same parts, and so the same last bits."""
    pytest.importorskip("llvmlite")
    random = np.random.default_rng(1)
    for shapes in [((600, 500), (500, 700)), ((8, 4, 128, 32), (8, 4, 32, 128))]:
        a, b = (random.standard_normal(shape, np.float32) for shape in shapes)
        native = tf.function(tf.matmul, jit_compile=True)
        np.testing.assert_array_equal(native(tf.constant(a), tf.constant(b)), tf.matmul(a, b))


@needs_extension
def test_products_of_several_threads() -> None:
    a, b = numbers(200, 300), numbers(300, 150)
    wanted = a @ b
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(lambda _: np.array_equal(multiply(a, b), wanted), range(40)))
    assert not blas_limit._limit.users


FORKS = """
import os
import numpy as np
from agc.runtime.kernels.matrix_products import multiply

a, b = np.ones((200, 300), np.float32), np.ones((300, 150), np.float32)
for _ in range(3):
    assert (multiply(a, b) == 300).all()
    child = os.fork()
    if not child:
        os._exit(not (multiply(a, b) == 300).all())
    assert os.waitpid(child, 0)[1] == 0
"""


FORKS_NEXT_TO_THREADS = """
import os, threading
import numpy as np
from agc.runtime.kernels.matrix_products import multiply

a, b = np.ones((200, 300), np.float32), np.ones((300, 150), np.float32)
done = threading.Event()

def work():
    while not done.is_set():
        multiply(a, b)

workers = [threading.Thread(target=work) for _ in range(3)]
for each in workers:
    each.start()
wrong = 0
for _ in range(60):
    child = os.fork()
    if not child:
        os._exit(not (multiply(a, b) == 300).all())
    wrong += os.waitpid(child, 0)[1] != 0
done.set()
for each in workers:
    each.join()
assert not wrong
"""


@needs_extension
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
@pytest.mark.parametrize("program", [FORKS, FORKS_NEXT_TO_THREADS])
def test_products_of_forked_processes(program: str) -> None:
    """A thread that sets the number of BLAS's threads holds a lock, which a child would wait for."""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (run.returncode, run.stderr) == (0, "")


def test_products_without_the_extension(monkeypatch: pytest.MonkeyPatch) -> None:
    """BLAS uses one thread for products that its threads would save little, and all threads for large ones."""
    limits = []
    monkeypatch.setattr(matrix_products, "_native", lambda: None)
    monkeypatch.setattr(
        blas_limit, "run", lambda function, *given: limits.append(function) or function(*given)
    )
    for size, count in ((16, 0), (100, 1), (300, 1)):
        a = numbers(size, size)
        np.testing.assert_array_equal(multiply(a, a), a @ a)
        assert len(limits) == count


@pytest.mark.parametrize(
    ("first", "second", "axes"),
    [
        ((4, 5, 60), (60, 70), ([2], [0])),
        ((4, 60, 5), (5, 3, 60), ([1, 2], [2, 0])),
        ((3, 4), (3, 4), ([0, 1], [0, 1])),
        ((3, 4), (5,), ([], [])),
        ((0, 4), (4, 2), ([1], [0])),
    ],
)
def test_contractions(first: Any, second: Any, axes: Any) -> None:
    a, b = numbers(*first), numbers(*second)
    np.testing.assert_array_equal(contract(a, b, *axes), np.tensordot(a, b, axes))


@pytest.mark.usefixtures("everything_is_shared")
@pytest.mark.parametrize(
    "text",
    ["tf.matmul(a, b)", "tf.matmul(b, a, transpose_a=True, transpose_b=True)", "tf.tensordot(a, b, 1)",
     "tf.einsum('ij,jk->ik', a, b)"],
)  # fmt: skip
def test_each_operation_uses_these_products(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Plans call the function for sizes that are unknown, or large."""
    calls = []
    native = matrix_products._native
    monkeypatch.setattr(matrix_products, "_native", lambda: calls.append(text) or native())
    a, b = numbers(40, 50), numbers(50, 60)
    program = eval(f"lambda a, b: {text}", {"tf": tf})
    wanted = (a @ b).T if "transpose_a" in text else a @ b
    np.testing.assert_array_equal(program(tf.constant(a), tf.constant(b)), wanted)
    assert len(calls) == 1
    for shape in (None, 50):
        specs = [tf.TensorSpec([40, shape]), tf.TensorSpec([shape, 60])]
        graph = tf.function(program).get_concrete_function(*specs).graph
        np.testing.assert_array_equal(Plan(graph).run([a, b])[0], wanted)
    assert len(calls) == 3


def test_products_of_other_dtypes_are_those_of_numpy() -> None:
    """BLAS computes them in wider floats, integers only where these are exact."""
    numbers = np.random.default_rng(0)
    for dtype, largest in [
        ("int32", 50),
        ("int32", 1 << 20),
        ("int64", 1 << 40),
        ("uint8", 255),
        ("int8", 100),
    ]:
        a = numbers.integers(-largest if dtype[0] == "i" else 0, largest, (70, 80)).astype(dtype)
        np.testing.assert_array_equal(matrix_products.multiply(a, a.T), a @ a.T)
    half = numbers.standard_normal((70, 80)).astype(np.float16)
    found = matrix_products.multiply(half, half.T)
    assert found.dtype == np.float16
    np.testing.assert_allclose(found, half @ half.T, rtol=1e-2, atol=1e-2)
