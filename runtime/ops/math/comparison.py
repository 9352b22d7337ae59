"""Comparison and logic: operations with boolean results.

>>> less([1, 5], 3).numpy().tolist(), logical_and([True, False], True).numpy().tolist()
([True, False], [True, False])
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import dtypes
from ...core import shapes
from ...ir.graph import Operand
from ...ir.traits import CHEAP, COMMUTATIVE, INLINE_SCALAR
from ...ir.value_types import TensorType
from ..framework.op import Name, Op, Same, op
from ..framework.op_families import BOOLS, EVERY, REAL, Array, binary, boolean, on_numbers, unary


@on_numbers
def _equal(x: Array, y: Array) -> Array:
    result = x == y
    # Comparing two scalar strings yields a Python bool.
    return result if type(result) is not bool else np.bool_(result)


@on_numbers
def _not_equal(x: Array, y: Array) -> Array:
    result = x != y
    return result if type(result) is not bool else np.bool_(result)


equal = binary("equal", _equal, EVERY, "`x == y`; nothing equals NaN.", "[1, 2], 2", "[False, True]", boolean,
               "{0} == {1}", traits=COMMUTATIVE | CHEAP | INLINE_SCALAR, ufunc=np.equal,
               scalar={"biuf": "{0} == {1}"}, export=("math.equal", "equal"))  # fmt: skip
not_equal = binary("not_equal", _not_equal, EVERY, "`x != y`.", "[1, 2], 2", "[True, False]", boolean,
                   "{0} != {1}", traits=COMMUTATIVE | CHEAP | INLINE_SCALAR, ufunc=np.not_equal,
                   scalar={"biuf": "{0} != {1}"}, export=("math.not_equal", "not_equal"))  # fmt: skip


def _ordering(name: str, compute: Callable[..., Any], ufunc: np.ufunc, symbol: str, gives: str) -> Op:
    """Declare the comparison of real numbers that Python writes as `symbol`."""
    expression = f"{{0}} {symbol} {{1}}"
    return binary(
        name,
        compute,
        REAL,
        f"`x {symbol} y`.",
        "[1, 2, 3], 2",
        gives,
        boolean,
        expression,
        traits=CHEAP | INLINE_SCALAR,
        ufunc=ufunc,
        scalar={"iuf": expression},
        export=(f"math.{name}", name),
    )


less = _ordering("less", operator.lt, np.less, "<", "[True, False, False]")
less_equal = _ordering("less_equal", operator.le, np.less_equal, "<=", "[True, True, False]")
greater = _ordering("greater", operator.gt, np.greater, ">", "[False, False, True]")
greater_equal = _ordering("greater_equal", operator.ge, np.greater_equal, ">=", "[False, True, True]")
logical_and = binary("logical_and", operator.and_, BOOLS, "Both are True.", "[True, False], True",
                     "[True, False]", expression="{0} & {1}", traits=COMMUTATIVE | CHEAP | INLINE_SCALAR,
                     ufunc=np.logical_and, scalar={"b": "{0} and {1}"},
                     export=("math.logical_and", "logical_and"))  # fmt: skip
logical_or = binary("logical_or", operator.or_, BOOLS, "At least one is True.", "[True, False], False",
                    "[True, False]", expression="{0} | {1}", traits=COMMUTATIVE | CHEAP | INLINE_SCALAR,
                    ufunc=np.logical_or, scalar={"b": "{0} or {1}"},
                    export=("math.logical_or", "logical_or"))  # fmt: skip
logical_xor = binary("logical_xor", operator.xor, BOOLS, "Exactly one is True.", "[True, False], True",
                     "[False, True]", expression="{0} ^ {1}", traits=COMMUTATIVE | INLINE_SCALAR,
                     ufunc=np.logical_xor, scalar={"b": "{0} != {1}"},
                     export=("math.logical_xor",))  # fmt: skip
logical_not = unary("logical_not", operator.invert, BOOLS, "True for False, and False for True.",
                    "[True, False]", "[False, True]", expression="~{0}", traits=CHEAP | INLINE_SCALAR,
                    ufunc=np.logical_not, scalar={"b": "not {0}"},
                    export=("math.logical_not", "logical_not"))  # fmt: skip


@op
def equal_or_false(x: Same, y: Same, name: Name = None) -> TensorType:
    """Return `x == y` with the semantics of the operator: a single False if the shapes do not broadcast.

    >>> equal_or_false([1, 2], [1, 2, 3]).numpy().tolist(), equal_or_false([1, 2], 2).numpy().tolist()
    (False, [False, True])
    """
    return _loosely(x, y)


equal_or_false.kernel(lambda x, y: _equal(x, y) if _broadcasts(x, y) else np.False_)


@op
def not_equal_or_true(x: Same, y: Same, name: Name = None) -> TensorType:
    """Return `x != y` with the semantics of the operator: a single True if the shapes do not broadcast.

    >>> not_equal_or_true([1, 2], [1, 2, 3]).numpy().tolist(), not_equal_or_true([1, 2], 2).numpy().tolist()
    (True, [True, False])
    """
    return _loosely(x, y)


not_equal_or_true.kernel(lambda x, y: _not_equal(x, y) if _broadcasts(x, y) else np.True_)


def _broadcasts(x: Array, y: Array) -> bool:
    return bool(certainly_broadcasts(np.shape(x), np.shape(y)))


def certainly_broadcasts(one: shapes.Dims, other: shapes.Dims) -> bool | None:
    """Return whether the shapes broadcast; None if that depends on unknown dimensions.

    >>> certainly_broadcasts((3, None), ()), certainly_broadcasts((3,), (2,))
    (True, False)
    >>> certainly_broadcasts((None,), (3,)) is None
    True
    """
    if one == () or other == ():
        return True
    if one is None or other is None:
        return None
    sizes = list(zip(reversed(one), reversed(other), strict=False))
    if any(a != b and None not in (a, b) and 1 not in (a, b) for a, b in sizes):
        return False
    return True if all(1 in (a, b) or (a == b and a is not None) for a, b in sizes) else None


def _loosely(x: Operand, y: Operand) -> TensorType:
    sure = certainly_broadcasts(x.shape, y.shape)
    if sure is None:
        return TensorType(dtypes.bool_, None)
    return TensorType(dtypes.bool_, shapes.broadcast(x.shape, y.shape) if sure else ())
