"""`ConcreteFunction`: one traced graph, callable with the arguments that it was traced for."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

from .. import errors, nest
from ..composite import components
from ..control_flow import state_leaves
from ..control_flow.exceptions import RegionNeverReturns
from ..core import shapes
from ..core.devices import log_placement, placement
from ..core.export import export
from ..core.gc_pause import Pause
from ..core.symbolic_tensor import SymbolicTensor
from ..core.tensor import EagerTensor, Reference
from ..core.tensor_spec import TensorSpec
from ..core.type_spec import TypeSpec
from ..core.variable import Variable
from ..core.variable_enums import VariableSynchronization
from ..executors import EXECUTORS, Runner, shortest
from ..ir.builder import Builder, current, recorders, stack
from ..ir.captured_tensors import captured_tensors, lift_captured, tensor_of
from ..ir.graph import Constant, Graph, Operand, Value
from ..ir.value_types import AnySpec, TensorType
from ..ops.framework.op import wrap
from ..ops.framework.region_ops import CALL
from .cache_entry import MISSED, Entry, build_entry
from .cache_key import Identity, Parameters, is_tensor_argument, key_of
from .flat_arguments import FlatArguments
from .output_packing import filled, filler, finisher
from .trace import Composite, Output, Tracing, input_name, spec_of_argument
from .trace_type import TraceType
from .traced_arguments import TracedArguments, alive

if TYPE_CHECKING:
    from ..ir.graph_def import GraphDef
    from .function_type import FunctionType


_MOST_ENTRIES = 64

concretes: weakref.WeakSet[ConcreteFunction] = weakref.WeakSet()
"""All concrete functions that exist."""


first_run_listeners: list[Callable[[Graph], None]] = []
"""Functions that take the graph of each function that runs for the first time; see `tf.summary.trace_on`."""


@export("ConcreteFunction")
class ConcreteFunction:
    """A graph with the structure of the arguments and results that it was traced with.

    Attributes: `graph`, `name`, `structured_input_signature`, `structured_outputs`, `function_type`, `output_shapes`,
    `output_dtypes`, `inputs`, `outputs`, `captured_inputs`, `variables`, `trainable_variables`.

    >>> import agc.runtime as tf
    >>> double = tf.function(lambda x: 2 * x).get_concrete_function(tf.TensorSpec([None]))
    >>> isinstance(double, ConcreteFunction), double(tf.constant([1.0, 2.0])).numpy().tolist()
    (True, [2.0, 4.0])
    """

    # The profiler's callback for functions that run for the first time.
    watch: ClassVar[Callable[[ConcreteFunction], None] | None] = None

    def __copy__(self) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"a concrete function cannot be copied or pickled: {self.name}. Copy or pickle the tf.function, which "
            "traces again, or keep the graph with tf.saved_model.save"
        )

    def __init__(
        self, name: str, parameters: Parameters, arguments: FlatArguments, traced: Tracing, executor: str
    ):
        self.name = name
        self.graph: Graph = traced.graph
        self.traced = arguments.with_leaves([_as_spec(leaf) for leaf in arguments.leaves])
        self.arguments = parameters.named(self.traced.values)
        self._parameters = parameters
        self.traced_arguments = TracedArguments(name, parameters, self.arguments)
        self._captured = traced.captured
        self._owner = traced.owner
        self.ends = traced.ends
        self.is_provisional = False  # it calls a function whose trace is not finished: see recursion.py
        self.structure = traced.outputs
        self.executor = executor
        # A function has a graph for each replica: its variables are those of the replica.
        self.replica = stack.replica
        self._entries: dict[Any, Entry] = {}  # entries of the fast path by their key
        # VJPs for tapes, by the captured tensors: see autodiff/call_gradient.py.
        self.ways: dict[Any, Any] = {}
        self.runner: Runner = self._first_run
        concretes.add(self)
        self.references = [item.deref() for item in traced.captured if isinstance(item, Reference)]
        self.packed = filler(traced.outputs)  # from tensors and states of TensorArrays to Python results
        # From the results of the runner to the result of the call.
        self.finish = finisher(traced.outputs, self.output_specs(), self.packed)

    @property
    def function_def(self) -> GraphDef:
        """The graph in a serializable form; see `Graph.as_graph_def`."""
        return self.graph.as_graph_def()

    @property
    def belongs_to_outer(self) -> bool:
        """True if the graph captures values of an outer graph, so that only that graph can call it."""
        return len(self.references) < len(self._captured)

    @property
    def inputs(self) -> list[Any]:
        """The graph's inputs, as tensors of that graph (variables as their references there)."""
        return [_shown(value, Builder.of(self.graph)) for value in self.graph.inputs]

    @property
    def outputs(self) -> list[Any]:
        """The graph's outputs, as tensors of that graph; constants are eager tensors."""
        return [_shown(operand, Builder.of(self.graph)) for operand in self.graph.outputs]

    @property
    def captured_inputs(self) -> list[Any]:
        """The tensors and variables that the graph captured from outside of the function."""
        return list(self.references)

    @functools.cached_property
    def captured_tensors(self) -> list[EagerTensor]:
        """The eager tensors that the function closes over: constants of the graph that gradients can reach."""
        return captured_tensors(self.graph)

    @functools.cached_property
    def captured_keys(self) -> frozenset[int]:
        """The keys of the captured tensors on gradient tapes."""
        return frozenset(map(id, self.captured_tensors))

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that the graph reads or assigns."""
        return tuple(self.references)

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The trainable ones of `variables`."""
        return tuple(variable for variable in self.references if variable.trainable)

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments: TensorSpecs for the inputs of the graph, Python values elsewhere."""
        args, kwargs = self._parameters.unbind(nest.map_structure(alive, self.arguments))
        paths = zip(self._parameters.places(len(args)), args, strict=True)
        return (
            tuple(_named(value, name) for name, value in paths if name != self.traced_arguments.receiver),
            {name: _named(value, name) for name, value in kwargs.items()},
        )

    @property
    def structured_outputs(self) -> Any:
        """The results: TensorSpecs for the outputs of the graph, Python values elsewhere."""
        specs = self.output_specs()
        return nest.map_structure(lambda leaf: _described(leaf, specs), self.structure)

    @property
    def function_type(self) -> FunctionType:
        """The signature of the graph; its annotations are the types of the arguments and results."""
        from .function_type import FunctionType  # rarely used, so imported late

        known = {
            name: value for name, value in self.arguments.items() if name != self.traced_arguments.receiver
        }
        arguments = {name: nest.map_structure(alive, value) for name, value in known.items()}
        passed = set(map(id, nest.flatten(arguments)))
        captures = [each for each in self.references if id(each) not in passed]
        return FunctionType.of(self._parameters.signature, arguments, self.structured_outputs, captures)

    @property
    def inference_fn(self) -> Self:
        """The graph without its gradient, which is this function: gradients are made when they are needed."""
        return self

    @property
    def output_shapes(self) -> Any:
        """The shapes of the results, in their structure; the unknown shape for None."""
        return nest.map_structure(_shape_of, self.structured_outputs)

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of the results, in their structure; None for None."""
        return nest.map_structure(_dtype_of, self.structured_outputs)

    def output_specs(self) -> list[AnySpec]:
        """Return the types of the graph's results."""
        return [output.spec for output in self.graph.outputs]

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """Return the types of the arguments and the result as text, in one line unless `verbose`."""
        return repr(self.function_type) if verbose else str(self.function_type)

    def call_text(self) -> str:
        """Return a call as text: tensors as the parameter's name, Python values with the value of the trace."""
        texts = [key if _has_spec(value) else f"{key}={value!r}" for key, value in self.arguments.items()]
        return f"{self.name}({', '.join(texts)})"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run the graph.

        A call may also give only the tensors: in the order of the trace, or by the names of `inputs`. Raise TypeError
        naming the argument if one does not fit the trace.
        """
        if kwargs or not stack.plain:
            return self.call_flat(self.traced_arguments.inputs_of(args, kwargs))
        flat = FlatArguments(args)
        key = flat.call_key
        entry = self._entries.get(key)
        if entry is not None:
            result = entry(flat.leaves)
            if result is not MISSED:
                return result
        inputs = self.traced_arguments.inputs_of(args, kwargs)
        entry = build_entry(self, flat, inputs)
        if entry is not None:
            if len(self._entries) >= _MOST_ENTRIES:
                self._entries.clear()
            self._entries[key] = entry
        return self.call_flat(inputs)

    def call_flat(self, inputs: Sequence[Any]) -> Any:
        """Call with the leaves that are inputs of the graph, in order."""
        if stack.replica is not None and stack.replica != self.replica:
            self._check_components()
        builder = current()
        if builder is not None:
            return self._recorded(builder, inputs)
        if recorders():
            from ..autodiff.call_gradient import recorded

            return recorded(self, inputs)
        return self.run(
            [leaf._array if type(leaf) is EagerTensor else _run_time_value(leaf) for leaf in inputs]
        )

    def _check_components(self) -> None:
        """Raise UnimplementedError in a replica if the graph uses components of another one's variables."""
        for variable in self.references:
            if "_distributed_container" in vars(variable):
                raise errors.UnimplementedError(
                    f"The graph of {self.name} was traced outside of this replica, for other components of "
                    f"{variable.name}. Call the tf.function itself, which has a graph for each replica."
                )

    def run(self, arrays: list[Any]) -> Any:
        """Run the graph on arrays."""
        return self.finish(self.runner([*arrays, *[variable._bound for variable in self.references]]))

    def _first_run(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """Make the runner of the graph, run it, and install it for later calls."""
        with Pause():
            self.runner = runner = EXECUTORS[self.executor](self.graph)
        if ConcreteFunction.watch is not None:
            ConcreteFunction.watch(self)
        for listener in first_run_listeners:
            listener(self.graph)
        if placement.logged:
            for operation in self.graph.get_operations():
                log_placement(operation.type, operation.name)
        results = self.runner(arrays)
        if self.runner is runner:  # a profiler may have replaced it
            self.runner = shortest(runner)
        return results

    def _recorded(self, builder: Builder, inputs: Sequence[Any]) -> Any:
        pairs = zip(inputs, self.graph.inputs, strict=False)  # captured values follow
        operands = [state_leaves.operand_in(builder, _as_traced(leaf, value)) for leaf, value in pairs]
        for item, value in zip(self._captured, self.graph.inputs[len(operands) :], strict=True):
            if isinstance(item, Reference):
                operands.append(builder.captured_variable(self._component(item.deref(), value)))
            else:
                assert self._owner is not None
                operands.append(builder.captured(item, self._owner))
        specs = self.output_specs()
        watched = [x for x in self.captured_tensors if builder.stand_in(x) is not None]
        graph = lift_captured(self.graph, watched) if watched else self.graph
        operands += map(builder.operand, watched)
        from ..kernels.random.seeds import with_own_streams  # imported for calls in graphs

        callee = with_own_streams(graph)
        attrs: dict[str, Any] = {"name": self.name}
        if self.executor == "native":
            attrs["jit_compile"] = True
        values = builder.add(CALL, operands, attrs, specs, (callee,), [self.name] * len(specs))
        if self.ends:
            raise RegionNeverReturns  # and so do the operations after the call
        return filled(self.structure, [wrap(value, builder) for value in values])

    def _component(self, variable: Variable, reference: Value) -> Variable:
        """Return the variable, or its component in this replica if the function was loaded for several replicas."""
        if variable._bound is not variable or variable._here is variable:
            return variable._here
        from ..autodiff.loop_invariants import only_read

        is_on_read = variable.synchronization is VariableSynchronization.ON_READ
        if is_on_read or reference not in only_read((self.graph,)):
            raise errors.UnimplementedError(
                f"The function {self.name} was loaded for several replicas, and uses {variable.name} in a graph across "
                "the replicas. Call it in `Strategy.run` or in eager code, or load it outside of the strategy's scope."
            )
        return variable._here

    def _repr_html_(self) -> str:
        from ..core.html_repr import folded_html, text_html

        return text_html(self.pretty_printed_signature()) + folded_html("Graph", text_html(str(self.graph)))

    def __str__(self) -> str:
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.call_text()}>"


