"""Loading of TensorFlow's saved models: objects, variables, tables and functions of `saved_model.pb`.

saved_model.pb                    objects, functions as graphs, signatures      ==>     an object as `load` returns it
variables/variables.index …       the values of variables
assets/words.txt                  files of lookup tables

Nothing in the files is executed as Python code: a node of a graph names an operation.
"""

from __future__ import annotations

import inspect
import unicodedata
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
from ..formats.tensorflow.graph_import import GraphFunctions, SavedGradient, refuse
from ..formats.tensorflow.object_messages import SavedConcreteFunction, SavedFunction, SavedObject
from ..formats.tensorflow.saved_model_messages import MetaGraphDef, SavedModel
from ..formats.tensorflow.structure_values import flat_specs, flat_tensors, packed, read_shape, read_structure
from ..ir.builder import eagerly
from ..storage import regular_files, tensor_protos
from ..tracing.concrete_function import ConcreteFunction
from ..tracing.function import function as tf_function
from ..train import tensorflow_checkpoint
from ..train.object_graph import ObjectNode
from .asset import Asset
from .function_serialization import RestoredFunction
from .restored_object import CallableObject, RestoredObject, check_nesting
from .session_model import load_session_model
from .signatures import LoadedSignature
from .table_initializers import check_initializer
from .tensorflow_files import FILE, importing

_LIST, _TUPLE, _DICT = (f"trackable_{kind}_wrapper" for kind in ("list", "tuple", "dict"))
_SIGNATURES = "signatures"


def load_tensorflow_model(folder: Path, tags: Any = None) -> Any:
    """Return the object of a saved model of TensorFlow.

    Raises DataLossError for damaged files, UnimplementedError with a list of all operations that are not supported.
    """
    path = folder / FILE
    with importing(path):
        model = SavedModel.FromString(regular_files.read(path))
        graph = _chosen(model, tags, path)
        if not graph.HasField("object_graph_def"):
            return load_session_model(folder, graph)
        return _Loader(folder, graph).root()


def _chosen(model: SavedModel, tags: Any, path: Path) -> MetaGraphDef:
    """Return the graph with these tags; without tags the only one, or that for serving."""
    graphs: dict[Any, MetaGraphDef] = {frozenset(each.meta_info_def.tags): each for each in model.meta_graphs}
    if tags is not None:
        wanted = frozenset([tags] if isinstance(tags, str) else tags)
    else:
        wanted = next(iter(graphs)) if len(graphs) == 1 else frozenset(["serve"])
    if wanted not in graphs:
        raise ValueError(
            f"{path} has no graph with the tags {sorted(wanted)}; it has {[sorted(each) for each in graphs]}"
        )
    return graphs[wanted]


