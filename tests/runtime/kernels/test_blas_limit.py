"""BLAS uses one thread while anything limits it, and afterwards as many as before."""

from __future__ import annotations

import threading

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import Plan
from agc.runtime.kernels import blas_limit


def record(monkeypatch: pytest.MonkeyPatch, threads: list[int]) -> None:
    """Append each number of threads to the list instead of setting it."""
    monkeypatch.setattr(blas_limit, "_limit", blas_limit._Limit())  # one that native code does not share
    monkeypatch.setattr(blas_limit, "_switch", lambda: (lambda: threads[-1], threads.append))


def test_the_number_of_threads_is_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore the setting when the last user of the limit ends, even with an exception."""
    threads = [4]
    record(monkeypatch, threads)

    def fails() -> None:
        assert threads == [4, 1]
        raise KeyError

    def outer() -> None:
        with pytest.raises(KeyError):
            blas_limit.run(fails)
        assert threads == [4, 1]

    blas_limit.run(outer)
    assert threads == [4, 1, 4]


@pytest.mark.parametrize("count", [1, 2])
def test_any_number_of_parts_uses_one_thread_each(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    threads, seen = [4], []
    record(monkeypatch, threads)
    blas_limit.run_parts(*[lambda: seen.append(threads[-1])] * count)
    assert seen == [1] * count and threads == [4, 1, 4]


def test_numpys_openblas_is_found() -> None:
    """Where it is the one in NumPy's wheels."""
    switch = blas_limit._switch()
    assert switch is None or switch[0]() >= 1


def test_threads_that_overlap_in_any_order_share_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first to come sets it, the last to go takes it back, though another one came first."""
    numbers = [4]
    record(monkeypatch, numbers)
    inside, leave = threading.Barrier(3), [threading.Event(), threading.Event()]

    def wait(number: int) -> None:
        inside.wait(10)
        assert leave[number].wait(10)

    threads = [threading.Thread(target=blas_limit.run, args=(wait, number)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    inside.wait(10)
    for thread, event in zip(threads, leave, strict=True):
        assert numbers == [4, 1]
        event.set()
        thread.join(10)
    assert numbers == [4, 1, 4]


def test_convolutions_run_in_parts_with_one_thread_each(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = [4]
    record(monkeypatch, threads)
    random = np.random.default_rng(1)
    x, w = random.standard_normal((40, 16, 16, 8)), random.standard_normal((5, 5, 8, 16))
    y = tf.nn.conv2d(x, w, 1, "SAME").numpy()
    assert threads == [4, 1, 4]
    graph = tf.function(lambda x, w: tf.nn.conv2d(x, w, 1, "SAME")).get_concrete_function(x, w).graph
    plan = Plan(graph)
    np.testing.assert_array_equal(plan.run([x, w])[0], y)
    assert threads == [4, 1, 4, 1, 4]
    parts = [tf.nn.conv2d(x[i : i + 1], w, 1, "SAME").numpy() for i in range(40)]
    np.testing.assert_allclose(np.concatenate(parts), y, rtol=1e-12, atol=1e-12)


LINEAR_ALGEBRA = {
    "cholesky": tf.linalg.cholesky,
    "det": tf.linalg.det,
    "eig": tf.linalg.eig,
    "eigh": tf.linalg.eigh,
    "expm": tf.linalg.expm,
    "inv": tf.linalg.inv,
    "logm": lambda x: tf.linalg.logm(tf.cast(x, tf.complex128)),
    "norm": lambda x: tf.norm(x, 2, axis=(0, 1)),
    "pinv": tf.linalg.pinv,
    "qr": tf.linalg.qr,
    "slogdet": tf.linalg.slogdet,
    "solve": lambda x: tf.linalg.solve(x, x),
    "sqrtm": tf.linalg.sqrtm,
    "svd": tf.linalg.svd,
    "triangular_solve": lambda x: tf.linalg.triangular_solve(x, x),
}


@pytest.mark.parametrize("name", LINEAR_ALGEBRA)
def test_linear_algebra_uses_one_thread(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = [4]
    record(monkeypatch, threads)
    LINEAR_ALGEBRA[name](tf.constant([[2.0, 0.5], [0.5, 3.0]], tf.float64))
    assert threads == [4, 1, 4]


def test_the_gradient_of_a_filter_does_not_depend_on_the_number_of_threads() -> None:
    random = np.random.default_rng(1)
    x, dy = random.standard_normal((40, 16, 16, 8)), random.standard_normal((40, 16, 16, 16))
    found = []
    for threads in (1, 2):
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
        try:
            found.append(tf.raw_ops.Conv2DBackpropFilter(
                input=x, filter_sizes=[5, 5, 8, 16], out_backprop=dy, strides=[1, 1, 1, 1], padding="SAME"
            ).numpy())  # fmt: skip
        finally:
            tf.config.threading.set_intra_op_parallelism_threads(0)
            tf.config.threading.set_inter_op_parallelism_threads(0)
    np.testing.assert_array_equal(*found)
    wide = np.pad(x, [(0, 0), (2, 2), (2, 2), (0, 0)])
    wanted = np.einsum("nhwi,nhwo->io", wide[:, 1:17, 3:19], dy)
    np.testing.assert_allclose(found[0][1, 3], wanted, rtol=1e-9, atol=1e-9)
