"""The object graph of a checkpoint: every trackable object once, with its children, and the keys of its variables.

{"children": {"w": 1, "layers": 2}}                          node 0, the root
{"children": {}, "key": "w/.ATTRIBUTES/VARIABLE_VALUE"}      node 1, a variable
…
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..core.trackable import children
from ..core.tracked_object import held
from ..core.variable import Variable

VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"


class ObjectNode(NamedTuple):
    """A node of the graph: its children by name, as node indices; for a variable the key of its value."""

    children: dict[str, int]
    key: str | None


class ObjectGraph(NamedTuple):
    """The nodes, the root first, their objects, the variables by key, and the paths of the objects."""

    nodes: list[ObjectNode]
    objects: list[Any]
    variables: dict[str, Variable]
    paths: list[str]

    @classmethod
    def of(cls, root: Any) -> ObjectGraph:
        """Return the graph of the objects reachable from `root`.

        The order is breadth-first, so that keys are shortest paths. A variable of Keras counts as the one that holds
        its value.
        """
        nodes: list[ObjectNode] = []
        variables: dict[str, Variable] = {}
        numbers = {id(root): 0}
        pending = [(root, "")]
        for target, path in pending:  # the list grows
            key = None
            if isinstance(target, Variable):
                key = path + VALUE
                variables[key] = target
            found: dict[str, int] = {}
            for name, part in children(target).items():
                child = held(part)
                if id(child) not in numbers:
                    numbers[id(child)] = len(pending)
                    pending.append((child, f"{path}/{escaped(name)}" if path else escaped(name)))
                found[name] = numbers[id(child)]
            nodes.append(ObjectNode(found, key))
        return cls(nodes, [value for value, _ in pending], variables, [path for _, path in pending])


def escaped(name: str) -> str:
    """Return a name escaped as a part of a key.

    >>> escaped("a/b.c")
    'a.Sb..c'
    """
    return name.replace(".", "..").replace("/", ".S")