class _Loader:
    """The objects of a model while they are made."""

    def __init__(self, folder: Path, graph: MetaGraphDef) -> None:
        self.folder, self.graph = folder, graph
        self.functions = GraphFunctions(graph.graph_def.library.function)
        self.concrete: Mapping[str, SavedConcreteFunction] = graph.object_graph_def.concrete_functions
        self.nodes: list[SavedObject] = list(graph.object_graph_def.nodes)
        self.kinds = [node.WhichOneof("kind") for node in self.nodes]
        self.objects: dict[int, Any] = {}
        self._check_children()
        self._check_functions()

    def root(self) -> Any:
        """Return the object that was saved."""
        self._make_values()
        for number in range(len(self.nodes)):
            self.object(number)
        for number, kind in enumerate(self.kinds):
            if kind == "resource":
                self._initialize(number)
        for number, node in enumerate(self.nodes):
            self._connect(number, node)
        self._register_gradients()
        root = self.objects[0]
        found = {child.local_name: child.node_id for child in self.nodes[0].children}.get(_SIGNATURES)
        names = {} if found is None else self._children(self.nodes[found])
        root.signatures = {
            name: self.objects[number]
            for name, number in names.items()
            if self.kinds[number] == "bare_concrete_function"
        }
        return root

    def _children(self, node: SavedObject) -> dict[str, int]:
        return {child.local_name: child.node_id for child in node.children}

    def _check_children(self) -> None:
        """Raise ValueError for children that do not exist, and lists that contain themselves."""
        if not self.nodes:
            raise ValueError("it has no objects")
        for node in self.nodes:
            for child in node.children:
                if not 0 <= child.node_id < len(self.nodes):
                    raise ValueError(f"the child {child.local_name!r} is not among {len(self.nodes)} objects")
        nested = {
            number: list(self._children(node).values())
            for number, node in enumerate(self.nodes)
            if self._identifier(number) in (_LIST, _TUPLE, _DICT)
        }
        check_nesting(nested)

    def _identifier(self, number: int) -> str:
        return str(self.nodes[number].user_object.identifier) if self.kinds[number] == "user_object" else ""

    def _check_functions(self) -> None:
        """Refuse operations that are not supported, all at once."""
        names = [name for node in self.nodes for name in node.function.concrete_functions]
        names += [
            node.bare_concrete_function.concrete_function_name
            for node, kind in zip(self.nodes, self.kinds, strict=True)
            if kind == "bare_concrete_function"
        ]
        refuse(self.functions.unsupported(names))
        for name in names:
            self.functions.check_size(name)

    # Values: variables, constants and assets.

    def _make_values(self) -> None:
        keys = self._checkpoint_keys()
        constants = {
            node.name: node
            for node in self.graph.graph_def.node
            if node.op == "Const" and "value" in node.attr
        }
        for number, (node, kind) in enumerate(zip(self.nodes, self.kinds, strict=True)):
            if kind == "variable":
                self.objects[number] = self._variable(node, keys.get(number))
            elif kind == "constant":
                value = constants[node.constant.operation].attr["value"].tensor
                self.objects[number] = EagerTensor(tensor_protos.parsed(value))
            elif kind == "asset":
                self.objects[number] = self._asset(node)
            elif kind == "captured_tensor":
                self.objects[number] = _CapturedTensor(
                    str(node.captured_tensor.name), str(node.captured_tensor.concrete_function)
                )

    def _checkpoint_keys(self) -> dict[int, str]:
        """Return the keys of the values of objects, by matching the names of children in the checkpoint."""
        prefix = str(self.folder / "variables" / "variables")
        self.values: Mapping[str, Any] = {}
        saved: list[ObjectNode] = []
        if Path(f"{prefix}.index").exists():
            saved, self.values = tensorflow_checkpoint.read(prefix)
        found: dict[int, str] = {}
        self.saved: dict[int, ObjectNode] = {}
        pending = [(0, 0)] if saved else []
        while pending:
            number, place = pending.pop()
            if number in self.saved:
                continue
            node = self.saved[number] = saved[place]
            if node.key is not None:
                found[number] = node.key
            children = self._children(self.nodes[number])
            pending += [(children[name], child) for name, child in node.children.items() if name in children]
        self.columns = {
            number: {name: saved[child].key for name, child in node.children.items()}
            for number, node in self.saved.items()
            if self.kinds[number] == "resource"
        }
        return found

    def _variable(self, node: SavedObject, key: str | None) -> Variable:
        message = node.variable
        if key is None:
            raise DataLossError(f"{self.folder} has no value for the variable {message.name!r}")
        value = self.values[key]
        if value.dtype != dtypes.as_dtype(message.dtype).numpy:
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
        with regular_files.open_inside(self.folder, f"assets/{files[index].filename}") as stream:
            return Asset(
                stream.name
                if isinstance(stream.name, str)
                else self.folder / "assets" / files[index].filename
            )

    # Objects and resources.

    def object(self, number: int) -> Any:
        """Return an object without its children; tuples have theirs."""
        if number not in self.objects:
            self.objects[number] = self._made(number, self.nodes[number])
        return self.objects[number]

    def _made(self, number: int, node: SavedObject) -> Any:
        kind, identifier = self.kinds[number], self._identifier(number)
        if kind == "function":
            return self._restored(node.function)
        if kind == "bare_concrete_function":
            message = node.bare_concrete_function
            return LoadedSignature(lambda: self._traced_signature(message.concrete_function_name))
        if kind == "resource":
            return _Resource()
        if identifier == _TUPLE:
            items = self._children(node)
            return tuple(self.object(items[name]) for name in sorted(items, key=int))
        if identifier in (_LIST, _DICT):
            return [] if identifier == _LIST else {}
        is_callable = "__call__" in self._children(node)
        return (CallableObject if is_callable else RestoredObject)(identifier or str(kind))

    def _connect(self, number: int, node: SavedObject) -> None:
        target, identifier = self.objects[number], self._identifier(number)
        children = {name: self.objects[child] for name, child in self._children(node).items()}
        children = {name: _public(child) for name, child in children.items()}
        if identifier == _LIST:
            target += [
                children[name] for name in sorted((name for name in children if name.isdecimal()), key=int)
            ]
        elif identifier == _DICT:
            target.update(
                {name: child for name, child in children.items() if not isinstance(child, RestoredFunction)}
            )
        elif isinstance(target, RestoredObject):
            vars(target).update({name: child for name, child in children.items() if name != _SIGNATURES})

    def _initialize(self, number: int) -> None:
        """Make a lookup table, and fill it by the functions of the model or by the checkpoint."""
        children = self._children(self.nodes[number])
        with eagerly():
            for name in ("_create_resource", "_initialize"):
                if name in children:
                    result = self._run_once(children[name])
                    if name == "_create_resource":
                        self.objects[number].target = result
        columns = self.columns.get(number, {})
        target = self.objects[number].target
        for name, variable in (target.__children__() if columns else {}).items():
            key = columns.get(name)
            if key is not None:
                variable._array = self.values[key]

    def _run_once(self, number: int) -> Any:
        """Run the only graph of a function that takes nothing but what it captures."""
        names = list(self.nodes[number].function.concrete_functions)
        if len(names) != 1:
            raise ValueError(f"a table has {len(names)} functions that make or fill it")
        program, message = self.functions.program(names[0]), self.concrete[names[0]]
        kinds = [self.kinds[captured] for captured in message.bound_inputs]
        assets = [name for name, kind in zip(program.inputs, kinds, strict=True) if kind == "asset"]
        check_initializer(self.functions, program, frozenset(assets))
        results = self.functions.call(names[0], self._captured(message))
        return results[0] if results else None

    def _captured(self, concrete: SavedConcreteFunction) -> list[Any]:
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
        signature = _described(
            read_structure(message.function_spec.fullargspec), message.function_spec.is_method
        )
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

        def described(*args: Any, **kwargs: Any) -> Any:
            given = _bound(signature, arguments, args, kwargs)
            found = self.functions.call(name, flat_tensors(arguments, given) + captured)
            return packed(results, found)

        described.__name__ = name.removeprefix("__inference_")
        if signature is not None:
            described.__signature__ = signature  # type: ignore[attr-defined]
        return described

    def _traced_signature(self, name: str) -> ConcreteFunction:
        with importing(self.folder / FILE):
            args, kwargs = arguments = read_structure(self.concrete[name].canonicalized_input_signature)
            if args or not isinstance(kwargs, dict):
                raise UnimplementedError(f"the signature {name!r} takes arguments without names")
            traced = tf_function(self._python(name, arguments, None), autograph=False)
            found: ConcreteFunction = traced.get_concrete_function(**kwargs)
            return found


