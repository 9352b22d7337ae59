"""Lines of a graph's text as rows of the page, each with the values that it defines and uses.

      y = multiply x, 2.0       : float32[]

    {"text": "  y = multiply x, 2.0 …", "kind": "op", "name": "multiply", "defs": ["y"], "uses": ["x"],
     "types": ["float32[]"], "at": 3}

Graphs of successive passes share most lines, so a page has each distinct row once, in a `RowTable`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agc.runtime.ir.graph import Constant, Graph, Operand, Operation, Value
from agc.runtime.ir.literal_printer import show_constant
from agc.runtime.ir.printer import Printer

Row = dict[str, Any]


class Origins:
    """The lines of user code that are mentioned in a page: `at` gives each a number."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[str, int], int] = {}

    def at(self, filename: str, line: int) -> int:
        return self.numbers.setdefault((filename, line), len(self.numbers))

    def of(self, operation: Operation) -> int | None:
        """Return the number of the line that an operation comes from."""
        origin = operation.origin
        return None if origin is None else self.at(origin.filename, origin.line)


class RowTable:
    """The distinct rows of all graphs of a page, and a number for each operation."""

    def __init__(self, origins: Origins) -> None:
        self.origins = origins
        self.rows: list[Row] = []
        self._numbers: dict[Any, int] = {}
        self._operations: dict[
            Operation, int
        ] = {}  # keeps the operations alive, so that each has its own number

    def number_of(self, operation: Operation) -> int:
        return self._operations.setdefault(operation, len(self._operations))

    def add(self, graph: Graph) -> dict[str, list[int]]:
        """Return the numbers of the rows of a graph, and by row the number of its operation, or -1."""
        printer = Printer()
        printer.add(graph, data=False)
        rows, operations = [], []
        for line, text in enumerate(printer.lines):
            owner, names = printer.owners.get(line, (None, {}))
            rows.append(self._number(_row(text, owner, names), owner))
            operations.append(self.number_of(owner) if isinstance(owner, Operation) else -1)
        return {"rows": rows, "ops": operations}

    def _number(self, row: Row, owner: Operation | Graph | None) -> int:
        at = self.origins.of(owner) if isinstance(owner, Operation) else None
        if at is not None:
            row["at"] = at
        key = (row["text"], at, tuple(row.get("defs", ())), tuple(row.get("uses", ())))
        if key not in self._numbers:
            self._numbers[key] = len(self.rows)
            self.rows.append(row)
        return self._numbers[key]


def _row(text: str, owner: Operation | Graph | None, names: Mapping[Value, str]) -> Row:
    if isinstance(owner, Operation):
        return {
            "text": text,
            "kind": "op",
            "name": owner.type,
            "defs": _named(owner.outputs, names),
            "uses": _named(owner.inputs, names),
            "types": [str(value.spec) for value in owner.outputs],
            "constants": [text for text in map(_constant, owner.inputs) if text],
        }
    word = text.split(maxsplit=1)[0] if text.strip() else ""
    if owner is None or not word:
        return {"text": text, "kind": "text"}
    if word in ("return", "yield"):
        return {"text": text, "kind": "end", "uses": _named(owner.outputs, names)}
    kind = "graph" if word == "graph" else "region"
    types = [str(value.spec) for value in owner.inputs]
    return {"text": text, "kind": kind, "name": word, "defs": _named(owner.inputs, names), "types": types}


def _constant(operand: Operand) -> str | None:
    return show_constant(operand.value) if isinstance(operand, Constant) else None


def _named(operands: Any, names: Mapping[Value, str]) -> list[str]:
    return [names[operand] for operand in operands if operand in names]
