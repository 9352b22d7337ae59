"""State of every dtype in native code: variables, loops, branches, lists, as plans have them.

Operations on every dtype are in test_examples.py and, all of them, in tests/operation_sweep.
"""

from __future__ import annotations

import os
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime import dtypes
from agc.runtime.executors.llvm.codegen.rule_registry import ELEMENTWISE, LOWERINGS, MOVING, load_all
from operation_sweep.cases import DTYPES, odd
from operation_sweep.judging import same_array

FEW = (dtypes.bfloat16, dtypes.float8_e5m2, dtypes.float16, dtypes.uint64, dtypes.complex64, dtypes.bool_)


def looped(x: Any) -> Any:
    y = x
    for _ in tf.range(3):
        y = tf.concat([y[1:], y[:1]], 0)
    return y


def counted(x: Any) -> Any:
    first, last, i = x[0], x[1], 0
    while i < 3:
        first, last, i = last, first, i + 1
    return first


def chosen(x: Any) -> Any:
    if tf.size(x) > 100:
        y, z = x, x[0]
    else:
        y, z = tf.reverse(x, [0]), x[1]
    return y, z


def collected(x: Any) -> Any:
    array = tf.TensorArray(x.dtype, size=0, dynamic_size=True)
    for i in tf.range(tf.size(x)):
        array = array.write(i, x[i])
    return array.stack()


def listed(x: Any) -> Any:
    items = []
    for i in tf.range(4):
        items.append(x[i])
    return tf.stack(items)


def cast_back(x: Any) -> Any:
    return tf.cast(tf.cast(x, tf.complex128), x.dtype)


PROGRAMS = (looped, counted, chosen, collected, listed, cast_back)


@pytest.mark.parametrize("dtype", DTYPES if os.environ.get("AGC_FUZZ") else FEW, ids=str)
def test_state_of_a_dtype(dtype: dtypes.DType) -> None:
    x = tf.constant(np.resize(odd(dtype), 6))
    for program in PROGRAMS:
        wanted = tf.nest.flatten(tf.function(program, jit_compile=False)(x))
        try:
            found = tf.nest.flatten(tf.function(program, jit_compile=True)(x))
        except tf.errors.InvalidArgumentError as error:
            assert "AGC220" in str(error) and dtype in dtypes.NARROW_FLOATS, program
            continue
        for one, other in zip(found, wanted, strict=True):
            assert same_array(one.numpy(), other.numpy()), (program, one, other)


@pytest.mark.parametrize("dtype", [dtypes.bfloat16, dtypes.float16, dtypes.uint64], ids=str)
def test_variables_of_a_dtype(dtype: dtypes.DType) -> None:
    start = np.array([1, 2, 3]).astype(dtype.numpy_dtype)
    outcomes = []
    for is_compiled in (False, True):
        variable = tf.Variable(start)

        def step(x: Any, variable: tf.Variable = variable) -> Any:
            variable.assign(tf.reverse(variable, [0]))
            variable.assign_add(x)
            return variable + x

        result = tf.function(step, jit_compile=is_compiled)(tf.constant(start))
        outcomes.append((result.numpy().tolist(), variable.numpy().tolist()))
    assert outcomes[0] == outcomes[1] == ([5.0, 6.0, 7.0], [4.0, 4.0, 4.0])


def test_a_text_among_the_results_is_named() -> None:
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"AGC220.*\n.*the result b'sum' is a constant of string"
    ):
        tf.function(lambda x: {"name": "sum", "value": x}, jit_compile=True)(tf.constant(1))


def test_only_rules_that_move_elements_take_dtypes_that_llvm_lacks() -> None:
    """A rule that computes with bfloat16 as if it were another float is wrong without a word."""
    load_all()
    assert {*ELEMENTWISE, *LOWERINGS} >= MOVING
    assert not MOVING & {"add", "cast", "maximum", "reduce_sum", "equal", "negative"}
    x = tf.cast(tf.constant([0.5, -1.5]), tf.bfloat16)
    for name in sorted(ELEMENTWISE):
        assert (name in MOVING) == (name in ("identity", "stop_gradient")), name
    assert tf.function(lambda x: -x, jit_compile=True)(x).numpy().tolist() == [-0.5, 1.5]


@tf.function
def demand(x: Any, name: Any) -> Any:
    if x > 3.0:
        raise ValueError(f"{name} is {x}")
    return x + 1.0


@pytest.mark.parametrize("name", ["size", ["size", "length"]])
def test_strings_may_be_in_messages_which_the_plan_writes(name: Any) -> None:
    @tf.function(jit_compile=True)
    def f(x: Any, name: Any) -> Any:
        tf.Assert(x >= 0.0, [name])
        return demand(demand(x, name), "sum")

    name = tf.constant(name)
    assert f(tf.constant(1.0), name) == 3.0
    with pytest.raises(ValueError, match=r"^sum is 4\.0\n"):
        f(tf.constant(3.0), name)
    with pytest.raises(tf.errors.InvalidArgumentError, match="size"):
        f(tf.constant(-1.0), name)


def test_a_dataset_is_refused_also_if_the_value_of_the_input_is_known() -> None:
    @tf.function(jit_compile=True)
    def f(n: Any) -> Any:
        return tf.data.Dataset.range(10).map(lambda x: x * n)

    with pytest.raises(tf.errors.InvalidArgumentError, match="variant, which is not compiled"):
        f(tf.constant(3, tf.int64))


def test_every_byte_other_than_zero_is_true() -> None:
    """`np.load` and `view(bool)` give such bytes; NumPy takes all of them as true."""
    flags = np.array([2, 0, 1, 254], np.uint8).view(np.bool_)

    @tf.function(jit_compile=True)
    def f(flags: Any) -> Any:
        numbers = tf.cast(flags, tf.int32)
        return numbers, tf.where(flags, 1, 0), tf.cast(tf.reverse(flags, [0]), tf.int32), ~flags

    numbers, chosen, reversed_, others = f(flags)
    assert numbers.numpy().tolist() == chosen.numpy().tolist() == [1, 0, 1, 1]
    assert reversed_.numpy().tolist() == [1, 1, 0, 1]
    assert others.numpy().tolist() == [False, True, False, False]
