"""Signatures of operations: parameters, and how the arguments of a call are bound and parsed.

    reverse([1, 2], axis=0)     by the rule's annotations, `tensor` is an Input, `axis` is read by `Axes`
        bound                   [[1, 2], 0, None]
        inputs                  [a tensor of two int32]
        attributes              {"axis": (0,)}

op.py explains the annotations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from ... import dtypes, errors
from ...core import late_binding
from ...core.conversion import convert_to_tensor, holds_tensor, is_tensor_like
from ...core.symbolic_tensor import WeakDtypeError, adapting
from ...core.tensor import EagerTensor, Tensor
from ...core.type_spec import MeetsCompositeError
from ...core.weak_types import adapted, adapts
from ...ir.builder import current
from ...ir.op_def import OpDef
from ...ir.value_types import ListType, VariableType
from .attribute_parsers import READERS

_TEXT = frozenset({"add", "stack", "concat"})  # operations that join texts
_OPERANDS = frozenset({"Input", "Same", "Inputs", "Tensors", "Ints", "Ref", "Array"})
"""The annotations of parameters that are inputs of the operation."""


class Signature(OpDef):
    """The parameters of an operation and the conversion of arguments."""

    dtype_of_empty: dtypes.DType | None = None
    """The dtype of an empty list or array as an input, for operations on bools."""

    def __init__(self, rule: Callable[..., Any], *args: Any, **facts: Any) -> None:
        super().__init__(rule, *args, **facts)
        code = rule.__code__
        self.parameters = code.co_varnames[: code.co_argcount]
        kinds = [str(rule.__annotations__.get(name, "Input")) for name in self.parameters]
        defaults = rule.__defaults__ or ()
        self.required_count = len(self.parameters) - len(defaults)
        self.default_values = defaults
        self.operand_parameters = [(i, kinds[i]) for i in range(len(kinds)) if kinds[i] in _OPERANDS]
        self.attribute_parameters = [
            (i, self.parameters[i], self._reader(self.parameters[i], kinds[i]))
            for i in range(len(kinds))
            if kinds[i] not in _OPERANDS and kinds[i] != "Name"
        ]
        self._name_position = kinds.index("Name") if "Name" in kinds else None
        self._operands_first = [i for i, _ in self.operand_parameters] == list(
            range(len(self.operand_parameters))
        )
        groups = [
            position
            for position, (_, kind) in enumerate(self.operand_parameters)
            if kind in ("Inputs", "Tensors")
        ]
        self.group = groups[0] if groups else None
        self._same = [i for i, kind in self.operand_parameters if kind == "Same"]
        # A bare call passes tensors for the inputs only: all other parameters have defaults.
        single = {kind for _, kind in self.operand_parameters} <= {"Input", "Same"}
        can_be_bare = single and self._operands_first and self.required_count <= len(self.operand_parameters)
        self._bare = len(self.operand_parameters) if can_be_bare else None

    def _reader(self, parameter: str, kind: str) -> Callable[[Any], Any]:
        if kind not in READERS:
            raise TypeError(
                f"{self.name}, parameter `{parameter}`: no reader is called {kind!r}. Annotations are read as "
                "text: the module needs `from __future__ import annotations`, and "
                "ops/framework/attribute_parsers.py such a reader"
            )
        return READERS[kind]

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Return the value of each parameter.

        Raises TypeError, as Python does, for a call that does not match the signature.
        """
        parameters = self.parameters
        if len(args) > len(parameters):
            raise TypeError(f"{self.name}() takes {len(parameters)} arguments but {len(args)} were given")
        values = [*args, *self.default_values[max(len(args) - self.required_count, 0) :]]
        if not kwargs and len(values) == len(parameters):
            return values
        given = dict(zip(parameters, args, strict=False))
        for name, value in kwargs.items():
            if name not in parameters or name in given:
                what = "got multiple values for" if name in given else "got an unexpected keyword"
                raise TypeError(f"{self.name}() {what} argument {name!r}")
            given[name] = value
        missing = [name for name in parameters[: self.required_count] if name not in given]
        if missing:
            raise TypeError(f"{self.name}() missing required argument {missing[0]!r}")
        return [given[name] if name in given else self.defaults[name] for name in parameters]

    def _are_ready(self, inputs: Sequence[Any]) -> bool:
        """Return whether the inputs are tensors already, of dtypes that match."""
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
        """Return the inputs, flat, converted from the parameters' values."""
        hint: dtypes.DType | None = None
        tensors: list[Any] = []
        for i, kind in self.operand_parameters:
            if kind == "Input":
                tensors.append(self._tensor(values[i], i, None))
            elif kind == "Ints":
                tensors.append(self._integers(values[i], i))
            elif kind == "Same":
                if hint is None and not isinstance(values[i], Tensor):
                    hint = _common_dtype([values[other] for other in self._same])
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
        if self.dtype_of_empty is not None and _is_empty(value):
            value = np.empty(np.shape(value), self.dtype_of_empty.numpy_dtype)
        try:
            return convert_to_tensor(value, None if is_tensor_like(value) else hint)
        except MeetsCompositeError:
            raise
        except (TypeError, ValueError) as error:
            fix = (
                _fix_of_sizes(value)
                if (position, "Ints") in self.operand_parameters
                else self._fix_of_dtype(value, hint)
            )
            raise type(error)(f"{self.name}, argument `{self.parameters[position]}`: {error}{fix}") from None

    def _fix_of_dtype(self, value: Any, dtype: dtypes.DType | None) -> str:
        """Return what to do about a Python value that the dtype of another argument cannot hold."""
        if isinstance(value, float) and dtype is not None and dtype.is_integer:
            return f": convert the {dtype.name} tensor first, for instance with tf.cast(x, tf.float32)"
        if isinstance(value, str) and dtype is not None and self.name in _TEXT:
            return f": make text of the {dtype.name} tensor with tf.strings.as_string(x)"
        return ""

    def _read_attributes(self, values: list[Any]) -> dict[str, Any]:
        """Return the parsed attributes, from the parameters' values."""
        try:
            return {name: reader(values[i]) for i, name, reader in self.attribute_parameters}
        except (TypeError, ValueError, OverflowError):
            pass  # parse again, to name the attribute; here the error has no other one as its context
        return {
            name: self._attribute(name, reader, values[i]) for i, name, reader in self.attribute_parameters
        }

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
        wanted, what = (VariableType, "a variable") if kind == "Ref" else (ListType, "a TensorArray")
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
            f"but is a {tensor.dtype.name} tensor (argument `{self.parameters[position]}`): convert one with tf.cast"
        )

    def _integers(self, value: Any, position: int) -> Tensor:
        """Return an integer tensor, of int64 if int32 cannot hold the numbers of Python in it.

        Floating-point tensors in a list are cast, as a shape `[x, 2]` with one is. So are empty arrays:
        `np.array([])` has the dtype float64.
        """
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and _is_empty(value):
            value = value.astype(np.int32)
        hint = _hint_of_integers(value)
        try:
            tensor = self._tensor(value, position, hint)
        except TypeError:
            if hint is None or not _fits_int64(value):
                raise
            tensor = self._tensor(value, position, dtypes.int64)
        if tensor.dtype.is_floating and isinstance(value, (list, tuple)) and not _has_fraction(tensor):
            return late_binding.cast(tensor, dtypes.int32)
        if not tensor.dtype.is_integer:
            name = self.parameters[position]
            self._refuse(f"{self.name}, argument `{name}`: {tensor.dtype.name} is not an integer dtype")
        return tensor

    def _refuse(self, message: str) -> NoReturn:
        """Raise an error for a wrong dtype: InvalidArgumentError in eager mode, TypeError while tracing."""
        if current() is None:
            raise errors.InvalidArgumentError(message, self.name)
        raise TypeError(message)

    def _adapt(self, values: list[Any], error: TypeError) -> None:
        """Raise WeakDtypeError, so that the loop that made a weak operand is retraced with the dtype required here."""
        found = adapting(values, map(_own_dtype, values))
        if found is not None:
            weak, dtype = found
            raise WeakDtypeError(str(error), weak._weak_from, dtype) from None

    def _chosen(self, values: list[Any]) -> bool:
        """Return whether a choice between Python numbers was converted to the dtype required here."""
        own = [_own_dtype(values[i]) for i in self._same]
        for i, dtype in zip(self._same, own, strict=True):
            met = set(own) - {dtype, None}
            wanted = met.pop() if len(met) == 1 else None
            if wanted is not None and adapts(values[i], wanted):
                values[i] = adapted(values[i], wanted)
                return True
        return False


