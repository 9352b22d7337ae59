"""Unique names of the operations and tensors of a graph, in TensorFlow's format, and look-ups by these names.

a = add x, y                    add:0
a.1 = add a, y          ==>     add_1:0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .graph import Graph, Operation, Value


class Naming:
    """Names of a graph's inputs and operations, made unique like in TensorFlow: `add`, `add_1`.

    The name of a value consists of the operation's name and the number of the result: `unstack:1`. Operations get their
    names by `extend`, as a graph gets them one by one.
    """

    def __init__(self, graph: Graph, reserved: dict[int, list[str]]) -> None:
        self._taken: dict[str, int] = {}
        self.values: dict[Value, str] = {}
        self.operations: dict[Operation, str] = {}
        self.inputs = len(graph.inputs)
        self._last: Operation | None = None
        for value in graph.inputs:
            self.values[value] = f"{self._unique(value.name)}:0"
        self.reserved = reserved  # names that no operation has, by the number of operations before them
        self._reserve()

    def fits(self, graph: Graph) -> bool:
        """Return whether the graph has only got further operations since it was named."""
        count = len(self.operations)
        return (
            self.inputs == len(graph.inputs)
            and count <= len(graph.operations)
            and (not count or graph.operations[count - 1] is self._last)
        )

    def extend(self, graph: Graph) -> None:
        """Name the operations that the graph has got since it was named."""
        for operation in graph.operations[len(self.operations) :]:
            requested_name = operation.outputs[0].name if operation.outputs else operation.op.name
            name = self.operations[operation] = self._unique(requested_name)
            for number, value in enumerate(operation.outputs):
                self.values[value] = f"{name}:{number}"
            self._last = operation
            self._reserve()

    def _reserve(self) -> None:
        for name in self.reserved.get(len(self.operations), ()):
            self._unique(name)

    def next(self, requested_name: str, is_reserved: bool) -> str:
        """Return the name that the next operation would get; reserve it if `is_reserved`."""
        if not is_reserved:
            return self._free(requested_name)[0]
        self.reserved.setdefault(len(self.operations), []).append(requested_name)
        return self._unique(requested_name)

    def _free(self, requested_name: str) -> tuple[str, str, int]:
        """Return a name that is not taken, and the parts of which it consists."""
        base = self.in_tensorflows_way(requested_name)
        name, number = base, self._taken.get(base, 0)
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        return name, base, number

    def _unique(self, requested_name: str) -> str:
        name, base, number = self._free(requested_name)
        self._taken[base] = number
        self._taken.setdefault(name, 0)
        return name

    def operation(self, graph: Graph, name: str) -> Operation:
        """Return the operation with this name, a placeholder for an input; KeyError if there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        wanted = self.in_tensorflows_way(name)
        for operation in graph.get_operations():
            if self.operations[operation] == wanted:
                return operation
        for value in graph.inputs:
            if self.values[value] == f"{wanted}:0":
                return graph.made_by(value)
        raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")

    def value(self, name: str) -> Value:
        """Return the value of the tensor with this name; KeyError if there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        head, colon, number = name.rpartition(":")
        if not colon:
            raise ValueError(
                f"The name {name!r} refers to an Operation, not a Tensor. Tensor names must be of the form "
                '"<op_name>:<output_index>".'
            )
        wanted = f"{self.in_tensorflows_way(head)}:{number}"
        for value, known in self.values.items():
            if known == wanted:
                return value
        raise KeyError(f"The name {name!r} refers to a Tensor which does not exist.")

    @staticmethod
    def in_tensorflows_way(name: str) -> str:
        """Return a name of the text form with TensorFlow's numbers: `add_1` for `add.1`."""
        head, _, number = name.rpartition(".")
        return f"{head}_{number}" if head and number.isdigit() else name
