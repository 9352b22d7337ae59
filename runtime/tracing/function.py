"""`function`: a Python function that becomes graphs, one for each kind of arguments it meets.

f(tensor)   →  key of the arguments  →  known: run its graph
                                        new: convert (AutoGraph), trace, keep, run
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from agc.autograph import api

from .. import config, leaves, nest, shapes
from ..convert import convert_to_tensor
from ..execute import EXECUTORS, interpret
from ..ir.builder import Builder, current, eagerly
from ..tensor import EagerTensor, SymbolicTensor
from ..tensor_spec import TensorSpec
from ..variable import Variable
from .concrete import ConcreteFunction
from .signature import Identity, Parameters, fitted, is_tensor_argument, key_of, tensor_leaves
from .trace import trace

FAST_ENTRIES = 10_000  # calls remembered by their raw arguments; forgotten all at once when there are more


class Function:
    """What `function` makes of a Python function: polymorphic, it traces a graph for each new kind of call."""

    def __init__(
        self,
        python_function: Callable[..., Any],
        name: str,
        input_signature: Sequence[Any] | None,
        autograph: bool,
        reduce_retracing: bool,
        executor: str,
    ) -> None:
        functools.update_wrapper(self, python_function)
        self.python_function = python_function
        self.name = name
        self.input_signature = None if input_signature is None else tuple(input_signature)
        self._autograph = autograph
        self._reduce_retracing = reduce_retracing
        self._executor = executor
        self._parameters = Parameters(python_function)
        self._check_signature()
        self._concrete: dict[Hashable, ConcreteFunction] = {}
        self._fast: dict[Hashable, ConcreteFunction] = {}
        self._initialised: set[Hashable] = set()
        self._traces = 0
        self._lock = threading.RLock()

    def _check_signature(self) -> None:
        if self.input_signature is None:
            return
        for leaf in nest.flatten(list(self.input_signature)):
            if not isinstance(leaf, TensorSpec):
                raise TypeError(f"input_signature must be a nest of TensorSpecs, but holds {leaf!r}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph for these arguments; trace it first when there is none yet."""
        if config._state["eager"]:
            return self.python_function(*args, **kwargs)
        try:
            if not kwargs and current() is None:
                key = tuple(
                    [(a._array.dtype, a._array.shape) if type(a) is EagerTensor else key_of(a) for a in args]
                )
                concrete = self._fast.get(key)
                if concrete is not None:
                    return concrete.run([a._array for a in args if type(a) is EagerTensor])
            arguments = self._arguments(args, kwargs)
            concrete = self._for(arguments)
            result = concrete.call_arguments(arguments)
            if not kwargs and current() is None and self._is_plain(args, arguments):
                self._remember(key, concrete)
            return result
        except BaseException as error:
            api.strip_frames(error)
            api.leave_no_trace(error)
            raise

    def _is_plain(self, args: tuple[Any, ...], arguments: Mapping[str, Any]) -> bool:
        """Whether the inputs of the graph are just those positional arguments that are eager tensors."""
        given = [a for a in args if type(a) is EagerTensor]
        inputs = [leaf for _, leaf in tensor_leaves(arguments)]
        return len(given) == len(inputs) and all(a is b for a, b in zip(given, inputs, strict=True))

    def _remember(self, key: Hashable, concrete: ConcreteFunction) -> None:
        if len(self._fast) >= FAST_ENTRIES:
            self._fast.clear()
        self._fast[key] = concrete

    def _arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        if self.input_signature is not None and not args and not kwargs:
            args = self._bound_instance() + self.input_signature
        arguments = self._parameters.bind(args, kwargs)
        if self.input_signature is None:
            return arguments
        return self._fitted(arguments)

    def _bound_instance(self) -> tuple[Any, ...]:
        return ()

    def _fitted(self, arguments: dict[str, Any]) -> dict[str, Any]:
        assert self.input_signature is not None
        skipped = len(arguments) - len(self.input_signature)
        names = list(arguments)
        if skipped < 0:
            raise TypeError(f"{self.name}() takes {len(arguments)} arguments, input_signature has more")
        start = 1 if skipped and names[0] in ("self", "cls") else 0
        chosen = {name: arguments[name] for name in names[start : start + len(self.input_signature)]}
        return {**arguments, **fitted(chosen, self.input_signature, self.name)}

    def _for(self, arguments: dict[str, Any]) -> ConcreteFunction:
        """The concrete function that fits the arguments, traced now if there is none."""
        key: Hashable = self._key(arguments)
        found = self._concrete.get(key) or self._concrete.get((key, Identity(current())))
        if found is not None:
            return found
        with self._lock:
            found = self._concrete.get(key)
            if found is None:
                wanted = self._relaxed(arguments) if self._reduce_retracing else arguments
                found = self._traced(wanted, arguments)
                self._concrete[(key, Identity(current())) if found.belongs_to_outer else key] = found
        return found

    def _key(self, arguments: Mapping[str, Any]) -> Hashable:
        if self.input_signature is None:
            return tuple([key_of(value) for value in arguments.values()])
        specs = [self._signature_key(value) for value in arguments.values()]
        return tuple(specs)

    def _signature_key(self, value: Any) -> Hashable:
        flat = nest.flatten(value)
        return None if all(is_tensor_argument(leaf) for leaf in flat) else key_of(value)

    def _relaxed(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """With `reduce_retracing`: dimensions that differed between calls become unknown."""
        for concrete in self._concrete.values():
            general = _generalised(concrete.arguments, arguments)
            if general is not None:
                return general
        return arguments

    def _traced(self, arguments: dict[str, Any], actual: dict[str, Any]) -> ConcreteFunction:
        if self.input_signature is not None:
            arguments = self._with_signature_specs(arguments)
        for known in self._concrete.values():
            if self._reduce_retracing and _same_specs(known.arguments, arguments):
                return known
        owner = self._owner_key(arguments)
        made: list[Any] = []
        make = None if owner in self._initialised else self._variable_maker(actual, made)
        concrete = self._trace_once(arguments, make)
        self._initialised.add(owner)
        if made:  # the graph of the first call makes variables: the one to keep must not
            concrete = self._trace_once(arguments, None)
        return concrete

    def _with_signature_specs(self, arguments: dict[str, Any]) -> dict[str, Any]:
        assert self.input_signature is not None
        names = [
            name
            for name in arguments
            if name not in ("self", "cls") or len(arguments) == len(self.input_signature)
        ]
        result = dict(arguments)
        for name, wanted in zip(names, self.input_signature, strict=False):
            result[name] = wanted
        return result

    def _trace_once(self, arguments: dict[str, Any], make: Callable[..., Any] | None) -> ConcreteFunction:
        self._traces += 1
        code = api.convert(self.python_function) if self._autograph else self.python_function
        traced = trace(code, self._parameters.unbind, arguments, self.name, make)
        return ConcreteFunction(self.name, self._parameters, arguments, traced, self._executor)

    def _owner_key(self, arguments: Mapping[str, Any]) -> Hashable:
        """Variables may be made once for a function, and once for each instance that has it as a method."""
        first = next(iter(arguments), None)
        return Identity(arguments[first]) if first in ("self", "cls") else None

    def _variable_maker(self, arguments: Mapping[str, Any], made: list[Any]) -> Callable[..., Any]:
        def make(builder: Builder, variable: Variable, value: Any, dtype: Any) -> EagerTensor:
            if isinstance(value, SymbolicTensor):
                value = _computed(builder, value, arguments)
            with eagerly():
                tensor = convert_to_tensor(value, dtype)
            made.append(weakref.ref(variable))
            assert isinstance(tensor, EagerTensor)
            return tensor

        return make

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The traced function for arguments like these; TensorSpecs may stand for tensors."""
        try:
            return self._for(self._arguments(args, kwargs))
        except BaseException as error:
            api.strip_frames(error)
            api.leave_no_trace(error)
            raise

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """The signatures of all graphs traced so far, for people."""
        found = dict.fromkeys(self._concrete.values())
        return "\n\n".join(concrete.pretty_printed_signature(verbose) for concrete in found)

    def experimental_get_tracing_count(self) -> int:
        """How often the Python function was traced."""
        return self._traces

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else BoundFunction(self, instance)

    def __repr__(self) -> str:
        return f"<agc.runtime.Function {self.name}>"


class BoundFunction:
    """A `Function` as the method of an instance; it keeps no graphs of its own."""

    def __init__(self, function: Function, instance: Any) -> None:
        self._function = function
        self._instance = instance
        self.__wrapped__ = function.python_function
        self.__name__ = function.name
        self.__doc__ = function.__doc__

    @property
    def python_function(self) -> Callable[..., Any]:
        """The undecorated method, bound."""
        return self._function.python_function.__get__(self._instance)  # type: ignore[no-any-return]

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        return self._function.input_signature

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(self._instance, *args, **kwargs)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """As `Function.get_concrete_function`, for this instance."""
        if not args and not kwargs and self.input_signature is not None:
            args = self.input_signature
        return self._function.get_concrete_function(self._instance, *args, **kwargs)

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        return self._function.pretty_printed_concrete_signatures(verbose)

    def experimental_get_tracing_count(self) -> int:
        return self._function.experimental_get_tracing_count()

    def __repr__(self) -> str:
        return f"<agc.runtime.Function {self._function.name} of {self._instance!r}>"


def _computed(builder: Builder, value: SymbolicTensor, arguments: Mapping[str, Any]) -> EagerTensor:
    """The initial value of a variable, computed from the arguments of the first call."""
    if value._builder is not builder:
        raise ValueError(
            "a variable cannot be made inside of a staged `if` or loop: its initial value is not known"
        )
    given = [leaf for _, leaf in tensor_leaves(arguments)]
    graph = builder.finish([value._value])
    if any(isinstance(leaf, TensorSpec) for leaf in given):
        raise ValueError(
            "the initial value of a variable depends on the arguments, which get_concrete_function does not know: "
            "call the function once before"
        )
    with eagerly():
        arrays = [leaves.carried(leaf)._array for leaf in given]
    captured = [item.deref() for item in builder.captured_outer()]  # type: ignore[attr-defined]
    (result,) = interpret(graph, [*arrays, *captured])
    return EagerTensor(result)


def _generalised(traced: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments with specs that cover an earlier trace as well; None when they differ in more than shapes."""
    if [*traced] != [*arguments]:
        return None
    result = {}
    for name, value in arguments.items():
        if not nest.same_structure(traced[name], value):
            return None
        flat = []
        for spec, leaf in zip(nest.flatten(traced[name]), nest.flatten(value), strict=True):
            if not isinstance(spec, TensorSpec):
                if is_tensor_argument(leaf) or (
                    spec if isinstance(spec, Identity) else key_of(spec)
                ) != key_of(leaf):
                    return None
                flat.append(leaf)
                continue
            if not is_tensor_argument(leaf) or leaf.dtype != spec.dtype:
                return None
            shape = shapes.generalise(spec.spec.shape, shapes.as_dims(leaf.shape))
            flat.append(TensorSpec(shape, spec.dtype))
        result[name] = nest.pack_sequence_as(value, flat)
    return result


def _same_specs(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return [key_of(value) for value in one.values()] == [key_of(value) for value in other.values()]


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
    experimental_executor: str = "plan",
) -> Any:
    """Make a function that runs as graphs; also a decorator, with or without arguments.

    The first call with a new kind of arguments traces: the Python code runs once on symbolic tensors, and `if`,
    `for` and `while` on them become part of the graph. Later calls of the same kind run that graph.

    Args:
        func: the Python function; None makes a decorator.
        input_signature: a nest of TensorSpecs for the arguments. All calls must fit it, and share one graph.
        autograph: whether to convert Python's control flow.
        reduce_retracing: trace with unknown dimensions when calls differ in shapes only (also spelled
            `experimental_relax_shapes`).
        jit_compile: None or False; there is no native compiler (also spelled `experimental_compile`).
        experimental_implements, experimental_attributes, experimental_follow_type_hints: accepted, no effect.
        experimental_executor: "plan" (the graph as straight-line Python) or "interpret" (step by step).

    Raises ValueError for `jit_compile=True` and for autograph options, TypeError for a bad signature.

    >>> from agc.runtime import constant
    >>> @function
    ... def clipped(x):
    ...     if x > 0:
    ...         return x
    ...     return 0 * x
    >>> clipped(constant(-3)).numpy()
    np.int32(0)
    """
    if jit_compile or experimental_compile:
        raise ValueError("jit_compile=True needs a native compiler, and none is available")
    if experimental_autograph_options is not None:
        raise ValueError("experimental_autograph_options are not supported: leave them out")
    if experimental_executor not in EXECUTORS:
        raise ValueError(
            f"experimental_executor must be one of {', '.join(EXECUTORS)}, not {experimental_executor!r}"
        )

    def decorated(python_function: Callable[..., Any]) -> Function:
        if not callable(python_function):
            raise TypeError(f"function() takes a callable, not {python_function!r}")
        inner = python_function.python_function if isinstance(python_function, Function) else python_function
        name = getattr(inner, "__name__", type(inner).__name__)
        name = name if name.isidentifier() else "lambda_"
        relaxed = bool(reduce_retracing or experimental_relax_shapes)
        return Function(inner, name, input_signature, autograph, relaxed, experimental_executor)

    return decorated if func is None else decorated(func)
