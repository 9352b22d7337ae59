"""Declaring operations: signature, manual, shape rule and kernel in one block.

    @op
    def reverse(tensor: Input, axis: Axes, name: Name = None) -> Spec:
        '''Reverse `tensor` along the axes in `axis`.'''
        return tensor.spec                                          # the rule: what the result is like

    @reverse.kernel
    def _(tensor, axis):                                            # arrays in, array out
        return np.flip(tensor, axis)

    @reverse.gradient
    def _(dy, y, tensor, axis):                                     # tensors in, tensors out: see `Op.gradient`
        return reverse(dy, axis)

The decorated function *is* the rule for dtype and shape; its signature, with TensorFlow's names, is the
operation's, and its docstring the manual. An annotation says how an argument is read:

    Input      a tensor, or anything that converts into one
    Same       the same, and all arguments marked so have one dtype, which Python numbers adapt to
    Inputs     a list of tensors of one dtype
    Tensors    a list of tensors of any dtypes
    Ints       integers such as a shape: Python values become int32, an empty list too
    Ref        a variable, by reference
    Array      the state of a TensorArray
    Name       a wish for the name of the result
    others     an attribute, read by the function of `READERS` with that name

A rule is given operands (`.dtype`, `.shape`, `.spec`, and `.value`: the array, or None when it is not known
yet) and raises ValueError or TypeError for what does not fit. It may return one Spec or a tuple of them.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias, overload

import numpy as np

from .. import dtypes, errors
from ..composite import composites
from ..convert import convert_to_tensor, holds_tensor, is_tensor_like
from ..devices import log_placement, placement
from ..ir.builder import Builder, current, recorders
from ..ir.graph import Constant, Operand, Value
from ..ir.specs import AnySpec, ArraySpec, RefSpec, Spec
from ..quiet import quietly
from ..tensor import (
    EagerArray,
    EagerTensor,
    SymbolicArray,
    SymbolicTensor,
    Tensor,
    WeakDtypeError,
    adapting,
    weak_origin,
)
from ..type_spec import MeetsCompositeError
from . import narrow
from .attributes import READERS
from .refusing import OF_COMPUTING, refused, ruled_out, throw

REGISTRY: dict[str, Op] = {}
"""Every operation that has been imported, by the name that it has in graphs."""


def find(name: str) -> Op | None:
    """The operation with this name in graphs, wherever in this package it is declared; None if there is none."""
    if name not in REGISTRY:
        import pkgutil

        for module in pkgutil.iter_modules(importlib.import_module(__package__).__path__):
            importlib.import_module(f"{__package__}.{module.name}")
    return REGISTRY.get(name)


Input: TypeAlias = Any
Same: TypeAlias = Any
Inputs: TypeAlias = Any
Tensors: TypeAlias = Any
Ints: TypeAlias = Any
Ref: TypeAlias = Any
Array: TypeAlias = Any
Name: TypeAlias = str | None
_OPERANDS = frozenset({"Input", "Same", "Inputs", "Tensors", "Ints", "Ref", "Array"})


def _declared(module: str, name: str) -> Op:
    """An operation that was pickled: by its name, once the module that declares it is there."""
    importlib.import_module(module)
    found = find(name)
    if found is None:
        raise LookupError(f"there is no operation {name!r}, which was pickled")
    return found


class Op:
    """An operation: calling it computes at once, or records it when a graph is being built.

    Attributes: `name` (in graphs), `rule`, `compute` (the kernel), `stateful` (it has effects, or reads
    state: never dropped, never reordered), `expression` (Python text with `{0}`, `{1}` … that computes the same as
    the kernel when all inputs have the same dtype; the plan executor prefers it).
    """

    def __init__(
        self,
        rule: Callable[..., Any],
        name: str | None = None,
        stateful: bool = False,
        expression: str | None = None,
    ) -> None:
        functools.update_wrapper(self, rule)
        self.rule = rule
        self.name = name or rule.__name__
        self.stateful = stateful
        self.expression = expression
        self.compute: Callable[..., Any] = self._no_kernel
        self.known: Callable[..., Any] | None = None
        self.differentiate: Callable[..., Any] | None = None
        self.has_no_gradient: str | None = None
        self._read_signature()
        if self.name in REGISTRY:
            raise ValueError(f"there is an operation {self.name!r} already")
        REGISTRY[self.name] = self

    def __reduce__(self) -> Any:
        """An operation is pickled as its name, and is its own copy."""
        return _declared, (self.rule.__module__, self.name)

    def __copy__(self) -> Op:
        return self

    def __deepcopy__(self, memo: Any) -> Op:
        return self

    def _read_signature(self) -> None:
        code = self.rule.__code__
        self.parameters = code.co_varnames[: code.co_argcount]
        kinds = [str(self.rule.__annotations__.get(name, "Input")) for name in self.parameters]
        defaults = self.rule.__defaults__ or ()
        self._required = len(self.parameters) - len(defaults)
        self._defaults = defaults
        self._inputs = [(i, kinds[i]) for i in range(len(kinds)) if kinds[i] in _OPERANDS]
        self._attributes = [
            (i, self.parameters[i], self._reader(self.parameters[i], kinds[i]))
            for i in range(len(kinds))
            if kinds[i] not in _OPERANDS and kinds[i] != "Name"
        ]
        self._name_position = kinds.index("Name") if "Name" in kinds else None
        self._operands_first = [i for i, _ in self._inputs] == list(range(len(self._inputs)))
        groups = [place for place, (_, kind) in enumerate(self._inputs) if kind in ("Inputs", "Tensors")]
        self._group = groups[0] if groups else None
        self._same = [i for i, kind in self._inputs if kind == "Same"]
        # A bare call gives tensors for the inputs, and nothing else: all else has defaults.
        single = {kind for _, kind in self._inputs} <= {"Input", "Same"}
        can_be_bare = single and self._operands_first and self._required <= len(self._inputs)
        self._bare = len(self._inputs) if can_be_bare else None

    @functools.cached_property
    def _usual_attributes(self) -> Mapping[str, Any]:
        """The attributes of a bare call."""
        return {name: reader(self._defaults[i - self._required]) for i, name, reader in self._attributes}

    def _reader(self, parameter: str, kind: str) -> Callable[[Any], Any]:
        if kind not in READERS:
            raise TypeError(
                f"{self.name}, parameter `{parameter}`: no reader is called {kind!r}. Annotations are read as "
                "text: the module needs `from __future__ import annotations`, ops/attributes.py such a reader"
            )
        return READERS[kind]

    def _no_kernel(self, *arrays: Any, **attrs: Any) -> Any:
        raise errors.InternalError(f"{self.name} has no kernel of its own", self.name)

    def kernel(self, compute: Callable[..., Any]) -> Callable[..., Any]:
        """Decorator: the computation, from arrays (in the order of the inputs) and attributes to arrays."""
        self.compute = compute
        return compute

    @functools.cached_property
    def input_names(self) -> list[str]:
        """The parameters that are tensors, or the like."""
        return [self.parameters[i] for i, _ in self._inputs]

    @functools.cached_property
    def defaults(self) -> Mapping[str, Any]:
        """What parameters are that a call does not give."""
        return dict(zip(self.parameters[self._required :], self._defaults, strict=True))

    @functools.cached_property
    def _compute_quietly(self) -> Callable[..., Any]:
        return quietly(self.compute)

    def gradient(self, differentiate: Callable[..., Any]) -> Callable[..., Any]:
        """Decorator: the gradients of the inputs, from that of the result.

        It takes the gradient of the result and the result (lists where there are several results; gradients of
        those that nothing depends on are None), then the inputs and attributes as the rule does, and returns a
        tensor or None for each input, a list of them for an `Inputs` argument: a tuple of these where the operation
        has several inputs. It is written with operations.
        """
        self.differentiate = differentiate
        return differentiate

    def no_gradient(self, reason: str) -> None:
        """Say why the result, though it consists of fractions, passes no gradient on."""
        self.has_no_gradient = reason

    def elements(self, known: Callable[..., Any]) -> Callable[..., Any]:
        """Decorator: what is known of the elements of a vector of integers before the graph runs.

        It takes operands and attributes as the rule does and returns a tuple of integers and None, or None.
        """
        self.known = known
        return known

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == self._bare and not kwargs and self._are_ready(args):
            builder = current()
            if builder is None:
                return self.run(args, self._usual_attributes)
            return self._weakened(self.record(builder, args, self._usual_attributes, None), args)
        values = self._bind(args, kwargs)
        try:
            tensors = self._tensors(values)
            attrs = self._read_attributes(values)
        except errors.OpError as error:
            error.op_type = error.op_type or self.name
            raise
        except MeetsCompositeError as met:
            return composites.apply(self, values, met)
        except TypeError as error:
            self._adapt([values[i] for i in self._same], error)
            if self._chosen(values):
                return self(*values)
            raise
        builder = current()
        if builder is None:
            return self.run(tensors, attrs)
        wish = None if self._name_position is None else values[self._name_position]
        return self._weakened(
            self.record(builder, tensors, attrs, wish), [values[i] for i, _ in self._inputs]
        )

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        parameters = self.parameters
        if len(args) > len(parameters):
            raise TypeError(f"{self.name}() takes {len(parameters)} arguments but {len(args)} were given")
        values = [*args, *self._defaults[max(len(args) - self._required, 0) :]]
        if not kwargs and len(values) == len(parameters):
            return values
        given = dict(zip(parameters, args, strict=False))
        for name, value in kwargs.items():
            if name not in parameters or name in given:
                what = "got multiple values for" if name in given else "got an unexpected keyword"
                raise TypeError(f"{self.name}() {what} argument {name!r}")
            given[name] = value
        missing = [name for name in parameters[: self._required] if name not in given]
        if missing:
            raise TypeError(f"{self.name}() missing required argument {missing[0]!r}")
        return [given[name] if name in given else self.defaults[name] for name in parameters]

    def _are_ready(self, inputs: Sequence[Any]) -> bool:
        """Whether the inputs are tensors already, of dtypes that may stand beside each other."""
        dtype = None
        for value in inputs:
            if not isinstance(value, Tensor):
                return False
            if len(self._same) > 1:
                dtype = dtype or value.dtype
                if value.dtype is not dtype:
                    return False
        return True

    def _tensors(self, values: list[Any]) -> list[Any]:
        hint = _common_dtype([values[i] for i in self._same]) if len(self._same) > 1 else None
        tensors: list[Any] = []
        for i, kind in self._inputs:
            if kind == "Input":
                tensors.append(self._tensor(values[i], i, None))
            elif kind == "Ints":
                tensor = self._tensor(values[i], i, _hint_of_integers(values[i]))
                self._check_integers(tensor, i)
                tensors.append(tensor)
            elif kind == "Same":
                tensor = self._tensor(values[i], i, hint)
                hint = hint or tensor.dtype
                self._check_same(tensor, hint, len(tensors), i)
                tensors.append(tensor)
            elif kind == "Inputs":
                tensors.extend(self._tensor_list(values[i], i))
            elif kind == "Tensors":
                tensors.extend(self._tensor(value, i, None) for value in self._items(values[i], i))
            else:
                tensors.append(self._reference(values[i], i, kind))
        return tensors

    def _tensor(self, value: Any, position: int, hint: dtypes.DType | None) -> Tensor:
        if isinstance(value, Tensor):
            return value
        try:
            return convert_to_tensor(value, None if is_tensor_like(value) else hint)
        except MeetsCompositeError:
            raise
        except (TypeError, ValueError) as error:
            fix = _fix_of_sizes(value) if (position, "Ints") in self._inputs else ""
            raise type(error)(f"{self.name}, argument `{self.parameters[position]}`: {error}{fix}") from None

    def _read_attributes(self, values: list[Any]) -> dict[str, Any]:
        try:
            return {name: reader(values[i]) for i, name, reader in self._attributes}
        except (TypeError, ValueError, OverflowError):  # once more, to name the attribute
            return {name: self._attribute(name, reader, values[i]) for i, name, reader in self._attributes}

    def _attribute(self, name: str, reader: Callable[[Any], Any], value: Any) -> Any:
        try:
            return reader(value)
        except (TypeError, ValueError, OverflowError) as error:
            if type(error) not in (TypeError, ValueError, OverflowError):
                raise
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{self.name}, argument `{name}`: {error}") from None

    def _items(self, values: Any, position: int) -> Iterable[Any]:
        if not isinstance(values, Iterable):
            name = self.parameters[position]
            raise TypeError(f"{self.name}, argument `{name}`: expected a list of tensors, got {values!r}")
        return values

    def _reference(self, value: Any, position: int, kind: str) -> Any:
        wanted, what = (RefSpec, "a variable") if kind == "Ref" else (ArraySpec, "a TensorArray")
        if not isinstance(getattr(value, "spec", None), wanted):
            name = self.parameters[position]
            raise TypeError(f"{self.name}, argument `{name}`: expected {what}, got {value!r}")
        return value

    def _tensor_list(self, values: Any, position: int) -> list[Tensor]:
        if hasattr(type(values), "concatenated"):
            raise TypeError(
                f"{self.name} cannot take a list whose length the graph decides: use tf.stack on it first"
            )
        items = list(values) if isinstance(values, (list, tuple)) else [values]
        hint = _common_dtype(items)
        tensors: list[Tensor] = []
        for item in items:
            tensor = self._tensor(item, position, hint)
            hint = hint or tensor.dtype
            self._check_same(tensor, hint, len(tensors), position)
            tensors.append(tensor)
        return tensors

    def _check_same(self, tensor: Tensor, dtype: dtypes.DType, number: int, position: int) -> None:
        if tensor.dtype is dtype:
            return
        self._refuse(
            f"cannot compute {self.name} as input #{number} (zero-based) was expected to be a {dtype.name} tensor "
            f"but is a {tensor.dtype.name} tensor (argument `{self.parameters[position]}`)"
        )

    def _check_integers(self, tensor: Tensor, position: int) -> None:
        if not tensor.dtype.is_integer:
            name = self.parameters[position]
            self._refuse(f"{self.name}, argument `{name}`: {tensor.dtype.name} is not an integer dtype")

    def _refuse(self, message: str) -> NoReturn:
        """A wrong dtype is an InvalidArgumentError where operations run at once, a TypeError in a graph."""
        if current() is None:
            raise errors.InvalidArgumentError(message, self.name)
        raise TypeError(message)

    def _adapt(self, values: list[Any], error: TypeError) -> None:
        """Ask the loop that a weak operand comes from to start with the dtype that the operand met here."""
        found = adapting(values, map(_own_dtype, values))
        if found is not None:
            weak, dtype = found
            raise WeakDtypeError(str(error), weak._weak_from, dtype) from None

    def _chosen(self, values: list[Any]) -> bool:
        """Whether a choice between Python numbers among the values has taken the dtype that it met here."""
        from ..language.literals import adapted, adapts

        own = [_own_dtype(values[i]) for i in self._same]
        for i, dtype in zip(self._same, own, strict=True):
            met = set(own) - {dtype, None}
            wanted = met.pop() if len(met) == 1 else None
            if wanted is not None and adapts(values[i], wanted):
                values[i] = adapted(values[i], wanted)
                return True
        return False

    def _weakened(self, result: Any, values: Sequence[Any]) -> Any:
        """The result, which adapts its dtype as well when it is made from nothing but what does."""
        if not self._attributes and isinstance(result, SymbolicTensor):
            origin = weak_origin(values)
            if origin is not None and result.dtype is origin.dtype:
                result._weak_from = origin
        return result

    def run(self, tensors: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
        """Compute at once."""
        if placement.logged:
            log_placement(self.name)
        arrays = [t._array if type(t) is EagerTensor else self._run_time_value(t) for t in tensors]
        operands = [Constant(t._array) if type(t) is EagerTensor else t for t in tensors]
        specs = self._specs(operands, attrs)
        compute = self._compute_narrow(operands, specs) if dtypes.NARROW else self._compute_quietly
        try:
            results = compute(*self.grouped(arrays), **attrs)
        except (errors.OpError, MemoryError, *OF_COMPUTING) as error:
            throw(refused(error, self, arrays, attrs), error)
        if isinstance(specs, tuple):
            outputs = [_eager(result, spec) for result, spec in zip(results, specs, strict=True)]
            told = outputs
        else:
            outputs = _eager(results, specs)
            told = [outputs]
        for recorder in recorders():
            recorder.computed(self, tensors, attrs, told)
        return outputs

    def _specs(self, operands: list[Any], attrs: Mapping[str, Any]) -> Any:
        """What the rule says of a call that runs at once."""
        try:
            return self.infer(operands, attrs)
        except (errors.OpError, *OF_COMPUTING) as error:
            throw(refused(error, self, operands, attrs), error)

    def _compute_narrow(self, operands: Sequence[Any], specs: Any) -> Callable[..., Any]:
        results = specs if isinstance(specs, tuple) else (specs,)
        return quietly(narrow.kernel(self, [operand.spec for operand in operands], results))

    def _run_time_value(self, argument: Any) -> Any:
        """What a kernel gets: an array, the elements of a TensorArray, or a variable itself."""
        if isinstance(argument, SymbolicTensor):
            raise errors.InaccessibleTensorError(
                f"{self.name} was called on a traced tensor outside of the function that it belongs to: "
                f"{argument}"
            )
        return argument if isinstance(argument.spec, RefSpec) else argument._array

    def grouped(self, arrays: list[Any]) -> list[Any]:
        """Flat inputs as the rule and the kernel take them: those of an `Inputs` argument in one list."""
        place = self._group
        if place is None:
            return arrays
        end = len(arrays) - (len(self._inputs) - place - 1)
        return [*arrays[:place], arrays[place:end], *arrays[end:]]

    def infer(self, operands: list[Any], attrs: Mapping[str, Any]) -> Any:
        """The Spec of the result, or a tuple of them."""
        if self._operands_first:
            return self.rule(*self.grouped(operands), **attrs)
        given = dict(zip((self.parameters[i] for i, _ in self._inputs), self.grouped(operands), strict=True))
        return self.rule(**given, **attrs)

    def record(
        self, builder: Builder, tensors: Sequence[Any], attrs: Mapping[str, Any], wish: str | None
    ) -> Any:
        """Add this operation to the graph that `builder` builds."""
        operands: list[Operand] = [builder.operand(tensor) for tensor in tensors]
        try:
            specs = self.infer(operands, attrs)
        except (errors.OpError, *OF_COMPUTING) as error:
            throw(ruled_out(error, self, operands, attrs), error)
        many = isinstance(specs, tuple)
        values = builder.add(self, operands, attrs, specs if many else (specs,), names=_names(wish, specs))
        if self.known is not None:
            values[0].elements = self.known(*self.grouped(operands), **attrs)
        tensors = [wrap(value, builder) for value in values]
        return tensors if many else tensors[0]

    def __repr__(self) -> str:
        return f"<op {self.name}>"


@overload
def op(rule: Callable[..., Any]) -> Op: ...


@overload
def op(
    *, name: str | None = None, stateful: bool = False, expression: str | None = None
) -> Callable[[Callable[..., Any]], Op]: ...


def op(rule: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Decorator: declare an operation; see the module's docstring. Options as for `Op`."""
    return functools.partial(Op, **options) if rule is None else Op(rule)


