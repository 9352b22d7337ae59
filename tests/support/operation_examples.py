"""The calls of operations in the examples of the runtime's manuals: what tests of all operations are made of.

The doctests of the runtime are run, and each call of an operation in them is recorded: operands, attributes, kernel.
"""

from __future__ import annotations

import doctest
import functools
import importlib
import pkgutil
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import agc.runtime
import numpy as np
import pytest
from agc.runtime import dtypes, errors
from agc.runtime.core.tensor import EagerTensor
from agc.runtime.executors import interpret
from agc.runtime.ir.graph import Constant, Graph, Operation, Value
from agc.runtime.ir.value_types import TensorType
from agc.runtime.ops.arrays.getitem import getitem
from agc.runtime.ops.framework.op import REGISTRY, Op

MODULES = sorted(module.name for module in pkgutil.walk_packages(agc.runtime.__path__, "agc.runtime."))
for module in MODULES:
    importlib.import_module(module)

NAMES = sorted(
    name
    for name, op in REGISTRY.items()
    if op.rule.__module__.startswith("agc.runtime.ops.") and not op.rule.__module__.endswith(".region_ops")
)
REFUSALS = (ValueError, TypeError, errors.OpError)


class Call(NamedTuple):
    """A call of an operation in an example of a module."""

    op: Op
    arrays: list[Any]
    attrs: dict[str, Any]
    module: str = ""

    def outcome(self, *arrays: Any) -> Any:
        """What the kernel makes of other arrays: a tuple of results, or the class of its refusal."""
        try:
            with np.errstate(all="ignore"):
                results = self.op.compute(*self.op.grouped(list(arrays)), **self.attrs)
        except REFUSALS as error:
            return type(error)
        return tuple(results) if isinstance(results, (tuple, list)) else (results,)

    def specs(self, operands: list[Any]) -> tuple[TensorType, ...]:
        """What the rule says about the results."""
        return self.op.infer_all(operands, self.attrs)


class Examples(NamedTuple):
    failures: dict[str, list[str]]
    calls: dict[str, list[Call]]
    seen: set[str]


@functools.cache
def examples() -> Examples:
    """The doctests of all modules, run once: their failures by module, and the calls by operation."""
    found = Examples({}, defaultdict(list), set())
    original = Op.run

    def run(self: Op, tensors: Any, attrs: Any) -> Any:
        found.seen.add(self.name)
        result = original(self, tensors, attrs)
        results = result if isinstance(result, list) else [result]
        if all(isinstance(tensor, EagerTensor) for tensor in [*tensors, *results]):
            arrays = [tensor._array for tensor in tensors]
            found.calls[self.name].append(Call(self, arrays, dict(attrs), name))
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Op, "run", run)
        patch.setattr(Op, "_keep", lambda *call: None)  # calls are not kept: each of them runs
        patch.setattr(agc.runtime.Tensor, "__getitem__", getitem)  # the operation, not a view of the array
        for op in REGISTRY.values():
            op._calls.clear()
        for name in MODULES:
            lines: list[str] = []
            runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
            for test in doctest.DocTestFinder().find(importlib.import_module(name)):
                if test.examples:
                    runner.run(test, out=lines.append)
            found.failures[name] = lines
    return found


@functools.cache
def calls(name: str) -> list[Call]:
    """The recorded calls of an operation; those by functions of `experimental.numpy` come last."""
    return sorted(examples().calls[name], key=lambda call: ".experimental." in call.module)


def as_operation(call: Call, number: int) -> tuple[Operation, list[Value], list[Any]] | None:
    """The call as an operation of a graph, and its inputs; shapes and integers behind the first are constants."""
    arrays = [np.asarray(array) for array in call.arrays]
    if any(array.dtype.kind not in "biufc" for array in arrays):
        return None
    operands: list[Any] = []
    kinds = [kind for _, kind in call.op.operand_parameters]
    starts_with_shape = kinds[:1] == ["Ints"] and set(kinds) != {"Ints"}
    for place, array in enumerate(arrays):
        if (place or starts_with_shape) and array.dtype.kind in "iu":
            operands.append(Constant(array))
        else:
            operands.append(
                Value(f"x{number}_{place}", TensorType(dtypes.as_dtype(array.dtype), array.shape))
            )
    specs = call.specs(operands)
    outputs = tuple(Value(f"r{number}_{place}", spec) for place, spec in enumerate(specs))
    inputs = [operand for operand in operands if isinstance(operand, Value)]
    given = [array for operand, array in zip(operands, arrays, strict=True) if isinstance(operand, Value)]
    return Operation(call.op, tuple(operands), call.attrs, outputs), inputs, given


def graph_of(
    names: Iterable[str], most: int, is_wanted: Callable[[Operation, list[Value]], bool]
) -> tuple[Graph, list[Any]]:
    """The wanted examples of operations, of each so many at most, as one graph, and the values of its inputs."""
    operations, inputs, values = [], [], []
    for call in (call for name in names for call in calls(name)[:most]):
        if isinstance(call.outcome(*call.arrays), type):
            continue  # it shows a refusal
        made = as_operation(call, len(operations))
        if made is not None and is_wanted(*made[:2]):
            operations.append(made[0])
            inputs += made[1]
            values += made[2]
    outputs = [output for made in operations for output in made.outputs]
    return Graph("examples", inputs, operations, outputs), values


def different(
    graph: Graph, values: list[Any], run: Callable[[list[Any]], Any], agree: Callable[[Any, Any], bool]
) -> list[Any]:
    """The results that are other than the interpreter's, after the operations that make them."""
    expected = [np.asarray(result) for result in interpret(graph, list(values))]
    found = [np.asarray(result) for result in run(list(values))]
    makers = [made.type for made in graph.operations for _ in made.outputs]
    rows = zip(makers, found, expected, strict=True)
    return [row for row in rows if not agree(*row[1:])]
