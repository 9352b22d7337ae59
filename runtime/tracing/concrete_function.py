"""`ConcreteFunction`: one traced graph, callable with the arguments that it was traced for."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

from .. import errors, nest
from ..control_flow import state_leaves
from ..core.devices import log_placement, placement
from ..core.export import export
from ..core.gc_pause import Pause
from ..core.symbolic_tensor import SymbolicTensor
from ..core.tensor import EagerTensor, Reference
from ..core.tensor_spec import TensorSpec
from ..core.type_spec import TypeSpec
from ..core.variable import Variable
from ..executors import EXECUTORS, Runner, shortest
from ..ir.builder import Builder, current, recorders, stack
from ..ir.captured_tensors import captured_tensors, tensor_of
from ..ir.graph import Constant, Graph, Operand
from ..ir.value_types import AnySpec, TensorType
from .cache_entry import MISSED, Entry, build_entry
from .cache_key import Parameters
from .flat_arguments import FlatArguments
from .output_packing import filler, finisher
from .signature_specs import named_specs, result_dtype, result_shape, result_spec, signature_spec
from .trace import Tracing
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
        self,
        name: str,
        parameters: Parameters,
        arguments: FlatArguments,
        traced: Tracing,
        executor: str,
        attributes: Mapping[str, Any] = MappingProxyType({}),
    ):
        self.name = name
        self.graph: Graph = traced.graph
        self.traced = arguments.with_leaves([signature_spec(leaf) for leaf in arguments.leaves])
        self.arguments = parameters.named(self.traced.values)
        self.parameters = parameters
        self.traced_arguments = TracedArguments(name, parameters, self.arguments)
        self.captured = traced.captured
        self.owner = traced.owner
        self.ends = traced.ends
        self.is_provisional = False  # it calls a function whose trace is not finished: see recursion.py
        self.structure = traced.outputs
        self.executor = executor
        self.attributes = attributes
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
        return len(self.references) < len(self.captured)

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
        args, kwargs = self.parameters.unbind(nest.map_structure(alive, self.arguments))
        paths = zip(self.parameters.places(len(args)), args, strict=True)
        return (
            tuple(
                named_specs(value, name) for name, value in paths if name != self.traced_arguments.receiver
            ),
            {name: named_specs(value, name) for name, value in kwargs.items()},
        )

    @property
    def structured_outputs(self) -> Any:
        """The results in their structure: `outputs`, the composites of them, and None."""
        return self.packed(self.outputs)

    @property
    def result_specs(self) -> Any:
        """The types of the results in their structure; None for None."""
        specs = self.output_specs()
        return nest.map_structure(lambda leaf: result_spec(leaf, specs), self.structure)

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
        return FunctionType.of(self.parameters.signature, arguments, self.result_specs, captures)

    @property
    def inference_fn(self) -> Self:
        """The graph without its gradient, which is this function: gradients are made when they are needed."""
        return self

    @property
    def output_shapes(self) -> Any:
        """The shapes of the results, in their structure; the unknown shape for None."""
        return nest.map_structure(result_shape, self.result_specs)

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of the results, in their structure; None for None."""
        return nest.map_structure(result_dtype, self.result_specs)

    def output_specs(self) -> list[AnySpec]:
        """Return the types of the graph's results."""
        return [output.spec for output in self.graph.outputs]

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """Return the types of the arguments and the result as text, in one line unless `verbose`."""
        return repr(self.function_type) if verbose else str(self.function_type)

    def call_text(self) -> str:
        """Return a call as text: tensors as their types, Python values with the value of the trace.

        `f(x: float32[?, 8], weights[0]: float32[8], training=True)`
        """
        pairs = [
            pair for name, value in self.arguments.items() for pair in nest.flatten_with_path(value, name)
        ]
        texts = [f"{path}{_described(leaf)}" for path, leaf in pairs]
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
            from .call_recording import record_call  # for calls of functions by traced functions

            return record_call(self, builder, inputs)
        if recorders():
            from ..autodiff.call_gradient import recorded

            return recorded(self, inputs)
        return self.run(
            [leaf._array if type(leaf) is EagerTensor else _run_time_value(leaf) for leaf in inputs]
        )

    def add_to_graph(self, g: Any = None, overwrite: bool = False) -> None:
        """Make the function known to the graph that is being traced; `g` and `overwrite` are for TensorFlow 1.

        An effect has only a function with the attributes `api_implements` and `api_preferred_device`: the graph calls
        it in place of others with the same `api_implements`. Calls of functions need no registration.
        """
        builder = current()
        if builder is not None and self.attributes:
            from .implementation_choice import prefer  # rarely needed, so imported late

            prefer(self, builder)

    def add_gradient_functions_to_graph(self, g: Any = None) -> None:
        """Do nothing: derivatives are those of the graph that is called."""

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

    def _repr_html_(self) -> str:
        from ..core.html_repr import folded_html, text_html

        return text_html(self.pretty_printed_signature()) + folded_html("Graph", text_html(str(self.graph)))

    def __str__(self) -> str:
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.call_text()}>"


def _shown(operand: Operand, builder: Builder) -> Any:
    if isinstance(operand, Constant):
        return tensor_of(operand)
    return SymbolicTensor(operand, builder) if isinstance(operand.spec, TensorType) else operand


def _described(leaf: Any) -> str:
    if isinstance(leaf, TensorSpec):
        return f": {leaf.spec}"
    return f": {leaf!r}" if isinstance(leaf, TypeSpec) else f"={leaf!r}"


def _run_time_value(leaf: Any) -> Any:
    argument = state_leaves.carried(leaf)
    if isinstance(argument, SymbolicTensor):
        raise argument.unreachable("a function was called with")
    return argument._array
