"""How much code programs become: LLVM takes long for much of it. What is counted is the text that LLVM is given, but
where what it makes of that is the question."""

from __future__ import annotations

import re
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors.llvm import compile_graph
from agc.runtime.executors.llvm.compile_graph import lowered, prepared
from agc.runtime.executors.llvm.lowering.blas_calls import ProductSizes
from agc.runtime.executors.llvm.lowering.gemm_kernel_ir import Sizes
from agc.runtime.executors.llvm.module_partition import ModuleText


def text(body: Any, *specs: Any) -> str:
    """The module of a function for such arguments."""
    graph, _ = prepared(tf.function(body).get_concrete_function(*specs).graph)
    return str(lowered(graph, [value.spec for value in graph.inputs]).text())


def defined(text: str) -> list[str]:
    """The names of the functions that a module defines."""
    return re.findall(r'^define .*?@"([^"(]+)"\(', text, re.MULTILINE)


def lines(text: str) -> int:
    return text.count("\n")


VECTOR = tf.TensorSpec([10], tf.float32)
LARGE = tf.TensorSpec([1 << 20], tf.float32)
INDEX = tf.TensorSpec([], tf.int32)


def test_shared_functions_are_not_compiled_again() -> None:
    assert defined(text(lambda x: x * 2.0, VECTOR)) == ["kernel", "run"]
    assert set(defined(text(lambda x: x * 2.0, LARGE))) <= {"kernel", "part", "run"}
    assert "agc_run_parts" not in defined(text(lambda x: x * 2.0, LARGE))


def test_arguments_cost_little() -> None:
    few, many = (text(lambda *x: sum(x[1:], x[0]), *[VECTOR] * count) for count in (2, 12))
    assert lines(many) - lines(few) < 10 * 8


def test_small_tensors_are_unrolled_in_loops_only() -> None:
    def once(x: Any) -> Any:
        return x * x + x

    def often(x: Any, n: Any) -> Any:
        for _ in tf.range(n):
            x = x * x + x
        return x

    assert text(once, VECTOR).count(" fmul ") == 1
    assert text(often, VECTOR, tf.TensorSpec([], tf.int32)).count(" fmul ") == 10


@pytest.mark.parametrize("name", ["tanh", "sin", "pow"])
def test_many_scalars_share_the_code_of_a_function(name: str) -> None:
    """A few calls are inlined; beyond these each is a call, with the same result to the last bit."""
    x, function = tf.constant(0.7), getattr(tf, name)

    def repeated(count: int) -> Any:
        def chain(x: Any) -> list[Any]:
            found = [x]
            for _ in range(count):
                found.append(function(*[found[-1] * 1.5] * (2 if name == "pow" else 1)))
            return found

        return tf.function(chain, autograph=False, jit_compile=True)

    assert [float(y) for y in repeated(30)(x)[:5]] == [float(y) for y in repeated(4)(x)]
    graphs = [repeated(count).get_concrete_function(x).graph for count in (12, 30)]
    some, many = (lines(compile_graph.text(graph)) for graph in graphs)
    assert many - some < 18 * 15


def recurrent(sequence: Any, kernel: Any, recurrent: Any) -> Any:
    state, states = tf.zeros([64, 96]), tf.TensorArray(tf.float32, 7)
    for i in tf.range(7):
        state = tf.tanh(sequence[i] @ kernel + state @ recurrent)
        states = states.write(i, state)
    return states.stack()


def test_a_recurrent_network_copies_each_state_once() -> None:
    """It is computed in the list, where the result is, and copied to where the next iteration reads it."""
    written = text(recurrent, *[tf.TensorSpec(shape) for shape in ([7, 64, 96], [96, 96], [96, 96])])
    sizes = re.findall(r'@"llvm.memcpy.p0.p0.i64"\(ptr [^,]+, ptr [^,]+, i64 (\d+)', written)
    assert sorted(map(int, sizes)) == [4 * 64 * 96]


