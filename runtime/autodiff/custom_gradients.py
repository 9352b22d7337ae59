"""Gradients defined by the user: `custom_gradient` and its relatives.

    @custom_gradient
    def log1pexp(x):
        e = exp(x)
        def grad(dy):
            return dy * (1 - 1 / (1 + e))
        return log(1 + e), grad

In eager code a tape records the call with `grad`. In a graph `grad` is traced at once (traced_gradient.py), into a
region of an operation that returns the results unchanged. So the graph contains its gradient, wherever it is called.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from agc.autograph import api

from .. import nest
from ..control_flow.regions import close_regions
from ..core.conversion import convert_to_tensor, variable_of
from ..core.export import export
from ..core.tensor import EagerTensor, Reference, Tensor
from ..core.variable import Variable
from ..ir.builder import Builder, current, recorders, recording_by
from ..ir.graph import Operation, Value
from ..ir.op_def import OpDef
from ..ir.value_types import VariableType
from ..ops.framework.op import wrap
from ..ops.framework.region_ops import CUSTOM
from ..ops.math.cast import identity, optimization_barrier
from .graph_vjp import zeros_for
from .tape import GradientTape
from .tape_records import Grads, Pullback
from .traced_gradient import traced_gradient


class _VariableWatcher:
    """A recorder of the trainable variables that are read."""

    def __init__(self) -> None:
        self.found: dict[int, Variable] = {}

    def computed(
        self, op: OpDef, inputs: Sequence[Any], attrs: Mapping[str, Any], outputs: Sequence[Any]
    ) -> None:
        self._look_at(inputs)

    def added(self, operation: Operation, builder: Builder) -> None:
        for operand in operation.inputs:
            if isinstance(operand.spec, VariableType):
                assert isinstance(operand, Value)
                outer, _ = builder.outermost(operand)
                if isinstance(outer, Reference):
                    self._look_at([outer.deref()])

    def grown(self, operation: Operation, added: Sequence[Value]) -> None:
        """Do nothing: new outputs read no variables."""

    def wants(self, inputs: Sequence[Any]) -> list[bool]:
        self._look_at(inputs)
        return [False] * len(inputs)

    def tracked(self, keys: Set[Any]) -> Set[Any]:
        """Return no key: tensors are not recorded."""
        return frozenset()

    def _look_at(self, inputs: Sequence[Any]) -> None:
        for x in inputs:
            if type(x) is not EagerTensor and isinstance(x, Variable) and x.trainable:
                self.found[id(x)] = x


@export("autodiff.custom_gradient", "custom_gradient")
def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """Decorate a function that returns its result and a function for its gradients.

    The gradient function takes the cotangent of each tensor of the result. It returns the gradient of each tensor
    among the positional arguments (a single one, or a list; None where there is none). When the function reads
    trainable variables, the gradient function must take `variables`, a list of them. It then returns a pair: the
    gradients of the arguments, and a list of the gradients of the variables.

    Raises TypeError when the gradient function does not take `variables` though there are some, ValueError when it
    returns another number of gradients.

    >>> from agc.runtime import constant
    >>> @custom_gradient
    ... def clipped(x):
    ...     return x, lambda dy: dy * 0.5
    >>> x = constant(3.0)
    >>> with GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = clipped(x)
    >>> tape.gradient(y, x).numpy()
    np.float32(0.5)
    """
    if f is None:
        return custom_gradient
    function = f

    @functools.wraps(function)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        return _called(function, args, kwargs)

    return decorated


def _called(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], hidden: bool = False
) -> Any:
    """Call the function; return its result with its custom gradient. If `hidden`, no tape records its operations."""
    converted = api.convert(function) if current() is not None else function
    has_nests = any(map(nest.is_nested, args))
    leaves = [
        x if type(x) is EagerTensor else _tensor(x) for x in (nest.flatten(args) if has_nests else args)
    ]
    args = nest.pack_sequence_as(args, leaves) if has_nests else tuple(leaves)
    watcher = _VariableWatcher()
    with recording_by([watcher] if hidden else [*recorders(), watcher]):
        both = converted(*args, **kwargs)
    if not (isinstance(both, (tuple, list)) and len(both) == 2 and callable(both[1])):
        name = getattr(function, "__name__", "the function")
        raise TypeError(
            f"custom_gradient: {name} must return a pair, its result and a function for its gradients"
        )
    result, grad = both
    is_nest = nest.is_nested(result)
    flat = [convert_to_tensor(x) for x in nest.flatten(result)] if is_nest else [convert_to_tensor(result)]
    are_tensors = [isinstance(x, Tensor) for x in leaves]
    arguments = list(itertools.compress(leaves, are_tensors))
    variables = [v for v in watcher.found.values() if not any(v is x for x in leaves)]
    pullback = _Gradient(grad, are_tensors, variables)
    builder = current()
    if builder is None:
        found = _eagerly(flat, arguments, pullback)
    else:
        found = _in_graph(builder, function, flat, arguments, pullback)
    return nest.pack_sequence_as(result, found) if is_nest else found[0]


def _tensor(x: Any) -> Any:
    x = variable_of(x)
    return x.value() if isinstance(x, Variable) else x


class _Gradient:
    """The user's gradient function for one call."""

    def __init__(self, grad: Callable[..., Any], are_tensors: list[bool], variables: list[Variable]) -> None:
        self.grad = grad
        self.are_tensors = are_tensors
        self.variables = variables
        if variables and not _takes_variables(grad):
            names = ", ".join(v.name for v in variables)
            raise TypeError(
                "The gradient function of a @tf.custom_gradient must accept a keyword argument `variables`, since the "
                f"function uses variables: {names}"
            )

    def back(self, grads: Sequence[Any]) -> Grads:
        """Return the gradients of the tensors among the arguments, then those of the variables."""
        if self.variables:
            found, of_variables = self.grad(*grads, variables=self.variables)
            of_variables = list(of_variables)
            if len(of_variables) != len(self.variables):
                raise ValueError(
                    f"Must return gradient for each variable from @custom_gradient grad_fn: {len(of_variables)} of "
                    f"{len(self.variables)}"
                )
        else:
            found, of_variables = self.grad(*grads), []
        flat = nest.flatten(found) if nest.is_nested(found) else [found]
        tensors = sum(self.are_tensors)
        if len(flat) not in (len(self.are_tensors), tensors):
            raise ValueError(
                f"custom_gradient function expected to return {tensors} gradients, but returned {len(flat)} instead."
            )
        if len(flat) == tensors:  # an argument that is not a tensor has no gradient
            own = flat
        else:
            own = [grad for grad, is_tensor in zip(flat, self.are_tensors, strict=True) if is_tensor]
        return [None if grad is None else convert_to_tensor(grad) for grad in (*own, *of_variables)]


