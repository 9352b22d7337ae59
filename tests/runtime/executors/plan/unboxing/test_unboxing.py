"""Scalars of loops as Python's numbers: the same results as the interpreter's, to the last bit, and the same errors."""

from __future__ import annotations

from typing import Any

import agc.runtime  # noqa: F401  (declares the operations)
import numpy as np
import pytest
from agc.runtime import dtypes, errors
from agc.runtime.executors import EXECUTORS, Plan
from agc.runtime.executors.plan import region_codegen
from agc.runtime.executors.plan.unboxing import unboxing_analysis
from agc.runtime.executors.plan.unboxing.range_analysis import LIMITS
from agc.runtime.ir.graph import Constant, Graph, Operand, Operation, Value
from agc.runtime.ir.parser import parse
from agc.runtime.ir.value_types import TensorType
from agc.runtime.ops.framework.op import REGISTRY
from hypothesis import given, settings
from hypothesis import strategies as st
from support.random_graphs import many
from support.verifier import verify

EXPRESSIONS = [(name, kind) for name, op in REGISTRY.items() for kind in op.scalar]


def source(text: str) -> str:
    return Plan(parse(text, check=False)).source


def outcome(executor: str, graph: Graph, values: list[Any]) -> Any:
    """The results with dtypes and bits (all NaNs are one), or the failure."""
    run = Plan(graph).run if executor == "plan" else EXECUTORS[executor](graph)
    try:
        results = [np.asarray(result) for result in run(values)]
    except errors.OpError as error:
        return type(error), str(error)
    return [
        (str(x.dtype), x.shape, "nan" if x.dtype.kind == "f" and x != x else x.tobytes()) for x in results
    ]


def both(text: str, *arguments: Any) -> Any:
    """What the interpreter makes of a program, after a look that the plan makes the same of it."""
    graph, values = parse(text, check=False), [np.asarray(argument) for argument in arguments]
    found = outcome("interpret", graph, values)
    assert outcome("plan", graph, values) == found
    return found if isinstance(found, tuple) else [np.frombuffer(bits, kind)[0] for kind, _, bits in found]


COLLATZ = """\
graph collatz(n: int32[]) -> int32[]
  last, steps = while n, 0                      : int32[], int32[]
    test n, steps
      go = not_equal n, 1                       : bool[]
      yield go
    body n, steps
      rest = floormod n, 2                      : int32[]
      even = equal rest, 0                      : bool[]
      n.1 = cond even, n                        : int32[]
        then n
          half = floordiv n, 2                  : int32[]
          yield half
        else n
          triple = multiply 3, n                : int32[]
          more = add triple, 1                  : int32[]
          yield more
      steps.1 = add steps, 1                    : int32[]
      yield n.1, steps.1
  return steps
"""


def test_an_unboxed_loop_reads_like_handwritten_python() -> None:
    """But for the integers that may end: three times a number and one more are wrapped together."""
    assert source(COLLATZ).splitlines()[2:] == [
        "    last, steps = int(n), 0",
        "    while last != 1:",
        "        if (last % 2) == 0:",
        "            n_1 = last // 2",
        "        else:",
        "            triple = 3 * last",
        "            n_1 = triple + 1",
        "            if not -2147483648 <= n_1 <= 2147483647:",
        "                n_1 = (n_1 + 2147483648 & 4294967295) - 2147483648",
        "        steps = steps + 1",
        "        if steps > 2147483647:",
        "            steps = (steps + 2147483648 & 4294967295) - 2147483648",
        "        last = n_1",
        "    return ((int32_0 + steps),)",
    ]
    assert both(COLLATZ, np.int32(27)) == [111]


def test_integers_wrap_as_in_the_interpreter() -> None:
    """113383 leaves the 32 bits on its way to 1, and so never comes there: a limit ends that."""
    limited = COLLATZ.replace("while n, 0  ", "while n, 0 [maximum_iterations=200]")
    both(limited.replace("return steps", "return last"), np.int32(113383))


def counted(test: str, body: str) -> str:
    return f"""\
graph count(n: int32[], k: int32[]) -> int32[], int32[]
  i, s = while 0, 0, n, k                       : int32[], int32[]
    test i, s, n, k
{test}
    body i, s, n, k
{body}
  return i, s
"""


