"""Templates that compute elementwise operations into buffers, as calls of NumPy functions with `out=`.

    y = sigmoid x      ==>      np.negative(x, out=y)
                                np.exp(y, out=y)
                                np.add(y, one, out=y)
                                np.reciprocal(y, out=y)

The statements do what the kernels do. An operation without a row here is computed by its kernel and copied.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from ....ir.graph import Constant, Operation


class Formula(NamedTuple):
    """Statements with holes for a call of an operation.

    The holes are `{0}`, `{1}` … for operands, `{o}` for the result, and the names of CONSTANTS. `reuses` has
    the numbers of the operands that may share the buffer of the result; None means all of them.
    """

    statements: tuple[str, ...]
    reuses: tuple[int, ...] | None = None


CONSTANTS = {"zero": 0, "one": 1, "six": 6}
"""Scalars of the result's dtype that templates use."""

_OPERATORS = {
    "add": "add", "subtract": "subtract", "multiply": "multiply", "realdiv": "divide", "negative": "negative",
    "equal": "equal", "not_equal": "not_equal", "less": "less", "less_equal": "less_equal",
    "greater": "greater", "greater_equal": "greater_equal", "logical_and": "logical_and",
    "logical_or": "logical_or", "logical_xor": "logical_xor", "logical_not": "logical_not",
    "bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or", "bitwise_xor": "bitwise_xor",
    "invert": "invert",
}  # fmt: skip
"""Operations with operators as kernels, and NumPy's names of these operators."""

_FIRST = (0,)

#   operation and kinds of its dtype       statements, which may overwrite the first operand only
_ROWS: dict[tuple[str, str], tuple[str, ...]] = {
    ("floordiv", "f"):           ("np.divide({0}, {1}, out={o})", "np.floor({o}, out={o})"),
    ("truncatediv", "f"):        ("np.divide({0}, {1}, out={o})", "np.trunc({o}, out={o})"),
    ("floormod", "f"):           ("np.remainder({0}, {1}, out={o})",),
    ("truncatemod", "f"):        ("np.fmod({0}, {1}, out={o})",),
    ("pow", "f"):                ("np.power({0}, {1}, out={o})",),
    ("squared_difference", "f"): ("np.subtract({0}, {1}, out={o})", "np.multiply({o}, {o}, out={o})"),
    ("sign", "f"):               ("np.sign({0}, out={o})",),
    ("round", "f"):              ("np.rint({0}, out={o})",),
    ("rsqrt", "f"):              ("np.sqrt({0}, out={o})", "np.reciprocal({o}, out={o})"),
    ("sigmoid", "f"):            ("np.negative({0}, out={o})", "np.exp({o}, out={o})",
                                  "np.add({o}, {one}, out={o})", "np.reciprocal({o}, out={o})"),
    ("softplus", "f"):           ("np.logaddexp({0}, {zero}, out={o})",),
    ("log_sigmoid", "f"):        ("np.negative({0}, out={o})", "np.logaddexp({o}, {zero}, out={o})",
                                  "np.negative({o}, out={o})"),
    ("relu6", "f"):              ("np.maximum({0}, {zero}, out={o})", "np.minimum({o}, {six}, out={o})"),
    ("_clip", "f"):              ("np.minimum({0}, {2}, out={o})", "np.maximum({o}, {1}, out={o})"),
}  # fmt: skip

_RELU = ("np.copyto({o}, {zero})", "np.maximum({0}, {o}, out={o})")
"""Comparing with a buffer of zeros is faster than comparing with a scalar."""

_DETOURS = frozenset({("sigmoid", "float16")})
"""Operations that their kernels compute in a wider dtype."""

_DIVISIONS = {"floordiv": "floor_divide", "floormod": "remainder"}

_COPY = "{o}[...] = {kernel}"


def formula(operation: Operation) -> Formula:
    """Return the template of an elementwise operation without operands of strings or narrow floats."""
    op, dtype = operation.op, operation.inputs[0].dtype
    kind = dtype.kind
    if op.name == "cast":
        return _cast(operation)
    if (op.name, dtype.name) in _DETOURS:
        return Formula((_COPY,))
    if op.name in ("zeros_like", "ones_like"):
        return Formula(
            ("np.copyto({o}, {zero})" if op.name == "zeros_like" else "np.copyto({o}, {one})",), ()
        )
    if op.name == "relu":
        return Formula(_RELU, ())
    if (op.name, kind) in _ROWS:
        return Formula(_ROWS[op.name, kind], _FIRST)
    if op.name in _DIVISIONS and kind in "iu" and _never_zero(operation):
        return _call(_DIVISIONS[op.name], 2)
    if op.name in _OPERATORS:
        return _call(_OPERATORS[op.name], len(operation.inputs))
    if isinstance(op.compute, np.ufunc):
        return _call(op.compute.__name__, len(operation.inputs))
    return Formula((_COPY,))


@functools.cache
def _call(function: str, count: int) -> Formula:
    operands = ", ".join(f"{{{i}}}" for i in range(count))
    return Formula((f"np.{function}({operands}, out={{o}})",))


def _never_zero(operation: Operation) -> bool:
    divisor = operation.inputs[1]
    return isinstance(divisor, Constant) and bool(divisor.value.all())


def _cast(operation: Operation) -> Formula:
    """Return the template of a cast: NumPy's conversion, or the kernel if it has special cases.

    An example of a special case is a cast of floats to small integers.
    """
    before, after = operation.inputs[0].dtype, operation.outputs[0].dtype
    detour = before.kind == "c" or (before.kind == "f" and after.kind in "iu" and after.name not in _DIRECT)
    return Formula((_COPY,) if detour else ("np.copyto({o}, {0}, casting='unsafe')",), ())


_DIRECT = ("int32", "int64", "uint64")


CHOICE = (
    "np.bitwise_xor({1}, {2}, out={t})",
    "np.bitwise_and({t}, {m}, out={t})",
    "np.bitwise_xor({t}, {2}, out={o})",
)
"""`where` on bits, without a branch: `y ^ ((x ^ y) & m)`.

The mask `m` is 0 or -1; `t` is `o` or the buffer of `x`.
"""

CHOICE_OF_ZERO = ("np.bitwise_and({1}, {m}, out={o})",)
"""`where` on bits if `y` is 0."""

MASK = ("np.copyto({o}, {0})", "np.negative({o}, out={o})")
"""The mask of a condition."""
