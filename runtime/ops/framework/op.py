"""Declare operations: signature, docstring, inference rule and kernel in one block.

    @op
    def reverse(tensor: Input, axis: Axes, name: Name = None) -> TensorType:
        '''Reverse `tensor` along the axes in `axis`.'''
        return tensor.spec                                          # the inference rule: the result's type

    @reverse.kernel
    def _(tensor, axis):                                            # arrays in, array out
        return np.flip(tensor, axis)

    @reverse.gradient
    def _(dy, y, tensor, axis):                                     # tensors in, tensors out: see `Op.gradient`
        return reverse(dy, axis)

The decorated function *is* the inference rule for dtype and shape; its signature, with TensorFlow's names, is
the operation's, and its docstring the manual. An annotation determines how an argument is read:

    Input      a tensor, or anything that converts into one
    Same       the same, and all arguments marked so have one dtype, which Python numbers adapt to
    Inputs     a list of tensors of one dtype
    Tensors    a list of tensors of any dtypes
    Ints       integers such as a shape: Python values become int32, an empty list too
    Ref        a variable, by reference
    Array      the state of a TensorArray
    Name       the requested name of the result
    others     an attribute, read by the function of `READERS` with that name

A rule receives operands (`.dtype`, `.shape`, `.spec`, and `.value`: the array, or None if it is not static). It
raises ValueError or TypeError for invalid operands. It returns one TensorType or a tuple of them.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack, overload

import numpy as np

from ... import dtypes, errors
from ...core import late_binding
from ...core.call_slot import CallSlot
from ...core.devices import log_placement, placement
from ...core.eviction import takes_new
from ...core.fp_errors import quietly
from ...core.symbolic_tensor import SymbolicArray, SymbolicTensor, weak_origin
from ...core.tensor import EagerArray, EagerTensor
from ...core.type_spec import MeetsCompositeError
from ...ir.builder import Builder, current, recorders, stack
from ...ir.facts import DeclaredFacts
from ...ir.graph import Constant, Operand, Value
from ...ir.value_types import AnySpec, TensorType, VariableType
from . import composite_dispatch, constant_results, narrow_floats
from .call_keys import Dtypes, Elements
from .eager_calls import MOST, EagerCall, native, run_kept
from .kept_calls import count_new, eager_call, operand_dtypes, packed_dtypes, with_packed
from .op_errors import FAILURES, ruled_out, runtime_op_error, throw
from .signature import Signature


class _Watch:
    """A function that checks, or replaces, the results of each operation; None if there is none."""

    results: Callable[[Op, Sequence[Any]], Sequence[Any]] | None = None


watch = _Watch()

REGISTRY: dict[str, Op] = {}
"""Every operation that has been imported, by the name that it has in graphs."""


def find(name: str) -> Op | None:
    """Return the operation with this name in graphs, importing all modules of operations if needed; else None."""
    if name not in REGISTRY:
        import_all()
    return REGISTRY.get(name)


def import_all() -> None:
    """Import all modules of operations, so that `REGISTRY` has every operation."""
    import pkgutil

    package = importlib.import_module(__package__.rpartition(".")[0])
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)


Input: TypeAlias = Any
Same: TypeAlias = Any
Inputs: TypeAlias = Any
Tensors: TypeAlias = Any
Ints: TypeAlias = Any
Ref: TypeAlias = Any
Array: TypeAlias = Any
Name: TypeAlias = str | None


def _declared(module: str, name: str) -> Op:
    """Return an unpickled operation, found by its name after its module is imported."""
    importlib.import_module(module)
    found = find(name)
    if found is None:
        raise LookupError(f"there is no operation {name!r}, which was pickled")
    return found


class Op(CallSlot, Signature):
    """An operation: a call runs its kernel in eager mode, or adds the operation to the graph being built.

    The slot `__call__` has a C function that runs kept calls, if there is the extension, else `_call`.
    """

    _is_leaf_of_nests = True  # a function that users pass around, although its record is a dataclass

    if TYPE_CHECKING:

        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    def __init__(
        self,
        rule: Callable[..., Any],
        name: str | None = None,
        stateful: bool = False,
        expression: str | None = None,
        **facts: Unpack[DeclaredFacts],
    ) -> None:
        functools.update_wrapper(self, rule)
        super().__init__(rule, name or rule.__name__, stateful, expression, **facts)
        if self.name in REGISTRY:
            raise ValueError(f"there is an operation {self.name!r} already")
        REGISTRY[self.name] = self
        self._calls: dict[Any, EagerCall | Elements | Dtypes | int | None] = {}
        self._takes_variables = any(kind == "Ref" for _, kind in self.operand_parameters)
        self.__call__ = native.caller(self) if native else self._call  # type: ignore[method-assign]

    def __reduce__(self) -> Any:
        """Pickle an operation by its name; a copy is the operation itself."""
        return _declared, (self.rule.__module__, self.name)

    def __copy__(self) -> Op:
        return self

    def __deepcopy__(self, memo: Any) -> Op:
        return self

    @functools.cached_property
    def _compute_quietly(self) -> Callable[..., Any]:
        return quietly(self.compute)

    @property
    def python_function(self) -> Callable[..., Any]:
        """The method in Python that runs when the slot has nothing quicker."""
        return self._call

    def _fields(self) -> tuple[Any, ...]:
        """Return what the C function reads: where it finds kept calls, and how it makes others."""
        return self._calls, self._call, self._converted, self._takes_variables

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        if not stack.eager or placement.observed:
            return self._converted(args, kwargs)
        return run_kept(self._calls, args, kwargs, self._takes_variables, stack.recorders, self._converted)

    def _converted(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        key: Any = None,
        given: int = 0,
        types: Any = None,
    ) -> Any:
        """Convert and check all arguments; then run the operation, or add it to the graph.

        A call that ran is kept by its key, unless that is None; `given` is the number of tensors in the arguments. A
        new key with numbers has `types`.
        """
        packed = None if key is None else self._calls.get(key)
        if type(packed) is list:
            arguments = with_packed((*args, *kwargs.values()), packed)
            return self(*arguments[: len(args)], **dict(zip(kwargs, arguments[len(args) :], strict=True)))
        is_bare = len(args) == self._bare and not kwargs and self._are_ready(args)
        values = list(args) if is_bare else self._bind(args, kwargs)
        if is_bare:
            tensors, attrs = values, self.attribute_defaults
        else:
            try:
                tensors = self._tensors(values)
                attrs = self._read_attributes(values)
            except errors.OpError as error:
                error.op_type = error.op_type or self.name
                raise
            except MeetsCompositeError as met:
                return composite_dispatch.apply(self, values, met)
            except errors.OperatorNotAllowedInGraphError as error:
                return self._late(values, error)
            except TypeError as error:
                self._adapt([values[i] for i in self._same], error)
                if self._chosen(values):
                    return self(*values)
                raise
        builder = current()
        if builder is None:
            results = self.run(tensors, attrs)
            if key is not None:
                self._keep(key, given, len(args), kwargs, values, tensors, attrs, results)
                if types is not None:
                    dtypes_of = functools.partial(operand_dtypes, self, len(args), kwargs, values, tensors)
                    count_new(self._calls, types, dtypes_of)
            return results
        requested_name = None if is_bare or self._name_position is None else values[self._name_position]
        return self._weakened(
            self.record(builder, tensors, attrs, requested_name), values[: len(self.operand_parameters)]
        )

    def _keep(
        self, key: Any, given: int, count: int, names: Any, values: list[Any], tensors: list[Any], *call: Any
    ) -> None:
        """Keep a call that ran for the second time, so that later ones with its key need no checks."""
        if key in self._calls:
            kept = eager_call(self, key, given, names, values, tensors, *call)
            self._calls[key] = packed_dtypes(self, count, names, values, tensors) if kept is False else kept
        elif takes_new(self._calls, MOST):
            self._calls[key] = None

    def _late(self, values: list[Any], error: Exception) -> Any:
        """Return the result for a traced axis; TypeError for any other attribute that is a traced tensor."""
        given = dict(zip(self.parameters, values, strict=True))
        if late_binding.dynamic_axes.takes(self, given):
            return late_binding.dynamic_axes.along(self, given)
        late = next(
            (name for _, name, _ in self.attribute_parameters if isinstance(given[name], SymbolicTensor)),
            None,
        )
        if late is None:
            raise error
        raise errors.OperatorNotAllowedInGraphError(
            f"{self.name}, argument `{late}`: it must be known while the graph is built, but "
            f"{given[late]!r} gets its value when the graph runs. Give a Python value, or choose between several calls "
            "with an `if`, or tf.switch_case."
        ) from None

    def _weakened(self, result: Any, values: Sequence[Any]) -> Any:
        """Mark the result's dtype as weak if all of `values` are constants or have weak dtypes."""
        if not self.attribute_parameters and isinstance(result, SymbolicTensor):
            origin = weak_origin(values)
            if origin is not None and result.dtype is origin.dtype:
                result._weak_from = origin
        return result

    def run(self, tensors: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
        """Run the kernel in eager mode."""
        if placement.logged:
            log_placement(self.name)
        arrays = [t._array if type(t) is EagerTensor else self._run_time_value(t) for t in tensors]
        operands = [Constant(t._array) if type(t) is EagerTensor else t for t in tensors]
        specs = self._specs(operands, attrs)
        compute = self._compute_narrow(operands, specs) if dtypes.NARROW else self._compute_quietly
        try:
            results = compute(*self.grouped(arrays), **attrs)
        except (MemoryError, *FAILURES) as error:
            throw(runtime_op_error(error, self, arrays, attrs), error)
        if isinstance(specs, tuple):
            outputs = [eager_result(result, spec) for result, spec in zip(results, specs, strict=True)]
            told = outputs.copy()
        else:
            outputs = eager_result(results, specs)
            told = [outputs]
        for recorder in recorders():
            recorder.computed(self, tensors, attrs, told)
        if watch.results is not None:
            watch.results(self, told)
        return outputs

    def _specs(self, operands: list[Any], attrs: Mapping[str, Any]) -> Any:
        """Return the inferred result types of an eager call."""
        try:
            return self.infer(operands, attrs)
        except FAILURES as error:
            throw(runtime_op_error(error, self, operands, attrs), error)

    def _compute_narrow(self, operands: Sequence[Any], specs: Any) -> Callable[..., Any]:
        results = specs if isinstance(specs, tuple) else (specs,)
        return quietly(narrow_floats.kernel(self, [operand.spec for operand in operands], results))

    def _run_time_value(self, argument: Any) -> Any:
        """Return the kernel's argument: an array, the elements of a TensorArray, or a variable itself."""
        if isinstance(argument, SymbolicTensor):
            raise argument.unreachable(f"{self.name} was called on")
        return argument if isinstance(argument.spec, VariableType) else argument._array

    def record(
        self, builder: Builder, tensors: Sequence[Any], attrs: Mapping[str, Any], requested_name: str | None
    ) -> Any:
        """Add this operation to the graph that `builder` builds."""
        operands: list[Operand] = [builder.operand(tensor) for tensor in tensors]
        try:
            specs = self.infer(operands, attrs)
        except FAILURES as error:
            throw(ruled_out(error, self, operands, attrs), error)
        many = isinstance(specs, tuple)
        values = builder.add(
            self, operands, attrs, specs if many else (specs,), names=_names(requested_name, specs)
        )
        self.set_elements(values, operands, attrs)
        tensors = [wrap(value, builder) for value in values]
        if watch.results is not None:
            tensors = list(watch.results(self, tensors))
        return tensors if many else tensors[0]

    def set_elements(self, results: Sequence[Any], operands: list[Any], attrs: Mapping[str, Any]) -> None:
        super().set_elements(results, operands, attrs)
        if not any(value.elements for value in results):
            constant_results.set_elements(self, results, operands, attrs)

    def __repr__(self) -> str:
        return f"<op {self.name}>"


@overload
def op(rule: Callable[..., Any]) -> Op: ...


@overload
def op(
    *,
    name: str | None = None,
    stateful: bool = False,
    expression: str | None = None,
    **facts: Unpack[DeclaredFacts],
) -> Callable[[Callable[..., Any]], Op]: ...


def op(rule: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Declare an operation with the decorated inference rule; see the module's docstring. Options as for `Op`."""
    return functools.partial(Op, **options) if rule is None else Op(rule)


def wrap(value: Value, builder: Builder) -> Any:
    """Return the public object for a value of a graph: a tensor, or the state of a TensorArray."""
    if isinstance(value.spec, TensorType):
        return SymbolicTensor(value, builder)
    return SymbolicArray(value, builder)


def _names(requested_name: str | None, specs: AnySpec | tuple[AnySpec, ...]) -> tuple[str, ...]:
    if requested_name is None:
        return ()
    return (requested_name,) * len(specs) if isinstance(specs, tuple) else (requested_name,)


def eager_result(result: Any, spec: AnySpec) -> Any:
    """Return an array as an eager tensor, or the state of a TensorArray as an eager one."""
    if not isinstance(spec, TensorType):
        return EagerArray(result, spec)
    return EagerTensor(result if type(result) is np.ndarray else np.asarray(result, spec.dtype.numpy_dtype))
