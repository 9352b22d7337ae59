"""Families of operations: each elementwise operation is one row of a table.

    #              name    kernel   dtypes   manual                      example   result
    exp  = unary("exp",  np.exp,  CURVED,  "e to the power `x`.",       "[0.]",   "[1.0]")
    tanh = unary("tanh", np.tanh, CURVED,  "The hyperbolic tangent.",   "[0.]",   "[0.0]")

A row's example becomes a doctest: `>>> exp([0.]).numpy().tolist()`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...core.conversion import rounded
from ...core.devices import placement
from ...core.symbolic_tensor import SymbolicTensor
from ...core.tensor import EagerTensor
from ...core.variable import Variable
from ...ir.batching import elementwise
from ...ir.builder import Builder, current, stack
from ...ir.facts import DeclaredFacts
from ...ir.graph import Constant, Operand
from ...ir.traits import BANDWIDTH_BOUND, ELEMENTWISE, INTEGER_ERRORS, TOTAL, Trait
from ...ir.value_types import TensorType
from . import eager_calls
from .eager_calls import KeptAttributes
from .op import Input, Name, Op, Same
from .op_errors import FAILURES

Array = Any
"""An argument or result of a kernel: a NumPy array, or a NumPy scalar where the rank is 0."""

DTypes = frozenset[dtypes.DType]

FLOATS: DTypes = frozenset({dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64})
COMPLEX: DTypes = frozenset({dtypes.complex64, dtypes.complex128})
SIGNED: DTypes = frozenset({dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64})
UNSIGNED: DTypes = frozenset({dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64})
BOOLS: DTypes = frozenset({dtypes.bool_})
STRINGS: DTypes = frozenset({dtypes.string})

INTEGERS = SIGNED | UNSIGNED
CURVED = FLOATS | COMPLEX
REAL = INTEGERS | FLOATS
NUMERIC = REAL | COMPLEX
EVERY: DTypes = frozenset({*dtypes.ALL, *dtypes.NARROW_FLOATS})

Result = Callable[[dtypes.DType], dtypes.DType]


def require_dtype(operand: Any, allowed: DTypes, what: str) -> None:
    """Raise an error for an operand with a dtype that the operation does not take.

    The error is InvalidArgumentError in eager mode, TypeError while tracing, as in TensorFlow.
    """
    if operand.dtype in allowed:
        return
    names = ", ".join(dtype.name for dtype in (*dtypes.ALL, dtypes.bfloat16) if dtype in allowed)
    message = f"{what} does not take {operand.dtype.name}, only {names}"
    if current() is None:
        raise errors.InvalidArgumentError(message, what)
    raise TypeError(message)


def wrong(message: str) -> Exception:
    """Return the error for an argument of invalid shape or value.

    It is InvalidArgumentError in eager mode, ValueError while tracing.
    """
    return errors.InvalidArgumentError(message) if current() is None else ValueError(message)


def same(dtype: dtypes.DType) -> dtypes.DType:
    """Return the dtype of the inputs as that of the result."""
    return dtype


def boolean(dtype: dtypes.DType) -> dtypes.DType:
    """Return bool as the dtype of the result."""
    return dtypes.bool_


def real_part(dtype: dtypes.DType) -> dtypes.DType:
    """Return the dtype of a complex number's parts; other dtypes are returned unchanged."""
    return {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}.get(dtype, dtype)


