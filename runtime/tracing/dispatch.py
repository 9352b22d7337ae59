"""Dispatch of a call of a `Function`: find the trace for its arguments in the cache, or make one.

f(tensor)   →  cache key of the arguments  →  hit:  run its graph
                                              miss: convert (AutoGraph), trace, cache, run

`Dispatcher` has the whole state of a `Function` but does not refer to the `Function`. So there is no reference
cycle, although the `Function` holds the bound method `Dispatcher.call`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any

from agc.autograph import api, staging

from ..config import functions_run_eagerly
from ..core.gc_pause import Pause
from ..ir.builder import current, stack
from .cache_entry import MISSED, build_entry
from .cache_key import Identity, Parameters, received
from .concrete_function import ConcreteFunction
from .fast_paths import FastPaths, build_fast_path
from .flat_arguments import FlatArguments
from .options import FunctionOptions
from .recursion import is_pending, pending, pending_trace
from .retrace_explanation import RetraceMonitor, explained
from .trace import Tracing, trace
from .trace_cache import TraceCache, is_alive
from .tracing_lock import TracingTurns
from .variable_creation import VariableCreator

if TYPE_CHECKING:
    from .input_signature import InputSignature

_tracing = TracingTurns()


def _forgetting(reference: Callable[[], Dispatcher | None], key: Hashable) -> Callable[[], None]:
    """Return a function that removes `key` from the fast keys, so that the next such call takes the slow path."""

    def forget() -> None:
        calls = reference()
        if calls is not None:
            calls.cache.fast.pop(key, None)

    return forget


def _nowhere(call: Callable[..., Any]) -> None:
    """Do nothing with `call`: no `Function` is attached."""


class Dispatcher:
    """The traces of a function, and their lookup."""

    def __init__(self, python_function: Callable[..., Any], name: str, options: FunctionOptions) -> None:
        self.python_function = python_function
        self.name = name
        self.options = options
        self.cache = TraceCache()
        self.traces: dict[Hashable, int] = {}  # by the instance of a method; None for a function
        self.initialized: set[Hashable] = set()
        self.parameters = Parameters(python_function)
        self.signature: InputSignature | None = None
        if options.input_signature is not None:
            from .input_signature import InputSignature  # rarely used, so imported late

            self.signature = InputSignature(options.input_signature, name, self.parameters)
        self._fast = self.cache.fast
        self._shortest = FastPaths()
        self._watch = RetraceMonitor(name, self.parameters.names)
        self.install: Callable[[Callable[..., Any]], None] = _nowhere  # stores into the call slot

    def call(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run the graph for these arguments; trace it first if there is none yet."""
        if functions_run_eagerly():
            return self.python_function(*args, **kwargs)
        try:
            values = self.parameters.values(args, kwargs)
            flat = FlatArguments(values)
            if not stack.plain:
                given, wanted = self._fitted(flat)
                callee = pending_trace(self, wanted.trace_key) or self._concrete_for(given, wanted)
                return callee.call_flat(given.inputs)
            key = flat.call_key
            if values is not args:  # calls of another form have other fast paths
                key = key, len(args), *kwargs
            entry = self._fast.get(key)
            if entry is not None:
                result = entry(flat.leaves)
                if result is not MISSED:
                    return result
            return self._called(args, kwargs, key, flat)
        except BaseException as error:
            found = _circle(error, (*args, *kwargs.values())) if isinstance(error, RecursionError) else error
            api.strip_frames(found)
            api.leave_no_trace(found)
            if found is not error:
                raise found from None
            raise

    def _called(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], key: Hashable, flat: FlatArguments
    ) -> Any:
        """Call without an entry; make one for `key` unless this call traced."""
        given, wanted = self._fitted(flat)
        inputs = given.inputs
        traces = self._watch.traces
        concrete = self._concrete_for(given, wanted)
        result = concrete.call_flat(inputs)
        if traces == self._watch.traces:  # a call that traced is remembered when it is repeated
            entry = build_entry(concrete, flat, inputs)
            if entry is not None:
                self.cache.remember(key, entry)
                self._shorten(key, concrete, args, kwargs, inputs)
        return result

    def _shorten(
        self,
        key: Hashable,
        concrete: ConcreteFunction,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        leaves: list[Any],
    ) -> None:
        """Install a fast path for calls like this one if there is one."""
        forget = _forgetting(weakref.ref(self), key)
        fast_path = build_fast_path(concrete, self.parameters, args, kwargs, leaves, forget)
        is_changed = self._shortest.forget(self._fast)
        if fast_path is not None:
            self._shortest.add(key, fast_path)
        if fast_path is not None or is_changed:
            self.install(self._shortest.call(self.call))

    @property
    def positional(self) -> list[str]:
        """The names of the parameters that take positional arguments."""
        return self.parameters.positional

    def concrete_for(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> ConcreteFunction:
        """Return the concrete function for a call; trace one if there is none."""
        return self._concrete_for(*self._fitted(FlatArguments(self.parameters.values(args, kwargs))))

    def _fitted(self, flat: FlatArguments) -> tuple[FlatArguments, FlatArguments]:
        """Return the arguments of the graph, and those to trace with: specs instead of tensors, if they are given."""
        if self.signature is None:
            return flat, flat
        fitted = self.signature.fitted(self.parameters.named(flat.values))
        wanted = {**fitted, **self.signature.described(fitted)}
        return FlatArguments([*fitted.values()]), FlatArguments([*wanted.values()])

    def _concrete_for(self, given: FlatArguments, wanted: FlatArguments) -> ConcreteFunction:
        """Return the concrete function that fits `wanted`; trace one if there is none."""
        key: Hashable = wanted.trace_key if stack.replica is None else (wanted.trace_key, stack.replica)
        found = self.cache.get(key) or self.cache.get((key, Identity(current())))
        if found is not None:
            self._watch.found()
            return found
        with _tracing, Pause():
            found = self.cache.get(key)
            if found is None:
                found = self._traced(given, wanted)
                # A function that always fails is traced again: Python state may change.
                if not (found.ends or found.is_provisional):
                    self.cache.put((key, Identity(current())) if found.belongs_to_outer else key, found)
                    if self._shortest.forget(self._fast):
                        self.install(self._shortest.call(self.call))
        return found

    def _traced(self, arguments: FlatArguments, wanted: FlatArguments) -> ConcreteFunction:
        earlier = [concrete for concrete in self.cache if concrete.replica == stack.replica]
        if self.signature is None and earlier:
            from .shape_relaxation import find_covering, relaxed

            known = find_covering(earlier, arguments)
            if known is None and self.options.reduce_retracing:
                wanted = relaxed((concrete.traced for concrete in earlier), arguments)
                known = find_covering(earlier, wanted)
            if known is not None:
                return known
        self._check_limit(arguments)
        is_watched = not is_pending(self)
        if is_watched:
            self._watch.traced(self.cache, arguments)
        owner = self._owner_key(arguments)
        maker = None if owner in self.initialized else VariableCreator(arguments.inputs)
        concrete = self._trace_once(wanted, maker, owner)
        self.initialized.add(owner)
        if maker is not None and maker.made:  # the graph to keep must not create variables
            concrete = self._trace_once(wanted, None, owner)
        if is_watched:
            self._watch.succeeded(self.cache, arguments)
        return concrete

    def _check_limit(self, arguments: FlatArguments) -> None:
        limit = self.options.max_traces
        if limit is not None and self._watch.traces >= limit:
            reason = explained(self.cache, self.parameters.names, arguments)
            raise RuntimeError(
                f"{self.name} needs another trace, but max_traces={limit} is reached:\n{reason}"
            )

    def _trace_once(
        self, wanted: FlatArguments, make: Callable[..., Any] | None, owner: Hashable
    ) -> ConcreteFunction:
        arguments = self.parameters.named(wanted.values)
        if owner not in self.traces and len(self.traces).bit_count() == 1:  # rarely, as the size doubles
            self.traces = {key: count for key, count in self.traces.items() if key is None or is_alive(key)}
            self.initialized &= {None, *self.traces}
        with pending(self, wanted.trace_key, self.name) as recursion:
            return recursion.trace(lambda: self._trace_now(wanted, arguments, make, owner))

    def _trace_now(
        self,
        wanted: FlatArguments,
        arguments: dict[str, Any],
        make: Callable[..., Any] | None,
        owner: Hashable,
    ) -> ConcreteFunction:
        self.traces[owner] = self.traces.get(owner, 0) + 1
        if not self.options.autograph:
            traced = self._graph_of(self.python_function, arguments, make)
        else:
            with (
                staging.live(),
                api.converting_reachable(self.python_function, *map(received, arguments.values())),
                api.checking_may_alias(),
            ):
                code = api.convert(self.python_function, optional_features=self.options.features)
                traced = self._graph_of(code, arguments, make)
        options = self.options
        return ConcreteFunction(
            self.name, self.parameters, wanted, traced, options.executor, options.attributes
        )

    def _graph_of(self, code: Callable[..., Any], arguments: dict[str, Any], make: Any) -> Tracing:
        unbind, executor = self.parameters.unbind, self.options.executor
        return trace(code, unbind, arguments, self.name, make, is_guarded=True, executor=executor)

    def _owner_key(self, arguments: FlatArguments) -> Hashable:
        """Return the key of the owner of the variables: the instance of a method, None for a function.

        Variables may be created once for each owner.
        """
        return Identity(arguments.values[0]) if self.parameters.are_of_method else None


def _circle(error: RecursionError, values: tuple[Any, ...]) -> BaseException:
    """Return the error to raise if an argument that contains itself was flattened."""
    from ..control_flow import cyclic_nests  # rarely used, so imported late

    return cyclic_nests.told(error, *values)