def test_a_loop_test_bounds_its_operands() -> None:
    """Where i < n, one more than i is an int32; what is added up may be none."""
    text = counted(
        "      go = less i, n                            : bool[]\n      yield go",
        "      i.1 = add i, 1 : int32[]\n      s.1 = add s, i : int32[]\n      yield i.1, s.1",
    )
    lines = [line.strip() for line in source(text).splitlines()]
    assert lines[6:8] == ["while i < n_1:", "i_1 = i + 1"]
    assert not any(line.startswith("if i_1") for line in lines)
    assert "if s > 2147483647:" in lines
    assert both(text, np.int32(10), np.int32(0)) == [10, 45]


def test_the_range_of_a_state_holds_in_every_iteration() -> None:
    """It begins with 0 and becomes negative: the remainder may be -1 only where the divisor is."""
    text = counted(
        "      go = less i, 5                            : bool[]\n      yield go",
        """\
      i.1 = add i, 1                            : int32[]
      s.1 = subtract s, k                       : int32[]
      s.2 = floormod s.1, 7                     : int32[]
      s.3 = subtract s.2, 9                     : int32[]
      yield i.1, s.3""",
    )
    for k in (0, 1, -1, 2**31 - 1, -(2**31)):
        both(text, np.int32(0), np.int32(k))


def test_a_division_by_zero_is_the_kernels_error() -> None:
    text = counted(
        "      go = less i, 5                            : bool[]\n      yield go",
        "      i.1 = add i, 1 : int32[]\n      d = subtract k, i : int32[]\n"
        "      s.1 = floordiv 100, d : int32[]\n      yield i.1, s.1",
    )
    kind, message = both(text, np.int32(0), np.int32(3))
    assert kind is errors.InvalidArgumentError
    assert message == "Integer division by zero [op floordiv of x: int32[], y: int32[]]"
    assert both(text, np.int32(0), np.int32(30)) == [5, 3]


def test_elements_of_tensors_are_numbers() -> None:
    text = """\
graph total(x: float64[?], n: int32[]) -> float64[]
  i, s = while 0, 0.0, n, x                     : int32[], float64[]
    test i, s, n, x
      go = less i, n                            : bool[]
      yield go
    body i, s, n, x
      e = gather x, i [axis=0, batch_dims=0]    : float64[]
      f = getitem x, i [key='_']                : float64[]
      p = multiply e, f                         : float64[]
      s.1 = add s, p                            : float64[]
      i.1 = add i, 1                            : int32[]
      yield i.1, s.1
  return s
"""
    assert "e = x.item(i)\n" in source(text)
    x = np.array([0.5, -3.0, 1e300])
    assert both(text, x, np.int32(2)) == [9.25]
    assert both(text, x, np.int32(3)) == [np.inf]
    kind, message = both(text, x, np.int32(4))
    assert kind is errors.InvalidArgumentError
    assert "3 is not in [0, 3)" in message


def test_array_operations_get_numpy_scalars() -> None:
    """And a state that it gives is none of Python's numbers."""
    text = """\
graph f(x: int32[2], n: int32[]) -> int32[2], int32[], int32[]
  y, i, last = while x, 0, 0, n                 : int32[2], int32[], int32[]
    test y, i, last, n
      go = less i, n                            : bool[]
      yield go
    body y, i, last, n
      y.1 = add y, i                            : int32[2]
      last.1 = reduce_max y.1 [axis=None, keepdims=False] : int32[]
      i.1 = add i, 1                            : int32[]
      yield y.1, i.1, last.1
  twice = multiply i, 2                         : int32[]
  return y, twice, last
"""
    lines = [line.strip() for line in source(text).splitlines()]
    assert "y, i, last = x, 0, int32_0" in lines
    assert "twice = i * 2" in lines
    graph, values = parse(text, check=False), [np.array([1, 5], np.int32), np.array(4, np.int32)]
    assert outcome("plan", graph, values) == outcome("interpret", graph, values)