def _as_traced(leaf: Any, traced: Value) -> Any:
    """Return an input of a recorded call, whose shape is checked in each run if the trace inferred more of it."""
    carried = state_leaves.carried(leaf)
    spec = traced.spec
    if not isinstance(carried, SymbolicTensor) or not isinstance(spec, TensorType):
        return carried
    if shapes.covers(spec.shape, carried.shape.sizes):
        return carried
    from ..ops.arrays.reshape import ensure_shape  # rarely needed, so imported late

    return ensure_shape(carried, spec.shape)


def _as_spec(leaf: Any) -> Any:
    """Return the TensorSpec, TypeSpec, key or value of an argument; it keeps no tensor or object alive."""
    if isinstance(leaf, TypeSpec):
        return leaf
    if nest.is_composite(leaf):
        return leaf._type_spec
    if not is_tensor_argument(leaf):
        key = key_of(leaf)
        return key if isinstance(key, (Identity, TraceType)) else leaf
    spec = spec_of_argument(leaf)
    return TensorSpec(spec.shape, spec.dtype) if isinstance(spec, TensorType) else leaf


def _named(value: Any, path: str) -> Any:
    """Return `value` with a name in each TensorSpec: its own name, or one from the path of the leaf."""
    flat = [
        TensorSpec(leaf.shape, leaf.dtype, leaf.name or input_name(path_))
        if type(leaf) is TensorSpec
        else leaf
        for path_, leaf in nest.flatten_with_path(value, path)
    ]
    return nest.pack_sequence_as(value, flat)


