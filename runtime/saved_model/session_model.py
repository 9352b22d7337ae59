"""Saved models of TensorFlow 1: a graph with variables by name and signatures, without objects.

signature_def["serving_default"]: x → "x:0", y → "y:0"     ==>     signatures["serving_default"](x=…)["y"]
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .. import dtypes
from ..core.tensor import EagerTensor
from ..core.tensor_spec import TensorSpec
from ..core.variable import Variable
from ..errors import UnimplementedError
from ..formats.tensorflow.attribute_values import read_shape
from ..formats.tensorflow.bundle import BundleReader
from ..formats.tensorflow.graph_import import GraphFunctions, plain, refuse
from ..formats.tensorflow.node_programs import NodeProgram, node_program
from ..formats.tensorflow.saved_model_messages import MetaGraphDef, SignatureDef
from ..ir.builder import eagerly
from ..tracing.concrete_function import ConcreteFunction
from ..tracing.function import function as tf_function
from .restored_object import RestoredObject
from .signatures import LoadedSignature
from .table_initializers import check_initializer
from .tensorflow_files import FILE, asset_path, importing

_INITIALIZERS = ("saved_model_main_op", "legacy_init_op")
_TABLES = ("HashTable", "HashTableV2", "MutableHashTable", "MutableHashTableV2")


def load_session_model(folder: Path, graph: MetaGraphDef) -> Any:
    """Return an object with the signatures and the variables of a graph."""
    variables = _Variables(folder)
    functions = GraphFunctions(graph.graph_def.library.function, variables.of_name)
    nodes = list(graph.graph_def.node)
    programs = {name: _program(nodes, message) for name, message in graph.signature_def.items()}
    refuse(functions.unsupported((), programs.values()))
    for asset in graph.asset_file_def:
        text = EagerTensor(np.array(str(asset_path(folder, asset.filename)).encode(), object))
        functions.fixed[asset.tensor_info.name.partition(":")[0]] = [text]
    with eagerly():
        for node in nodes:
            if node.op in _TABLES:
                functions.fixed[node.name] = functions.run(node_program(nodes, [], [node.name]), [])
        assets = frozenset(functions.fixed) - {node.name for node in nodes if node.op in _TABLES}
        for start in _initial_nodes(graph):
            program = node_program(nodes, [], [], [start])
            check_initializer(functions, program, assets)
            functions.run(program, [])
    root: Any = RestoredObject("graph of TensorFlow 1")
    path = folder / FILE
    root.signatures = {
        name: LoadedSignature(_graph_maker(name, graph.signature_def[name], program, functions, path))
        for name, program in programs.items()
    }
    for signature in root.signatures.values():
        signature.variables  # noqa: B018  # traces the graph, which makes its variables
    root.variables_by_name = variables.made
    return root


class _Variables:
    """The variables of a graph, made with their values when a node names them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._reader: BundleReader | None = None
        self.made: dict[str, Variable] = {}

    def of_name(self, name: str) -> Variable:
        if name not in self.made:
            if self._reader is None:
                self._reader = BundleReader(self._folder / "variables" / "variables", self._folder)
            with eagerly():
                self.made[name] = Variable(EagerTensor(self._reader.read(name)), name=name)
        return self.made[name]


def _initial_nodes(graph: MetaGraphDef) -> list[str]:
    """Return the nodes that fill the lookup tables of a graph."""
    found = [
        graph.collection_def[name].node_list.value for name in _INITIALIZERS if name in graph.collection_def
    ]
    return [str(node) for nodes in found for node in nodes]


def _program(nodes: Any, signature: SignatureDef) -> NodeProgram:
    """Return the steps from the inputs to the outputs of a signature, both in the order of their names."""
    inputs = [_tensor_name(info) for _, info in sorted(signature.inputs.items())]
    if any(number != "0" for _, number in inputs):
        raise UnimplementedError("a signature feeds a tensor that is not the first of a node")
    outputs = [":".join(_tensor_name(info)) for _, info in sorted(signature.outputs.items())]
    return node_program(nodes, [name for name, _ in inputs], outputs)


def _tensor_name(info: Any) -> tuple[str, str]:
    if info.WhichOneof("encoding") != "name":
        raise UnimplementedError("a signature has a sparse or ragged tensor")
    name, _, number = str(info.name).partition(":")
    return name, number or "0"


def _graph_maker(
    label: str, signature: SignatureDef, program: NodeProgram, functions: GraphFunctions, path: Path
) -> Callable[[], ConcreteFunction]:
    names, results = sorted(signature.inputs), sorted(signature.outputs)

    def run(**inputs: Any) -> dict[str, Any]:
        found = functions.run(program, [inputs[name] for name in names])
        return {name: plain(value) for name, value in zip(results, found, strict=True)}

    run.__name__ = f"signature_{label}"
    specs = {
        name: TensorSpec(read_shape(info.tensor_shape), dtypes.as_dtype(info.dtype), name)
        for name, info in signature.inputs.items()
    }

    def make() -> ConcreteFunction:
        with importing(path):
            found: ConcreteFunction = tf_function(run, autograph=False).get_concrete_function(**specs)
            return found

    return make