def _described(spec: Any, is_method: bool) -> inspect.Signature:
    """Return the signature of a function from its `FullArgSpec`, without `self`."""
    kind = inspect.Parameter
    if spec is None:
        return inspect.Signature([kind("args", kind.VAR_POSITIONAL), kind("kwargs", kind.VAR_KEYWORD)])
    names, defaults = list(spec.args)[1 if is_method else 0 :], list(spec.defaults or ())
    values = dict(zip(reversed(names), reversed(defaults), strict=False))
    parameters = [_parameter(name, kind.POSITIONAL_OR_KEYWORD, values) for name in names]
    if spec.varargs:
        parameters.append(_parameter(spec.varargs, kind.VAR_POSITIONAL, {}))
    parameters += [_parameter(name, kind.KEYWORD_ONLY, spec.kwonlydefaults or {}) for name in spec.kwonlyargs]
    if spec.varkw:
        parameters.append(_parameter(spec.varkw, kind.VAR_KEYWORD, {}))
    return inspect.Signature(parameters)


def _parameter(name: str, kind: Any, defaults: Mapping[str, Any]) -> inspect.Parameter:
    if unicodedata.normalize("NFKC", name) != name:
        raise ValueError(f"{name!r} is not a valid name of a parameter")
    return inspect.Parameter(name, kind, default=defaults.get(name, inspect.Parameter.empty))


def _bound(
    signature: inspect.Signature | None, like: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call in the form of those that a graph was saved with."""
    if signature is None:
        return args, dict(kwargs)
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in signature.parameters.values():
        value = bound.arguments[parameter.name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += value
        elif parameter.kind is parameter.VAR_KEYWORD:
            named |= value
        else:
            named[parameter.name] = value
            if parameter.kind is not parameter.KEYWORD_ONLY:
                positional.append(value)
    return tuple(positional[: len(like[0])]), {name: named[name] for name in like[1]}


class _CapturedTensor(NamedTuple):
    """A tensor inside of a function, which a gradient that Python code defined captures."""

    name: str
    function: str


def _as_captured(value: Any) -> Any:
    return value.name if isinstance(value, _CapturedTensor) else _as_input(value)


class _Resource:
    """A lookup table that functions capture before it is made."""

    target: Any = None


def _public(value: Any) -> Any:
    return value.target if isinstance(value, _Resource) else value


def _as_input(value: Any) -> Any:
    """Return an object as the input of a graph."""
    if isinstance(value, Asset):
        return value.asset_path
    if isinstance(value, _CapturedTensor):
        raise UnimplementedError(f"a function captures a tensor of the function {value.function!r}")
    return _public(value)