def wrap(value: Value, builder: Builder) -> Any:
    """What users see of a value of a graph: a tensor, or the state of a TensorArray."""
    return SymbolicTensor(value, builder) if isinstance(value.spec, Spec) else SymbolicArray(value, builder)


def _names(wish: str | None, specs: AnySpec | tuple[AnySpec, ...]) -> tuple[str, ...]:
    if wish is None:
        return ()
    return (wish,) * len(specs) if isinstance(specs, tuple) else (wish,)


def _eager(result: Any, spec: AnySpec) -> Any:
    if not isinstance(spec, Spec):
        return EagerArray(result, spec)
    return EagerTensor(result if type(result) is np.ndarray else np.asarray(result, spec.dtype.numpy))


def _hint_of_integers(value: Any) -> dtypes.DType | None:
    if type(value) in (list, tuple) and {*map(type, value)} == {int}:  # most shapes and axes are
        return dtypes.int32
    has_own = isinstance(value, (np.ndarray, np.generic)) or holds_tensor(value)
    return None if has_own else dtypes.int32


def _fix_of_sizes(value: Any) -> str:
    """What to do about an unknown size in a shape."""
    if not (isinstance(value, (list, tuple)) and any(item is None for item in value)):
        return ""
    return "; a size that is None while tracing is tf.shape(x)[i] when the graph runs"


def _own_dtype(value: Any) -> dtypes.DType | None:
    try:
        return convert_to_tensor(value).dtype
    except (TypeError, ValueError):
        return None  # no tensor at all: the error that is being handled says so


def _common_dtype(values: Sequence[Any]) -> dtypes.DType | None:
    """The dtype of the first tensor, else of the first NumPy array; Python values adapt to it."""
    for value in values:
        if is_tensor_like(value):
            return value.dtype  # type: ignore[no-any-return]
    fractions = any(type(value) in (float, complex) for value in values)
    for value in values:
        if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind not in (
            "iuSUO" if fractions else "SUO"
        ):
            return dtypes.as_dtype(value.dtype)
    return None
