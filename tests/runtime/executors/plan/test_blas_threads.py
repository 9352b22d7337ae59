"""Plans whose products of matrices are all small run them in one thread."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import Plan
from agc.runtime.executors.plan import blas_threads
from agc.runtime.ir.parser import parse
from agc.runtime.kernels import blas_limit
from agc.runtime.ops.framework.op import REGISTRY


def product(rows: str, inner: str, columns: str) -> str:
    return f"""\
graph f(x: float32[{rows}, {inner}], y: float32[{inner}, {columns}]) -> float32[{rows}, {columns}]
  z = matmul x, y                               : float32[{rows}, {columns}]
  return z
"""


@pytest.mark.parametrize(
    ("sizes", "wanted"),
    [
        (("8", "8", "8"), False),  # which OpenBLAS leaves to one thread anyway
        (("32", "128", "128"), True),
        (("512", "512", "512"), False),
        (("?", "128", "128"), False),
    ],
)
def test_plans_with_small_products_use_one_thread(sizes: tuple[str, str, str], wanted: bool) -> None:
    assert blas_threads.wants_one_thread(parse(product(*sizes))) is wanted


@pytest.mark.parametrize(
    ("size", "wanted"),
    [
        (4, False),
        (16, True),
        (128, False),
        (None, False),
    ],  # 10 thousand multiplications, half a million, 300 million
)
def test_plans_with_small_convolutions_use_one_thread(size: int | None, wanted: bool) -> None:
    def convolution(x: tf.Tensor, filter: tf.Tensor) -> list[tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch([x, filter])
            y = tf.nn.conv2d(x, filter, 1, "SAME")
        return tape.gradient(y, [x, filter])

    given = [tf.TensorSpec((4, size, size, 8)), tf.TensorSpec((3, 3, 8, 8))]
    for function in (lambda x, filter: tf.nn.conv2d(x, filter, 1, "SAME"), convolution):
        graph = tf.function(function).get_concrete_function(*given).graph
        assert blas_threads.wants_one_thread(graph) is wanted


PRODUCTS = {
    "tf.matmul(a, b)": ([(16, 32), (32, 8)], 4096),
    "tf.matmul(a, b, transpose_a=True)": ([(5, 32, 16), (5, 32, 8)], 4096),  # of each pair of matrices
    "tf.matmul(a, b, name='rows')": ([(4, 4, 32), (32, 8)], 4096),  # of all rows of the batch
    "tf.linalg.matvec(a, b)": ([(16, 32), (32,)], 512),
    "tf.tensordot(a, b, 1)": ([(4, 4, 32), (32, 8)], 4096),
    "tf.tensordot(a, b, [[0, 2], [1, 0]])": ([(4, 16, 8), (8, 4, 8)], 4096),
    "tf.einsum('abc,cd->abd', a, b)": ([(4, 4, 32), (32, 8)], 4096),
    "tf.nn.conv2d(a, b, 1, 'SAME')": ([(2, 4, 4, 8), (2, 2, 8, 4)], 4096),
}
"""Products, the shapes of their factors, and how many multiplications they take."""


@pytest.mark.parametrize("text", PRODUCTS)
def test_multiplications_of_products_and_gradients_are_counted(text: str) -> None:
    def f(a: tf.Tensor, b: tf.Tensor) -> list[tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch([a, b])
            y = eval(text, {"tf": tf, "a": a, "b": b})
        return tape.gradient(y, [a, b], output_gradients=y)

    shapes, count = PRODUCTS[text]
    graph = tf.function(f).get_concrete_function(*map(tf.TensorSpec, shapes)).graph
    products = [each for each in graph.walk() if each.op.multiplications is not None]
    assert len(products) > 1
    assert {blas_threads._multiplications(each) for each in products} == {count}


def test_every_product_uses_blas() -> None:
    graphs = [
        tf.function(lambda a, b, text=text: eval(text))
        .get_concrete_function(*map(tf.TensorSpec, shapes))
        .graph
        for text, (shapes, _) in PRODUCTS.items()
    ]
    assert {name for name, op in REGISTRY.items() if op.multiplications is not None} - {
        "tensordot_back",
        "conv_backprop_input",
        "conv_backprop_filter",
    } == {each.op.name for graph in graphs for each in graph.walk() if each.op.multiplications is not None}


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
            blas_limit.with_one_thread(fails)()
        assert threads == [4, 1]

    blas_limit.with_one_thread(outer)()
    assert threads == [4, 1, 4]


TWO = """\
graph f(x: float32[32, 512], y: float32[512, 2048], z: float32[2048, 8]) -> float32[32, 8]
  a = matmul x, y                               : float32[32, 2048]
  b = matmul a, z                               : float32[32, 8]
  return b
