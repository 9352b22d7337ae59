"""`function`: make a Python function polymorphic, with one trace for each kind of arguments."""

from __future__ import annotations

import functools
import inspect
import sys
import weakref
from collections.abc import Callable, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from agc.autograph.api import Diagnostic, StagingError, Where, filter_function

from ..core.call_slot import CallSlot, SignatureOfWrapped
from ..core.export import export
from .cache_key import Identity
from .concrete_function import ConcreteFunction
from .dispatch import Dispatcher
from .options import FunctionOptions

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
S = TypeVar("S")
T = TypeVar("T")


@export("Function")
class Function(CallSlot, Generic[P, R]):
    """A traced Python function: polymorphic, with one graph for each cache key.

    The callable is stored in a slot, since there may be faster ones than a Python method (see dispatch.py).

    >>> import agc.runtime as tf
    >>> double = tf.function(lambda x: 2 * x)
    >>> double(tf.constant(1.5)).numpy(), double(tf.constant(2)).numpy(), double.experimental_get_tracing_count()
    (np.float32(3.0), np.int32(4), 2)
    """

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
            """Run the graph for these arguments; trace it first if there is none yet."""

    else:
        __slots__ = {
            "__dict__": "Other attributes.",
            "__weakref__": "Weak references to the function.",
            "_calls": "The dispatcher: the graphs by cache key.",
        }

    def __init__(self, python_function: Callable[P, R], name: str, options: FunctionOptions) -> None:
        functools.update_wrapper(self, python_function)
        self._calls = Dispatcher(python_function, name, options)
        self._calls.install = _slot_of(self)
        self._calls.install(self._calls.call)

    def _decorate(self, decorator: Callable[[Callable[P, R]], Callable[P, R]]) -> None:
        """Replace the undecorated function by `decorator` of it. Raises ValueError after the first trace."""
        if list(self._calls.cache):
            raise ValueError("Functions cannot be decorated after they have been traced.")
        calls = self._calls
        Function.__init__(self, decorator(calls.python_function), calls.name, calls.options)

    @property
    def python_function(self) -> Callable[P, R]:
        """The undecorated function."""
        return self._calls.python_function

    @property
    def name(self) -> str:
        """The name of the Python function."""
        return self._calls.name

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        """The specs that all calls fit; None if there is no `input_signature`."""
        signature = self._calls.signature
        return None if signature is None else signature.specs

    @property
    def function_type(self) -> inspect.Signature:
        """The signature of the Python function; its annotations are the specs of an `input_signature`."""
        from .function_type import FunctionType  # rarely used, so imported late

        plain = inspect.signature(self.python_function)
        specs = iter(self.input_signature or ())
        parameters = [p.replace(annotation=next(specs, p.empty)) for p in plain.parameters.values()]
        return FunctionType(parameters)

    def get_concrete_function(self, /, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Return the concrete function for arguments like these; TensorSpecs may replace tensors.

        With an `input_signature` the arguments may be left out.
        """
        if self.input_signature is not None and not args and not kwargs:
            args = self.input_signature
        return self._calls.concrete_for(args, kwargs)

    def _list_all_concrete_functions(self) -> list[ConcreteFunction]:
        """Return the cached traces, at least that of an `input_signature`.

        Keras calls TensorFlow's private name when it exports a model.
        """
        if self.input_signature is not None and not list(self._calls.cache):
            self.get_concrete_function()
        return list(self._calls.cache)

    def _trackable_children(
        self, save_type: str = "checkpoint", **kwargs: Any
    ) -> dict[str, ConcreteFunction]:
        """Return the cached traces by name, as `_list_all_concrete_functions` does."""
        return {f"trace_{number}": each for number, each in enumerate(self._list_all_concrete_functions())}

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """Return the signatures of all cached traces as text."""
        separator = "\n\n" if verbose else "\n"
        return separator.join(concrete.pretty_printed_signature(verbose) for concrete in self._calls.cache)

    def experimental_get_tracing_count(self) -> int:
        """Return how often the Python function was traced."""
        return sum(self._calls.traces.values())

    @overload
    def __get__(self, instance: None, owner: Any = None) -> Function[P, R]: ...

    @overload
    def __get__(
        self: Function[Concatenate[S, Q], T], instance: S, owner: Any = None
    ) -> BoundFunction[Q, T]: ...

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        bound = _new_bound(BoundFunction)
        bound.__call__ = MethodType(self, instance)
        self._calls.parameters.are_of_method = True
        return bound

    def __reduce__(self) -> Any:
        """Pickle a function that can be found by its name as that name, any other without its graphs."""
        found: Any = sys.modules.get(self.__module__)
        name: str = getattr(self, "__qualname__", self.name)
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is self:
            return name
        return Function, (self.python_function, self.name, self._calls.options)

    def _repr_html_(self) -> str:
        from ..core.html_repr import function_html

        count = len(self._calls.cache)
        traced = "not traced yet" if not count else f"traced {count} time{'s' * (count != 1)}"
        graphs = [(each.graph.signature, str(each.graph)) for each in self._calls.cache]
        return function_html(self.name, traced, self.python_function, graphs)

    def __repr__(self) -> str:
        return f"<agc.runtime.Function {self.name}>"


def _slot_of(function: Function[Any, Any]) -> Callable[[Callable[..., Any]], None]:
    """Return a function that stores a callable in the slot of `function`, if `function` still exists."""
    reference, put = weakref.ref(function), CallSlot.__dict__["__call__"].__set__

    def install(call: Callable[..., Any]) -> None:
        target = reference()
        if target is not None:
            put(target, call)

    return install


class _Doc:
    """The `__doc__` of bound functions, which is that of the function; the class has its own text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __get__(self, bound: BoundFunction[Any, Any] | None, owner: Any = None) -> str | None:
        return self._text if bound is None else bound._function.__doc__


def is_bound(concrete: ConcreteFunction, owner: Any) -> bool:
    """Return whether the first argument of a graph is the object that has the function as a method."""
    first = next(iter(concrete.arguments.values()), None)
    return isinstance(first, Identity) and first.target is owner


class BoundFunction(Generic[P, R]):
    __doc__ = _Doc(
        "A `Function` as the method of an instance, which `Function.__get__` makes; it keeps no graphs of its own."
    )

    if TYPE_CHECKING:

        def __init__(self, function: Function[Any, R], instance: Any) -> None:
            self._function = function
            self._instance = instance

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
            """Call the function with the instance, followed by these arguments."""

    else:
        __slots__ = ("__call__", "__dict__", "__weakref__")

        # The callable is a Python bound method, which has both.
        _function = property(lambda self: self.__call__.__func__)
        _instance = property(lambda self: self.__call__.__self__)

    __signature__ = SignatureOfWrapped()

    @property
    def __wrapped__(self) -> Callable[..., R]:
        return self.python_function  # the signature is that of the bound method

    @property
    def __name__(self) -> str:
        return self._function.name

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

    def get_concrete_function(self, /, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Return the concrete function for this instance; see `Function.get_concrete_function`."""
        if not args and not kwargs and self.input_signature is not None:
            args = self.input_signature
        concrete = self._function.get_concrete_function(self._instance, *args, **kwargs)
        concrete.traced_arguments.receiver = next(iter(self._function._calls.positional), None)
        return concrete

    def _list_all_concrete_functions(self) -> list[ConcreteFunction]:
        """Return the cached traces for this instance; see `Function._list_all_concrete_functions`."""
        if self.input_signature is not None:
            self.get_concrete_function()
        return [each for each in self._function._calls.cache if is_bound(each, self._instance)]

    def _trackable_children(
        self, save_type: str = "checkpoint", **kwargs: Any
    ) -> dict[str, ConcreteFunction]:
        """Return the cached traces by name, as `_list_all_concrete_functions` does."""
        return {f"trace_{number}": each for number, each in enumerate(self._list_all_concrete_functions())}

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        return self._function.pretty_printed_concrete_signatures(verbose)

    def experimental_get_tracing_count(self) -> int:
        """Return how often the method was traced for this instance."""
        return self._function._calls.traces.get(Identity(self._instance), 0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BoundFunction):
            return NotImplemented
        return self._function is other._function and self._instance is other._instance

    def __hash__(self) -> int:
        return hash((id(self._function), id(self._instance)))

    def __reduce__(self) -> Any:
        return Function.__get__, (self._function, self._instance)

    def __repr__(self) -> str:
        return f"<agc.runtime.Function {self._function.name} of {self._instance!r}>"


_new_bound: Callable[[type], Any] = BoundFunction.__new__


def make_function(python_function: Any, options: FunctionOptions) -> Function[Any, Any]:
    """Return the `Function` of a Python function. Raise TypeError if it cannot become a graph."""
    if not callable(python_function):
        raise TypeError(f"function() takes a callable, not {python_function!r}")
    inner = python_function.python_function if isinstance(python_function, Function) else python_function
    _refuse_suspending(inner)
    name = getattr(inner, "__name__", type(inner).__name__)
    return Function(inner, name if name.isidentifier() else "lambda_", options)


filter_function(make_function)  # `tf.function(jit_compile=True)` is a partial of it, which programs call


def _refuse_suspending(python_function: Any) -> None:
    """Raise AGC190, at its definition, for a function that suspends and resumes."""
    while isinstance(python_function, functools.partial):
        python_function = python_function.func
    if inspect.isgeneratorfunction(python_function) or inspect.isasyncgenfunction(python_function):
        kind = "generator"
    elif inspect.iscoroutinefunction(python_function):
        kind = "coroutine"
    else:
        return
    code, name = python_function.__code__, python_function.__qualname__
    fix = "return all values together, for instance `stack()` of a `tf.TensorArray`"
    if kind == "coroutine":
        fix = "trace an ordinary function without `await`, and await before or after the call"
    diagnostic = Diagnostic(
        "AGC190",
        f"the {kind} `{name}` cannot become a graph",
        Where(code.co_filename, code.co_firstlineno, function=name),
        why=f"a graph returns all its results at once; a {kind} suspends and resumes",
        fix=fix,
    )
    raise StagingError(diagnostic)


@overload
def function(
    func: Callable[P, R],
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    jit_compile: bool | str | None = None,
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
    jit_compile: bool | str | None = None,
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


@export("function")
def function(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    jit_compile: bool | str | None = None,
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
            error with the reasons where that is not possible (also spelled `experimental_compile`). None compiles
            graphs that have run for long in the background, and keeps the faster code; False never compiles. "xla"
            compiles by XLA, through JAX (the extra `[jax]`), and raises an error as True does.
        experimental_autograph_options: a `tf.autograph.experimental.Feature`, or several.
        experimental_attributes: a dict of attributes that TensorFlow supports. By `api_implements` and
            `api_preferred_device` a graph chooses among functions, see `ConcreteFunction.add_to_graph`; others have no
            effect.
        experimental_implements, experimental_follow_type_hints: accepted, no effect.
        experimental_executor: "plan" (the graph as straight-line Python), "interpret" (step by step), "native",
            which is `jit_compile=True`, or "xla", which is `jit_compile="xla"`.
        max_traces: the maximum number of traces; one more raises a RuntimeError that explains what differs. None
            sets no limit. The 1,000 most recently used graphs are kept.

    Raises ValueError for `jit_compile` without the extra (`[jit]` for True, `[jax]` for "xla") and for unknown options,
    TypeError for a bad signature.

    >>> from agc.runtime import constant
    >>> @function
    ... def clipped(x):
    ...     if x > 0:
    ...         return x
    ...     return 0 * x
    >>> clipped(constant(-3)).numpy()
    np.int32(0)
    """
    options = FunctionOptions.checked(
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
    if func is None:
        return functools.partial(make_function, options=options)
    return make_function(func, options)
