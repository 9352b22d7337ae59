"""The source that plans are made of, and what it can hold."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime import dtypes
from agc.runtime.executors import COMPLETE, EXECUTORS, Plan, interpret
from agc.runtime.ir.graph import Constant, Graph, Operation, Value
from agc.runtime.ir.parser import parse
from agc.runtime.ir.value_types import TensorType
from agc.runtime.ops.framework.op import REGISTRY

F, B = TensorType(dtypes.float32, ()), TensorType(dtypes.bool_, ())


def source(text: str) -> str:
    return Plan(parse(text)).source


def run_both(graph: Graph, *arguments: Any) -> list[Any]:
    """The results, the same from both executors, as Python values."""
    values = [np.asarray(argument) for argument in arguments]
    interpreted = [np.asarray(x).tolist() for x in EXECUTORS["interpret"](graph)(values)]
    assert [np.asarray(x).tolist() for x in EXECUTORS["plan"](graph)(values)] == interpreted
    return interpreted


COUNT = """\
graph total(n: int32[], x: float32[]) -> float32[]
  i, s = while 0, 0.0, n, x                     : int32[], float32[]
    test i, s, n, x
      go = less i, n                            : bool[]
      yield go
    body i, s, n, x
      odd = equal i, 1                          : bool[]
      s.1 = cond odd, s, x                      : float32[]
        then s, x
          t = add s, x                          : float32[]
          yield t
        else s, x
          yield s
      i.1 = add i, 1                            : int32[]
      yield i.1, s.1
  return s
"""


def test_a_loop_becomes_readable_python() -> None:
    assert (
        source(COUNT)
        == """\
def total(n, x):
    n = n[()]
    x = x[()]
    i, s = 0, float32_0_0
    n_1 = int(n)
    while i < n_1:
        if i == 1:
            s_1 = s + x
        else:
            s_1 = s
        i = i + 1
        s = s_1
    return (s,)
"""
    )
    assert run_both(parse(COUNT), np.int32(5), np.float32(2.5)) == [2.5]


def test_new_state_is_assigned_after_the_last_read_of_the_old() -> None:
    """Fibonacci's pair: `b` goes where `a` was only after the sum is made."""
    text = """\
graph fibonacci(n: int32[]) -> int32[]
  a, b, k = while 0, 1, 0, n                    : int32[], int32[], int32[]
    test a, b, k, n
      go = less k, n                            : bool[]
      yield go
    body a, b, k, n
      k.1 = add k, 1                            : int32[]
      c = add a, b                              : int32[]
      yield b, c, k.1
  return a
"""
    assert run_both(parse(text), np.int32(10)) == [55]
    assert "        a, b = b, c\n" in source(text)


def test_an_iteration_limit_is_a_range() -> None:
    text = COUNT.replace("while 0, 0.0, n, x  ", "while 0, 0.0, n, x [maximum_iterations=3]")
    assert "for _ in range(3):" in source(text)
    assert run_both(parse(text), np.int32(5), np.float32(1)) == [1.0]


def test_arrays_are_deleted_after_their_last_use() -> None:
    text = """\
graph g(x: float32[?], n: int32[]) -> float32[]
  a = exp x                                     : float32[?]
  b = add a, a                                  : float32[?]
  c = reduce_sum b                              : float32[]
  k, d = while 0, b, n                          : int32[], float32[?]
    test k, d, n
      go = less k, n                            : bool[]
      yield go
    body k, d, n
      e = sin d                                 : float32[?]
      f = cos e                                 : float32[?]
      g = add f, d                              : float32[?]
      h = add d, d                              : float32[?]
      k.1 = add k, 1                            : int32[]
      yield k.1, g
  s = reduce_sum d                              : float32[]
  s.1 = add s, c                                : float32[]
  return s.1
"""
    lines = [line.strip() for line in source(text).splitlines()]
    deleted = [line for line in lines if line.startswith("del")]
    assert deleted == ["del a", "del b", "del e", "del f", "del d"]
    assert lines.index("del b") < lines.index("while k < n_1:")
    run_both(parse(text), np.ones(3, np.float32), np.int32(2))


def test_dead_operations_do_not_run() -> None:
    """Non-strict, as TensorFlow's guide promises: the gather would fail, were it needed."""
    text = """\
graph g(x: float32[2]) -> float32[2]
  y = gather x, 7                               : float32[]
  z = cond true, x                              : float32[]
    then x
      u = gather x, 9                           : float32[]
      yield u
    else x
      yield 1.0
  return x
"""
    assert run_both(parse(text), np.ones(2, np.float32)) == [[1.0, 1.0]]
    assert "gather" not in source(text)


def test_effects_keep_their_order(capfd: pytest.CaptureFixture[str]) -> None:
    text = """\
graph g(n: int32[])
  print n [pieces=('first ', ''), end='\\n', summarize=3, stream='stdout']
  y = cond true, n                              : int32[]
    then n
      print n [pieces=('then ', ''), end='\\n', summarize=3, stream='stdout']
      yield n
    else n
      yield n
  print n [pieces=('last ', ''), end='\\n', summarize=3, stream='stdout']
  return
"""
    for executor in (EXECUTORS[name] for name in COMPLETE):
        assert len(executor(parse(text))([np.array(4, np.int32)])) == 0
        assert capfd.readouterr().out == "first 4\nthen 4\nlast 4\n"


@pytest.mark.parametrize(("index", "result"), [(0, 10), (1, 20), (2, 30), (3, 30), (-1, 30)])
def test_switch_runs_the_last_branch_for_unknown_numbers(index: int, result: int) -> None:
    branches = "".join(f"    branch\n      yield {value}\n" for value in (10, 20, 30))
    graph = parse(f"graph g(i: int32[]) -> int32[]\n  y = switch i : int32[]\n{branches}  return y")
    assert run_both(graph, np.int32(index)) == [result]


