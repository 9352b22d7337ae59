"""Write an object as TensorFlow's SavedModel: its variables, and the functions of all objects that it leads to.

model.w, model.layers[0].__call__     ==>     nodes { children { "w": 1 "layers": 2 } … }  nodes { variable … } …
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from ..core.variable import Variable
from ..formats.tensorflow.callees import SavedCallee, as_signature, of_concrete
from ..formats.tensorflow.frozen_graph import check, lists_grow
from ..formats.tensorflow.model_writer import ModelWriter
from ..formats.tensorflow.structure_encoding import CannotDescribeError
from ..tracing.function import is_bound
from ..train.object_graph import ObjectGraph
from . import signatures as signing
from .function_serialization import graphs_of
from .object_kinds import functions_of, kind_of

_log = logging.getLogger("agc")
_WRAPPERS = {"list": "trackable_list_wrapper", "dict": "trackable_dict_wrapper"}


def encode(target: Any, signatures: Any, metadata: Mapping[str, str] | None = None) -> dict[str, bytes]:
    """Return the files of a model of an object by their paths; `signatures` as for `save`."""
    graph = ObjectGraph.of(target)
    functions = [functions_of(each) if kind_of(each) == "object" else {} for each in graph.objects]
    chosen = signing.chosen(signatures, target, functions[0])
    exported = {name: signing.exported(name, concrete) for name, concrete in chosen.items()}
    concretes = [concrete for found in functions for each in found.values() for concrete in graphs_of(each)]
    writer = ModelWriter(any(lists_grow(concrete.graph) for concrete in [*concretes, *exported.values()]))
    keys = {id(variable): key for key, variable in graph.variables.items()}
    for each in graph.objects:  # their numbers are those of the graph
        if isinstance(each, Variable):
            writer.variable(each, keys[id(each)])
        else:
            writer.add("user_object", _WRAPPERS.get(kind_of(each), "_generic_user_object"))
    for number, node in enumerate(graph.nodes):
        for name, child in node.children.items():
            writer.link(number, name, child)
    for number, found in enumerate(functions):
        for name, function in found.items():
            owner = getattr(function, "__self__", graph.objects[number])
            callees = _callees(function, name, owner)
            if callees:
                writer.function(number, [name], callees)
    writer.signatures(0, {name: as_signature(of_concrete(concrete)) for name, concrete in exported.items()})
    check(writer.library, "a SavedModel", type(target).__name__)
    return writer.content(metadata or {})


def _callees(function: Any, name: str, owner: Any) -> list[SavedCallee]:
    """Return the graphs of a function; those for arguments that no file can describe are left out with a warning."""
    found = []
    for concrete in graphs_of(function):
        try:
            first = next(iter(concrete.arguments), None)
            found.append(of_concrete(concrete, first if is_bound(concrete, owner) else None))
        except CannotDescribeError as error:
            _log.warning("a graph of %s is not saved: %s", name, error)
    return found