class Elementwise(Op):
    """An elementwise operation: its rule checks dtypes and broadcasts shapes.

    A call with tensors of the graph that is being built adds the operation directly. All other calls (keywords,
    conversions, errors) take the slow path, `Op._call`.
    """

    def __init__(
        self,
        rule: Callable[..., Any],
        compute: Callable[..., Any],
        expression: str | None = None,
        **facts: Unpack[DeclaredFacts],
    ) -> None:
        facts["traits"] = facts.get("traits", Trait.NONE) | TOTAL
        if isinstance(compute, np.ufunc):
            facts.setdefault("ufunc", compute)
        if expression is not None or isinstance(compute, np.ufunc):
            facts["traits"] |= ELEMENTWISE
        facts.setdefault("batch", elementwise)
        super().__init__(rule, expression=expression, **facts)
        self.element_operands = len(self.operand_parameters)
        self.kernel(compute)
        self._kernel = self.compute
        self._taken: set[Any] = set()
        self._kept = KeptAttributes({}, (None,) * len(self.operand_parameters))

    def _eager_fields(self, count: int, on_numbers: bool = False) -> tuple[Any, ...]:
        """Return `_fields`, and what the C function reads of an operation on so many tensors."""
        is_closed, is_light = eager_calls.is_closed(self), self.has(BANDWIDTH_BOUND)
        is_ufunc = self.compute is self._kernel and not self.out and not self.has(INTEGER_ERRORS)
        facts = on_numbers, is_closed, self.ufunc if is_ufunc else None, is_light
        return *super()._fields(), count, self.compute, self._taken, self._kept, *facts

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        if (
            not kwargs
            and len(args) == self._bare
            and (builder := stack.builders[-1]) is not None
            and not placement.checked
        ):
            operands = _operands(args, builder)
            if operands is not None:
                try:
                    spec = self.rule(*operands)
                except FAILURES:
                    return super()._call(*args)  # the slow path raises the full error message
                (value,) = builder.add(self, operands, self.attribute_defaults, (spec,))
                first = operands[0]
                if spec.dtype.is_integer or first.value is not None or first.elements is not None:
                    self.set_elements((value,), operands, self.attribute_defaults)
                return self._weakened(SymbolicTensor(value, builder), args)
        return super()._call(*args, **kwargs)

    def run(self, tensors: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
        result = super().run(tensors, attrs)
        plain = tensors[0]._array.dtype not in dtypes.NARROW and tensors[0].dtype is not dtypes.string
        if not attrs and plain:
            self._taken.add(tensors[0]._array.dtype)
        return result


class Unary(Elementwise):
    """An elementwise operation on one tensor: an eager call runs the kernel once the rule has accepted its dtype."""

    def _fields(self) -> tuple[Any, ...]:
        return self._eager_fields(1)

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        if stack.eager and len(args) == 1 and not kwargs and not placement.observed:
            (x,) = args
            if type(x) is EagerTensor:
                result = eager_calls.elementwise(
                    self.compute, self._taken, False, stack.recorders, self, self._kept, x
                )
                if result is not None:
                    return result
        return super()._call(*args, **kwargs)


class Binary(Elementwise):
    """An elementwise operation on two tensors of one dtype, or on one and a number, which runs as `Unary` does."""

    def _fields(self) -> tuple[Any, ...]:
        return self._eager_fields(2, self._is_on_numbers)

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        if stack.eager and len(args) == 2 and not kwargs and not placement.observed:
            x, y = args
            if type(x) is not EagerTensor or type(y) is not EagerTensor:
                x, y = _eager_pair(x, y)
            if y is not None:
                result = eager_calls.elementwise(
                    self.compute, self._taken, self._is_on_numbers, stack.recorders, self, self._kept, x, y
                )
                if result is not None:
                    return result
        return super()._call(*args, **kwargs)

    @property
    def _is_on_numbers(self) -> bool:
        """Return whether the kernel applies a binary operator of Python, which is much faster on NumPy scalars."""
        compute = self.compute
        return getattr(compute, "__module__", "") == "_operator" or hasattr(compute, "is_on_numbers")


def on_numbers(compute: Any) -> Any:
    """Mark a kernel of binary operators, which takes NumPy's scalars in place of arrays of rank 0 in eager calls."""
    compute.is_on_numbers = True
    return compute


def _operands(args: tuple[Any, ...], builder: Builder) -> list[Operand] | None:
    """Return operands of the graph being built: tensors of one dtype, and Python numbers that fit it; else None."""
    dtype = None
    for x in args:
        if type(x) is SymbolicTensor:
            own = x._value.spec.dtype  # type: ignore[union-attr]
            if own is not dtype:
                if dtype is not None:
                    return None
                dtype = own
    if dtype is None:
        return None
    operands: list[Any] = []
    for x in args:
        if type(x) is not SymbolicTensor:
            array = _beside(dtype.numpy_dtype, x)
            if array is None:
                return None
            x = Constant(array)
        operands.append(x)
    return [x if type(x) is Constant else builder.operand(x) for x in operands]


def _eager_pair(x: Any, y: Any) -> tuple[Any, Any]:
    """Return two operands as eager tensors: variables with their values, a number or an array next to a tensor.

    The second result is None for other operands.
    """
    if type(x) is Variable:
        x = x.value()
    if type(y) is Variable:
        y = y.value()
    if type(x) is EagerTensor:
        return x, y if type(y) is EagerTensor else _eager_operand(x._array.dtype, y)
    if type(y) is EagerTensor:
        x = _eager_operand(y._array.dtype, x)
        return x, None if x is None else y
    return x, None


_NUMBERS: dict[Any, EagerTensor] = {}
"""Numbers of programs as tensors, by their dtype, class and value."""

_MOST_NUMBERS = 1_024


def _eager_operand(dtype: np.dtype[Any], value: Any) -> EagerTensor | None:
    """Return a Python number, or an array of this dtype, as a tensor; None for others, and numbers that may not fit."""
    kind = type(value)
    if kind is np.ndarray:
        is_plain = value.dtype == dtype and dtype.kind in "biufc"
        return EagerTensor(value.copy()) if is_plain else None  # the caller may write to the original later
    if kind is not float and kind is not int:
        return None
    key = dtype, kind, value or str(value)  # 0.0 and -0.0 are equal
    found = _NUMBERS.get(key)
    if found is None:
        array = _beside(dtype, value)
        if array is None:
            return None
        if len(_NUMBERS) >= _MOST_NUMBERS:
            _NUMBERS.clear()
        found = _NUMBERS[key] = EagerTensor(array)
    return found


if eager_calls.native:
    eager_calls.native.register(numbers=_NUMBERS, operand=_eager_operand)


def _beside(dtype: np.dtype[Any], value: Any) -> Any:
    """Return a Python number as an array of this dtype, or None if it may not fit."""
    kind = type(value)
    if dtype.kind == "f" and (kind is float or kind is int):
        return np.array(value, dtype) if -65504 <= value <= 65504 else _great(dtype, value)
    if kind is int and value in _INTEGERS.get(dtype, ()):
        return np.array(value, dtype)
    return None


_INTEGERS = {
    np.dtype(kind): range(np.iinfo(kind).min, np.iinfo(kind).max + 1) for kind in np.typecodes["AllInteger"]
}


def _great(dtype: np.dtype[Any], value: Any) -> Any:
    """Return a number beyond float16's range as an array; None for an integer that overflows this dtype."""
    try:
        return rounded(value, dtype)
    except OverflowError:
        return None


def unary(
    name: str,
    compute: Callable[..., Any],
    allowed: DTypes,
    manual: str,
    example: str,
    gives: str,
    result: Result = same,
    expression: str | None = None,
    parameter: str = "x",
    **facts: Unpack[DeclaredFacts],
) -> Op:
    """Declare an elementwise operation on one tensor, with a parameter called `parameter`."""

    def rule(x: Input, name: Name = None) -> TensorType:
        require_dtype(x, allowed, operation.name)
        return TensorType(result(x.dtype), x.shape)

    _name(rule, parameter)
    operation = _declared(Unary, rule, compute, allowed, name, manual, example, gives, expression, **facts)
    return operation


def binary(
    name: str,
    compute: Callable[..., Any],
    allowed: DTypes,
    manual: str,
    example: str,
    gives: str,
    result: Result = same,
    expression: str | None = None,
    parameters: tuple[str, str] = ("x", "y"),
    **facts: Unpack[DeclaredFacts],
) -> Op:
    """Declare an elementwise operation on two tensors of one dtype, with broadcasting."""

    def rule(x: Same, y: Same, name: Name = None) -> TensorType:
        dtype = x.dtype
        if dtype not in allowed:
            require_dtype(x, allowed, operation.name)
        return TensorType(result(dtype), shapes.broadcast(x.shape, y.shape))

    _name(rule, *parameters)
    operation = _declared(Binary, rule, compute, allowed, name, manual, example, gives, expression, **facts)
    return operation


def _name(rule: Callable[..., TensorType], *names: str) -> None:
    """Rename a rule's first parameters to TensorFlow's names for this operation."""
    code, annotations = rule.__code__, rule.__annotations__
    kinds = [annotations.pop(name) for name in code.co_varnames[: len(names)]]
    rule.__code__ = code.replace(co_varnames=(*names, *code.co_varnames[len(names) :]))
    rule.__annotations__ = {**dict(zip(names, kinds, strict=True)), **annotations}


def _declared(
    kind: type[Elementwise],
    rule: Callable[..., TensorType],
    compute: Callable[..., Any],
    allowed: DTypes,
    name: str,
    manual: str,
    example: str,
    gives: str,
    expression: str | None,
    **facts: Unpack[DeclaredFacts],
) -> Op:
    rule.__name__ = rule.__qualname__ = name
    rule.__module__ = sys._getframe(2).f_globals["__name__"]  # the module of the row, where doctest searches
    rule.__doc__ = f"{manual}\n\n>>> {name}({example}).numpy().tolist()\n{gives}\n"
    operation = kind(rule, compute, expression, **facts)
    if allowed is BOOLS:
        operation.dtype_of_empty = dtypes.bool_
    return operation
