"""Algebraic simplification by a table of rewrite rules.

    y = multiply x, 1.0                             z = negative x
    z = negative y                          ==>     v = greater_equal n, 3
    u = less n, 3
    v = logical_not u

The rules of `EXACT` are exact to the last bit: with -0.0, infinities and NaN, and if integers overflow. All
NaNs count as equal, whatever their bits. The rules of `FAST` hold for real numbers, and are used if
`fast_math` is on.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from ..ir.graph import Constant, Graph, Operation
from ..ir.op_def import OpDef
from ..ir.value_types import TensorType
from ..ops.arrays import where_ops
from ..ops.framework.op import REGISTRY
from ..ops.math import arithmetic, bitwise, comparison, elementwise
from . import data_movement
from .options import OptimizerOptions
from .pattern_match import ANY, TWICE, RewriteRule, applied
from .rewriter import Found, Rewriter, Rule, rewrite_all

#    before                              after                         for the kinds of dtypes
EXACT = """
     add(x, 0)                           x                             iu
     add(0, x)                           x                             iu
     add(x, -0.0)                        x                             f
     add(-0.0, x)                        x                             f
     subtract(x, 0)                      x                             iuf
     subtract(0, x)                      negative(x)                   i
     subtract(-0.0, x)                   negative(x)                   f
     subtract(x, x)                      0                             iu
     multiply(x, 1)                      x                             iuf
     multiply(1, x)                      x                             iuf
     multiply(x, 0)                      0                             iu
     multiply(0, x)                      0                             iu
     multiply(x, -1)                     negative(x)                   if
     multiply(-1, x)                     negative(x)                   if
     realdiv(x, 1)                       x                             f
     realdiv(x, -1)                      negative(x)                   f
     floordiv(x, 1)                      x                             iu
     floormod(x, 1)                      0                             iu
     truncatediv(x, 1)                   x                             iu
     pow(x, 1)                           x                             if

     add(x, negative(y))                 subtract(x, y)                ifc
     add(negative(x), y)                 subtract(y, x)                ifc
     subtract(x, negative(y))            add(x, y)                     ifc
     multiply(negative(x), negative(y))  multiply(x, y)                if
     realdiv(negative(x), negative(y))   realdiv(x, y)                 f
     negative(subtract(x, y))            subtract(y, x)                i
     add(add(x, k), m)                   add(x, add(k, m))             iu
     add(subtract(x, k), m)              add(x, subtract(m, k))        iu
     subtract(add(x, k), m)              add(x, subtract(k, m))        iu
     multiply(multiply(x, k), m)         multiply(x, multiply(k, m))   iu

     negative(negative(x))               x                             ifc
     abs((y := abs(x)))                  y                             if
     abs((y := square(x)))               y                             f
     abs((y := exp(x)))                  y                             f
     abs(negative(x))                    abs(x)                        if
     square(negative(x))                 square(x)                     if
     square(abs(x))                      square(x)                     if
     conj(conj(x))                       x                             c
     floor((y := floor(x)))              y                             f
     ceil((y := ceil(x)))                y                             f
     round((y := round(x)))              y                             f
     floor((y := round(x)))              y                             f
     sign((y := sign(x)))                y                             if
     relu((y := relu(x)))                y                             f
     maximum(x, x)                       x                             iuf
     minimum(x, x)                       x                             iuf

     less(x, x)                          False                         iuf
     greater(x, x)                       False                         iuf
     equal(x, x)                         True                          iub
     not_equal(x, x)                     False                         iub
     less_equal(x, x)                    True                          iu
     greater_equal(x, x)                 True                          iu

     logical_not(logical_not(x))         x                             b
     logical_not(equal(x, y))            not_equal(x, y)               b
     logical_not(not_equal(x, y))        equal(x, y)                   b
     logical_and(x, True)                x                             b
     logical_and(True, x)                x                             b
     logical_and(x, False)               False                         b
     logical_and(False, x)               False                         b
     logical_or(x, False)                x                             b
     logical_or(False, x)                x                             b
     logical_or(x, True)                 True                          b
     logical_or(True, x)                 True                          b
     logical_xor(x, False)               x                             b
     logical_xor(x, True)                logical_not(x)                b
     logical_and(x, x)                   x                             b
     logical_or(x, x)                    x                             b
     logical_xor(x, x)                   False                         b
     logical_and(x, logical_not(x))      False                         b
     logical_or(x, logical_not(x))       True                          b

     invert(invert(x))                   x                             iu
     bitwise_and(x, x)                   x                             iu
     bitwise_or(x, x)                    x                             iu
     bitwise_xor(x, x)                   0                             iu
     bitwise_and(x, 0)                   0                             iu
     bitwise_or(x, 0)                    x                             iu
     bitwise_xor(x, 0)                   x                             iu
     left_shift(x, 0)                    x                             iu
     right_shift(x, 0)                   x                             iu

     where(True, x, y)                   x                             b
     where(False, x, y)                  y                             b
     where(z, x, x)                      x                             b
     where(logical_not(z), x, y)         where(z, y, x)                b
