"""`function`: a Python function that becomes graphs, one for each kind of arguments it meets.

f(tensor)   →  key of the arguments  →  known: run its graph
                                        new: convert (AutoGraph), trace, keep, run
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from agc.autograph import api, staging

from ..config import _state as switches
from ..ir.builder import current, stack
from ..kinds import kind_of
from ..tensor import EagerTensor
from .cache import TraceCache, is_alive
from .concrete import ConcreteFunction
from .creation import VariableMaker
from .entry import KEYS, MISSED, entry_for, quick_key
from .explaining import Watch, explained
from .input_signature import InputSignature
from .options import Options
from .relaxing import relaxed, same_specs
from .signature import Identity, Parameters, key_of, tensor_leaves
from .trace import trace

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
S = TypeVar("S")
T = TypeVar("T")

_BOUND = "bound"  # begins the key of a call with keywords, which has the values of all parameters

_tracing = threading.RLock()
"""One thread traces at a time: the code of functions in sight changes while one of them is traced."""


class Function(Generic[P, R]):
    """What `function` makes of a Python function: polymorphic, it traces a graph for each new kind of call."""

    def __init__(self, python_function: Callable[P, R], name: str, options: Options) -> None:
        functools.update_wrapper(self, python_function)
        self.python_function = python_function
        self.name = name
        self._options = options
        self._parameters = Parameters(python_function)
        given = options.input_signature
        self._signature = None if given is None else InputSignature(given, name, self._parameters)
        self._cache = TraceCache()
        self._fast = self._cache.fast
        self._watch = Watch(name)
        self._traces: dict[Hashable, int] = {}  # by the instance whose method it is; None for a function
        self._initialised: set[Hashable] = set()
        self.is_method = False  # until it is called as one

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        """The specs that all calls fit, if they were given."""
        return None if self._signature is None else self._signature.specs

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the graph for these arguments; trace it first when there is none yet."""
        if switches["eager"]:
            return self.python_function(*args, **kwargs)
        try:
            if not stack.plain:
                return self._called(args, kwargs, None, ())  # type: ignore[no-any-return]
            values: Any = args
            key: Any
            if kwargs:
                values = self._parameters.values(args, kwargs)
                key = None if values is None else (_BOUND, *map(quick_key, values))
            elif len(args) == 1 and type(args[0]) is EagerTensor:
                key = args[0]._kind or kind_of(args[0])
            else:
                key = KEYS[len(args)](args)
            entry = self._fast.get(key)
            if entry is not None:
                result = entry(values)
                if result is not MISSED:
                    return result  # type: ignore[no-any-return]
            return self._called(args, kwargs, key, values or ())  # type: ignore[no-any-return]
        except BaseException as error:
            api.strip_frames(error)
            api.leave_no_trace(error)
            raise

    def _called(
        self,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        key: Hashable | None,
        values: tuple[Any, ...],
    ) -> Any:
        """The long way of a call; `key` and `values` are what the short one may find it by the next time."""
        arguments = self._arguments(args, kwargs)
        leaves = tensor_leaves(arguments)
        traces = self._watch.traces
        concrete = self._for(arguments)
        result = concrete.call_flat(leaves)
        is_known = traces == self._watch.traces  # a call that traced counts as found when it comes again
        if is_known and key is not None:
            entry = entry_for(concrete, values, leaves)
            if entry is not None:
                self._cache.remember(key, entry)
        return result

    def _arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        arguments = self._parameters.bind(args, kwargs)
        return arguments if self._signature is None else self._signature.fitted(arguments)

    def _for(self, arguments: dict[str, Any]) -> ConcreteFunction:
        """The concrete function that fits the arguments, traced now if there is none."""
        key: Hashable = self._key(arguments)
        found = self._cache.get(key) or self._cache.get((key, Identity(current())))
        if found is not None:
            self._watch.found()
            return found
        with _tracing:
            found = self._cache.get(key)
            if found is None:
                found = self._traced(arguments)
                if not found.ends:  # what always fails is traced again: Python may have changed its mind
                    self._cache.put((key, Identity(current())) if found.belongs_to_outer else key, found)
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
        elif self._options.reduce_retracing:
            earlier = list(self._cache)
            wanted = relaxed((concrete.arguments for concrete in earlier), arguments)
            for concrete in earlier:
                if same_specs(concrete.arguments, wanted):
                    return concrete
        self._check_limit(arguments)
        self._watch.traced(self._cache, arguments)
        owner = self._owner_key(arguments)
        maker = None if owner in self._initialised else VariableMaker(arguments)
        concrete = self._trace_once(wanted, maker, owner)
        self._initialised.add(owner)
        if maker is not None and maker.made:  # the graph to keep must not make variables
            concrete = self._trace_once(wanted, None, owner)
        return concrete

    def _check_limit(self, arguments: Mapping[str, Any]) -> None:
        limit = self._options.max_traces
        if limit is not None and self._watch.traces >= limit:
            reason = explained(self._cache, arguments)
            raise RuntimeError(
                f"{self.name} may be traced {limit} times, as max_traces says, and was:\n{reason}"
            )

    def _trace_once(
        self, arguments: dict[str, Any], make: Callable[..., Any] | None, owner: Hashable
    ) -> ConcreteFunction:
        if owner not in self._traces and len(self._traces).bit_count() == 1:  # as it doubles, so not often
            self._traces = {key: count for key, count in self._traces.items() if key is None or is_alive(key)}
            self._initialised &= {None, *self._traces}
        self._traces[owner] = self._traces.get(owner, 0) + 1
        if not self._options.autograph:
            traced = trace(self.python_function, self._parameters.unbind, arguments, self.name, make)
        else:
            with staging.live(), api.in_sight(self.python_function, arguments):
                code = api.convert(self.python_function, optional_features=self._options.features)
                traced = trace(code, self._parameters.unbind, arguments, self.name, make)
        return ConcreteFunction(self.name, self._parameters, arguments, traced, self._options.executor)

    def _owner_key(self, arguments: Mapping[str, Any]) -> Hashable:
        """Variables may be made once for a function, and once for each instance that has it as a method."""
        first = next(iter(arguments), None)
        return Identity(arguments[first]) if self.is_method or first in ("self", "cls") else None  # type: ignore[index]

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

    @property
    def concrete_functions(self) -> list[ConcreteFunction]:
        """The graphs that there are now."""
        return list(self._cache)

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """The signatures of all graphs traced so far, for people."""
        return "\n\n".join(concrete.pretty_printed_signature(verbose) for concrete in self._cache)

    def experimental_get_tracing_count(self) -> int:
        """How often the Python function was traced."""
        return sum(self._traces.values())

    @overload
    def __get__(self, instance: None, owner: Any = None) -> Function[P, R]: ...

    @overload
    def __get__(
        self: Function[Concatenate[S, Q], T], instance: S, owner: Any = None
    ) -> BoundFunction[Q, T]: ...

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else BoundFunction(self, instance)

    def __reduce__(self) -> Any:
        """A function that can be found by its name is pickled as that, others without their graphs."""
        found: Any = sys.modules.get(self.__module__)
        name: str = getattr(self, "__qualname__", self.name)
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is self:
            return name
        return Function, (self.python_function, self.name, self._options)

    def _repr_html_(self) -> str:
        from ..html import text_html

        return text_html(self.pretty_printed_concrete_signatures() or f"{self.name}: not traced yet")

    def __repr__(self) -> str:
        return f"<agc.runtime.Function {self.name}>"