def test_small_callees_are_inlined_and_large_ones_shared() -> None:
    operations = "".join(f"  y.{i + 1} = negative y{f'.{i}' if i else ''} : float32[]\n" for i in range(20))
    calls = "  a = call @f x : float32[]\n  b = call @f a : float32[]\n  return b\n\n"
    main = f"graph g(x: float32[]) -> float32[]\n{calls}graph f(y: float32[]) -> float32[]\n"
    big, small = main + operations + "  return y.20\n", main + "  z = negative y : float32[]\n  return z\n"
    assert source(big).count("def ") == 2
    assert source(small) == "def g(x):\n    x = x[()]\n    a = -x\n    b = -a\n    return (b,)\n"
    assert run_both(parse(big), np.float32(3)) == run_both(parse(small), np.float32(3)) == [3.0]


def test_users_names_never_hide_the_plans_own() -> None:
    text = """\
graph def(op_exp: float32[], float32_1_0: float32[], np: float32[], exp: float32[]) -> float32[]
  class = add op_exp, 1.0                       : float32[]
  while = add np, exp                           : float32[]
  _ = exp class                                 : float32[]
  lambda/x = add while, _                       : float32[]
  return lambda/x
"""
    assert run_both(parse(text), *np.array([0, 2, 3, 4], np.float32)) == [pytest.approx(np.float32(7 + np.e))]


def test_a_variable_may_be_named_constant() -> None:
    text = """\
graph f(x: float32[2]) -> float32[2]
  constant = add x, [1.0, 2.0]                  : float32[2]
  y = multiply constant, [3.0, 4.0]             : float32[2]
  return y
"""
    (found,) = run_both(parse(text), np.ones(2, np.float32))
    np.testing.assert_array_equal(found, [6.0, 12.0])


def nested(depth: int, kind: str) -> Graph:
    """`depth` regions within each other; the innermost negates x."""
    x, y = Value("x", F), Value("y", F)
    graph = Graph("region", (x,), (Operation(REGISTRY["negative"], (x,), {}, (y,)),), (y,))
    for _ in range(depth):
        x, y = Value("x", F), Value("y", F)
        if kind == "cond":
            keep = Value("x", F)
            inputs: tuple[Any, ...] = (Constant(np.array(True)), x)
            operation = Operation(
                REGISTRY["cond"], inputs, {}, (y,), (graph, Graph("else", (keep,), (), (keep,)))
            )
        else:
            test = Graph("test", (Value("x", F),), (), (Constant(np.array(True)),))
            operation = Operation(REGISTRY["while"], (x,), {"maximum_iterations": 1}, (y,), (test, graph))
        graph = Graph("region", (x,), (operation,), (y,))
    return graph


@pytest.mark.parametrize("kind", ["cond", "while"])
def test_a_hundred_nested_regions(kind: str) -> None:
    assert run_both(nested(100, kind), np.float32(2)) == [-2.0]


@pytest.mark.parametrize(
    ("lines", "result"),
    [
        pytest.param(
            """
  k = while 0, n [maximum_iterations=5]         : int32[]
    test k, n
      go = less k, n                            : bool[]
      yield go
    body k, n
      j = add k, 1                              : int32[]
      yield j""",
            3,
            id="both a test and a limit",
        ),
        pytest.param(
            """
  k = while n [maximum_iterations=2]            : int32[]
    test k
      yield false
    body k
      j = add k, 1                              : int32[]
      yield j""",
            3,
            id="a test that is never true",
        ),
        pytest.param(
            """
  p = less n, 2                                 : bool[]
  cond p, v
    then v
      yield
    else v
      m = assign_add_variable v, 4              : int32[]
      yield
  k = read_variable v                           : int32[]""",
            5,
            id="an effect in one branch, and no result",
        ),
    ],
)
def test_parts_that_may_be_missing(lines: str, result: int) -> None:
    graph = parse(f"graph g(n: int32[], v: ref int32[]) -> int32[]{lines}\n  return k\n")
    for run in (EXECUTORS["interpret"](graph), Plan(graph).run):
        assert run([np.array(3, np.int32), tf.Variable(1)])[0] == result


def test_a_long_graph() -> None:
    """Plans grow in line with their graphs."""
    x = Value("x", TensorType(dtypes.float32, (2,)))
    operations, last = [], x
    for _ in range(20_000):
        y = Value("x", x.spec)
        operations.append(Operation(REGISTRY["negative"], (last,), {}, (y,)))
        last = y
    graph = Graph("long", (x,), tuple(operations), (last,))
    assert Plan(graph)(np.ones(2, np.float32))[0].tolist() == [1.0, 1.0]


def test_integers_wrap_and_divisions_by_zero_are_silent() -> None:
    text = """\
graph g(n: int32[], x: float32[]) -> int32[], float32[]
  m = add n, 1                                  : int32[]
  y = realdiv x, 0.0                            : float32[]
  return m, y
"""
    assert run_both(parse(text), np.int32(2**31 - 1), np.float32(1)) == [-(2**31), np.inf]


def test_plans_are_plain_functions() -> None:
    """One plan may run in itself, and in several threads: nothing is kept between runs."""
    plan = Plan(parse(COUNT))
    arguments = np.array(5, np.int32), np.array(1.5, np.float32)
    assert list(plan(*arguments)) == list(plan.run(arguments)) == interpret(plan.graph, arguments)
