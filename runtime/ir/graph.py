"""The graph: typed, structured, every value assigned once.

    graph collatz(n: int64[]) -> int64[]
      last, steps = while n, 0                      : int64[], int64[]
        test m, k
          go = not_equal m, 1                       : bool[]
          yield go
        body m, k
          ...
      return steps

A `Graph` has inputs, operations in the order of their effects, and outputs. Operations such as `cond` and
`while` hold closed regions, which are graphs themselves: all that they use is passed in. An operand is a
`Value` (an input, or the result of an earlier operation of the same graph) or a `Constant`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dtypes, shapes
from .origin import Origin
from .specs import AnySpec, RefSpec, Spec

if TYPE_CHECKING:
    from ..ops.declare import Op


class Value:
    """A value of a graph. `name` is a wish: the text form makes names unique.

    `elements` is what is known of a vector of integers before the graph runs, e.g. (None, 3) for the shape of a
    matrix with 3 columns: shape rules use it.
    """

    __slots__ = ("elements", "name", "spec")

    value: None = None  # not known before the graph runs

    def __init__(self, name: str, spec: AnySpec, elements: tuple[int | None, ...] | None = None) -> None:
        self.name = name
        self.spec = spec
        self.elements = elements

    @property
    def dtype(self) -> dtypes.DType:
        assert isinstance(self.spec, Spec), f"{self.name} is {self.spec}, not a tensor"
        return self.spec.dtype

    @property
    def shape(self) -> shapes.Dims:
        assert isinstance(self.spec, Spec), f"{self.name} is {self.spec}, not a tensor"
        return self.spec.shape

    def __repr__(self) -> str:
        return f"Value({self.name!r}, {self.spec})"


class Constant:
    """An operand that is known: an array that nobody changes any more."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value: np.ndarray[Any, Any] = value

    @property
    def dtype(self) -> dtypes.DType:
        return dtypes.of_array(self.value)

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.value.shape
        return shape

    @property
    def spec(self) -> Spec:
        return Spec(dtypes.of_array(self.value), self.value.shape)

    def __repr__(self) -> str:
        return f"Constant({self.value!r})"


Operand = Value | Constant


class Operation:
    """One step of a graph: `outputs = op inputs [attrs]`, with regions for control flow."""

    __slots__ = ("attrs", "inputs", "op", "origin", "outputs", "regions", "stateful")

    def __init__(
        self,
        op: Op,
        inputs: tuple[Operand, ...],
        attrs: Mapping[str, Any],
        outputs: tuple[Value, ...],
        regions: tuple[Graph, ...] = (),
        origin: Origin | None = None,
    ) -> None:
        self.op = op
        self.inputs = inputs
        self.attrs = attrs
        self.outputs = outputs
        self.regions = regions
        self.origin = origin
        self.stateful: bool = op.stateful or (bool(regions) and any(region.stateful for region in regions))

    @property
    def type(self) -> str:
        return self.op.name

    @property
    def name(self) -> str:
        return self.outputs[0].name if self.outputs else self.op.name

    def __repr__(self) -> str:
        return f"<tf.Operation {self.name!r} type={self.type}>"


class Graph:
    """A function over tensors as data; see the module's docstring. Equal graphs have the same text."""

    __slots__ = ("inputs", "name", "operations", "outputs", "stateful")

    def __init__(
        self,
        name: str,
        inputs: tuple[Value, ...],
        operations: tuple[Operation, ...],
        outputs: tuple[Operand, ...],
    ) -> None:
        self.name = name
        self.inputs = inputs
        self.operations = operations
        self.outputs = outputs
        self.stateful: bool = any(operation.stateful for operation in operations)

    def get_operations(self) -> list[Operation]:
        """The operations in the order of their effects (those of regions belong to their own graphs)."""
        return list(self.operations)

    def live_operations(self) -> list[Operation]:
        """The operations that a run needs: those with effects, and those that something needed reads.

        The others are not run: this is the "non-strict" execution of TensorFlow's user guide.
        """
        needed: set[Operand] = set(self.outputs)
        live = []
        for operation in reversed(self.operations):
            if operation.stateful or not needed.isdisjoint(operation.outputs):
                needed.update(operation.inputs)
                live.append(operation)
        return live[::-1]

    def walk(self) -> Iterator[Operation]:
        """Every operation, those of regions included."""
        pending: list[Graph] = [self]
        while pending:
            for operation in pending.pop().operations:
                yield operation
                pending.extend(operation.regions)

    @property
    def variables(self) -> tuple[Value, ...]:
        """The inputs that are references to variables."""
        return tuple(value for value in self.inputs if isinstance(value.spec, RefSpec))

    def __str__(self) -> str:
        from .text import show

        return show(self).rstrip("\n")

    def __repr__(self) -> str:
        return f"<Graph {self.name!r}: {len(self.inputs)} inputs, {len(self.operations)} operations>"

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, Graph) else NotImplemented

    __hash__ = object.__hash__