def test_products_of_a_sequence_are_batched_before_the_loop() -> None:
    written = text(recurrent, *[tf.TensorSpec(shape) for shape in ([7, 64, 96], [96, 96], [96, 96])])
    calls = re.findall(r'call void @"(agc_multiply|agc_product)\w*"\(.*@"product\.([-.\d]+)"', written)
    kinds: dict[str, Any] = {"agc_multiply": ProductSizes, "agc_product": Sizes}
    tables = [kinds[name](*map(int, numbers.split("."))) for name, numbers in calls]
    assert sorted((table.m, table.k) for table in tables) == [(64, 96), (7 * 64, 96)]


def test_a_loop_that_reads_a_constant_and_writes_is_vectorized() -> None:
    """The address of the constant is loaded before the loop."""
    mask = np.where(np.tri(128), 0, -1e9).astype(np.float32)
    masked = tf.function(lambda x: tf.nn.softmax(x + mask))
    found = compile_graph.text(masked.get_concrete_function(tf.TensorSpec([4, 128, 128])).graph)
    assert "call <" in found
    assert "call float @llvm.fma" not in found  # of the exponential of one element


def test_heads_of_a_layer_are_split_and_joined_without_division() -> None:
    """The bias is read along an axis that the reshape divides, so LLVM can vectorize the loop."""

    def heads(x: Any, bias: Any) -> Any:
        return tf.transpose(tf.reshape(x + bias, [2, 16, 4, 24]), [0, 2, 1, 3])

    def joined(x: Any, w: Any) -> Any:
        return tf.matmul(tf.reshape(tf.transpose(x, [0, 2, 1, 3]), [2, 16, 96]), w)

    for found in (
        text(heads, tf.TensorSpec([2, 16, 96]), tf.TensorSpec([96])),
        text(joined, tf.TensorSpec([2, 4, 16, 24]), tf.TensorSpec([96, 32])),
    ):
        assert "urem" not in found
        assert "udiv" not in found


def test_the_loops_of_a_convolution_in_one_block_become_functions() -> None:
    """No loop over blocks is around them, and no other thread needs scratch memory.

    What remains is a function that mostly calls others. LLVM does not optimize it.
    """

    def layers(x: Any, filters: Any) -> Any:
        for _ in range(20):
            x = tf.nn.silu(tf.nn.conv2d(x, filters, 1, "SAME"))
        return x

    written = text(layers, tf.TensorSpec([2, 8, 8, 8]), tf.TensorSpec([1, 1, 8, 8]))
    assert "atomicrmw" not in written
    assert ModuleText.parsed(written).is_cold("kernel")


def test_gradients_of_large_depthwise_filters_are_unrolled_along_a_row_of_the_filter() -> None:
    """A window of 5 x 5 has about as much code as one of 3 x 3."""

    def gradient(size: int) -> int:
        def body(x: Any, dy: Any) -> Any:
            shape = [size, size, 32, 1]
            strides = [1, 1, 1, 1]
            return tf.raw_ops.DepthwiseConv2dNativeBackpropFilter(
                input=x, filter_sizes=shape, out_backprop=dy, strides=strides, padding="SAME"
            )

        return lines(text(body, *[tf.TensorSpec([2, 16, 16, 32])] * 2))

    assert gradient(5) < gradient(3) < 2 * gradient(5)


def test_zeros_need_no_loop() -> None:
    found = text(lambda x: tf.reduce_sum(x, axis=0), tf.TensorSpec([50, 64]))
    assert found.count("= phi ") == 2 + 1  # the loops of the sum, and the code that the kernel ends with
    assert found.count('@"llvm.memset.p0.i64"(ptr') == 2  # its call, and its declaration


def test_the_operand_of_a_product_is_computed_once() -> None:
    def body(x: Any, w: Any) -> Any:
        y = x * 2.0
        return tf.reduce_sum(y, 0), y @ w

    assert text(body, tf.TensorSpec([30, 40]), tf.TensorSpec([40, 50])).count(" fmul ") == 1


def test_a_product_reads_rows_of_an_input_in_place() -> None:
    found = text(lambda x, w, i: x[i] @ w, *map(tf.TensorSpec, ([5, 30, 40], [40, 50])), INDEX)
    assert found.count("= phi ") == 1  # the code that the kernel ends with


def test_softmax_fuses_exponentials_with_their_sum() -> None:
    found = text(tf.nn.softmax, tf.TensorSpec([30, 40]))
    assert found.count("= phi ") == 3 * 2 + 1  # the largest; exponentials and sums; quotients
