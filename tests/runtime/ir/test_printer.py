"""How graphs look as text, and that the small things in it read back bit by bit."""

from __future__ import annotations

from typing import Any

import agc.runtime  # noqa: F401  (declares the operations)
import numpy as np
import pytest
from agc.runtime import dtypes
from agc.runtime.ir.graph import Constant, Graph, Operation, Value
from agc.runtime.ir.literal_printer import show_attribute, show_constant
from agc.runtime.ir.parser import parse
from agc.runtime.ir.printer import Printer, print_graph
from agc.runtime.ir.value_types import ListType, TensorType, VariableType
from agc.runtime.ops.framework.op import REGISTRY
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

F = TensorType(dtypes.float32, ())

COLLATZ = """\
graph collatz(n: int32[]) -> int32[]
  last, steps = while n, 0                      : int32[], int32[]
    test m, k
      go = not_equal m, 1                       : bool[]
      yield go
    body m, k
      half = floordiv m, 2                      : int32[]
      r = floormod m, 2                         : int32[]
      odd = equal r, 1                          : bool[]
      m.1 = cond odd, m, half                   : int32[]
        then m, half
          t = multiply m, 3                     : int32[]
          u = add t, 1                          : int32[]
          yield u
        else m, half
          yield half
      k.1 = add k, 1                            : int32[]
      yield m.1, k.1
  return steps
"""

CALLS = """\
graph twice(x: float32[?], v: ref float32[]) -> float32[?], float32[]
  y = call @scale x, v                          : float32[?]
  y.1 = call @scale y, v                        : float32[?]
  s = switch 2, y.1                             : float32[...]
    branch y                                    : float32[...]
      yield y
    branch y                                    : float32[...]
      z = negative y                            : float32[...]
      yield z
  assert true [error='ValueError', message='no', summarize=3]
  total = reduce_sum s [axis=(0,)]              : float32[]
  return y.1, total

graph scale(x: float32[?], v: ref float32[]) -> float32[?]
  factor = read_variable v                      : float32[]
  product = multiply x, factor                  : float32[?]
  return product
"""


def constant_graph(array: Any, name: str = "c") -> Graph:
    """A graph that returns one constant."""
    return Graph(name, (), (), (Constant(np.asarray(array)),))


@pytest.mark.parametrize("text", [COLLATZ, CALLS], ids=["collatz", "calls"])
def test_a_parsed_text_prints_the_same(text: str) -> None:
    assert print_graph(parse(text, check=False)) == text


def test_calls_of_one_graph_share_it() -> None:
    first, second, *_ = parse(CALLS).operations
    assert first.regions[0] is second.regions[0]


def test_names_are_made_unique_in_the_order_of_printing() -> None:
    x = Value("x", F)
    values = [Value(name, F) for name in ("x", "x.1", "a b", "", "1st", "return", "nan", "scope/x")]
    previous = [x, *values]
    operations = tuple(
        Operation(REGISTRY["negative"], (before,), {}, (value,))
        for before, value in zip(previous, values, strict=False)
    )
    graph = Graph("<lambda>", (x,), operations, (values[-1],))
    names = [line.split(" = ")[0].strip() for line in print_graph(graph).splitlines()[1:-1]]
    assert names == ["x.1", "x.2", "a_b", "_", "_1st", "return_", "nan_", "scope/x"]
    assert print_graph(graph).startswith("graph _lambda_(x: float32[]) -> float32[]\n")
    assert parse(print_graph(graph)) == graph


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.array(1, np.int32), "1"),
        (np.array(-1, np.int64), "int64(-1)"),
        (np.array(255, np.uint8), "uint8(255)"),
        (np.array(1, np.float32), "1.0"),
        (np.array(0.1, np.float32), "0.1"),
        (np.array(0.1, np.float64), "float64(0.1)"),
        (np.array(-0.0, np.float32), "-0.0"),
        (np.array(1e30, np.float32), "1e+30"),
        (np.array(np.nan, np.float32), "nan"),
        (np.array(-np.inf, np.float16), "float16(-inf)"),
        (np.array(True), "true"),
        (np.array(1 - 2j, np.complex64), "complex64(1.0-2.0j)"),
        (np.array(complex(-0.0, np.nan), np.complex128), "complex128(-0.0+nanj)"),
        (np.array("it's ξ\n".encode(), object), '"it\'s ξ\\n"'),
        (np.array(b"\xff", object), "b'\\xff'"),
        (np.array([1, 2], np.int32), "[1, 2]"),
        (np.array([[1.0], [2.0]], np.float64), "float64([[1.0], [2.0]])"),
        (np.array([True, False]), "[true, false]"),
        (np.array([b"a", b"b"], object), "['a', 'b']"),
        (np.zeros(17, np.int32), "$1"),
        (np.zeros((0, 3), np.int32), "$1"),
    ],
)
def test_constants(array: Any, text: str) -> None:
    graph = constant_graph(array)
    assert f"\n  return {text}\n" in print_graph(graph)
    again = parse(print_graph(graph)).outputs[0].value
    assert again.dtype == array.dtype
    assert again.shape == array.shape
    assert again.tolist() == array.tolist() or np.isnan(array).any()


