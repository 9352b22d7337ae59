"""The plan's short cuts for scalars give what the kernels give, to the bit, and refuse what they refuse."""

from __future__ import annotations

from typing import Any

import agc.runtime  # noqa: F401  (declares the operations)
import numpy as np
import pytest
from agc.runtime import dtypes, errors
from agc.runtime.executors import EXECUTORS, Plan
from agc.runtime.ir.graph import Graph, Operation, Value
from agc.runtime.ir.parser import parse
from agc.runtime.ir.value_types import TensorType
from agc.runtime.ops.framework.op import REGISTRY
from hypothesis import given
from hypothesis import strategies as st
from support.outcomes import bits

EXPRESSIONS = [(name, kind) for name, op in REGISTRY.items() for kind in op.numpy_scalar]

NUMBERS = [0, 1, 2, 3, 7, -1, -2, -7, 127, -128, 255, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 2**24 + 1]
FLOATS = [0.0, -0.0, 0.5, -2.5, 1e-45, 70000.0, 1e39, -1e300, float("inf"), float("nan")]


def scalars(dtype: dtypes.DType) -> st.SearchStrategy[Any]:
    if dtype.is_floating:
        with np.errstate(all="ignore"):
            return st.sampled_from([np.array(x).astype(dtype.numpy_dtype) for x in FLOATS])
    return st.sampled_from([np.array(x).astype(dtype.numpy_dtype) for x in NUMBERS])


def graph_of(name: str, specs: list[TensorType], result: TensorType, attrs: dict[str, Any]) -> Graph:
    inputs = tuple(Value("x", spec) for spec in specs)
    operation = Operation(REGISTRY[name], inputs, attrs, (Value("y", result),))
    return Graph("g", inputs, (operation,), operation.outputs)


def outcome(executor: str, graph: Graph, values: list[Any]) -> Any:
    try:
        (result,) = EXECUTORS[executor](graph)(values)
    except errors.OpError as error:
        return type(error), error.message
    array = np.asarray(result)
    return array.dtype, array.shape, "nan" if array != array else array.tobytes()


DTYPES = [dtype for dtype in dtypes.ALL if dtype.kind in "biuf"]


@given(st.data())
def test_expressions_agree_with_kernels(data: st.DataObject) -> None:
    name, kind = data.draw(st.sampled_from(sorted(EXPRESSIONS)))
    dtype = data.draw(st.sampled_from([dtype for dtype in DTYPES if dtype.kind == kind]))
    values = [data.draw(scalars(dtype)) for _ in range(2)]
    if name == "where":
        other = data.draw(st.sampled_from(DTYPES))
        values = [values[0], data.draw(scalars(other)), data.draw(scalars(other))]
    specs = [TensorType(dtypes.of_array(value), ()) for value in values]
    graph = graph_of(name, specs, specs[-1], {})
    assert outcome("plan", graph, values) == outcome("interpret", graph, values)


@given(st.data())
def test_casts_agree_with_the_kernel(data: st.DataObject) -> None:
    source, target = data.draw(st.sampled_from(DTYPES)), data.draw(st.sampled_from(DTYPES))
    graph = graph_of("cast", [TensorType(source, ())], TensorType(target, ()), {"dtype": target})
    values = [data.draw(scalars(source))]
    assert outcome("plan", graph, values) == outcome("interpret", graph, values)


@pytest.mark.parametrize("index", [0, 2, 3, -1])
def test_elements_of_vectors(index: int) -> None:
    graph = parse("graph g(x: int64[?], i: int32[]) -> int64[]\n  y = gather x, i : int64[]\n  return y")
    values = [np.array([5, 6, 7]), np.array(index, np.int32)]
    assert outcome("plan", graph, values) == outcome("interpret", graph, values)
    assert "y = x[i] if" in Plan(graph).source


@pytest.mark.parametrize(
    ("key", "parts", "index"),
    [
        ("_", 1, "x[i]"),
        ("_, ::-1", 1, "x[i, ::-1]"),
        ("-1, ..., None", 0, "x[-1, ..., None]"),
        ("_:, _", 2, "x[i:, i]"),
    ],
)
@pytest.mark.parametrize("i", [0, -2, 5])
def test_keys_are_indices(key: str, parts: int, index: str, i: int) -> None:
    given = "".join(", i" for _ in range(parts))
    graph = parse(f"""\
graph g(x: int32[?, ?], i: int32[]) -> int32[...]
  y = getitem x{given} [key='{key}']            : int32[...]
  return y
""")
    values = [np.arange(6, dtype=np.int32).reshape(2, 3), np.array(i, np.int32)]
    assert f"y = {index}\n" in Plan(graph).source
    results = []
    for executor in EXECUTORS:
        try:
            results.append(np.asarray(EXECUTORS[executor](graph)(values)[0]).tolist())
        except errors.OpError as error:
            results.append(error.message)
    assert results[0] == results[1]


def test_arrays_take_the_kernel() -> None:
    graph = parse("graph g(x: int32[2], y: int32[]) -> int32[2]\n  z = floordiv x, y : int32[2]\n  return z")
    assert "z = op_floordiv(x, y)" in Plan(graph).source


TENSORS = (
    "x: float32[2, 3], t: float32[2, 3, 3], h: float16[5000, 2], z: complex64[3, 3], n: float32[], i: int32[]"
)


@pytest.mark.parametrize(
    "line",
    [
        "matmul x, x [transpose_b=True] : float32[2, 2]",
        "matmul x, x [transpose_a=True] : float32[3, 3]",
        "matmul t, t [transpose_a=True] : float32[2, 3, 3]",
        "matmul z, z [adjoint_a=True] : complex64[3, 3]",
        "matmul z, z [adjoint_b=True] : complex64[3, 3]",
        "sum_to x, [3] : float32[3]",
        "sum_to x, [1, 3] : float32[1, 3]",
        "sum_to x, [2, 1] : float32[2, 1]",
        "sum_to x, [1] : float32[1]",
        "sum_to x, [2, 3] : float32[2, 3]",
        "sum_to t, [3] : float32[3]",
        "sum_to h, [2] : float16[2]",
        "sum_to z, [3] : complex64[3]",
        "gather x, i : float32[3]",
        "gather x, i [axis=1] : float32[2]",
        "gather x, [0, 1] [batch_dims=1, axis=1] : float32[2]",
        "getitem n [key='...'] : float32[]",
        "cast z [dtype=float32] : float32[3, 3]",
        "cast n [dtype=int8] : int8[]",
    ],
)
def test_tensors_of_any_kind(line: str) -> None:
    """There are short cuts for some of them, and kernels for the others."""
    graph = parse(f"graph g({TENSORS}) -> {line.rpartition(' : ')[2]}\n  y = {line}\n  return y\n")
    random = np.random.default_rng(1)
    values: list[Any] = [
        random.normal(size=value.shape).astype(value.dtype.numpy_dtype) for value in graph.inputs[:3]
    ]
    values += [
        random.normal(size=(3, 6)).astype(np.float32).view(np.complex64),
        np.float32(-1e9),
        np.int32(1),
    ]
    (found,), (expected,) = (EXECUTORS[executor](graph)(values) for executor in ("plan", "interpret"))
    assert bits(found) == bits(expected)
