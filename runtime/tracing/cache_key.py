"""Binding of arguments, and the cache key that decides which trace fits a call.

tensors, NumPy arrays      by dtype and shape
Python numbers, strings    by type and value
composite tensors          by their TypeSpec
nests                      by structure, then leaf by leaf
objects with a TraceType    by that
variables, other objects   by identity; so is the instance of a method, unless its class compares by value
"""

from __future__ import annotations

import functools
import inspect
import types
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from agc.autograph.staging import has_fields

from .. import dtypes, nest
from ..core import shapes
from ..core.conversion import convert_to_tensor
from ..core.symbolic_tensor import SymbolicTensor
from ..core.tensor import EagerTensor, Tensor
from ..core.tensor_array import TensorArray
from ..core.tensor_spec import TensorSpec
from ..core.type_spec import TypeSpec
from .trace_type import CONTEXT, TraceType
from .variables_in_composites import spec_of

_VALUES = (
    bool, int, float, complex, str, bytes, type(None), type(Ellipsis), frozenset, range, slice, dtypes.DType,
)  # fmt: skip


class Parameters:
    """The parameters of the Python function. It binds the arguments of calls to them."""

    def __init__(self, python_function: Callable[..., Any]) -> None:
        try:
            self.signature = inspect.signature(python_function)
        except ValueError as error:
            raise TypeError(f"function() takes a Python function: {error}") from None
        self._name = getattr(python_function, "__name__", "function")
        self.positional = [
            p.name
            for p in self.signature.parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        kinds = {p.kind: p.name for p in self.signature.parameters.values()}
        self.rest = kinds.get(inspect.Parameter.VAR_POSITIONAL)
        self.keywords = kinds.get(inspect.Parameter.VAR_KEYWORD)
        self.names = list(self.signature.parameters)
        self.are_of_method = self.names[:1] in (["self"], ["cls"])  # or the function is called as a method
        scope = getattr(python_function, "__qualname__", "").rpartition(".")[0]
        self.may_be_method = self.are_of_method or (scope != "" and not scope.endswith("<locals>"))
        self._simple = kinds.keys() <= {
            inspect.Parameter.POSITIONAL_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
        }
        self._count = len(self.positional)
        self._values: Callable[..., tuple[Any, ...]] | None = None  # made at the first use
        self.most: float = len(self.signature.parameters)
        if self.rest is not None or self.keywords is not None:
            self.most = float("inf")

    def values(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the values of all parameters in order, with defaults. Raise TypeError as Python does."""
        found = self._values_of(args, kwargs)
        if self.are_of_method and found:
            kind: Any = type(found[0])  # mypy does not accept that classes are hashable
            if _is_receiver(kind):
                return Receiver(found[0]), *found[1:]
        return found

    def _values_of(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        if not kwargs and self._simple and len(args) == self._count:
            return args
        if self._values is None:
            self._values = _binder(self.signature)
        try:
            return self._values(*args, **kwargs)
        except TypeError:
            pass  # its text names the generated function; the error below names the user's, without that as its context
        raise TypeError(f"{self._name}{self.signature}: {self._misfit(args, kwargs)}")

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return a dict from parameter names to arguments, with defaults. Raise TypeError as Python does."""
        return self.named(self.values(args, kwargs))

    def given(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return a dict from parameter names to arguments, of those in the call. Raise TypeError if others are."""
        try:
            return self.signature.bind_partial(*args, **kwargs).arguments
        except TypeError as error:
            reason = str(error)
        raise TypeError(f"{self._name}{self.signature}: {reason}")

    def named(self, values: Sequence[Any]) -> dict[str, Any]:
        """Return a dict from parameter names to the values of all parameters."""
        return dict(zip(self.names, values, strict=True))

    def _misfit(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        try:
            self.signature.bind(*args, **kwargs)
        except TypeError as error:
            return str(error)
        return "the arguments do not fit"

    def unbind(self, arguments: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the positional and keyword arguments that `bind` returns `arguments` for."""
        bound = inspect.BoundArguments(
            self.signature, {name: received(arguments[name]) for name in arguments}
        )
        return bound.args, bound.kwargs

    def places(self, count: int) -> list[str]:
        """Return the names of the first `count` positional arguments: `x`, `y`, and `rest[0]` … of `*rest`."""
        more = range(count - self._count)
        return [*self.positional[:count], *[f"{self.rest}[{number}]" for number in more]]


def _binder(signature: inspect.Signature) -> Callable[..., tuple[Any, ...]]:
    """Return a function with these parameters that returns their values: binding by Python itself is fastest.

    (x, y=1, *rest, z)    ==>    lambda x, y=None, *rest, z: (x, y, rest, z)    with the defaults of `signature`
    """
    parameters = signature.parameters.values()
    blank = [
        p.replace(annotation=p.empty, default=p.empty if p.default is p.empty else None) for p in parameters
    ]
    shape = str(signature.replace(parameters=blank, return_annotation=signature.empty))[1:-1]
    binder = eval(f"lambda {shape}: ({''.join(f'{p.name}, ' for p in parameters)})")
    given = [p for p in parameters if p.default is not p.empty]
    binder.__defaults__ = tuple(p.default for p in given if p.kind is not p.KEYWORD_ONLY)
    binder.__kwdefaults__ = {p.name: p.default for p in given if p.kind is p.KEYWORD_ONLY}
    return binder  # type: ignore[no-any-return]


class Receiver:
    """The instance of a method as an argument: a leaf, although its class has fields."""

    __slots__ = ("target",)

    def __init__(self, target: Any) -> None:
        self.target = target

    def __repr__(self) -> str:
        return repr(self.target)


def received(value: Any) -> Any:
    """Return the instance of a `Receiver`; other values as they are."""
    return value.target if type(value) is Receiver else value


@functools.lru_cache(maxsize=1024)
def _is_receiver(kind: Any) -> bool:
    """Return whether a method takes an instance as it is: its class has fields, but compares by identity."""
    return has_fields(kind) and kind.__eq__ is object.__eq__ and not hasattr(kind, "__tf_flatten__")


class Identity:
    """A reference to an object, compared by identity. The reference is weak where Python allows that."""

    __slots__ = ("_id", "reference")

    def __init__(self, target: Any) -> None:
        target = received(target)
        self._id = id(target)
        try:
            self.reference: Callable[[], Any] = weakref.ref(target)
        except TypeError:
            self.reference = lambda: target

    @property
    def target(self) -> Any:
        """The object; None if it no longer exists."""
        return self.reference()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Identity) or self._id != other._id:
            return False
        mine = self.reference()
        return mine is not None and mine is other.reference()

    def __hash__(self) -> int:
        return self._id

    def __repr__(self) -> str:
        return repr(self.reference())


def key_of(value: Any) -> Hashable:
    """Return the part of the cache key for a leaf of the arguments (flat_arguments.py)."""
    if isinstance(value, EagerTensor):
        array = value._array
        return array.dtype, array.shape
    if isinstance(value, (SymbolicTensor, TensorSpec)):
        shape = shapes.as_dims(value.shape)
        return value.dtype.numpy_dtype, shape
    if isinstance(value, (np.ndarray, np.generic)):
        return convert_to_tensor(value).dtype.numpy_dtype, value.shape
    if isinstance(value, _VALUES):
        return type(value), str(value) if value != value else (value, str(value))
    if isinstance(value, TensorArray):
        return TensorArray, str(value.flow.spec), value.dynamic_size
    if nest.is_composite(value):
        return spec_of(value)
    if isinstance(value, TypeSpec):
        return value
    if isinstance(value, TraceType):
        return value
    if hasattr(type(value), "__tf_tracing_type__"):
        described = value.__tf_tracing_type__(CONTEXT)
        if not isinstance(described, TraceType):
            raise TypeError(
                f"__tf_tracing_type__ of {type(value).__name__} must give a TraceType, not {described!r}"
            )
        return described
    if isinstance(value, types.MethodType):  # a new object at each attribute access
        return types.MethodType, key_of(value.__func__), Identity(value.__self__)
    return Identity(value)


def key_of_traced(leaf: Any) -> Hashable:
    """Return the key of an argument of an earlier trace, in which an `Identity` may represent an object."""
    return leaf if isinstance(leaf, Identity) else key_of(leaf)


@functools.lru_cache(maxsize=1024)
def _is_identified(kind: Any) -> bool:
    return issubclass(kind, _VALUES) or not (
        issubclass(kind, (Tensor, TensorArray, TypeSpec, TraceType, np.ndarray, np.generic, types.MethodType))
        or hasattr(kind, "__components__")
        or hasattr(kind, "__tf_tracing_type__")
        or nest.is_nest_type(kind)
    )


is_identified: Callable[[Any], bool] = _is_identified
"""Return whether `key_of` distinguishes instances of a class only by identity, or by value for constants."""


def is_tensor_argument(leaf: Any) -> bool:
    """Return whether a leaf of the arguments becomes an input of the graph."""
    return isinstance(leaf, (Tensor, TensorSpec, np.ndarray, np.generic, TensorArray))
