"""`jit_compile=True`: what it gives, what it refuses and how it fails."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import llvm
from agc.runtime.executors.llvm import availability, compile_graph, jit_function
from agc.runtime.executors.llvm.call import ctypes_entry, native_call


def test_jit_compile_computes_the_same() -> None:
    @tf.function(jit_compile=True)
    def power(x: Any, n: Any) -> Any:
        result = tf.ones_like(x)
        for _ in tf.range(n):
            result *= x
        return result

    assert power(tf.constant([2.0, 3.0]), tf.constant(3)).numpy().tolist() == [8.0, 27.0]


def test_every_combination_of_shapes_is_compiled() -> None:
    total = tf.function(lambda x: tf.reduce_sum(x), input_signature=[tf.TensorSpec([None])], jit_compile=True)
    assert [float(total(tf.ones([size]))) for size in (0, 1, 5, 5, 1)] == [0.0, 1.0, 5.0, 5.0, 1.0]


def test_variables_are_assigned_after_success() -> None:
    v, w = tf.Variable(1.0), tf.Variable([1.0, 2.0])

    @tf.function(jit_compile=True)
    def step(x: Any, n: Any) -> Any:
        for i in tf.range(n):
            if i % 2 == 0:
                v.assign_add(x)
            w.assign(w * v)
        return v + 1.0

    assert float(step(2.0, tf.constant(3))) == 6.0
    assert float(v) == 5.0
    assert w.numpy().tolist() == [45.0, 90.0]


def test_a_failure_is_that_of_the_plan_with_the_users_line() -> None:
    @tf.function(jit_compile=True)
    def quotient(x: Any, y: Any) -> Any:
        return x // y

    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"division by zero(.|\n)*test_jit_function.py:\d+, in quotient"
    ):
        quotient(tf.constant([1, 2]), tf.constant([0, 1]))


def test_every_operation_that_cannot_be_compiled_is_named() -> None:
    @tf.function(jit_compile=True)
    def timed(x: Any) -> Any:
        tf.print(x)
        return tf.timestamp() * x

    with pytest.raises(llvm.CompilationError) as caught:
        timed(tf.constant(3.0, tf.float64))
    assert [reason.partition(" in ")[2] for reason in caught.value.reasons] == [
        "timed: print: it has effects outside of the graph",
        "timed: timestamp: it has effects outside of the graph",
    ]


def test_a_rank_that_depends_on_values_is_refused() -> None:
    zeros = tf.function(lambda x: tf.zeros(x[x > 0]), jit_compile=True)
    with pytest.raises(llvm.CompilationError, match=r"zeros: the shape of its result, .* depends on values"):
        zeros(tf.constant([1, -2]))


def test_without_a_compiler_the_error_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(availability, "missing", lambda: f"llvmlite is not installed: {availability.INSTALL}")
    monkeypatch.setattr(llvm, "missing", availability.missing)
    with pytest.raises(
        ValueError, match=r"jit_compile=True needs a native compiler: .*pip install 'agc-autograph\[jit\]'"
    ):
        tf.function(lambda x: x, jit_compile=True)


def test_inputs_of_any_order_in_memory() -> None:
    @tf.function(jit_compile=True)
    def double(x: Any) -> Any:
        return x + x

    array = np.arange(12, dtype=np.float64).reshape(3, 4)
    for view in (array.T, array[::2, 1::2], np.broadcast_to(array[0], (3, 4)), array.astype(">f8"), array):
        concrete = double.get_concrete_function(tf.TensorSpec(view.shape, tf.float64))
        (found,) = concrete.runner([view])
        np.testing.assert_array_equal(found, view + view)


def test_threads_call_at_the_same_time() -> None:
    from concurrent.futures import ThreadPoolExecutor

    @tf.function(jit_compile=True)
    def summed(x: Any, n: Any) -> Any:
        total = tf.zeros_like(x)
        for _ in tf.range(n):
            total += x
        return total

    with ThreadPoolExecutor(4) as pool:
        found = list(
            pool.map(lambda i: summed(tf.fill([100], float(i)), tf.constant(50)).numpy()[7], range(40))
        )
    assert found == [50.0 * i for i in range(40)]


def test_non_numeric_inputs_and_outputs_are_refused() -> None:
    for program, argument, reason in (
        (lambda x: x, "text", "`x` is string"),
        (lambda x: (x + 1, tf.constant("text")), 1, "a constant of string"),
        (
            lambda x: tf.TensorArray(tf.string, 1).write(0, tf.as_string(x)),
            1,
            "array string.* is not compiled",
        ),
    ):
        with pytest.raises(llvm.CompilationError, match=reason):
            tf.function(program, jit_compile=True)(tf.constant(argument))


def test_code_without_variables_is_called_directly() -> None:
    double = tf.function(lambda x: x + x, jit_compile=True)
    pairs = double.get_concrete_function(tf.constant([1, 2]))
    assert pairs(tf.constant([1, 2])).numpy().tolist() == [2, 4]
    entry = native_call.extension().Kernel if native_call.is_available() else ctypes_entry.CtypesEntry
    assert type(pairs.runner) is entry
    assert pairs.runner((np.array([1, 2], np.int32),))[0].tolist() == [
        2,
        4,
    ]  # it is for lists, but takes others
    assert pairs(np.array([1, 9, 2, 9], np.int32)[::2]).numpy().tolist() == [2, 4]


def test_only_long_loops_release_the_gil() -> None:
    def is_long(body: Any, *specs: Any) -> bool:
        graph = tf.function(body).get_concrete_function(*specs).graph
        return compile_graph.lowered(graph, [value.spec for value in graph.inputs]).is_long  # type: ignore[no-any-return]

    def counted(n: Any) -> Any:
        total = 0
        while total < n:
            total += 1
        return total

    def twice(n: Any) -> Any:
        total = 0
        while total < n:
            total += counted(n)
        return total

    number = tf.TensorSpec([], tf.int32)
    assert [is_long(body, number) for body in (counted, twice)] == [False, True]


@pytest.mark.parametrize(("length", "is_returned"), [(1, False), (40, True)])
def test_the_memory_of_long_compilations_is_returned(
    length: int, is_returned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To return and to get the memory of a short one again takes a tenth of its time."""
    returned = []
    monkeypatch.setattr(jit_function, "return_freed_memory", lambda: returned.append(1))

    def chain(x: Any) -> Any:
        for k in range(length):
            x = tf.exp(tf.cumsum(x) - k)
        return x

    tf.function(chain, jit_compile=True)(tf.ones([5]))
    assert bool(returned) == is_returned
