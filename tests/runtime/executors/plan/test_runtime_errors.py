"""A failure names its operation and the user's line, the same in every executor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import agc.runtime  # noqa: F401  (declares the operations)
import numpy as np
import pytest
from agc.runtime import dtypes, errors
from agc.runtime.executors import COMPLETE, EXECUTORS, Plan
from agc.runtime.ir.graph import Graph, Origin
from agc.runtime.ir.parser import parse
from agc.runtime.ir.value_types import TensorType
from agc.runtime.ops.framework.op import REGISTRY, Input, Name, op


@pytest.fixture(params=COMPLETE)
def executor(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def failing() -> Iterator[Any]:
    """Return an operation that raises the given exception."""

    @op(name="failing")
    def failing(x: Input, name: Name = None) -> TensorType:
        return TensorType(dtypes.float32, ())

    yield failing
    del REGISTRY["failing"]


def placed(graph: Graph) -> Graph:
    """The graph, as if operation `i` came from line `i` of train.py."""
    for number, operation in enumerate(graph.walk(), 1):
        operation.origin = Origin("train.py", number, "fit")
    return graph


def failure(executor: str, graph: Graph, *arguments: Any) -> errors.OpError:
    with pytest.raises(errors.OpError) as caught:
        EXECUTORS[executor](graph)([np.asarray(argument) for argument in arguments])
    return caught.value


GATHER = """\
graph g(x: float32[?], i: int32[]) -> float32[]
  y = gather x, i                               : float32[]
  return y
"""


def test_the_operation_and_the_line(executor: str) -> None:
    error = failure(executor, placed(parse(GATHER)), np.zeros(3, np.float32), np.int32(7))
    assert isinstance(error, errors.InvalidArgumentError)
    assert error.message.endswith(" = 7 is not in [0, 3) [op gather]\n  at train.py:1, in fit")
    assert str(error) == error.message
    assert error.op_type == "gather"


def test_numpy_warnings_are_not_shown(executor: str) -> None:
    """The operation's own rule gives the reason, once the shapes are known."""
    graph = "graph g(x: float32[?], y: float32[?]) -> float32[?]\n  z = add x, y : float32[?]\n  return z"
    error = failure(executor, placed(parse(graph)), np.zeros(2, np.float32), np.zeros(3, np.float32))
    where = "[op add of x: float32[2], y: float32[3]]\n  at train.py:1, in fit"
    assert error.message == f"Incompatible shapes: (2,) vs. (3,) {where}"


def test_a_failure_inside_regions(executor: str) -> None:
    graph = parse(
        """\
graph g(x: float32[?]) -> float32[?]
  k, x.1 = while 0, x                           : int32[], float32[?]
    test k, x
      go = less k, 9                            : bool[]
      yield go
    body k, x
      y = call @pick x, k                       : float32[]
      j = add k, 1                              : int32[]
      x.1 = multiply x, y                       : float32[?]
      yield j, x.1
  return x.1

graph pick(x: float32[?], i: int32[]) -> float32[]
  y = gather x, i                               : float32[]
  return y
"""
    )
    error = failure(executor, placed(graph), np.ones(4, np.float32))
    (gather,) = (operation for operation in graph.walk() if operation.type == "gather")
    assert error.message.endswith(f"= 4 is not in [0, 4) [op gather]\n  at {gather.origin}")


CHOICE = """\
graph g(p: bool[...]) -> int32[]
  y = cond p                                    : int32[]
    then
      yield 1
    else
      yield 2
  return y
"""


def test_a_condition_that_is_no_scalar(executor: str) -> None:
    graph = parse(CHOICE)
    error = failure(executor, placed(graph), np.array([True, False]))
    assert "more than one element is ambiguous" in error.message
    assert error.message.endswith("[op cond]\n  at train.py:1, in fit")


def test_without_an_origin_only_the_operation_is_named(executor: str) -> None:
    error = failure(executor, parse(GATHER), np.zeros(3, np.float32), np.int32(7))
    assert error.message.endswith("[op gather]")


RETURN_FAILING = """\
graph g(x: int32[]) -> float32[]
  y = failing x                                 : float32[]
  return y
"""


@pytest.mark.parametrize(
    ("raised", "reason", "kind", "message"),
    [
        (errors.OutOfRangeError, "no more", errors.OutOfRangeError, "no more [op failing]"),
        (ZeroDivisionError, "division", errors.InvalidArgumentError, "division [op failing of x: int64[]]"),
        (
            MemoryError,
            "8 GB",
            errors.ResourceExhaustedError,
            "out of memory: 8 GB [op failing of x: int64[]]",
        ),
    ],
)
def test_kernel_exceptions_become_runtime_errors(
    failing: Any, executor: str, raised: type[Exception], reason: str, kind: type, message: str
) -> None:
    failing.compute = lambda x: _raise(raised(reason))
    error = failure(executor, parse(RETURN_FAILING), 1)
    assert type(error) is kind
    assert error.message == message


def test_other_exceptions_keep_their_class(failing: Any, executor: str) -> None:
    """Add the location as a note to an internal error, or to an exception of a user's callback."""
    failing.compute = lambda x: _raise(KeyError("mine"))
    graph = placed(parse(RETURN_FAILING))
    with pytest.raises(KeyError) as caught:
        EXECUTORS[executor](graph)([np.array(1, np.int32)])
    assert caught.value.args == ("mine",)
    assert caught.value.__notes__ == ["[op failing]\n  at train.py:1, in fit"]


def _raise(error: Exception) -> Any:
    raise error


def test_wrong_numbers_of_arguments_are_the_callers_mistake(executor: str) -> None:
    with pytest.raises((TypeError, ValueError)):
        EXECUTORS[executor](parse(GATHER))([1])


def test_a_plan_maps_each_line_to_its_operation() -> None:
    plan = Plan(parse(GATHER.replace("float32[?]", "float32[...]"), check=False))
    lines = plan.source.splitlines()
    found = {}
    for number, (operation, scope) in plan._locations.items():
        found[lines[number - 1].strip()] = [scope[operand] for operand in operation.inputs]
    assert found == {"y = op_gather(x, i, axis=0, batch_dims=0)[()]": ["x", "i"]}
