"""Templates that compute elementwise operations into buffers, as calls of NumPy functions with `out=`.

    y = sigmoid x      ==>      np.negative(x, out=y)
                                np.exp(y, out=y)
                                np.add(y, one, out=y)
                                np.reciprocal(y, out=y)

The statements do what the kernels do. Declarations of operations hold them as `out=` or `ufunc=`. An operation with
neither is computed by its kernel, and its result is copied.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from ...ir.graph import Constant, Operation
from ...ir.traits import INTEGER_ERRORS
from ...ops.math.cast import cast_op


class Formula(NamedTuple):
    """Statements with holes for a call of an operation.

    The holes are `{0}`, `{1}` … for operands, `{o}` for the result, and the names of CONSTANTS. `reuses` has
    the numbers of the operands that may share the buffer of the result; None means all of them.
    """

    statements: tuple[str, ...]
    reuses: tuple[int, ...] | None = None


CONSTANTS = {"zero": 0, "one": 1, "six": 6}
"""Scalars of the result's dtype that templates use."""

_COPY = "{o}[...] = {kernel}"


def formula(operation: Operation) -> Formula:
    """Return the template of an elementwise operation without operands of strings or narrow floats."""
    op, dtype = operation.op, operation.inputs[0].dtype
    if op is cast_op:
        return _cast(operation)
    statements = op.out.get(dtype.name) or op.out.get(dtype.kind)
    if statements is not None:
        return Formula(tuple(statements), op.reuses)
    if op.has(INTEGER_ERRORS) and not (dtype.is_floating or _never_zero(operation)):
        return Formula((_COPY,))
    if op.ufunc is not None:
        return _call(op.ufunc.__name__, len(operation.inputs))
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
