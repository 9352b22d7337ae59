"""The source module of a plan: its lines, and the names of its constants, kernels and functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import dtypes
from ...ir.graph import Graph, Operation, Value
from ...ops.framework.kernel_lookup import kernel_of
from ...ops.reduce.minmax_kernels import largest, smallest
from . import identifiers
from .escaping import BUILT_IN, checked_identifier, is_literal, literal
from .list_ownership import writer

if TYPE_CHECKING:
    from .fusion import Fused, FusedKernelSource

Scope = dict[Value, str]
"""By value, its name, or the expression to write at its uses."""

Location = tuple[Operation, Scope]
"""An operation and the scope of its operands."""

_PYTHONS = {"b": "bool", "i": "int", "u": "int", "f": "float"}
_NUMBERS = frozenset({bool, int, float})


class PlanSource:
    """The source of a plan: `lines`, the operations at `places` (lines count from one), and its `globals`."""

    def __init__(self, graph: Graph) -> None:
        self.lines: list[str] = []
        self.locations: dict[int, Location] = {}
        self.globals: dict[str, Any] = {
            "__builtins__": BUILT_IN, "np": np, "largest": largest, "smallest": smallest,
        }  # fmt: skip
        self._names = identifiers.Identifiers()
        self._known: dict[Any, str] = {}
        self._functions: dict[Graph, str] = {}
        self._pending: list[Graph] = []
        self.fused: list[tuple[Fused, str]] = []
        self.owned: dict[Operation, frozenset[int]] = {}
        self.recipes: dict[Operation, FusedKernelSource] = {}
        self.main = self.function(graph)

    def functions(self) -> Iterator[tuple[Graph, str]]:
        """Yield the graphs that become functions, and their names; emitting a function may add more."""
        for graph in self._pending:
            yield graph, self._functions[graph]

    def known(self) -> set[str]:
        """Return the global names that the source may use."""
        recipes = [recipe.name for recipe in self.recipes.values()]
        return {*self.globals, *self._functions.values(), *recipes}

    def bind(self) -> None:
        """Bind fused operations to their functions, once these are compiled."""
        for runner, whole in self.fused:
            runner.bind(self.globals[runner.recipe.name], self.globals[whole])

    def recipe(self, operation: Operation) -> FusedKernelSource:
        """Return the source of the tiled kernel of a fused operation."""
        if operation not in self.recipes:
            from .fusion import write  # imported for plans with fused operations only

            name = self._names.unique(f"block_{identifiers.local(operation.outputs[0].name)}")
            self.recipes[operation] = write(operation.regions[0], name, self.constant, self.call)
        return self.recipes[operation]

    def may_take(self, operation: Operation, result: int, operand: int) -> bool:
        """Return whether result number `result` of a fused operation may reuse operand number `operand`."""
        return self.recipe(operation).may_take(result, operand)

    def fusion(self, operation: Operation, into: Sequence[int | None]) -> str:
        """Return the name of a fused operation's runner; `into` are the operands that donate their arrays."""
        from .fusion import Fused

        name = self._names.unique(f"fused_{identifiers.local(operation.outputs[0].name)}")
        runner = self.globals[name] = Fused(self.recipe(operation), into)
        self.fused.append((runner, self.function(operation.regions[0])))
        return name

    def function(self, graph: Graph) -> str:
        """Return the name of the function that runs `graph`."""
        if graph not in self._functions:
            prefix = "graph_" if self._functions else ""
            self._functions[graph] = self._names.unique(prefix + identifiers.local(graph.name))
            self._pending.append(graph)
        return self._functions[graph]

    def constant(self, array: np.ndarray[Any, Any]) -> str:
        """Return the name of a constant; scalars are NumPy scalars, which have fast operators."""
        if array.ndim or array.dtype.kind == "O":
            return self.name_of(("array", id(array)), identifiers.constant(array), array)
        return self.name_of((array.dtype, array.tobytes()), identifiers.constant(array), array[()])

    def call(self, operation: Operation, inputs: Sequence[str], changes: bool = False) -> str:
        """Return the source of a call of the operation's kernel, of the in-place variant if `changes`."""
        grouped = [
            f"[{', '.join(x)}]" if isinstance(x, list) else x for x in operation.op.grouped(list(inputs))
        ]
        attrs = [
            f"{checked_identifier(name)}={self.attribute(value)}" for name, value in operation.attrs.items()
        ]
        kernel = self.writer(operation) if changes else self.kernel(operation)
        return f"{kernel}({', '.join([*grouped, *attrs])})"

    def writer(self, operation: Operation) -> str:
        return self.name_of(
            ("writer", kernel_of(operation)), f"op_{operation.type}_in_place", writer(operation)
        )

    def kernel(self, operation: Operation) -> str:
        compute = kernel_of(operation)
        return self.name_of(("op", compute), f"op_{operation.type}", compute)

    def scalar_type(self, dtype: dtypes.DType) -> str:
        return self.name_of(("type", dtype), f"{dtype.name}_type", dtype.numpy_dtype.type)

    def number(self, array: np.ndarray[Any, Any]) -> str:
        """Return a constant as a Python number: a literal if it has one, else a name."""
        value = array.item()
        if is_literal(value):
            return literal(value)
        return self.name_of(("number", repr(value)), identifiers.constant(array), value)

    def as_number(self, dtype: dtypes.DType, text: str) -> str:
        """Return the source that converts a NumPy scalar to a Python number."""
        return f"{_PYTHONS[dtype.kind]}({text})"

    def as_scalar(self, dtype: dtypes.DType, text: str) -> str:
        """Return the source that converts a Python number to a NumPy scalar.

        For integers, adding zero takes less time than calling the scalar type.
        """
        if dtype.kind == "b":
            return f"({self.constant(np.array(True))} if {text} else {self.constant(np.array(False))})"
        if dtype.kind == "f":
            return f"{self.scalar_type(dtype)}({text})"
        return f"({self.constant(np.zeros((), dtype.numpy_dtype))} + {text})"

    def number_kernel(self, operation: Operation) -> str:
        """Return the name of an operation's kernel for Python numbers."""
        compute, attrs = kernel_of(operation), operation.attrs
        kinds = [operand.dtype.numpy_dtype.type for operand in operation.inputs]

        def computed(*numbers: Any) -> Any:
            given = [kind(n) if type(n) in _NUMBERS else n for kind, n in zip(kinds, numbers, strict=True)]
            return compute(*operation.op.grouped(given), **attrs).item()

        key = ("number", compute, *kinds, *map(str, attrs.values()))
        return self.name_of(key, f"op_{operation.type}_of_numbers", computed)

    def attribute(self, value: Any) -> str:
        """Return an attribute as source: a literal if it has one, else a name."""
        if is_literal(value):
            return literal(value)
        if isinstance(value, dtypes.DType):
            return self.name_of(value, f"dtype_{value.name}", value)
        return self.name_of(("attribute", id(value)), "constant_attribute", value)

    def name_of(self, key: Any, requested_name: str, value: Any) -> str:
        """Return the global name of `value`; values with the same `key` share a name."""
        if key not in self._known:
            self._known[key] = self._names.unique(requested_name)
            self.globals[self._known[key]] = value
        return self._known[key]