_arrays = st.sampled_from([dtype for dtype in dtypes.ALL if dtype is not dtypes.string]).flatmap(
    lambda dtype: arrays.arrays(dtype.numpy_dtype, arrays.array_shapes(min_dims=0, min_side=0, max_side=5))
)


@given(_arrays)
def test_every_bit_of_a_constant_survives(array: Any) -> None:
    again = parse(print_graph(constant_graph(array))).outputs[0].value
    assert (again.dtype, again.shape, again.tobytes()) == (array.dtype, array.shape, array.tobytes())


@given(st.lists(st.binary(), max_size=30))
def test_every_string_survives(items: list[bytes]) -> None:
    array = np.array([*items, None], object)[:-1]
    assert parse(print_graph(constant_graph(array))).outputs[0].value.tolist() == items


def test_large_constants_are_printed_once_at_the_end() -> None:
    big, same, other = np.zeros(100, np.float32), np.zeros(100, np.float32), np.ones(100, np.float32)
    graph = Graph("g", (), (), (Constant(big), Constant(same), Constant(other)))
    text = print_graph(graph)
    assert "return $1, $1, $2\n\nconstants\n  $1: float32[100]\n    AAAAAAAA" in text
    assert parse(text) == graph
    printer = Printer()
    printer.add(graph, data=False)
    assert printer.lines[-3:] == ["constants", "  $1: float32[100]", "  $2: float32[100]"]


def test_a_nan_with_payload_is_no_literal() -> None:
    signalling = np.array(0x7F800001, np.uint32).view(np.float32)
    assert show_constant(signalling) is None
    assert show_constant(np.array(np.nan, np.float32)) == "nan"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((0,), "(0,)"),
        ((None, 3), "(None, 3)"),
        (dtypes.bool_, "bool"),
        ("a'b", '"a\'b"'),
        (float("inf"), "inf"),
        (True, "True"),
        (len, "<builtin_function_or_method len>"),
    ],
)
def test_attributes(value: Any, text: str) -> None:
    assert show_attribute(value) == text


def test_only_unusual_attributes_are_shown() -> None:
    x = Value("x", TensorType(dtypes.float32, (2, 3)))
    reduce_sum = REGISTRY["reduce_sum"]
    usual = Operation(reduce_sum, (x,), {"axis": None, "keepdims": False}, (Value("a", F),))
    special = Operation(reduce_sum, (x,), {"axis": (0, 1), "keepdims": False}, (Value("b", F),))
    graph = Graph("g", (x,), (usual, special), ())
    assert print_graph(graph) == (
        "graph g(x: float32[2, 3])\n"
        "  a = reduce_sum x                              : float32[]\n"
        "  b = reduce_sum x [axis=(0, 1)]                : float32[]\n"
        "  return\n"
    )
    assert [dict(op.attrs) for op in parse(print_graph(graph)).operations] == [usual.attrs, special.attrs]


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (TensorType(dtypes.bool_, (2, None)), "bool[2, ?]"),
        (TensorType(dtypes.string, None), "string[...]"),
        (VariableType(TensorType(dtypes.int32, ())), "ref int32[]"),
        (ListType(TensorType(dtypes.float64, (None,))), "array float64[?]"),
    ],
)
def test_types(spec: Any, text: str) -> None:
    x = Value("x", spec)
    graph = Graph("g", (x,), (), (x,))
    assert print_graph(graph) == f"graph g(x: {text}) -> {text}\n  return x\n"
    assert parse(print_graph(graph)).inputs[0].spec == spec


def test_text_takes_linear_time_and_little_stack() -> None:
    """A hundred regions within each other, and a long graph."""
    x, p = Value("x", F), Value("p", TensorType(dtypes.bool_, ()))
    region = Graph("then", (p, x), (), (x,))
    for _ in range(100):
        p, x = Value("p", p.spec), Value("x", F)
        operation = Operation(REGISTRY["cond"], (p, p, x), {}, (Value("y", F),), (region, region))
        region = Graph("then", (p, x), (operation,), operation.outputs)
        keep = Graph("else", (p, x), (), (x,))
        operation.regions = (operation.regions[0], keep)
    assert parse(print_graph(region)) == region
    chain = [Value("x", F)]
    operations = []
    for _ in range(5_000):
        operations.append(Operation(REGISTRY["negative"], (chain[-1],), {}, (Value("x", F),)))
        chain += operations[-1].outputs
    graph = Graph("long", (chain[0],), tuple(operations), (chain[-1],))
    assert parse(print_graph(graph)) == graph
