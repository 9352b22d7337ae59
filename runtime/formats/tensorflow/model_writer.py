"""Write objects, functions and signatures as TensorFlow's SavedModel.

saved_model.pb                                 the graph, its functions, the signatures, and the objects
variables/variables.index, .data-00000-of-…    the values of the variables, and the objects again

The graph holds what TensorFlow's C++ programs load: handles of variables, one call for each signature, and nodes that
restore the variables. Python programs read the objects instead.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...core.trackable import tracked
from ...core.variable import Variable
from ...ir.graph import Value
from . import rules  # noqa: F401  # registers them
from .attribute_values import TYPE_NUMBERS, encode_shape
from .bundle import write_bundle
from .callees import SavedCallee
from .frozen_graph import PRODUCER
from .functions import FunctionWriter, Library, dtype_of, shape_of
from .nodes import NodeResult
from .object_messages import GRAPH_KEY, FunctionSpec, SavedConcreteFunction, TrackableObjectGraph
from .saved_model_messages import MetaGraphDef, SavedModel
from .structure_encoding import argument_specification

PREDICT = "tensorflow/serving/predict"
INIT_OP = "__saved_model_init_op"
VERSION = "2.21.0"
"""The version of TensorFlow whose format this is."""


class ModelWriter:
    """A saved model that is being written: first objects, then functions and signatures of them."""

    def __init__(self, lists_grow: bool = False) -> None:
        self.library = Library(lists_grow)
        self.message = MetaGraphDef()
        self.objects = self.message.object_graph_def
        self.variables: dict[int, tuple[int, Variable, str]] = {}
        self.body = self.library.body(in_function=False)
        self._handles: dict[int, NodeResult] = {}
        self._written: dict[int, tuple[SavedCallee, str]] = {}

    def add(self, kind: str, identifier: str = "") -> int:
        """Add an object of a kind, and return its number."""
        saved = self.objects.nodes.add()
        getattr(saved, kind).SetInParent()
        if identifier:
            saved.user_object.identifier = identifier
            saved.user_object.version.MergeFrom({"producer": 1, "min_consumer": 1})
        return len(self.objects.nodes) - 1

    def link(self, parent: int, name: str, child: int) -> None:
        """Make an object an attribute or item of another one."""
        self.objects.nodes[parent].children.add(node_id=child, local_name=name)

    def variable(self, variable: Variable, key: str) -> int:
        """Add a variable with the key of its value, and return its number."""
        number = self.add("variable")
        spec, saved = variable.content_spec, self.objects.nodes[number].variable
        saved.dtype = TYPE_NUMBERS[spec.dtype.name]
        encode_shape(saved.shape, spec.shape)
        saved.trainable = bool(variable.trainable)
        saved.synchronization = variable.synchronization.value
        saved.aggregation = variable.aggregation.value
        saved.name = variable.name.removesuffix(":0")
        self.variables[id(variable)] = number, variable, key
        return number

    def number_of(self, variable: Variable) -> int:
        """Return the number of a variable; AssertionError for one that no saved object leads to."""
        return self.variables[id(tracked(variable, self.variables))][0]

    def concrete(self, callee: SavedCallee) -> str:
        """Write a function, and return its name."""
        if id(callee) not in self._written:
            self._written[id(callee)] = callee, self._concrete(callee)
        return self._written[id(callee)][1]

    def _concrete(self, callee: SavedCallee) -> str:
        writer = FunctionWriter(self.library, callee.name)
        captured = [value for value, _ in callee.variables]
        writer.add_parameters([*callee.inputs, *captured])
        if callee.calls is None:
            writer.add(callee.graph)
        else:
            self._call(writer, callee.calls, captured)
        inputs = [*callee.inputs, *captured]
        saved = SavedConcreteFunction(
            bound_inputs=[self.number_of(variable) for _, variable in callee.variables],
            canonicalized_input_signature=callee.arguments,
            output_signature=callee.results,
        )
        message = writer.message(inputs, callee.outputs, callee.output_names)
        name = self.library.append(message, saved.SerializeToString(deterministic=True))
        if name not in self.objects.concrete_functions:
            self.objects.concrete_functions[name].MergeFrom(saved)
        return name

    def _call(self, writer: FunctionWriter, callee: SavedCallee, captured: list[Value]) -> None:
        """Let a function consist of a call of another one with the same inputs."""
        given = [writer.result(value) for value in [*callee.inputs, *captured]]
        kinds = [dtype_of(operand.spec) for operand in callee.outputs]
        results = writer.body.StatefulPartitionedCall(given, f=self.concrete(callee), Tout=kinds)
        for operand, result in zip(callee.outputs, results, strict=True):
            if operand not in writer.results:  # not a parameter that is returned
                writer.bind(operand, result)

    def function(self, parent: int, names: Iterable[str], callees: Iterable[SavedCallee]) -> None:
        """Add a function with its graphs, as a method of an object by one name or several."""
        callees = list(callees)
        number = self.add("function")
        saved = self.objects.nodes[number].function
        saved.concrete_functions.extend(dict.fromkeys(map(self.concrete, callees)))
        if callees:
            _set_parameters(saved.function_spec, callees[0])
        for name in names:
            self.link(parent, name, number)

    def signatures(self, root: int, callees: Mapping[str, SavedCallee]) -> None:
        """Add signatures: for Python as attributes of the root, and in the graph."""
        holder = self.add("user_object", "signature_map")
        for name, callee in callees.items():
            function = self.concrete(callee)
            number = self.add("bare_concrete_function")
            saved = self.objects.nodes[number].bare_concrete_function
            saved.concrete_function_name = function
            saved.argument_keywords.extend(callee.input_names)
            saved.allowed_positional_arguments = int(len(callee.inputs) == 1)  # the order is clear
            _set_parameters(saved.function_spec, callee)
            self.link(holder, name, number)
            self._signature_call(name, function, callee)
        self.link(root, "signatures", holder)

    def _signature_call(self, name: str, function: str, callee: SavedCallee) -> None:
        body, definition = self.body, self.message.signature_def[name]
        definition.method_name = PREDICT
        given = []
        for keyword, value in zip(callee.input_names, callee.inputs, strict=True):
            made = body.add("Placeholder", dtype=dtype_of(value.spec), shape=shape_of(value.spec))
            made.node.name = body.unique(f"{name}_{keyword}")
            _describe(definition.inputs[keyword], made, value)
            given.append(made)
        given += [self.handle(variable) for _, variable in callee.variables]
        body.forget_effects()
        outputs = body.StatefulPartitionedCall(
            given, f=function, Tout=[dtype_of(operand.spec) for operand in callee.outputs]
        )
        node = body.nodes[-1]
        node.name = body.unique("StatefulPartitionedCall")
        for keyword, operand, result in zip(callee.output_names, callee.outputs, outputs, strict=True):
            _describe(definition.outputs[keyword], result, operand)

    def handle(self, variable: Variable) -> NodeResult:
        """Return the node that refers to a variable."""
        self.number_of(variable)
        found = self._handles.get(id(variable))
        if found is None:
            spec = variable.content_spec
            name = self.body.unique(variable.name.removesuffix(":0"))
            found = self.body.VarHandleOp(dtype=spec.dtype, shape=spec.shape, shared_name=name)
            found.node.name = name
            self._handles[id(variable)] = found
        return found

    def content(self, metadata: Mapping[str, str]) -> dict[str, bytes]:
        """Return the files of the model by their paths."""
        self._restoring()
        self._initializing()
        graph, info = self.message.graph_def, self.message.meta_info_def
        self.body.name_nodes(0, "model", ())
        graph.node.adopt(self.body.messages())
        graph.library.MergeFrom(self.library.message)
        graph.versions.producer = PRODUCER
        info.tags.append("serve")
        info.tensorflow_version = VERSION
        info.meta_graph_version = " ".join(f"{key}={value}" for key, value in metadata.items())
        info.stripped_default_attrs = True
        model = SavedModel(saved_model_schema_version=1)
        model.meta_graphs.adopt([self.message])
        return {"saved_model.pb": model.SerializeToString(deterministic=True), **self._values()}

    def _restoring(self) -> None:
        """Add the nodes that save and restore the variables of a C++ program."""
        body, kept = self.body, [(variable, key) for _, variable, key in self.variables.values()]
        body.forget_effects()
        filename = body.Placeholder(dtype="string", shape=())
        filename.node.name = body.unique("saver_filename")
        saver = self.message.saver_def
        if not kept:
            return
        keys, handles = [key for _, key in kept], [self.handle(variable) for variable, _ in kept]
        types = [variable.content_spec.dtype.name for variable, _ in kept]
        values = [
            body.ReadVariableOp(handle, dtype=kind) for handle, kind in zip(handles, types, strict=True)
        ]
        body.SaveV2(filename, keys, [""] * len(keys), values)
        saved = body.Identity(filename)
        saved.node.controls += body.last_effects
        body.forget_effects()
        for handle, value in zip(
            handles, body.RestoreV2(filename, keys, [""] * len(keys), dtypes=types), strict=True
        ):
            body.AssignVariableOp(handle, value)
        done = body.NoOp()
        done.controls += [node for node in body.nodes if node.op == "AssignVariableOp"]
        saved.node.name, done.name = body.unique("save"), body.unique("restore_all")
        saver.filename_tensor_name = f"{filename.node.name}:0"
        saver.save_tensor_name = f"{saved.node.name}:0"
        saver.restore_op_name = done.name
        saver.max_to_keep, saver.version = 1, 2

    def _initializing(self) -> None:
        """Add the node that C++ programs run after they have restored the variables."""
        node = self.body.NoOp()
        node.name = self.body.unique("NoOp")
        output = self.message.signature_def[INIT_OP].outputs[INIT_OP]
        output.name = node.name
        output.tensor_shape.unknown_rank = True
        self.message.collection_def["saved_model_main_op"].node_list.value.append(node.name)

    def _values(self) -> dict[str, bytes]:
        """Return the files of the checkpoint."""
        graph = TrackableObjectGraph()
        for saved in self.objects.nodes:
            graph.nodes.add(has_checkpoint_values={"value": True}).children.extend(saved.children)
        values: dict[str, Any] = {}
        for number, variable, key in self.variables.values():
            full = variable.name.removesuffix(":0")
            graph.nodes[number].attributes.add(name="VARIABLE_VALUE", full_name=full, checkpoint_key=key)
            values[key] = variable._array
        values[GRAPH_KEY] = np.array(graph.SerializeToString(), object)
        with tempfile.TemporaryDirectory() as folder:
            write_bundle(f"{folder}/variables", values)
            return {f"variables/{path.name}": path.read_bytes() for path in sorted(Path(folder).iterdir())}


def _describe(info: Any, result: NodeResult, operand: Any) -> None:
    info.name = f"{result.node.name}:{result.index}"
    info.dtype = TYPE_NUMBERS[result.dtype]
    encode_shape(info.tensor_shape, shape_of(operand.spec))


def _set_parameters(spec: FunctionSpec, callee: SavedCallee) -> None:
    spec.fullargspec.MergeFrom(argument_specification(callee.parameters))
    spec.input_signature.none_value.SetInParent()
