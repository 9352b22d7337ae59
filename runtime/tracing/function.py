"""`function`: a Python function that becomes graphs, one for each kind of arguments it meets.

f(tensor)   →  key of the arguments  →  known: run its graph
                                        new: convert (AutoGraph), trace, keep, run
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from agc.autograph import api, staging

from .. import config
from ..execute import EXECUTORS
from ..ir.builder import current
from ..tensor import EagerTensor
from .concrete import ConcreteFunction
from .creation import VariableMaker
from .input_signature import InputSignature
from .relaxing import relaxed, same_specs
from .signature import Identity, Parameters, key_of, tensor_leaves
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
        features: Any = None,
    ) -> None:
        functools.update_wrapper(self, python_function)
        self.python_function = python_function
        self.name = name
        self._signature = None if input_signature is None else InputSignature(input_signature, name)
        self._autograph = autograph
        self._reduce_retracing = reduce_retracing
        self._executor = executor
        self._features = features
        self._parameters = Parameters(python_function)
        self._concrete: dict[Hashable, ConcreteFunction] = {}
        self._fast: dict[Hashable, ConcreteFunction] = {}
        self._initialised: set[Hashable] = set()
        self._traces = 0
        self._lock = threading.RLock()

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        """The specs that all calls fit, if they were given."""
        return None if self._signature is None else self._signature.specs

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
        arguments = self._parameters.bind(args, kwargs)
        return arguments if self._signature is None else self._signature.fitted(arguments)

    def _for(self, arguments: dict[str, Any]) -> ConcreteFunction:
        """The concrete function that fits the arguments, traced now if there is none."""
        key: Hashable = self._key(arguments)
        found = self._concrete.get(key) or self._concrete.get((key, Identity(current())))
        if found is not None:
            return found
        with self._lock:
            found = self._concrete.get(key)
            if found is None:
                found = self._traced(arguments)
                if not found.ends:  # what always fails is traced again: Python may have changed its mind
                    self._concrete[(key, Identity(current())) if found.belongs_to_outer else key] = found
        return found

    def _key(self, arguments: Mapping[str, Any]) -> Hashable:
        if self._signature is None:
            return tuple([key_of(value) for value in arguments.values()])
        described = self._signature.described(arguments)
        return tuple([key_of(value) for name, value in arguments.items() if name not in described])

    def _traced(self, arguments: dict[str, Any]) -> ConcreteFunction:
        wanted = arguments
        if self._signature is not None:
            wanted = {**arguments, **self._signature.described(arguments)}
        elif self._reduce_retracing:
            earlier = list(self._concrete.values())
            wanted = relaxed((concrete.arguments for concrete in earlier), arguments)
            for concrete in earlier:
                if same_specs(concrete.arguments, wanted):
                    return concrete
        owner = self._owner_key(arguments)
        maker = None if owner in self._initialised else VariableMaker(arguments)
        concrete = self._trace_once(wanted, maker)
        self._initialised.add(owner)
        if maker is not None and maker.made:  # the graph to keep must not make variables
            concrete = self._trace_once(wanted, None)
        return concrete

    def _trace_once(self, arguments: dict[str, Any], make: Callable[..., Any] | None) -> ConcreteFunction:
        self._traces += 1
        if not self._autograph:
            traced = trace(self.python_function, self._parameters.unbind, arguments, self.name, make)
        else:
            with staging.live(), api.in_sight(self.python_function, arguments):
                code = api.convert(self.python_function, optional_features=self._features)
                traced = trace(code, self._parameters.unbind, arguments, self.name, make)
        return ConcreteFunction(self.name, self._parameters, arguments, traced, self._executor)

    def _owner_key(self, arguments: Mapping[str, Any]) -> Hashable:
        """Variables may be made once for a function, and once for each instance that has it as a method."""
        first = next(iter(arguments), None)
        return Identity(arguments[first]) if first in ("self", "cls") else None

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The traced function for arguments like these; TensorSpecs may stand for tensors.

        With an input_signature the arguments may be left out.
        """
        try:
            if self.input_signature is not None and not args and not kwargs:
                args = self.input_signature
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
        experimental_autograph_options: a `tf.autograph.experimental.Feature`, or several.
        experimental_implements, experimental_attributes, experimental_follow_type_hints: accepted, no effect.
        experimental_executor: "plan" (the graph as straight-line Python) or "interpret" (step by step).

    Raises ValueError for `jit_compile=True`, TypeError for a bad signature and for unknown options.

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
    features = api.options_of(True, experimental_autograph_options).features
    if experimental_executor not in EXECUTORS:
        raise ValueError(
            f"experimental_executor must be one of {', '.join(EXECUTORS)}, not {experimental_executor!r}"
        )

    def decorated(python_function: Callable[..., Any]) -> Function:
        if not callable(python_function):
            raise TypeError(f"function() takes a callable, not {python_function!r}")
        inner = python_function.python_function if isinstance(python_function, Function) else python_function
        if inspect.isgeneratorfunction(inner) or inspect.iscoroutinefunction(inner):
            kind = "generator" if inspect.isgeneratorfunction(inner) else "coroutine"
            raise TypeError(
                f"the {kind} `{inner.__qualname__}` cannot become a graph: return tensors instead"
            )
        name = getattr(inner, "__name__", type(inner).__name__)
        name = name if name.isidentifier() else "lambda_"
        relaxed = bool(reduce_retracing or experimental_relax_shapes)
        return Function(inner, name, input_signature, autograph, relaxed, experimental_executor, features)

    return decorated if func is None else decorated(func)
