"""Products of matrices in native code: every dtype and layout, small and large."""

from __future__ import annotations

import doctest
import itertools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime import executors
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction
from agc.runtime.executors.llvm.lowering import gemm_packing, gemm_selection, gemm_small, matmul
from agc.runtime.kernels import blas, blas_limit, native_pool

DTYPES = (
    "float16", "float32", "float64", "complex64", "complex128", "int8", "int32", "int64", "uint8", "uint16",
)  # fmt: skip
TURNED = tuple(itertools.product((False, True), repeat=2))
TOLERANCE = {"float16": 1e-2, "float32": 1e-4, "complex64": 1e-4}


def numbers(dtype: str, *shape: int) -> np.ndarray[Any, Any]:
    random = np.random.default_rng(sum(shape))
    if np.dtype(dtype).kind in "iu":
        return random.integers(0, 100, shape).astype(dtype)
    parts = random.standard_normal(shape)
    return (parts + 1j * parts[::-1] if np.dtype(dtype).kind == "c" else parts).astype(dtype)


def check(program: Any, *arrays: np.ndarray[Any, Any]) -> None:
    """Integers are equal, bit by bit; floats are close, for they are added up in another order."""
    graph = tf.function(program).get_concrete_function(*map(tf.constant, arrays)).graph
    (wanted,) = interpret(graph, arrays)
    (found,) = JitFunction(graph).run(list(arrays))
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    if wanted.dtype.kind in "iu":
        np.testing.assert_array_equal(found, wanted)
    else:
        tolerance = TOLERANCE.get(wanted.dtype.name, 1e-12)
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def check_sizes(dtype: str, sizes: Sequence[tuple[int, int, int]], ways: Sequence[tuple[bool, bool]]) -> None:
    """Products of matrices of sizes m, n, k, all in one program; each has one of the memory layouts."""
    sums = [
        (numbers(dtype, *((k, m) if first else (m, k))), numbers(dtype, *((n, k) if second else (k, n))))
        for (m, n, k), (first, second) in zip(sizes, ways, strict=True)
    ]

    def products(*given: Any) -> Any:
        pairs = zip(given[::2], given[1::2], ways, strict=True)
        found = [tf.matmul(a, b, transpose_a=first, transpose_b=second) for a, b, (first, second) in pairs]
        return tf.concat([tf.reshape(one, [-1]) for one in found], 0)

    check(products, *itertools.chain(*sums))


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_sizes_and_layouts(dtype: str) -> None:
    """Whole tiles and what is left of them, rows and columns alone, and nothing at all."""
    sizes = ((10, 10, 10), (1, 1, 1), (3, 50, 7), (5, 1, 4), (1, 9, 4), (2, 3, 0), (0, 3, 2))
    check_sizes(dtype, sizes, [*TURNED, *TURNED][:7])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int32"])