def _takes_variables(grad: Callable[..., Any]) -> bool:
    parameters = inspect.signature(grad).parameters.values()
    return any(p.kind is p.VAR_KEYWORD or p.name == "variables" for p in parameters)


def _eagerly(flat: list[Any], arguments: list[Any], pullback: _Gradient) -> list[Any]:
    """Return new tensors with the same values, and record them with the gradient `pullback` on the tapes."""
    outputs: list[Any] = [EagerTensor(x._array, x._kind) for x in flat]

    def back(grads: Grads, wanted: Sequence[bool]) -> Grads:
        return pullback.back([zeros_for(y) if g is None else g for g, y in zip(grads, outputs, strict=True)])

    record = Pullback([*arguments, *pullback.variables], outputs, back)
    for tape in recorders():
        if isinstance(tape, GradientTape) and not tape.is_in_graph:
            tape.keep(record)
    return outputs


def _in_graph(
    builder: Builder, function: Any, flat: list[Any], arguments: list[Any], pullback: _Gradient
) -> list[Any]:
    """Return the results of an operation that forwards `flat` and has the gradient as a region."""
    traced = traced_gradient(builder, function, [builder.operand(x).spec for x in flat], pullback.back)
    regions, captured = close_regions([traced.region], [[grad for grad in traced.grads if grad is not None]])
    inputs = [builder.operand(x) for x in (*flat, *arguments, *pullback.variables)]
    given = tuple(i for i, grad in enumerate(traced.grads) if grad is not None)
    attrs = {"results": len(flat), "given": given, "refusal": traced.refusal}
    specs = [operand.spec for operand in inputs[: len(flat)]]
    values = builder.add(CUSTOM, [*inputs, *captured], attrs, specs, regions)
    if traced.refusal:
        builder.untraced[builder.operations[-1]] = pullback.back
    return [wrap(value, builder) for value in values]


@export("autodiff.recompute_grad", "recompute_grad")
def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return the same function, which is computed again in the backward pass instead of keeping its residuals.

    >>> from agc.runtime import constant, exp
    >>> x = constant(0.0)
    >>> with GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = recompute_grad(lambda x: exp(x) * 2.0)(x)
    >>> tape.gradient(y, x).numpy()
    np.float32(2.0)
    """

    @functools.wraps(f)
    def recomputed(*args: Any, **kwargs: Any) -> Any:
        def computed(*given: Any) -> Any:
            result = f(*given, **kwargs)

            def grad(*dys: Any, variables: Sequence[Variable] = ()) -> Any:
                args = nest.map_structure(lambda x: _separate(x, dys), given)
                sources = [x if isinstance(x, Tensor) else None for x in nest.flatten(args)]
                with GradientTape() as tape:
                    tape.watch([x for x in sources if x is not None and x.dtype.is_floating])
                    recomputed_outputs = nest.flatten(f(*args, **kwargs))
                grads = tape.gradient(
                    recomputed_outputs, [x for x in sources if x is not None] + list(variables), list(dys)
                )
                rest = iter(grads)
                own = [None if x is None else next(rest) for x in sources]
                return (own, list(rest)) if variables else own

            return result, grad

        return _called(computed, args, {}, hidden=True)

    return recomputed


def _separate(x: Any, dys: Sequence[Any]) -> Any:
    """Return an argument for computing again in the backward pass: another tensor than the one of the forward pass.

    The function may capture that one, too, and gets no gradient for it then. In graphs, CSE must not merge both passes.
    """
    if not isinstance(x, Tensor):
        return x
    if current() is None:
        return identity(x)
    return optimization_barrier(x, [dy for dy in dys if dy is not None])


@export("autodiff.grad_pass_through", "grad_pass_through")
def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return the same function with the gradient of the identity.

    >>> from agc.runtime import constant, round
    >>> x = constant(2.4)
    >>> with GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = grad_pass_through(round)(x) * 3.0
    >>> tape.gradient(y, x).numpy()
    np.float32(3.0)
    """

    @functools.wraps(f)
    def passing(*args: Any, **kwargs: Any) -> Any:
        def computed(*args: Any) -> Any:
            def grad(*dys: Any, variables: Sequence[Variable] | None = None) -> Any:
                return (dys, [None] * len(variables)) if variables else dys

            return f(*args, **kwargs), grad

        return _called(computed, args, {})

    return passing
