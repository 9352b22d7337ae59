"""Units on disk: what another process has compiled is loaded without lowering, and runs as if it had been lowered."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import run
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import EXECUTORS
from agc.runtime.executors.llvm import compile_graph, first_call_check, lowering_key, tiering, unit_cache
from agc.runtime.executors.llvm.graph_text import graph_text
from support.compiled_at_once import compile_at_once

key = unit_cache.key  # before a fixture turns it off


@pytest.fixture(autouse=True)
def lowered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The names of the graphs that were lowered, and not found in the cache, which is empty in the beginning."""
    names: list[str] = []
    lower = compile_graph._unit

    def recorded(graph: Any, *arguments: Any) -> Any:
        names.append(graph.name)
        return lower(graph, *arguments)

    monkeypatch.setenv("AGC_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compile_graph, "_unit", recorded)
    monkeypatch.setattr(unit_cache, "key", key)
    return names


def twice(program: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Return the results of two functions of one program, of which the second may find the code of the first."""
    return [tf.function(program, jit_compile=True)(*arguments) for _ in range(2)]


def scaled(x: Any) -> Any:
    return tf.sqrt(x) * 2.0


def test_a_second_function_is_not_lowered(lowered: list[str]) -> None:
    first, second = twice(scaled, tf.constant([1.0, 2.0]))
    assert first.numpy().tobytes() == second.numpy().tobytes()
    assert lowered == ["scaled"]


def test_a_graph_has_no_key_without_a_cache(lowered: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGC_CACHE", "0")
    monkeypatch.setattr(unit_cache, "graph_text", None)  # it would take long
    twice(scaled, tf.constant([1.0, 2.0]))
    assert lowered == ["scaled", "scaled"]


def test_lines_of_the_program_do_not_matter(lowered: list[str]) -> None:
    for lines in ("", "\n\n"):
        names: dict[str, Any] = {"tf": tf}
        exec(f"{lines}def doubled(x):\n    return x + x\n", names)
        tf.function(names["doubled"], jit_compile=True, autograph=False)(tf.constant([1.0, 2.0]))
    assert lowered == ["doubled"]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(lambda x: tf.sqrt(x) * 3.0, id="constant"),
        pytest.param(lambda x: tf.sqrt(x) * -0.0, id="sign"),
        pytest.param(lambda x: tf.sqrt(x) + 2.0, id="operation"),
        pytest.param(lambda x: tf.cast(tf.sqrt(x) * 2.0, tf.float64), id="dtype"),
        pytest.param(lambda x: (tf.sqrt(x) * 2.0)[None], id="shape"),
    ],
)
def test_another_graph_has_code_of_its_own(lowered: list[str], other: Callable[..., Any]) -> None:
    x = tf.constant([1.0, 4.0])
    tf.function(scaled, jit_compile=True)(x)
    found = tf.function(other, jit_compile=True)(x)
    np.testing.assert_array_equal(found, other(x))
    assert len(lowered) == 2


def test_names_of_values_do_not_matter(lowered: list[str]) -> None:
    def squared(x: Any, names: str) -> Any:
        return tf.add(tf.square(x, name=names[0]), x, name=names[1])

    for names in ("ab", "cd"):
        tf.function(squared, jit_compile=True)(tf.constant([1.0, 2.0]), names)
    assert lowered == ["squared"]


@pytest.mark.parametrize("count", [10, 1000])
def test_equal_operations_are_described_once(count: int) -> None:
    graph = tf.function(lambda x: functools.reduce(lambda y, _: y * x, range(count), x))
    found = graph.get_concrete_function(tf.constant(1.0)).graph
    assert len(graph_text(found, 1 << 20)) < 200


def test_the_order_of_operands_matters(lowered: list[str]) -> None:
    x, y = tf.constant(3.0), tf.constant(1.0)
    for function, wanted in ((lambda x, y: x - y, 2.0), (lambda x, y: y - x, -2.0)):
        assert tf.function(function, jit_compile=True)(x, y).numpy() == wanted
    assert len(lowered) == 2


def test_attributes_matter(lowered: list[str]) -> None:
    x = tf.constant([[1.0, 2.0], [4.0, 8.0]])
    sums = [tf.function(lambda x, i=i: tf.cumsum(x, i), jit_compile=True)(x) for i in (0, 1)]
    np.testing.assert_array_equal(sums[0], [[1.0, 2.0], [5.0, 10.0]])
    np.testing.assert_array_equal(sums[1], [[1.0, 3.0], [4.0, 12.0]])
    assert len(lowered) == 2


@pytest.mark.parametrize("count", [100, 1000, 1_000_000])
def test_constants_are_kept_up_to_a_size(lowered: list[str], count: int) -> None:
    table = np.arange(count, dtype=np.float32)
    first, second = twice(lambda x: x + table, tf.ones([count]))
    np.testing.assert_array_equal(first, table + 1)
    np.testing.assert_array_equal(second, table + 1)
    assert len(lowered) == (2 if table.nbytes > unit_cache._LARGEST else 1)


PRODUCTS = """
import sys
import agc.runtime as tf, numpy as np
from agc.runtime.executors.llvm import compile_graph

lower = compile_graph._unit
compile_graph._unit = lambda *arguments: (print("lowered"), lower(*arguments))[1]

@tf.function(jit_compile=True)
def products(a, b):
    whole = [tf.cast(x, tf.int32) for x in (a, b)]
    return tf.matmul(a, b), tf.matmul(*whole, transpose_b=True)

for result in products(*np.random.RandomState(0).randn(2, 96, 96).astype(np.float32)):
    print(result.numpy().tobytes().hex())
for part in ("optimize", "executors.llvm.compilation_unit", "ops.random.stateful", "ops.math.special"):
    if f"agc.runtime.{part}" in sys.modules:
        print("loaded", part)
"""


def test_another_process_finds_the_functions_for_products() -> None:
    found = [
        run([sys.executable, "-c", PRODUCTS], capture_output=True, text=True, check=True) for _ in range(2)
    ]
    first, second = (each.stdout.splitlines() for each in found)
    assert first == ["lowered", *second, "loaded optimize", "loaded executors.llvm.compilation_unit"]


def test_variables_are_overwritten_as_before(lowered: list[str]) -> None:
    def trained() -> Any:
        weights, steps = tf.Variable(tf.ones([200, 200])), tf.Variable(0)

        @tf.function(jit_compile=True)
        def step(x: Any) -> Any:
            weights.assign_sub(weights * x)
            steps.assign_add(1)
            return tf.reduce_sum(weights)

        sums = [step(tf.constant(0.25)).numpy() for _ in range(3)]
        return sums, weights.numpy().tobytes(), steps.numpy()

    assert trained() == trained()
    assert lowered == ["step"]


def test_a_failed_check_is_reported_with_its_line(lowered: list[str]) -> None:
    def checked(x: Any) -> Any:
        tf.debugging.assert_positive(x)
        return x * 2

    twice(checked, tf.constant([1, 2]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Condition x > 0[^\0]*in checked"):
        tf.function(checked, jit_compile=True)(tf.constant([1, -2]))
    assert lowered == ["checked"]


def test_loops_and_lists(lowered: list[str]) -> None:
    def rows(x: Any) -> Any:
        found = tf.TensorArray(tf.float32, size=4)
        for i in tf.range(4):
            found = found.write(i, x * tf.cast(i, tf.float32))
        return found.stack()

    first, second = twice(rows, tf.constant([1.0, 2.0]))
    np.testing.assert_array_equal(first, second)
    assert lowered == ["rows"]


def test_code_that_calls_python_is_lowered_again(lowered: list[str]) -> None:
    def unique(x: Any) -> Any:
        return tf.unique(x).y

    for result in twice(unique, tf.constant([1.0, 2.0, 1.0])):
        np.testing.assert_array_equal(result, [1.0, 2.0])
    assert lowered == ["unique", "unique"]


def test_the_number_of_threads_matters(lowered: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for count in (1, 2, 1):
        monkeypatch.setattr(lowering_key, "count_of_threads", lambda count=count: count)
        tf.function(scaled, jit_compile=True)(tf.constant([1.0]))
    assert len(lowered) == 2


def test_blas_matters(lowered: list[str], request: pytest.FixtureRequest) -> None:
    tf.function(scaled, jit_compile=True)(tf.constant([1.0]))
    request.getfixturevalue("without_blas")
    tf.function(scaled, jit_compile=True)(tf.constant([1.0]))
    assert len(lowered) == 2


def test_options_of_the_optimizer_matter(lowered: list[str]) -> None:
    x = tf.constant([1.0])
    tf.function(scaled, jit_compile=True)(x)
    tf.config.optimizer.set_experimental_options({"fast_math": True})
    try:
        tf.function(scaled, jit_compile=True)(x)
    finally:
        tf.config.optimizer.set_experimental_options({"fast_math": False})
    assert len(lowered) == 2


def test_object_files_are_stored_once(lowered: list[str], tmp_path: Path) -> None:
    twice(lambda x: tf.matmul(x, x) + 1.0, tf.ones([40, 40]))
    entries = [path.read_bytes()[32:] for path in (tmp_path / "native").iterdir()]  # without digests
    assert len(entries) >= 2
    assert not any(one is not other and one in other for one in entries for other in entries)


def test_a_unit_whose_object_file_is_gone_is_lowered_again(lowered: list[str], tmp_path: Path) -> None:
    x = tf.constant([1.0, 4.0])
    tf.function(scaled, jit_compile=True)(x)
    entries = [path.read_bytes()[32:] for path in (tmp_path / "native").iterdir()]  # without digests
    (unit,) = (entry for entry in entries if entry.startswith(b"{"))
    for name in json.loads(unit.partition(b"\n")[0])["files"]:
        (tmp_path / "native" / f"{name}.agc").unlink()
    np.testing.assert_array_equal(tf.function(scaled, jit_compile=True)(x), scaled(x))
    assert len(lowered) == 2


def test_a_damaged_entry_counts_as_none(lowered: list[str], tmp_path: Path) -> None:
    x = tf.constant([1.0, 4.0])
    tf.function(scaled, jit_compile=True)(x)
    for path in (tmp_path / "native").iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    np.testing.assert_array_equal(tf.function(scaled, jit_compile=True)(x), scaled(x))
    assert len(lowered) == 2


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"{\n", id="not JSON"),
        pytest.param(b"\xff\n", id="not text"),
        pytest.param(b"[]\n", id="list"),
        pytest.param(b"{}\n", id="without fields"),
        pytest.param(b"[" * 100_000 + b"\n", id="deep"),
        pytest.param(b'{"sizes": ["1"]}\n', id="sizes of another type"),
        pytest.param(b'{"sizes": [1e999]}\n', id="endless size"),
        pytest.param(b'{"sizes": [9]}\n1234', id="too short"),
    ],
)
def test_an_entry_of_another_form_counts_as_none(monkeypatch: pytest.MonkeyPatch, entry: bytes) -> None:
    monkeypatch.setattr(unit_cache.object_cache, "read", lambda key: entry)
    assert unit_cache.read("key") is None


def test_patterns_of_dynamic_sizes_are_different_units(lowered: list[str]) -> None:
    def total(x: Any, y: Any) -> Any:
        return tf.reduce_sum(x[1:]) - tf.reduce_sum(y[:-1])

    spec = tf.TensorSpec([None])
    for sizes in ([(n, n) for n in range(2, 8)], [(n, n + 1) for n in range(2, 8)]):
        native = tf.function(total, input_signature=[spec, spec], jit_compile=True)
        for n, m in sizes:
            x, y = tf.range(n, dtype=tf.float32), tf.range(float(m))
            assert native(x, y).numpy() == total(x, y).numpy()
    assert len(lowered) == 10


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(scaled, id="graph"),
        pytest.param(lambda x: (tf.unique(x)[0], tf.foldl(lambda y, z: y * 2.0 + z, x)), id="loop"),
    ],
)
def test_code_whose_results_were_compared_is_trusted_from_then_on(
    program: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def recorded(*arguments: Any) -> Any:
        compared.append(find(*arguments))
        return compared[-1]

    compared: list[Any] = []
    find = first_call_check._unlike
    monkeypatch.setattr(first_call_check, "_unlike", recorded)
    compile_at_once(monkeypatch)
    x = np.array([1.0, 4.0], np.float32)
    for _ in range(2):  # in two processes, for example
        graph = tf.function(program).get_concrete_function(tf.constant(x)).graph
        runner = tiering.TieredRunner(graph, EXECUTORS["plan"](graph))
        results = [runner.run([x]) for _ in range(4)]
        np.testing.assert_allclose(results[0][-1], results[-1][-1], rtol=1e-6)
    assert compared == [set()]  # once, and no result differed