def test_strips(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Strips that are whole, narrow, and cut at the edge; few rows and many; long rows; and more than the cache has."""
    monkeypatch.setattr(gemm_selection, "LARGE", 1)
    monkeypatch.setattr(gemm_selection, "UNPACKED", 0)
    sizes = ((1, 2, 1), (3, 70, 9), (13, 25, 17), (16, 48, 33), (9, 1030, 3), (5, 7, 1100))
    check_sizes(dtype, [size for size in sizes for _ in TURNED], TURNED * len(sizes))


@pytest.mark.parametrize("vector", [32, 64])
def test_strips_of_other_machines(vector: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has tiles as large as its registers; what this one has not, LLVM makes of what it has."""
    monkeypatch.setattr(gemm_packing, "vector_bytes", lambda: vector)
    monkeypatch.setattr(gemm_selection, "LARGE", 1)
    monkeypatch.setattr(gemm_selection, "UNPACKED", 0)
    check_sizes("float32", [(13, 25, 17)] * 4 + [(40, 70, 600)] * 4, TURNED * 2)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_rows_of_a_transpose_are_packed_in_blocks(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks and tiles that are cut at the edge, more rows than a block, long sums, one thread and several."""
    monkeypatch.setattr(gemm_selection, "UNPACKED", 0)
    sizes = ((150, 40, 300), (70, 33, 1100), (200, 100, 7), (9, 50, 600))
    for threads in (1, 3):
        monkeypatch.setattr(gemm_selection, "count_of_threads", lambda threads=threads: threads)
        check_sizes(dtype, sizes, [(True, False), (True, True), (True, False), (True, False)])


def test_threads_share_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where there are fewer tiles of rows than threads."""
    monkeypatch.setattr(gemm_selection, "LARGE", 1)
    monkeypatch.setattr(gemm_selection, "UNPACKED", 0)
    monkeypatch.setattr(gemm_selection, "SHARED", 1)
    monkeypatch.setattr(gemm_selection, "count_of_threads", lambda: 3)
    check_sizes("float32", ((30, 26, 9), (5, 8, 7), (17, 3, 20), (40, 40, 40)), TURNED)


def test_a_large_product_of_few_rows_packs_no_whole_matrix() -> None:
    """The function for all sizes packs strips; BLAS multiplies more or very few rows, and huge products."""

    def calls(m: int, n: int, k: int) -> bool:
        graph = tf.function(lambda a, b: tf.matmul(a, b, transpose_a=True)).get_concrete_function(
            tf.TensorSpec([k, m]), tf.TensorSpec([k, n])
        )
        return "@agc_product_float" in executors.llvm.text(graph.graph)

    assert calls(128, 512, 3200)
    assert not (
        blas.find(tf.float32)
        and any(itertools.starmap(calls, [(256, 512, 3200), (1, 16384, 16384), (65536, 3, 30)]))
    )
    assert not (blas.find(tf.float32) and calls(128, 16384, 16384))
    assert not (blas.find(tf.float32) and native_pool.with_blas() and calls(4, 2048, 512))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_blas_multiplies_all_sizes_and_layouts(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows and few columns, in one part and in several, with edges that parts do not divide."""
    monkeypatch.setattr(gemm_selection, "VERY_LARGE", 1)
    monkeypatch.setattr(gemm_selection, "FEW", 0)
    sizes = ((1, 2, 1), (3, 70, 9), (13, 25, 17), (16, 48, 33), (5, 7, 1100), (150, 170, 110), (20, 700, 90))
    check_sizes(dtype, [size for size in sizes for _ in TURNED], TURNED * len(sizes))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_rows_and_columns_of_all_layouts(dtype: str) -> None:
    """A row times a matrix and a matrix times a column, in one part and in several, alone and in a batch."""
    sizes = ((1, 700, 90), (700, 1, 90), (1, 5000, 300), (5000, 1, 300), (1, 1, 20_000))
    check_sizes(dtype, [size for size in sizes for _ in TURNED], TURNED * len(sizes))
    rows, matrices = numbers(dtype, 3, 2, 1, 150), numbers(dtype, 2, 150, 130)
    check(tf.matmul, rows, matrices)
    check(lambda a, b: tf.matmul(a, b, transpose_a=True, transpose_b=True), matrices, rows)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("first", "second"), TURNED)
def test_results_do_not_depend_on_the_number_of_threads(
    dtype: str, first: bool, second: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts are fixed, of one matrix and of a batch."""
    pairs = [
        (numbers(dtype, *((k, m) if first else (m, k))), numbers(dtype, *((n, k) if second else (k, n))))
        for m, n, k in ((300, 310, 320), (32, 512, 128), (1, 4000, 300), (4000, 1, 300))
    ]
    batch = numbers(dtype, 9, 70, 70)

    def products(*given: Any) -> list[Any]:
        ways = {"transpose_a": first, "transpose_b": second}
        return [tf.matmul(a, b, **ways) for a, b in zip(given[:-1:2], given[1:-1:2], strict=True)] + [
            tf.matmul(given[-1], given[-1], **ways)
        ]

    found = []
    monkeypatch.setattr(gemm_selection, "VERY_LARGE", 1)
    monkeypatch.setattr(gemm_selection, "FEW", 0)
    for threads in (1, 2, 3):
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        try:
            found.append(tf.function(products, jit_compile=True)(*itertools.chain(*pairs), batch))
        finally:
            tf.config.threading.set_intra_op_parallelism_threads(0)
    for results in zip(*found, strict=True):
        for other in results[1:]:
            np.testing.assert_array_equal(results[0], other)


def test_products_leave_the_number_of_threads_of_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Native code limits BLAS, next to kernels that do so too, and the last one restores the number."""
    switch = blas_limit._switch()
    before = None if switch is None else switch[0]()
    monkeypatch.setattr(gemm_selection, "VERY_LARGE", 1)
    monkeypatch.setattr(gemm_selection, "FEW", 0)
    x = numbers("float32", 200, 200)
    square = tf.function(lambda x: tf.matmul(x, x), jit_compile=True)
    with ThreadPoolExecutor(4) as pool:
        found = list(
            pool.map(lambda i: blas_limit.run(square, x).numpy() if i % 2 else square(x).numpy(), range(40))
        )
    for each in found:
        np.testing.assert_array_equal(each, found[0])
    assert blas_limit._limit.users == 0
    assert switch is None or switch[0]() == before


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_without_the_extension_each_product_is_one_call_of_blas(dtype: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(native_pool, "with_blas", lambda: None)
    check_sizes(dtype, [(200, 40, 60)] * 4, TURNED)
    check(tf.matmul, numbers(dtype, 2, 3, 50, 60), numbers(dtype, 3, 60, 40))

    def selected(a: Any, b: Any, mask: Any) -> Any:
        return tf.matmul(a[mask], b), tf.matmul(a[mask], a[mask], adjoint_a=True)

    native, a, b = tf.function(selected, jit_compile=True), numbers(dtype, 30, 20), numbers(dtype, 20, 10)
    for mask in (np.arange(30) % 3 == 0, np.zeros(30, bool)):
        for found, wanted in zip(native(a, b, mask), selected(tf.constant(a), b, mask), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.usefixtures("without_blas")
@pytest.mark.parametrize(("first", "second"), TURNED)
def test_without_blas_products_use_the_micro_kernel(first: bool, second: bool) -> None:
    a, b = numbers("float32", 70, 70), numbers("float32", 70, 70)
    check(lambda a, b: tf.matmul(a, b, transpose_a=first, transpose_b=second), a, b)


@pytest.mark.parametrize(
    ("dtype", "with_blas"),
    [("int32", False), ("float64", False), ("float16", False), ("float64", True), ("float32", True)],
)
def test_products_of_dynamic_size(dtype: str, with_blas: bool, request: pytest.FixtureRequest) -> None:
    """As many rows as pass a test: all, which are more than a strip has, some, and none."""
    if not with_blas:
        request.getfixturevalue("without_blas")
    a = numbers(dtype, 600, 9)

    def products(a: Any, limit: Any) -> Any:
        some = a[a[:, 0] > limit]
        inner = tf.matmul(some, some, transpose_a=True)
        row = tf.matmul(some[:, :1], some, transpose_a=True)
        return (
            tf.reduce_sum(inner),
            inner,
            row,
            tf.matmul(some, a[:20], transpose_b=True),
            tf.matmul(some, a[:9]),
        )

    graph = tf.function(products).get_concrete_function(a, a[0, 0]).graph
    native = JitFunction(graph)
    for limit in (a.min() - 1, a.mean(), a.max()):
        arguments = [a, np.asarray(limit, dtype)]
        for found, wanted in zip(native.run(arguments), interpret(graph, arguments), strict=True):
            tolerance = TOLERANCE.get(dtype, 1e-9)
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)
    assert native._plan is None


def test_numpys_blas_is_found() -> None:
    """NumPy's own wheels bring OpenBLAS; whatever is found has multiplied before it is used."""
    found = blas.find(tf.float32)
    assert found is None or (found.symbol, found.bits in (32, 64)) == ("agc_sgemm", True)
    assert blas.find(tf.int32) is None


PROGRAMS = {
    "batches": (lambda a, b: tf.matmul(a, b), (3, 1, 4, 5), (2, 5, 6)),
    "batches of the first": (lambda a, b: tf.matmul(a, b), (3, 2, 4, 5), (5, 6)),
    "batches of blas": (lambda a, b: tf.matmul(a, b), (3, 1, 40, 50), (2, 50, 60)),
    "batches of blas, broadcast in turn": (
        lambda a, b: tf.matmul(a, b, transpose_b=True),
        (2, 1, 3, 1, 30, 50),
        (4, 1, 2, 60, 50),
    ),
    "batches of blas, one matrix turned": (
        lambda a, b: tf.matmul(a, b, transpose_a=True),
        (50, 40),
        (3, 50, 60),
    ),
    "batches turned": (
        lambda a, b: tf.matmul(a, b, transpose_a=True, transpose_b=True),
        (3, 5, 4),
        (3, 6, 5),
    ),
    "matvec": (lambda a, b: tf.linalg.matvec(a, b), (3, 5, 4), (3, 4)),
    "matvec turned": (lambda a, b: tf.linalg.matvec(a, b, transpose_a=True), (5, 4), (5,)),
    "tensordot": (lambda a, b: tf.tensordot(a, b, [[0, 2], [1, 0]]), (3, 5, 4), (4, 3, 2)),
    "tensordot, one pair": (lambda a, b: tf.tensordot(a, b, 1), (3, 5, 4), (4, 3, 2)),
    "tensordot, first axes": (lambda a, b: tf.tensordot(a, b, [[0], [0]]), (5, 3), (5, 4)),
    "outer product": (lambda a, b: tf.tensordot(a, b, 0), (3, 5), (4,)),
    "with bias and activation": (lambda a, b: tf.maximum(tf.matmul(a, b) + 1, 0), (9, 5), (5, 6)),
}


@pytest.mark.parametrize("dtype", ["float64", "int32"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_kinds_of_products(name: str, dtype: str) -> None:
    program, first, second = PROGRAMS[name]
    check(program, numbers(dtype, *first), numbers(dtype, *second))


def test_examples() -> None:
    assert doctest.testmod(gemm_small).failed == doctest.testmod(matmul).failed == 0
