"""Saving of objects, their variables and functions to files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.trackable import tracked
from ..core.variable import Variable
from ..ir.builder import current
from ..storage.atomic_files import write_files
from ..train.object_graph import ObjectGraph
from ..train.written_once import computed_by_all
from . import file_format, tensorflow_save
from . import signatures as signing
from .asset import Asset
from .function_serialization import function_data
from .object_kinds import functions_of, kind_of


def save(obj: Any, export_dir: Any, signatures: Any = None, options: Any = None) -> None:
    """Save an object with its variables, functions and assets, for loading without its Python code.

    Args:
        obj: a `tf.Module` or another object with `__children__`. The variables reachable from it are saved, and the
            `tf.function`s in the attributes and classes of all reachable objects, with their existing graphs: call
            them first, or give them an `input_signature`.
        export_dir: a folder. A model in it is replaced at the very end; if saving fails, it stays unchanged.
        signatures: a function, or functions by name, for callers that pass tensors by name.
        options: `SaveOptions`; `SaveOptions(experimental_format="tensorflow")` writes TensorFlow's own format.

    Raises ValueError for an object or a function that cannot be saved (a function that calls Python code or returns
    Python objects). Raises AssertionError when a function uses a variable that is not reachable from the object.

    >>> import agc.runtime as tf
    >>> import tempfile
    >>> class Scale(tf.Module):
    ...     def __init__(self):
    ...         self.factor = tf.Variable(3.0)
    ...
    ...     @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    ...     def __call__(self, x):
    ...         return self.factor * x
    >>> folder = tempfile.mkdtemp()
    >>> tf.saved_model.save(Scale(), folder)
    >>> tf.saved_model.load(folder)([1.0, 2.0]).numpy().tolist()
    [3.0, 6.0]
    """
    if current() is not None:
        raise AssertionError(
            "saved_model.save writes files now, not when a graph runs: call it outside of tf.function"
        )
    if not hasattr(type(obj), "__children__"):
        raise ValueError(
            f"Expected an object with variables, such as a tf.Module, for export, but got {obj!r}"
        )
    wanted = getattr(options, "experimental_format", "agc")
    if wanted not in ("agc", "tensorflow"):
        raise ValueError(f"SaveOptions: `experimental_format` must be 'agc' or 'tensorflow', not {wanted!r}")
    aliases = getattr(options, "function_aliases", None) or {}

    def write(folder: str) -> None:
        if wanted == "tensorflow":
            write_files(Path(folder), tensorflow_save.encode(obj, signatures))
            return
        writer = file_format.Writer(Path(folder))
        try:
            writer.commit(_Export(obj, writer).content(signatures, aliases))
        except BaseException:
            writer.abandon()
            raise

    computed_by_all(os.fspath(export_dir), write)


class _Export:
    """The content of one saved model."""

    def __init__(self, root: Any, writer: file_format.Writer) -> None:
        self.graph = ObjectGraph.of(root)
        self.writer = writer
        self.numbers = {id(target): number for number, target in enumerate(self.graph.objects)}

    def content(self, wanted: Any, aliases: Mapping[str, Any]) -> dict[str, Any]:
        root = self.graph.objects[0]
        chosen = signing.chosen(wanted, root, functions_of(root))
        exported = {name: signing.exported(name, graph) for name, graph in chosen.items()}
        nodes = [self.node(number) for number in range(len(self.graph.nodes))]
        written, renamed = self.functions(root, exported), self.functions(root, aliases)
        self.writer.variables({key: variable._array for key, variable in self.graph.variables.items()})
        return {"nodes": nodes, "signatures": written, "aliases": renamed}

    def functions(self, owner: Any, functions: Mapping[str, Any]) -> dict[str, Any]:
        """Return functions as data. `owner` is the object that a function without an object of its own belongs to."""
        return {
            name: function_data(
                function, getattr(function, "__self__", owner), self.number_of, self.writer.function
            )
            for name, function in functions.items()
        }

    def node(self, number: int) -> dict[str, Any]:
        target, node = self.graph.objects[number], self.graph.nodes[number]
        data: dict[str, Any] = {"kind": kind_of(target), "children": node.children}
        if isinstance(target, Variable):
            shape = target.content_spec.shape
            data["key"] = node.key
            data["variable"] = [
                target.short_name, target.trainable, target.dtype.name, None if shape is None else list(shape),
                target.synchronization.name, target.aggregation.name,
            ]  # fmt: skip
        elif isinstance(target, Asset):
            data["asset"] = self.writer.asset(Path(target))
        else:
            data["class"] = type(target).__qualname__
            data["functions"] = self.functions(target, functions_of(target))
        return data

    def number_of(self, variable: Variable) -> int:
        """Return the index of a variable among the objects; AssertionError for one that no object leads to."""
        return self.numbers[id(tracked(variable, self.numbers))]
