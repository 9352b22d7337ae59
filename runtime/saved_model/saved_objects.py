"""The objects of a saved model of TensorFlow before they are made: their kinds, children and values.

nodes { children { node_id: 1 local_name: "w" } }  nodes { variable { … } }
the checkpoint has the same names of children      ==>      the key of the value of node 1
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..formats.tensorflow.object_messages import SavedObject, SavedObjectGraph
from ..train import tensorflow_checkpoint
from ..train.object_graph import ObjectNode
from .restored_object import check_nesting

LIST, TUPLE, DICT = (f"trackable_{kind}_wrapper" for kind in ("list", "tuple", "dict"))


class SavedObjects:
    """The nodes of an object graph, with `kinds` and `children` by number, and the numbers of an optimizer's `slots`.

    Raises ValueError for children that do not exist, and lists that contain themselves.
    """

    def __init__(self, graph: SavedObjectGraph) -> None:
        self.nodes: list[SavedObject] = list(graph.nodes)
        if not self.nodes:
            raise ValueError("it has no objects")
        self.kinds = [node.WhichOneof("kind") for node in self.nodes]
        self.children = [{each.local_name: each.node_id for each in node.children} for node in self.nodes]
        self.slots = {each.slot_variable_node_id for node in self.nodes for each in node.slot_variables}
        for children in self.children:
            for name, number in children.items():
                if not 0 <= number < len(self.nodes):
                    raise ValueError(f"the child {name!r} is not among {len(self.nodes)} objects")
        nested = {
            number: list(children.values())
            for number, children in enumerate(self.children)
            if self.identifier(number) in (LIST, TUPLE, DICT)
        }
        check_nesting(nested)

    def identifier(self, number: int) -> str:
        """Return the name of the class of an object; "" for functions, variables and other kinds."""
        return str(self.nodes[number].user_object.identifier) if self.kinds[number] == "user_object" else ""

    def items(self, number: int) -> list[int]:
        """Return the numbers of the items of a list or tuple."""
        children = self.children[number]
        return [children[name] for name in sorted(filter(str.isdecimal, children), key=int)]

    def functions(self) -> list[str]:
        """Return the names of the graphs of all functions and signatures."""
        names = [str(name) for node in self.nodes for name in node.function.concrete_functions]
        return names + [
            str(node.bare_concrete_function.concrete_function_name)
            for node, kind in zip(self.nodes, self.kinds, strict=True)
            if kind == "bare_concrete_function"
        ]


class SavedValues:
    """The values of variables and tables, found by matching the names of children in the checkpoint.

    Attributes: `values` by key, and `keys` by the number of a variable.
    """

    def __init__(self, objects: SavedObjects, folder: Path) -> None:
        prefix = str(folder / "variables" / "variables")
        self.values: Mapping[str, Any] = {}
        self.keys: dict[int, str] = {}
        self._saved: list[ObjectNode] = []
        self._places: dict[int, int] = {}
        if Path(f"{prefix}.index").exists():
            self._saved, self.values = tensorflow_checkpoint.read(prefix, folder)
        pending = [(0, 0)] if self._saved else []
        while pending:
            number, place = pending.pop()
            if number not in self._places:
                self._places[number] = place
                node, children = self._saved[place], objects.children[number]
                if node.key is not None:
                    self.keys[number] = node.key
                pending += [
                    (children[name], child) for name, child in node.children.items() if name in children
                ]

    def columns(self, number: int) -> dict[str, Any]:
        """Return the values that a lookup table keeps, by name."""
        if number not in self._places:
            return {}
        children = self._saved[self._places[number]].children
        keys = {name: self._saved[place].key for name, place in children.items()}
        return {name: self.values[key] for name, key in keys.items() if key is not None}