"""


def test_a_large_product_in_a_small_plan_is_split(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads = [4]
    record(monkeypatch, threads)
    plan = Plan(parse(TWO))
    assert plan.source.splitlines()[1:4] == [
        "    a = op_matmul_in_parts(x, y)",
        "    b = a @ z",
        "    del a",
    ]
    x, y, z = (np.ones(shape, np.float32) for shape in ((32, 512), (512, 2048), (2048, 8)))
    assert plan.run([x, y, z])[0].tolist() == np.full((32, 8), 512.0 * 2048).tolist()
    assert threads == [4, 1, 4]


def test_the_rows_of_a_batch_are_split(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = [4]
    record(monkeypatch, threads)
    random = np.random.default_rng(1)
    a, b = random.standard_normal((6, 80, 300)), random.standard_normal((200, 300))
    with_small = tf.function(lambda a, b: tf.matmul(tf.matmul(a, b, transpose_b=True), b[:, :20]))
    plan = Plan(with_small.get_concrete_function(a, b).graph)
    assert "op_matmul_in_parts" in plan.source
    np.testing.assert_allclose(plan.run([a, b])[0], a @ b.T @ b[:, :20], rtol=1e-12, atol=1e-9)
    assert threads == [4, 1, 4]
    for out in (np.empty((6, 80, 200)), np.empty((200, 80, 6)).T):  # contiguous, or not
        found = blas_limit.with_one_thread(blas_threads.in_parts)(a, b.T, out)
        np.testing.assert_allclose(found, a @ b.T, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("turned", [False, True])
def test_a_product_in_parts_does_not_depend_on_the_number_of_threads(turned: bool) -> None:
    random = np.random.default_rng(1)
    left, right = random.standard_normal((2, 301, 301))  # three parts
    left = left.T if turned else left
    found = []
    for threads in (1, 2):
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        try:
            found.append(blas_limit.with_one_thread(blas_threads.in_parts)(left, right))
        finally:
            tf.config.threading.set_intra_op_parallelism_threads(0)
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0], left @ right, rtol=1e-12, atol=1e-12)


def test_plans_run_without_openblas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas_limit, "_switch", lambda: None)
    plan = Plan(parse(product("32", "128", "128")))
    found = plan.run([np.ones((32, 128), np.float32), np.ones((128, 128), np.float32)])
    assert found[0].tolist() == np.full((32, 128), 128.0).tolist()


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

    threads = [threading.Thread(target=blas_limit.with_one_thread(wait), args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    inside.wait(10)
    for thread, event in zip(threads, leave, strict=True):
        assert numbers == [4, 1]
        event.set()
        thread.join(10)
    assert numbers == [4, 1, 4]


def test_concurrent_plans_restore_the_number_of_threads() -> None:
    switch = blas_limit._switch()
    before = None if switch is None else switch[0]()
    plan = Plan(parse(product("32", "128", "128")))
    given = [np.ones((32, 128), np.float32), np.ones((128, 128), np.float32)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: plan.run(given)[0][0, 0], range(64)))
    assert found == [128.0] * 64
    assert switch is None or switch[0]() == before


def test_convolutions_run_in_parts_with_one_thread_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eagerly they set the limit themselves, in a plan the whole graph has it."""
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