def _hint_of_integers(value: Any) -> dtypes.DType | None:
    if type(value) in (list, tuple) and {*map(type, value)} == {int}:  # most shapes and axes match
        return dtypes.int32
    has_own = isinstance(value, (np.ndarray, np.generic)) or holds_tensor(value)
    return None if has_own else dtypes.int32


def _fits_int64(value: Any) -> bool:
    """Return whether a value is integers of Python that int64 can hold, such as a shape of more than 2^31 elements."""
    try:
        array = np.asarray(value)
    except ValueError:
        return False  # a ragged list
    return array.dtype == np.int64


def _is_empty(value: Any) -> bool:
    return isinstance(value, (list, np.ndarray)) and len(value) == 0


def _has_fraction(tensor: Tensor) -> bool:
    """Return whether a known value is not whole numbers."""
    return isinstance(tensor, EagerTensor) and not bool(np.all(tensor._array == np.trunc(tensor._array)))


def _fix_of_sizes(value: Any) -> str:
    """Return advice for an unknown size in a shape, or an empty string."""
    if not (isinstance(value, (list, tuple)) and any(item is None for item in value)):
        return ""
    return "; a size that is None while tracing is tf.shape(x)[i] when the graph runs"


def _own_dtype(value: Any) -> dtypes.DType | None:
    try:
        return convert_to_tensor(value).dtype
    except (TypeError, ValueError):
        return None  # not convertible to a tensor: the error that is being handled says so


def _common_dtype(values: Sequence[Any]) -> dtypes.DType | None:
    """Return the dtype of the first tensor, else of the first NumPy array; Python values adapt to it."""
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