"""

FAST = """
     add(x, 0)                           x                             f
     add(0, x)                           x                             f
     subtract(x, x)                      0                             f
     multiply(x, 0)                      0                             f
     multiply(0, x)                      0                             f
     subtract(0, x)                      negative(x)                   f
     realdiv(x, x)                       1                             f
     realdiv(1, x)                       reciprocal(x)                 f
     realdiv(x, k)                       multiply(x, realdiv(1, k))    f
     realdiv(x, sqrt(y))                 multiply(x, rsqrt(y))         f
     reciprocal(sqrt(x))                 rsqrt(x)                      f
     negative(subtract(x, y))            subtract(y, x)                f
     add(add(x, k), m)                   add(x, add(k, m))             f
     subtract(add(x, k), m)              add(x, subtract(k, m))        f
     multiply(multiply(x, k), m)         multiply(x, multiply(k, m))   f
     add(multiply(x, y), multiply(x, z)) multiply(x, add(y, z))        f
     exp(log(x))                         x                             f
     log(exp(x))                         x                             f
     sqrt(square(x))                     abs(x)                        f
     square(sqrt(x))                     x                             f
     multiply(exp(x), exp(y))            exp(add(x, y))                f
     pow(x, 0.5)                         sqrt(x)                       f
     pow(x, -1)                          reciprocal(x)                 f
     equal(x, x)                         True                          f
"""


DECLARED_IN = (arithmetic, bitwise, comparison, elementwise, where_ops)
"""The modules that declare the operations of the tables, except for those that few programs import."""


def run(graph: Graph, options: OptimizerOptions) -> Graph:
    return rewrite_all(graph, _rules(options.fast_math, frozenset(_LATE & REGISTRY.keys())))


@functools.cache
def _rules(fast_math: bool, late: frozenset[str]) -> Mapping[OpDef, Rule]:
    """Return the rules by operation: those of the tables, and those for data movement.

    `late` are the operations of `_LATE` that the program has imported: no graph contains another one.
    """
    rows = _rows(fast_math)
    names = rows.keys() - (_LATE - late)
    return {**{REGISTRY[name]: _Rule(rows[name]) for name in rows if name in names}, **data_movement.RULES}


def _rows(fast_math: bool) -> dict[str, list[Row]]:
    """Return the rows of the tables by the name of the operation that they rewrite."""
    rows: dict[str, list[Row]] = {}
    for row in [*split(EXACT), *(split(FAST) if fast_math else ())]:
        rows.setdefault(row[0].partition("(")[0], []).append(row)
    return rows


Row = tuple[str, str, str]


def split(table: str) -> list[Row]:
    """Return the rows of a table."""
    rows = [(line[:41].strip(), line[41:71].strip(), line[71:].strip()) for line in table.splitlines()]
    return [row for row in rows if row[0]]


class _Rule:
    """The rewrite rules for one operation, by the kind of dtype. They are parsed at first use."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows

    @functools.cached_property
    def groups(self) -> Mapping[str, _Group]:
        laws = [RewriteRule.read(*row) for row in self.rows]
        kinds = {kind for law in laws for kind in law.kinds}
        return {kind: _Group([law for law in laws if kind in law.kinds]) for kind in kinds}

    def __call__(self, operation: Operation, walk: Rewriter) -> Found:
        spec = operation.inputs[0].spec
        group = self.groups.get(spec.dtype.kind) if isinstance(spec, TensorType) else None
        for law in () if group is None else group.candidates(operation, walk):
            found = applied(law, operation, walk)
            if found is not None:
                return found
        return None


class _Group:
    """The rewrite rules for one operation on one kind of dtype."""

    def __init__(self, laws: list[RewriteRule]) -> None:
        self.laws = [(law.sign, law) for law in laws]
        self.signs = {sign for sign, _ in self.laws}
        self.has_makers = any(isinstance(sign, OpDef) for sign in self.signs)

    def candidates(self, operation: Operation, walk: Rewriter) -> Sequence[RewriteRule]:
        """Return the rules that may match, by a quick check of the operands."""
        operands = operation.inputs
        seen: set[Any] = {ANY}
        if len(operands) > 1 and operands[-1] is operands[-2]:
            seen.add(TWICE)
        made = walk.makers() if self.has_makers else {}
        for operand in operands:
            if type(operand) is Constant:
                array = operand.value
                if array.size:
                    seen.add(array.flat[0] if array.ndim else array.item())
            elif operand in made:
                seen.add(made[operand].op)
        return () if seen.isdisjoint(self.signs) else [law for sign, law in self.laws if sign in seen]


_LATE = frozenset({"relu"})

OPS = frozenset(_rows(True)) | {op.name for op in data_movement.RULES}
"""The names of the operations that have rewrite rules."""