class BoundFunction(Generic[P, R]):
    """A `Function` as the method of an instance; it keeps no graphs of its own."""

    def __init__(self, function: Function[Any, R], instance: Any) -> None:
        function.is_method = True
        self._function = function
        self._instance = instance
        self.__wrapped__ = function.python_function
        self.__name__ = function.name
        self.__doc__ = function.__doc__

    @property
    def __self__(self) -> Any:
        return self._instance

    @property
    def __func__(self) -> Function[Any, R]:
        return self._function

    @property
    def python_function(self) -> Callable[P, R]:
        """The undecorated method, bound."""
        return self._function.python_function.__get__(self._instance)  # type: ignore[no-any-return]

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        return self._function.input_signature

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._function(self._instance, *args, **kwargs)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """As `Function.get_concrete_function`, for this instance."""
        if not args and not kwargs and self.input_signature is not None:
            args = self.input_signature
        return self._function.get_concrete_function(self._instance, *args, **kwargs)

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        return self._function.pretty_printed_concrete_signatures(verbose)

    def experimental_get_tracing_count(self) -> int:
        """How often the method was traced for this instance."""
        return self._function._traces.get(Identity(self._instance), 0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BoundFunction):
            return NotImplemented
        return self._function is other._function and self._instance is other._instance

    def __hash__(self) -> int:
        return hash((id(self._function), id(self._instance)))

    def __repr__(self) -> str:
        return f"<agc.runtime.Function {self._function.name} of {self._instance!r}>"


