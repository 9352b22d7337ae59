"""Which operations become one, and that the graph does the same afterwards."""

from __future__ import annotations

import agc.runtime  # noqa: F401  (declares the operations)
import numpy as np
import pytest
from agc.runtime.executors import Plan, interpret
from agc.runtime.ir.graph import Graph
from agc.runtime.ir.parser import parse
from agc.runtime.optimize.fusion import run as fuse
from support.verifier import verify


def fused(text: str) -> str:
    """The text of the fused graph, which is read back as it is."""
    graph = verify(fuse(parse(text, check=False)))
    assert parse(str(graph), check=False) == graph
    return str(graph)


def names(graph: Graph) -> list[str]:
    return [operation.type for operation in graph.operations]


def test_a_chain_and_its_sum_become_one() -> None:
    text = """\
graph f(x: float32[1000000]) -> float32[]
  a = multiply x, x                             : float32[1000000]
  b = exp a                                     : float32[1000000]
  s = reduce_sum b                              : float32[]
  return s
"""
    assert (
        fused(text)
        == """\
graph f(x: float32[1000000]) -> float32[]
  s = fused x                                   : float32[]
    body x
      a = multiply x, x                         : float32[1000000]
      b = exp a                                 : float32[1000000]
      s = reduce_sum b                          : float32[]
      yield s
  return s"""
    )


def test_a_value_with_other_uses_is_an_extra_result() -> None:
    text = """\
graph f(x: float32[100000], y: float32[]) -> float32[100000], float32[]
  a = multiply x, y                             : float32[100000]
  b = exp a                                     : float32[100000]
  c = gather b, 3                               : float32[]
  return a, c
"""
    graph = fuse(parse(text, check=False))
    assert names(graph) == ["fused", "gather"]
    assert [value.name for value in graph.operations[0].outputs] == ["a", "b"]


def test_small_tensors_are_not_fused() -> None:
    graph = parse(
        "graph f(x: float32[9]) -> float32[9]\n  a = exp x : float32[9]\n  b = exp a : float32[9]\n  return b"
    )
    assert fuse(graph) is graph


def test_single_operations_on_large_tensors_are_fused() -> None:
    text = "graph f(x: float32[{0}]) -> float32[{0}]\n  y = exp x : float32[{0}]\n  return y"
    assert names(fuse(parse(text.format(100_000)))) == ["exp"]
    assert names(fuse(parse(text.format(1_000_000)))) == ["fused"]


def test_unknown_sizes_are_checked_at_run_time() -> None:
    text = """\
graph f(x: float32[?, 3], y: float32[3]) -> float32[?, 3]
  a = add x, y                                  : float32[?, 3]
  b = exp a                                     : float32[?, 3]
  return b
"""
    graph = fuse(parse(text, check=False))
    assert names(graph) == ["fused"]
    x, y = np.ones((2, 3), np.float32), np.zeros(3, np.float32)
    np.testing.assert_array_equal(interpret(graph, [x, y])[0], interpret(parse(text), [x, y])[0])


def test_groups_end_at_effects() -> None:
    """What failed before an effect fails before it still."""
    text = """\
graph f(x: float32[100000]) -> float32[100000]
  a = exp x                                     : float32[100000]
  b = exp a                                     : float32[100000]
  print 1 [pieces=('', ''), end='\\n', summarize=3, stream='stdout']
  c = exp b                                     : float32[100000]
  return c
"""
    assert names(fuse(parse(text, check=False))) == ["fused", "print", "exp"]


def test_a_closed_group_takes_later_reductions_of_its_values() -> None:
    """The other sums, and the product that only one of them reads, move before the use of the first sum."""
    text = """\
graph f(x: float32[100000]) -> float32[], float32[], float32[]
  a = multiply x, x                             : float32[100000]
  s = reduce_sum a                              : float32[]
  c = exp s                                     : float32[]
  b = multiply a, a                             : float32[100000]
  t = reduce_sum b                              : float32[]
  u = reduce_mean a                             : float32[]
  return c, t, u
"""
    graph = fuse(parse(text))
    assert names(graph) == ["fused", "exp"]
    assert [value.name for value in graph.operations[0].outputs] == ["s", "t", "u"]
    x = np.linspace(-1, 1, 100_000, dtype=np.float32)
    np.testing.assert_array_equal(interpret(graph, [x]), interpret(parse(text), [x]))


def test_operations_that_may_fail_are_not_taken_before_their_time() -> None:
    text = """\
graph f(n: int32[100000]) -> int32[]
  a = multiply n, n                             : int32[100000]
  s = reduce_sum a                              : int32[]
  print s [pieces=('', ''), end='\\n', summarize=3, stream='stdout']
  b = floordiv 1, a                             : int32[100000]
  t = reduce_max b                              : int32[]
  return t
"""
    assert names(fuse(parse(text, check=False))) == ["fused", "print", "fused"]


def test_uses_of_a_reduction_start_a_new_group() -> None:
    text = """\
graph f(x: float32[100000]) -> float32[100000]
  a = multiply x, x                             : float32[100000]
  s = reduce_max a                              : float32[]
  b = subtract a, s                             : float32[100000]
  c = exp b                                     : float32[100000]
  return c
"""
    graph = fuse(parse(text, check=False))
    assert names(graph) == ["fused", "fused"]
    assert names(graph.operations[1].regions[0]) == ["subtract", "exp"]


@pytest.mark.parametrize(
    ("last", "kinds"),
    [
        pytest.param("subtract e, s : float32[40000]", ["fused", "subtract"], id="its sum"),
        pytest.param("gather a, 3 : float32[]", ["fused", "gather"], id="elements"),
    ],
)
def test_uses_of_a_merged_reduction_start_a_new_group(last: str, kinds: list[str]) -> None:
    """Whatever is read of the smaller one, which has joined the other."""
    text = f"""\
graph f(x: float32[40000], y: float32[40000]) -> float32[40000], {last.partition(": ")[2]}
  a = exp x                                     : float32[40000]
  s = reduce_sum a                              : float32[]
  b = abs y                                     : float32[40000]
  c = sqrt b                                    : float32[40000]
  d = negative c                                : float32[40000]
  e = add a, d                                  : float32[40000]
  r = {last}
  return e, r
"""
    graph = verify(fuse(parse(text, check=False)))
    assert names(graph) == kinds
    given = [np.linspace(-1, 1, 40000, dtype=np.float32), np.ones(40000, np.float32)]
    for found, expected in zip(Plan(graph).run(given), interpret(parse(text), given), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_loops_and_callees_are_entered() -> None:
    text = """\
graph f(x: float32[100000], n: int32[]) -> float32[100000]
  k, y = while 0, x, n                          : int32[], float32[100000]
    test k, y, n
      go = less k, n                            : bool[]
      yield go
    body k, y, n
      a = multiply y, y                         : float32[100000]
      b = exp a                                 : float32[100000]
      j = add k, 1                              : int32[]
      yield j, b
  z = call @g y                                 : float32[100000]
  return z

graph g(y: float32[100000]) -> float32[100000]
  a = negative y                                : float32[100000]
  b = exp a                                     : float32[100000]
  return b
"""
    graph = fuse(parse(text, check=False))
    loop, call = graph.operations
    assert names(loop.regions[1]) == ["add", "fused"]
    assert names(call.regions[0]) == ["fused"]
    assert parse(str(verify(graph)), check=False) == graph
