"""Saving of objects, their variables and functions to files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.variable import Variable
from ..ir.builder import current
from ..tracing.function import Function
from ..train.object_graph import ObjectGraph
from . import file_format
from . import signatures as signing
from .asset import Asset
from .function_serialization import RestoredFunction, function_data, is_function


def save(obj: Any, export_dir: Any, signatures: Any = None, options: Any = None) -> None:
    """Save an object with its variables, functions and assets, for loading without its Python code.

    Args:
        obj: a `tf.Module` or another object with `__children__`. The variables reachable from it are saved, and the
            `tf.function`s in the attributes and classes of all reachable objects, with their existing graphs: call
            them first, or give them an `input_signature`.
        export_dir: a folder. A model in it is replaced at the very end; if saving fails, it stays unchanged.
        signatures: a function, or functions by name, for callers that pass tensors by name.
        options: accepted.

    Raises ValueError for an object or a function that cannot be saved (a function that calls Python code or returns
    Python objects). Raises AssertionError when a function uses a variable that is not reachable from the object.
    """
    if current() is not None:
        raise AssertionError(
            "saved_model.save writes files now, not when a graph runs: call it outside of tf.function"
        )
    if not hasattr(type(obj), "__children__"):
        raise ValueError(
            f"Expected an object with variables, such as a tf.Module, for export, but got {obj!r}"
        )
    writer = file_format.Writer(Path(export_dir))
    try:
        writer.commit(_Export(obj, writer).content(signatures))
    except BaseException:
        writer.abandon()
        raise


class _Export:
    """The content of one saved model."""

    def __init__(self, root: Any, writer: file_format.Writer) -> None:
        self.graph = ObjectGraph.of(root)
        self.writer = writer
        self.numbers = {id(place): number for number, place in enumerate(self.graph.objects)}

    def content(self, wanted: Any) -> dict[str, Any]:
        chosen = signing.chosen(wanted, functions_of(self.graph.objects[0]))
        exported = {name: signing.exported(name, graph) for name, graph in chosen.items()}
        nodes = [self.node(number) for number in range(len(self.graph.nodes))]
        written = {
            name: function_data(graph, None, self.number_of, self.writer.function)
            for name, graph in exported.items()
        }
        self.writer.variables({key: variable._array for key, variable in self.graph.variables.items()})
        return {"nodes": nodes, "signatures": written}

    def node(self, number: int) -> dict[str, Any]:
        place, node = self.graph.objects[number], self.graph.nodes[number]
        data: dict[str, Any] = {"kind": kind_of(place), "children": node.children}
        if isinstance(place, Variable):
            shape = place.content_spec.shape
            data["key"] = node.key
            data["variable"] = [
                place.short_name, place.trainable, place.dtype.name, None if shape is None else list(shape),
            ]  # fmt: skip
        elif isinstance(place, Asset):
            data["asset"] = self.writer.asset(Path(place))
        else:
            data["class"] = type(place).__qualname__
            data["functions"] = {
                name: function_data(function, place, self.number_of, self.writer.function)
                for name, function in functions_of(place).items()
            }
        return data

    def number_of(self, variable: Variable) -> int:
        """Return the index of a variable among the objects."""
        if id(variable) not in self.numbers:
            raise AssertionError(
                f"Tried to export a function which references an 'untracked' resource: the variable {variable.name!r} "
                "must be an attribute of the object that is saved, or of an object that this one leads to"
            )
        return self.numbers[id(variable)]


def kind_of(place: Any) -> str:
    """Return the kind from which loading rebuilds an object: `variable`, `asset`, `list`, `dict` or `object`."""
    if isinstance(place, Variable):
        return "variable"
    if isinstance(place, Asset):
        return "asset"
    if isinstance(place, Mapping):
        return "dict"
    return "list" if isinstance(place, (list, tuple)) else "object"


def functions_of(place: Any) -> dict[str, Any]:
    """Return the functions among the attributes of an object, and among those of its class.

    A class can add functions with a method `__functions__() -> dict[str, function]`.
    """
    if not hasattr(place, "__dict__"):
        return {}
    made = getattr(type(place), "__functions__", None)
    found = {} if made is None else dict(made(place))
    for kind in reversed(type(place).__mro__):
        for name, value in vars(kind).items():
            if isinstance(value, (Function, RestoredFunction)):
                found[name] = getattr(place, name)
    return found | {name: value for name, value in vars(place).items() if is_function(value)}