@pytest.mark.parametrize("limit", [0, 3])
def test_a_loop_that_is_only_counted_has_no_test(limit: int) -> None:
    text = f"""\
graph f(x: float64[]) -> float64[]
  y = while x [maximum_iterations={limit}]      : float64[]
    test y
      yield true
    body y
      z = add y, y                              : float64[]
      yield z
  return y
"""
    assert [line.strip() for line in source(text).splitlines()][2:] == [
        "y = float(x)",
        f"for _ in range({limit}):",
        "y = y + y",
        "return (float64_type(y),)",
    ]
    assert both(text, np.float64(8)) == [8 * 2**limit]


LOOPS = {
    "a decision that may fail": """\
graph f(n: int32[], k: int32[]) -> int32[]
  i, s = while 0, 0, n, k                       : int32[], int32[]
    test i, s, n, k
      go = less i, 5                            : bool[]
      yield go
    body i, s, n, k
      d = subtract k, i                         : int32[]
      rest = floormod n, d                      : int32[]
      even = equal rest, 0                      : bool[]
      s.1 = cond even, s                        : int32[]
        then s
          t = add s, 1                          : int32[]
          yield t
        else s
          yield s
      left = subtract s.1, 2                    : int32[]
      part = floordiv n, left                   : int32[]
      s.2 = add s.1, part                       : int32[]
      i.1 = add i, 1                            : int32[]
      yield i.1, s.2
  return s
""",
    "a state of which an operation on arrays makes the next": """\
graph f(n: int32[], k: int32[]) -> int32[]
  x = stack n, k                                : int32[2]
  i, s, last = while 0, 0, n, x                 : int32[], int32[], int32[]
    test i, s, last, x
      go = less i, 5                            : bool[]
      yield go
    body i, s, last, x
      t = floordiv 100, last                    : int32[]
      s.1 = add s, t                            : int32[]
      y = subtract x, i                         : int32[2]
      last.1 = reduce_max y [axis=None, keepdims=False] : int32[]
      i.1 = add i, 1                            : int32[]
      yield i.1, s.1, last.1
  return s
""",
    "decisions on float32, and one that is an operand too": """\
graph f(n: int32[], k: int32[]) -> int32[], bool[]
  x = cast n [dtype=float32]                    : float32[]
  i, s, p = while 0, 0, false, x, k             : int32[], int32[], bool[]
    test i, s, p, x, k
      go = less i, 5                            : bool[]
      yield go
    body i, s, p, x, k
      y = cast i [dtype=float32]                : float32[]
      few = less y, x                           : bool[]
      s.1 = cond few, s                         : int32[]
        then s
          t = add s, 1                          : int32[]
          yield t
        else s
          yield s
      more = greater i, k                       : bool[]
      p.1 = cond more, more, p                  : bool[]
        then more, p
          yield more
        else more, p
          yield p
      odd = bitwise_and i, 1                    : int32[]
      is_odd = equal odd, 1                     : bool[]
      p.2 = cond p.1, is_odd                    : bool[]
        then is_odd
          yield is_odd
        else is_odd
          q = logical_not is_odd                : bool[]
          yield q
      i.1 = add i, 1                            : int32[]
      yield i.1, s.1, p.2
  return s, p
""",
    "a loop is given what leaves its range later": """\
graph f(n: int32[], k: int32[]) -> int32[], int32[]
  i, s = while 0, 0, n, k                       : int32[], int32[]
    test i, s, n, k
      go = less s, 50                           : bool[]
      yield go
    body i, s, n, k
      down = subtract 0, i                      : int32[]
      j, t = while 0, 0, down                   : int32[], int32[]
        test j, t, down
          on = less j, 3                        : bool[]
          yield on
        body j, t, down
          high = add down, 2147483647           : int32[]
          t.1 = bitwise_xor t, high             : int32[]
          j.1 = add j, 1                        : int32[]
          yield j.1, t.1
      r = floormod t, 7                         : int32[]
      s.1 = add s, r                            : int32[]
      s.2 = add s.1, 1                          : int32[]
      m = multiply i, -3                        : int32[]
      i.1 = subtract m, n                       : int32[]
      yield i.1, s.2
  return i, s
""",
    "calls, of functions that are written where they are called and of others": """\
graph f(n: int32[], k: int32[]) -> int32[], int32[]
  i, s = while 0, n, k                          : int32[], int32[]
    test i, s, k
      go = less i, 5                            : bool[]
      yield go
    body i, s, k
      t = call @more s, k                       : int32[]
      u = call @branching t, i                  : int32[]
      v = multiply u, t                         : int32[]
      part = floordiv 7, u                      : int32[]
      w = add v, part                           : int32[]
      i.1 = add i, 1                            : int32[]
      yield i.1, w
  return i, s

graph more(x: int32[], y: int32[]) -> int32[]
  a = add x, y                                  : int32[]
  b = multiply a, 3                             : int32[]
  return b

graph branching(x: int32[], y: int32[]) -> int32[]
  p = greater x, y                              : bool[]
  z = cond p, x, y                              : int32[]
    then x, y
      a = subtract x, y                         : int32[]
      yield a
    else x, y
      b = add x, y                              : int32[]
      yield b
  return z
""",
    "decisions of which each is made of the one before": """\
graph f(n: int32[], k: int32[]) -> int32[], int32[]
  i, s = while 0, 0, n, k                       : int32[], int32[]
    test i, s, n, k
      small = less i, 9                         : bool[]
      few = less_equal s, 3                     : bool[]
      either = logical_or small, few            : bool[]
      other = not_equal i, k                    : bool[]
      go = logical_and either, other            : bool[]
      yield go
    body i, s, n, k
      odd = floormod i, 2                       : int32[]
      is_odd = equal odd, 1                     : bool[]
      is_even = logical_not is_odd              : bool[]
      s.1 = cond is_even, s, i                  : int32[]
        then s, i
          t = subtract s, i                     : int32[]
          yield t
        else s, i
          t = add s, i                          : int32[]
          yield t
      beyond = add i, n                         : int32[]
      is_beyond = less beyond, 0                : bool[]
      s.2 = cond is_beyond, s.1                 : int32[]
        then s
          t = add s, 1                          : int32[]
          yield t
        else s
          yield s
      i.1 = add i, 1                            : int32[]
      yield i.1, s.2
  return i, s
""",
}


