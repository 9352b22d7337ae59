"""Operations on bfloat16 in native code, on all of its numbers: float32 computes, and each result is rounded.

The other operations on bfloat16 are in test_examples.py; loops, branches and lists are in test_dtypes.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime import dtypes
from agc.runtime.executors.interpreter import interpret
from agc.runtime.executors.llvm import JitFunction
from agc.runtime.executors.llvm.codegen.element_formulas import computes, element_rule
from agc.runtime.executors.llvm.codegen.rule_modules import MODULES
from agc.runtime.ir.graph import Graph, Operation, Value
from agc.runtime.ir.value_types import TensorType
from agc.runtime.ops.framework.op import REGISTRY
from agc.runtime.optimize import widen_narrow_floats

BITS = np.arange(1 << 16, dtype=np.uint16)
NUMBERS = BITS.view(dtypes.bfloat16.numpy_dtype)
"""All bfloat16 numbers: NaN, infinities, zeros of both signs, subnormal and normal ones."""

OTHERS = np.random.default_rng(0).permutation(NUMBERS)


def applied(name: str, inputs: list[Value]) -> Operation | None:
    """Return an elementwise operation on bfloat16; None if it takes other operands, or demands attributes."""
    op = REGISTRY[name]
    operands = tuple(inputs[: len(op.operand_parameters)])
    try:
        spec = op.infer(list(operands), op.attribute_defaults)
    except (TypeError, ValueError, tf.errors.OpError):
        return None
    return Operation(op, operands, op.attribute_defaults, (Value(name, spec),))


def test_elementwise_operations_on_all_numbers() -> None:
    inputs = [Value(name, TensorType(dtypes.bfloat16, NUMBERS.shape)) for name in ("x", "y")]
    names = [
        name
        for name, op in [*REGISTRY.items()]
        if element_rule(op) is not None and len(op.operand_parameters) <= 2
    ]
    made = [operation for operation in (applied(name, inputs) for name in names) if operation is not None]
    graph = Graph("all", inputs, made, [operation.outputs[0] for operation in made])
    assert len(made) > 60
    arrays = [NUMBERS, OTHERS]
    for operation, found, wanted in zip(
        made, JitFunction(graph).run(arrays), interpret(graph, arrays), strict=True
    ):
        assert found.dtype == wanted.dtype, operation.type
        same = same_bits(found, wanted)
        if MODULES.get(operation.type) == "elementwise":
            assert same.all(), operation.type
            continue
        # The float32 functions differ in the last bits, which may change the rounding of a few numbers.
        assert (~same).sum() <= 16, operation.type
        one, other = (np.asarray(x[~same], np.float64) for x in (found, wanted))
        np.testing.assert_allclose(one, other, rtol=2.0**-7, atol=2.0**-126, err_msg=operation.type)


def same_bits(found: Any, wanted: Any) -> Any:
    if found.dtype != dtypes.bfloat16.numpy_dtype:
        return np.asarray(found == wanted)
    one, other = found.view(np.uint16), wanted.view(np.uint16)
    are_nan = np.minimum(one & 0x7FFF, other & 0x7FFF) > 0x7F80
    return (one == other) | are_nan


def test_casts_round_to_nearest_even() -> None:
    below_ties_above = [BITS.astype(np.uint32) << 16 | low for low in (0x7FFF, 0x8000, 0x8001)]
    singles = np.concatenate(below_ties_above).view(np.float32)
    for dtype in (tf.float32, tf.float64, tf.float16, tf.int64, tf.uint64, tf.int32, tf.uint8, tf.bool):
        compiled = tf.function(lambda x, dtype=dtype: tf.cast(x, dtype), jit_compile=True)
        with np.errstate(all="ignore"):
            assert np.array_equal(compiled(NUMBERS).numpy(), tf.cast(NUMBERS, dtype).numpy(), equal_nan=True)
            given = singles.astype(dtype.numpy_dtype)
            narrow = tf.function(lambda x: tf.cast(x, tf.bfloat16), jit_compile=True)(given)
            assert same_bits(narrow.numpy(), given.astype(dtypes.bfloat16.numpy_dtype)).all(), dtype


def layers(x: Any, w: Any) -> Any:
    y = tf.nn.softmax(tf.nn.gelu(x @ w) + x)
    return tf.reduce_sum(y, 0), tf.reduce_max(y), tf.concat([y[1:], tf.cumsum(y)[:1]], 0)


def loops(x: Any, w: Any) -> Any:
    y = x
    for _ in tf.range(3):
        y = tf.where(y > 0, y * w, y - x)
    return y


def gradients(x: Any, w: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x[0] * w[1] + x[1] * w[0] + x[0])
    return tape.gradient(y, x)


@pytest.mark.parametrize("program", [layers, loops, gradients], ids=lambda program: program.__name__)
def test_programs(program: Callable[..., Any]) -> None:
    x, w = (tf.cast(tf.random.stateless_normal([16, 16], [1, seed]), tf.bfloat16) for seed in (2, 3))
    wanted = tf.nest.flatten(tf.function(program, jit_compile=False)(x, w))
    found = tf.nest.flatten(tf.function(program, jit_compile=True)(x, w))
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype is tf.bfloat16
        np.testing.assert_allclose(one.numpy().astype(float), other.numpy().astype(float), rtol=2.0**-6)


def test_a_value_is_widened_once_for_all_its_readers() -> None:
    spec = tf.TensorSpec([3], tf.bfloat16)
    graph = tf.function(lambda x: tf.reshape(x * x - x, [1, 3])).get_concrete_function(spec).graph
    wide = widen_narrow_floats.run(graph, computes)
    assert [f"{operation.type} {operation.outputs[0].dtype.name}" for operation in wide.operations] == [
        "cast float32", "multiply float32", "cast bfloat16",
        "cast float32", "subtract float32", "cast bfloat16",
        "reshape bfloat16",
    ]  # fmt: skip
