"""Regular families of operations, so that each of their members is one row of a table.

    #              name    kernel   dtypes   manual                      example   result
    exp  = unary("exp",  np.exp,  CURVED,  "e to the power `x`.",       "[0.]",   "[1.0]")
    tanh = unary("tanh", np.tanh, CURVED,  "The hyperbolic tangent.",   "[0.]",   "[0.0]")

A row's example becomes a doctest: `>>> exp([0.]).numpy().tolist()`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .. import dtypes, errors, shapes
from ..ir.builder import current
from ..ir.specs import Spec
from .declare import Input, Name, Op, Same

Array = Any
"""What kernels take and return: a NumPy array, or a NumPy scalar where the rank is 0."""

DTypes = frozenset[dtypes.DType]

FLOATS: DTypes = frozenset({dtypes.float16, dtypes.float32, dtypes.float64})
COMPLEX: DTypes = frozenset({dtypes.complex64, dtypes.complex128})
SIGNED: DTypes = frozenset({dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64})
UNSIGNED: DTypes = frozenset({dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64})
BOOLS: DTypes = frozenset({dtypes.bool_})
STRINGS: DTypes = frozenset({dtypes.string})

INTEGERS = SIGNED | UNSIGNED
CURVED = FLOATS | COMPLEX
REAL = INTEGERS | FLOATS
NUMERIC = REAL | COMPLEX
EVERY: DTypes = frozenset(dtypes.ALL)

Result = Callable[[dtypes.DType], dtypes.DType]


def demand(operand: Any, allowed: DTypes, what: str) -> None:
    """Refuse an operand whose dtype the operation does not take.

    The error is InvalidArgumentError where operations run at once, TypeError in a graph, as in TensorFlow.
    """
    if operand.dtype in allowed:
        return
    names = ", ".join(dtype.name for dtype in dtypes.ALL if dtype in allowed)
    message = f"{what} does not take {operand.dtype.name}, only {names}"
    if current() is None:
        raise errors.InvalidArgumentError(message, what)
    raise TypeError(message)


def same(dtype: dtypes.DType) -> dtypes.DType:
    """The result has the dtype of the inputs."""
    return dtype


def boolean(dtype: dtypes.DType) -> dtypes.DType:
    """The result is bool."""
    return dtypes.bool_


def real_part(dtype: dtypes.DType) -> dtypes.DType:
    """The dtype of the parts of a complex number; others stay as they are."""
    return {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}.get(dtype, dtype)


def unary(
    name: str,
    compute: Callable[..., Any],
    allowed: DTypes,
    manual: str,
    example: str,
    gives: str,
    result: Result = same,
    expression: str | None = None,
) -> Op:
    """An operation on each element of one tensor."""

    def rule(x: Input, name: Name = None) -> Spec:
        demand(x, allowed, operation.name)
        return Spec(result(x.dtype), x.shape)

    operation = _declared(rule, name, manual, example, gives, expression)
    operation.kernel(compute)
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
) -> Op:
    """An operation on pairs of elements of two tensors of one dtype, with broadcasting."""

    def rule(x: Same, y: Same, name: Name = None) -> Spec:
        demand(x, allowed, operation.name)
        return Spec(result(x.dtype), shapes.broadcast(x.shape, y.shape))

    operation = _declared(rule, name, manual, example, gives, expression)
    operation.kernel(compute)
    return operation


def _declared(
    rule: Callable[..., Spec], name: str, manual: str, example: str, gives: str, expression: str | None
) -> Op:
    rule.__name__ = rule.__qualname__ = name
    rule.__module__ = sys._getframe(2).f_globals["__name__"]  # the module of the row, where doctest looks
    rule.__doc__ = f"{manual}\n\n>>> {name}({example}).numpy().tolist()\n{gives}\n"
    return Op(rule, expression=expression)