def made(python_function: Any, options: Options) -> Function[Any, Any]:
    """The `Function` of a Python function. Raises TypeError for what cannot become one."""
    if not callable(python_function):
        raise TypeError(f"function() takes a callable, not {python_function!r}")
    inner = python_function.python_function if isinstance(python_function, Function) else python_function
    if inspect.isgeneratorfunction(inner) or inspect.iscoroutinefunction(inner):
        kind = "generator" if inspect.isgeneratorfunction(inner) else "coroutine"
        raise TypeError(f"the {kind} `{inner.__qualname__}` cannot become a graph: return tensors instead")
    name = getattr(inner, "__name__", type(inner).__name__)
    return Function(inner, name if name.isidentifier() else "lambda_", options)


@overload
def function(
    func: Callable[P, R],
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
    *,
    experimental_executor: str = "plan",
    max_traces: int | None = None,
) -> Function[P, R]: ...


@overload
def function(
    func: None = None,
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
    *,
    experimental_executor: str = "plan",
    max_traces: int | None = None,
) -> Callable[[Callable[P, R]], Function[P, R]]: ...


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
    *,
    experimental_executor: str = "plan",
    max_traces: int | None = None,
) -> Any:
    """Make a function that runs as graphs; also a decorator, with or without arguments.

    The first call with a new kind of arguments traces: the Python code runs once on symbolic tensors, and `if`,
    `for` and `while` on them become part of the graph. Later calls of the same kind run that graph.

    Args:
        func: the Python function; None makes a decorator.
        input_signature: a list or tuple of TensorSpecs, or nests of them, for the arguments. All calls must fit it,
            and share one graph.
        autograph: whether to convert Python's control flow.
        reduce_retracing: trace with unknown dimensions when calls differ in shapes only (also spelled
            `experimental_relax_shapes`).
        jit_compile: True compiles to native code at the first call with each combination of shapes, and raises an
            error with the reasons where that is not possible (also spelled `experimental_compile`). None compiles in
            the background what has run for long, and keeps what is faster; False never does.
        experimental_autograph_options: a `tf.autograph.experimental.Feature`, or several.
        experimental_implements, experimental_attributes, experimental_follow_type_hints: accepted, no effect; of the
            attributes only TensorFlow's.
        experimental_executor: "plan" (the graph as straight-line Python), "interpret" (step by step) or "native",
            which is `jit_compile=True`.
        max_traces: so many kinds of calls may be traced; one more is a RuntimeError that says what differs. None
            sets no limit. Of the graphs, the 1,000 that were used last are kept.

    Raises ValueError for `jit_compile=True` without the extra `[jit]` and for unknown options, TypeError for a bad
    signature.

    >>> from agc.runtime import constant
    >>> @function
    ... def clipped(x):
    ...     if x > 0:
    ...         return x
    ...     return 0 * x
    >>> clipped(constant(-3)).numpy()
    np.int32(0)
    """
    options = Options.checked(
        input_signature=input_signature,
        autograph=autograph,
        jit_compile=experimental_compile if jit_compile is None else jit_compile,
        reduce_retracing=bool(reduce_retracing or experimental_relax_shapes),
        implements=experimental_implements,
        features=experimental_autograph_options,
        attributes=experimental_attributes,
        executor=experimental_executor,
        max_traces=max_traces,
    )
    return functools.partial(made, options=options) if func is None else made(func, options)