def _shown(operand: Operand, builder: Builder) -> Any:
    if isinstance(operand, Constant):
        return tensor_of(operand)
    return SymbolicTensor(operand, builder) if isinstance(operand.spec, TensorType) else operand


def _has_spec(value: Any) -> bool:
    return any(isinstance(leaf, TypeSpec) for leaf in nest.flatten(value))


def _described(leaf: Any, specs: list[AnySpec]) -> Any:
    if isinstance(leaf, Composite):
        return leaf.spec
    if not isinstance(leaf, Output):
        return leaf
    spec = specs[leaf.number]
    return TensorSpec(spec.shape, spec.dtype) if isinstance(spec, TensorType) else leaf.array


def _shape_of(leaf: Any) -> Any:
    """Return the shape of a result; for a composite, the shapes of its components in their structure."""
    if components.is_composite_spec(leaf):
        return nest.map_structure(_shape_of, leaf._component_specs)
    return getattr(leaf, "shape", shapes.TensorShape(None))


def _dtype_of(leaf: Any) -> Any:
    """Return the dtype of a result; for a composite, the dtypes of its components in their structure."""
    if components.is_composite_spec(leaf):
        return nest.map_structure(_dtype_of, leaf._component_specs)
    return getattr(leaf, "dtype", None)


def _run_time_value(leaf: Any) -> Any:
    argument = state_leaves.carried(leaf)
    if isinstance(argument, SymbolicTensor):
        raise argument.unreachable("a function was called with")
    return argument._array
