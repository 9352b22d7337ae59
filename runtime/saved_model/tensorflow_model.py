"""Loading of TensorFlow's saved models: objects, variables, tables and functions of `saved_model.pb`.

saved_model.pb                    objects, functions as graphs, signatures      ==>     an object as `load` returns it
variables/variables.index …       the values of variables
assets/words.txt                  files of lookup tables

Nothing in the files is executed as Python code: a node of a graph names an operation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .. import dtypes
from ..core.tensor import EagerTensor
from ..core.variable import Variable
from ..core.variable_enums import VariableAggregation, VariableSynchronization
from ..errors import DataLossError, UnimplementedError
from ..formats.tensorflow import import_random as _import_random  # noqa: F401  # declares rules
from ..formats.tensorflow import import_rules as _import_rules  # noqa: F401  # declares rules
from ..formats.tensorflow.attribute_values import read_shape
from ..formats.tensorflow.graph_import import GraphFunctions, SavedGradient, refuse
from ..formats.tensorflow.graph_messages import NodeDef
from ..formats.tensorflow.object_messages import SavedConcreteFunction, SavedFunction, SavedObject
from ..formats.tensorflow.saved_model_messages import MetaGraphDef, SavedModel
from ..formats.tensorflow.structure_values import flat_specs, flat_tensors, packed, read_structure
from ..ir.builder import eagerly
from ..storage import regular_files, tensor_protos
from ..tracing.concrete_function import ConcreteFunction
from ..tracing.function import function as tf_function
from .asset import Asset
from .function_serialization import RestoredFunction
from .python_signatures import bound, described
from .restored_object import CallableObject, RestoredObject
from .saved_objects import DICT, LIST, TUPLE, SavedObjects, SavedValues
from .session_model import load_session_model
from .signatures import LoadedSignature, LoadedSignatures
from .table_initializers import check_initializer
from .tags import chosen
from .tensorflow_files import FILE, asset_path, importing

_SIGNATURES = "signatures"


def load_tensorflow_model(folder: Path, tags: Any) -> Any:
    """Return the object of a saved model of TensorFlow.

    Raises DataLossError for damaged files, UnimplementedError with a list of all operations that are not supported,
    and ValueError for tags that no graph has.
    """
    path = folder / FILE
    with importing(path):
        model = SavedModel.FromString(regular_files.read(path))
        graphs = {frozenset(each.meta_info_def.tags): each for each in model.meta_graphs}
        if not graphs:
            raise ValueError("the model has no graph")
    graph: MetaGraphDef = graphs[chosen(tags, graphs, folder)]
    with importing(path):
        if not graph.HasField("object_graph_def"):
            return load_session_model(folder, graph)
        return _Loader(folder, graph).root()


class _Loader:
    """The objects of a model while they are made."""

    def __init__(self, folder: Path, graph: MetaGraphDef) -> None:
        self.folder, self.graph = folder, graph
        self.functions = GraphFunctions(graph.graph_def.library.function)
        self.concrete: Mapping[str, SavedConcreteFunction] = graph.object_graph_def.concrete_functions
        self.saved = SavedObjects(graph.object_graph_def)
        self.values = SavedValues(self.saved, folder)
        self.objects: dict[int, Any] = {}
        names = self.saved.functions()
        refuse(self.functions.unsupported(names))
        for name in names:
            self.functions.check_size(name)

    def root(self) -> Any:
        """Return the object that was saved."""
        constants = {node.name: node for node in self.graph.graph_def.node if node.op == "Const"}
        for number, (node, kind) in enumerate(zip(self.saved.nodes, self.saved.kinds, strict=True)):
            # The slots of an optimizer are children of nothing, and no function of the model reads them.
            is_slot = number in self.saved.slots and number not in self.values.keys
            if self.saved.identifier(number) != TUPLE and not is_slot:
                self.objects[number] = self._made(number, node, str(kind), constants)
        for number, kind in enumerate(self.saved.kinds):
            if kind == "resource":
                self._initialize(number)
        for number in range(len(self.saved.nodes)):
            self._connect(number)
        self._register_gradients()
        root = self.objects[0]
        found = self.saved.children[0].get(_SIGNATURES)
        names = {} if found is None else self.saved.children[found]
        root.signatures = LoadedSignatures(
            (name, self.objects[number])
            for name, number in names.items()
            if self.saved.kinds[number] == "bare_concrete_function"
        )
        return root

    # Objects.

    def _made(self, number: int, node: SavedObject, kind: str, constants: Mapping[str, NodeDef]) -> Any:
        """Return an object without its children."""
        if kind == "variable":
            return self._variable(node, self.values.keys.get(number))
        if kind == "constant":
            return EagerTensor(tensor_protos.parsed(constants[node.constant.operation].attr["value"].tensor))
        if kind == "asset":
            return self._asset(node)
        if kind == "captured_tensor":
            message = node.captured_tensor
            return _CapturedTensor(str(message.name), str(message.concrete_function))
        if kind == "function":
            return self._restored(node.function)
        if kind == "bare_concrete_function":
            name = str(node.bare_concrete_function.concrete_function_name)
            return LoadedSignature(lambda: self._traced_signature(name))
        if kind == "resource":
            return _Resource()
        identifier = self.saved.identifier(number)
        if identifier in (LIST, DICT):
            return [] if identifier == LIST else {}
        is_callable = "__call__" in self.saved.children[number]
        return (CallableObject if is_callable else RestoredObject)(identifier or kind)

    def _variable(self, node: SavedObject, key: str | None) -> Variable:
        message = node.variable
        if key is None:
            raise DataLossError(f"{self.folder} has no value for the variable {message.name!r}")
        value = self.values.values[key]
        if value.dtype != dtypes.as_dtype(message.dtype).numpy_dtype:
            raise ValueError(f"{key} is {value.dtype}, not {dtypes.as_dtype(message.dtype).name}")
        return Variable(
            EagerTensor(value), bool(message.trainable), name=str(message.name) or None,
            shape=read_shape(message.shape), synchronization=VariableSynchronization(message.synchronization),
            aggregation=VariableAggregation(message.aggregation),
        )  # fmt: skip

    def _asset(self, node: SavedObject) -> Asset:
        files = list(self.graph.asset_file_def)
        index = node.asset.asset_file_def_index
        if not 0 <= index < len(files):
            raise ValueError(f"the asset {index} is not among {len(files)} files")
        return Asset(asset_path(self.folder, files[index].filename))

    def _public(self, number: int) -> Any:
        """Return a child as attributes have it: a table, and a tuple with its items."""
        if number not in self.objects:
            self.objects[number] = tuple(map(self._public, self.saved.items(number)))
        found = self.objects[number]
        return found.target if isinstance(found, _Resource) else found

    def _connect(self, number: int) -> None:
        children = self.saved.children[number]
        target: Any = self.objects.get(number)
        identifier = self.saved.identifier(number)
        if identifier == LIST:
            target += map(self._public, self.saved.items(number))
        elif identifier == DICT:
            target.update(
                {
                    name: self._public(each)
                    for name, each in children.items()
                    if self.saved.kinds[each] != "function"
                }
            )
        elif isinstance(target, RestoredObject):
            vars(target).update(
                {name: self._public(each) for name, each in children.items() if name != _SIGNATURES}
            )

    # Lookup tables.

    def _initialize(self, number: int) -> None:
        """Make a lookup table, and fill it by the functions of the model or by the checkpoint."""
        children = self.saved.children[number]
        with eagerly():
            table = self.objects[number].target = self._run_once(children["_create_resource"])
            if "_initialize" in children:
                self._run_once(children["_initialize"])
        values = self.values.columns(number)
        for name, variable in table.__children__().items():
            if name in values:
                variable._array = values[name]

    def _run_once(self, number: int) -> Any:
        """Run the only graph of a function that takes nothing but what it captures."""
        names = list(self.saved.nodes[number].function.concrete_functions)
        if len(names) != 1:
            raise ValueError(f"a table has {len(names)} functions that make or fill it")
        program, message = self.functions.program(names[0]), self.concrete[names[0]]
        kinds = [self.saved.kinds[captured] for captured in message.bound_inputs]
        assets = [name for name, kind in zip(program.inputs, kinds, strict=True) if kind == "asset"]
        check_initializer(self.functions, program, frozenset(assets))
        results = self.functions.call(names[0], self._captured(message))
        return results[0] if results else None

    def _captured(self, concrete: SavedConcreteFunction) -> list[Any]:
        for number in concrete.bound_inputs:
            if number in self.saved.slots and number not in self.objects:
                name = self.saved.nodes[number].variable.name
                raise DataLossError(f"{self.folder} has no value for the slot {name!r} of an optimizer")
        found = [self.objects[number] for number in concrete.bound_inputs]
        return [_as_input(value) for value in found]

    def _register_gradients(self) -> None:
        """Make the gradients known that Python code defined: functions of results' gradients and captured tensors."""
        for gradient in self.graph.graph_def.library.registered_gradients:
            name = str(gradient.gradient_func)
            if name in self.functions and name in self.concrete:
                message = self.concrete[name]
                results = read_structure(message.output_signature)
                given = (
                    [spec is not None for spec in results] if isinstance(results, (list, tuple)) else [True]
                )
                captured = [_as_captured(self.objects[number]) for number in message.bound_inputs]
                saved = SavedGradient(name, captured, given)
                self.functions.gradients[str(gradient.registered_op_type)] = saved

    # Functions.

    def _restored(self, message: SavedFunction) -> RestoredFunction:
        names = list(message.concrete_functions)
        spec = message.function_spec
        signature = described(read_structure(spec.fullargspec), spec.is_method)
        name = names[0].removeprefix("__inference_").rpartition("_")[0] if names else "function"
        return RestoredFunction(name, signature, lambda: [self._traced(each, signature) for each in names])

    def _traced(self, name: str, signature: inspect.Signature) -> ConcreteFunction:
        """Trace one graph of a function."""
        with importing(self.folder / FILE):
            args, kwargs = arguments = read_structure(self.concrete[name].canonicalized_input_signature)
            traced = tf_function(self._python(name, arguments, signature), autograph=False)
            found: ConcreteFunction = traced.get_concrete_function(*args, **kwargs)
            return found

    def _python(self, name: str, arguments: Any, signature: inspect.Signature | None) -> Callable[..., Any]:
        """Return a function that calls a graph with arguments of this structure."""
        message = self.concrete[name]
        results = read_structure(message.output_signature)
        captured = self._captured(message)
        count = len(self.functions.program(name).inputs)
        if len(flat_specs(arguments)) + len(captured) != count:
            raise ValueError(f"the function {name!r} has {count} inputs, which do not fit its arguments")

        def python(*args: Any, **kwargs: Any) -> Any:
            given = bound(signature, arguments, args, kwargs)
            found = self.functions.call(name, flat_tensors(arguments, given) + captured)
            return packed(results, found)

        python.__name__ = name.removeprefix("__inference_")
        if signature is not None:
            python.__signature__ = signature  # type: ignore[attr-defined]
        return python

    def _traced_signature(self, name: str) -> ConcreteFunction:
        with importing(self.folder / FILE):
            args, kwargs = arguments = read_structure(self.concrete[name].canonicalized_input_signature)
            if args or not isinstance(kwargs, dict):
                raise UnimplementedError(f"the signature {name!r} takes arguments without names")
            traced = tf_function(self._python(name, arguments, None), autograph=False)
            found: ConcreteFunction = traced.get_concrete_function(**kwargs)
            return found


class _CapturedTensor(NamedTuple):
    """A tensor inside of a function, which a gradient that Python code defined captures."""

    name: str
    function: str


def _as_captured(value: Any) -> Any:
    return value.name if isinstance(value, _CapturedTensor) else _as_input(value)


class _Resource:
    """A lookup table that functions capture before it is made."""

    target: Any = None


def _as_input(value: Any) -> Any:
    """Return an object as the input of a graph."""
    if isinstance(value, Asset):
        return value.asset_path
    if isinstance(value, _CapturedTensor):
        raise UnimplementedError(f"a function captures a tensor of the function {value.function!r}")
    return value.target if isinstance(value, _Resource) else value