@pytest.mark.parametrize("deepest", [1, 2, 15])
@pytest.mark.parametrize("text", LOOPS.values(), ids=LOOPS)
def test_loops_agree_with_the_interpreter(text: str, deepest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nest blocks up to any depth: deeper ones become functions, which take boxed values."""
    for room in (unboxing_analysis, region_codegen):
        monkeypatch.setattr(room, "DEEPEST", deepest)
    for n, k in ((0, 0), (3, 2), (0, 7), (7, 20), (-3, 12), (2**31 - 5, -(2**31) + 9), (5, 5)):
        both(text, np.int32(n), np.int32(k))


# Random loops: three states of some dtype, and whatever a body makes of them.

_EDGES = {
    "b": [False, True],
    "f": [
        0.0,
        -0.0,
        1.0,
        -2.5,
        0.1,
        1e300,
        5e-324,
        float("inf"),
        float("-inf"),
        float("nan"),
        2.0**31,
        -(2.0**63),
    ],
}
_BOOL = TensorType(dtypes.bool_, ())


def constants(dtype: dtypes.DType) -> st.SearchStrategy[Constant]:
    low, high = LIMITS[dtype]
    whole = [0, 1, 2, 3, 7, 31, high, high - 1, low, low + 1, high // 3]
    known = _EDGES.get(dtype.kind) or [*whole, *([] if low == 0 else [-1, -2, -7])]
    return st.sampled_from(known).map(lambda value: Constant(np.array(value, dtype.numpy_dtype)))


class Body:
    """Grows a region of a loop over scalars."""

    def __init__(self, draw: st.DrawFn, inputs: list[Value]) -> None:
        self.draw = draw
        self.pool: list[Operand] = list(inputs)
        self.operations: list[Operation] = []

    def operand(self, dtype: dtypes.DType) -> Operand:
        found = [value for value in self.pool if value.dtype is dtype]
        if found and self.draw(st.integers(0, 3)):
            return self.draw(st.sampled_from(found))
        return self.draw(constants(dtype))

    def add(
        self, name: str, inputs: list[Operand], attrs: dict[str, Any], regions: Any = (), spec: Any = None
    ) -> Value:
        op = REGISTRY[name]
        value = Value(self.draw(st.sampled_from(["a", "b", "int", "min"])), spec or op.infer(inputs, attrs))
        self.operations.append(Operation(op, tuple(inputs), attrs, (value,), tuple(regions)))
        self.pool.append(value)
        return value

    def step(self, kinds: list[dtypes.DType], depth: int) -> None:
        dtype = self.draw(st.sampled_from(kinds))
        choice = self.draw(st.integers(0, 9))
        if choice == 0 and depth:
            self.cond(dtype, kinds, depth)
        elif choice == 1:
            other = self.draw(st.sampled_from([kind for kind in LIMITS if kind is not dtype]))
            self.add("cast", [self.operand(dtype)], {"dtype": other})
        else:
            names = sorted(name for name, kind in EXPRESSIONS if kind == dtype.kind)
            name = self.draw(st.sampled_from(names))
            if name == "where":
                other = self.draw(st.sampled_from(kinds))
                self.add(name, [self.operand(dtypes.bool_), self.operand(other), self.operand(other)], {})
            else:
                self.add(name, [self.operand(dtype) for _ in range(len(REGISTRY[name].input_names))], {})

    def cond(self, dtype: dtypes.DType, kinds: list[dtypes.DType], depth: int) -> None:
        decision, captured = self.operand(dtypes.bool_), list(self.pool)
        regions = []
        for name in ("then", "else"):
            inputs = [Value("c", x.spec) for x in captured]
            inner = Body(self.draw, inputs)
            for _ in range(self.draw(st.integers(0, 3))):
                inner.step(kinds, depth - 1)
            regions.append(Graph(name, tuple(inputs), tuple(inner.operations), (inner.operand(dtype),)))
        self.add("cond", [decision, *captured], {}, regions, TensorType(dtype, ()))


@st.composite
def loops(draw: st.DrawFn) -> tuple[Graph, list[Any]]:
    """A loop of four rounds over three scalars, and values to begin with."""
    dtype = draw(st.sampled_from([kind for kind in LIMITS if kind is not dtypes.bool_]))
    kinds = [dtype, dtype, dtype, dtypes.bool_, dtypes.int32]
    specs = [
        TensorType(dtypes.int32, ()),
        TensorType(dtype, ()),
        TensorType(dtype, ()),
        _BOOL,
        TensorType(dtype, ()),
    ]
    test_inputs, body_inputs = ([Value("s", spec) for spec in specs] for _ in range(2))
    go = Value("go", _BOOL)
    compare = Operation(REGISTRY["less"], (test_inputs[0], Constant(np.array(4, np.int32))), {}, (go,))
    test = Graph("test", tuple(test_inputs), (compare,), (go,))
    body = Body(draw, body_inputs)
    for _ in range(draw(st.integers(1, 8))):
        body.step(kinds, 2)
    counter = Operation(
        REGISTRY["add"], (body_inputs[0], Constant(np.array(1, np.int32))), {}, (Value("i", specs[0]),)
    )
    results = (counter.outputs[0], *(body.operand(spec.dtype) for spec in specs[1:4]))
    region = Graph("body", tuple(body_inputs), (counter, *body.operations), results)
    inputs = [Value("x", spec) for spec in specs[1:]]
    start = [
        Constant(np.array(0, np.int32)),
        *(draw(st.sampled_from([x, draw(constants(x.dtype))])) for x in inputs),
    ]
    outputs = tuple(Value("r", spec) for spec in specs[:4])
    loop = Operation(REGISTRY["while"], tuple(start), {}, outputs, (test, region))
    values = [draw(constants(x.dtype)).value for x in inputs]
    return Graph("main", tuple(inputs), (loop,), outputs), values


@settings(max_examples=many(80))
@given(loops())
def test_random_loops_agree_with_the_interpreter(drawn: tuple[Graph, list[Any]]) -> None:
    graph, values = drawn
    verify(graph)
    assert outcome("plan", graph, values) == outcome("interpret", graph, values)
