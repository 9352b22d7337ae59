"""Traits that operations declare hold: each is tried on the kernel, with examples of the manuals and extremes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from agc.runtime import dtypes, errors
from agc.runtime.executors.plan.elementwise_templates import formula
from agc.runtime.ir.op_def import OpDef
from agc.runtime.ir.traits import (
    ELEMENTWISE,
    FRESH_RESULT,
    INTEGER_ERRORS,
    MAY_ALIAS,
    MODULAR,
    TOTAL,
    Trait,
)
from agc.runtime.ops.framework.op import REGISTRY
from agc.runtime.ops.framework.op_families import Elementwise
from support.each_case import each_case
from support.operation_examples import NAMES, Call, as_operation, calls
from support.outcomes import bits

EXTREMES = [0, 1, -1, 2, 7, -128, 127, 1e-40, 1e30, np.inf, -np.inf, np.nan]


def having(trait: Trait, without: Trait = Trait.NONE) -> list[str]:
    return [name for name in NAMES if REGISTRY[name].has(trait) and not REGISTRY[name].traits & without]


def kernel_of(call: Call, arrays: list[Any]) -> Any:
    with np.errstate(all="ignore"):
        return call.op.compute(*call.op.grouped(arrays), **call.attrs)


@each_case("name", having(ELEMENTWISE))
def test_an_elementwise_kernel_computes_parts_as_it_computes_the_whole(name: str) -> None:
    tried = 0
    for call in calls(name):
        if any(np.asarray(array).dtype.kind not in "biufc" for array in call.arrays):
            continue
        shape = np.broadcast_shapes(*(np.shape(array) for array in call.arrays))
        whole = [np.resize(np.broadcast_to(array, shape), 37) for array in call.arrays]
        result = np.asarray(kernel_of(call, whole))
        for part in (slice(0, 5), slice(5, 37), slice(36, None)):
            assert bits(np.asarray(kernel_of(call, [x[part] for x in whole]))) == bits(result[part])
        tried += 1
    assert tried


def extremes(dtype: dtypes.DType) -> np.ndarray:
    with np.errstate(all="ignore"):
        if dtype.kind in "iu":
            return np.array([0, 1, 2, 7, dtype.max, dtype.min], dtype.numpy_dtype)
        return np.array(EXTREMES).astype(dtype.numpy_dtype)


@each_case("name", [name for name in having(TOTAL) if isinstance(REGISTRY[name], Elementwise)])
def test_a_total_operation_raises_for_no_value_but_integer_errors(name: str) -> None:
    op = REGISTRY[name]
    refused = set()
    for dtype in dtypes.ALL:
        if dtype.kind not in "biufc":
            continue
        rows = list(itertools.product(extremes(dtype), repeat=len(op.input_names)))
        columns = [np.array(column, dtype.numpy_dtype) for column in zip(*rows, strict=True)]
        try:
            op(*(np.ones_like(column[:1]) for column in columns))
        except (TypeError, errors.InvalidArgumentError):
            continue  # the operation does not take the dtype
        try:
            op(*columns)
        except errors.InvalidArgumentError:
            refused.add(dtype.kind)
    assert refused <= ({"i", "u"} if op.has(INTEGER_ERRORS) else set())
    assert bool(refused) == op.has(INTEGER_ERRORS)


@pytest.mark.parametrize("name", having(MODULAR))
def test_a_modular_operation_may_wrap_operands_before_or_after(name: str) -> None:
    op = REGISTRY[name]
    wide = [np.array([2**40 + 3, -(2**35), 7, -1]), np.array([5, 2**33 + 1, -9, 2**31])][
        : len(op.input_names)
    ]
    narrow = op.compute(*(x.astype(np.int32) for x in wide))
    assert bits(narrow) == bits(op.compute(*wide).astype(np.int32))


@each_case("name", having(FRESH_RESULT) + having(ELEMENTWISE, without=MAY_ALIAS))
def test_a_fresh_result_shares_no_memory_with_an_operand(name: str) -> None:
    for call in calls(name):
        arrays = [x for x in call.arrays if isinstance(x, np.ndarray)]
        found = kernel_of(call, call.arrays)
        for result in found if isinstance(found, (list, tuple)) else [found]:
            assert not any(np.shares_memory(result, x) for x in arrays if isinstance(result, np.ndarray))


@each_case("name", having(ELEMENTWISE))
def test_the_statements_for_a_buffer_compute_what_the_kernel_computes(name: str) -> None:
    """`out=` and `ufunc=` of a declaration."""
    for call in calls(name):
        made = as_operation(call, 0)
        if made is None or len(made[0].outputs) != 1:
            continue
        operation, _inputs, _values = made
        arrays = [np.atleast_1d(np.asarray(x)) for x in call.arrays]
        if any(x.dtype.kind not in "biufc" for x in arrays):
            continue
        expected = np.asarray(kernel_of(call, arrays))
        statements = formula(operation).statements
        dtype = expected.dtype.type
        holes = {"zero": "dtype(0)", "one": "dtype(1)", "six": "dtype(6)", "kernel": "expected", "o": "o"}
        scope = {"np": np, "o": np.empty_like(expected), "dtype": dtype, "expected": expected}
        scope |= {f"x{i}": x for i, x in enumerate(arrays)}
        with np.errstate(all="ignore"):
            for statement in statements:
                exec(statement.format(*(f"x{i}" for i in range(len(arrays))), **holes), scope)
        assert bits(scope["o"]) == bits(expected)


def test_a_declaration_with_an_unknown_fact_is_refused() -> None:
    with pytest.raises(TypeError, match="an operation has no facts"):
        OpDef(lambda x: x, "plus_one", cost=1, price=2)  # type: ignore[call-arg]
