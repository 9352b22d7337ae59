"""Rewrite rules as text, and pattern matching.

    RewriteRule.read("add(x, negative(y))", "subtract(x, y)", "iuf")

In a rule, `x`, `y`, `z` match any operand, `k` and `m` constants. A number matches a constant with that
number in all elements, including the sign of zero. A call matches an operation by its name in graphs; the
module that declares the operation must be imported. `(y := abs(x))` binds the result to `y`. The letters are
the kinds of dtypes of the first operand for which the rule holds.
"""

from __future__ import annotations

import ast
import math
import re
from typing import Any, NamedTuple

import numpy as np

from ..core.shapes import is_static, num_elements
from ..ir import value_keys
from ..ir.graph import Constant, Operand, Operation, Value
from ..ir.op_def import OpDef
from ..ir.value_types import TensorType
from ..ops.framework.op import REGISTRY
from .rewriter import Found, Rewriter, fits

UNIFORM = 1 << 12
"""The most elements of a constant that is compared with a number, or made from one."""

TWICE, ANY = "x, x", "x"
"""Signs of rules that are no name of an operation."""

_WORD = re.compile(r"\w+")
Bound = dict[str, Operand]


class Name(NamedTuple):
    """A name in a pattern."""

    name: str


class NumberPattern(NamedTuple):
    value: Any


class CallPattern(NamedTuple):
    op: OpDef
    arguments: tuple[Any, ...]
    name: str | None


Pattern = Name | NumberPattern | CallPattern


class RewriteRule(NamedTuple):
    """A rewrite rule: the pattern, its replacement, and the kinds of dtypes."""

    before: CallPattern
    after: Pattern
    kinds: str
    scalars_only: bool  # if numbers are scalars, whether one operand determines the shape of the result

    @staticmethod
    def read(before: str, after: str, kinds: str) -> RewriteRule:
        root = _read(ast.parse(before.strip(), mode="eval").body)
        assert isinstance(root, CallPattern)
        operands = {"x", "y", "z"}.intersection(_WORD.findall(before))
        return RewriteRule(root, _read(ast.parse(after.strip(), mode="eval").body), kinds, len(operands) == 1)

    @property
    def sign(self) -> Any:
        """A quick filter for the rule: the operation or number that it requires as an operand.

        `TWICE` requires that the last two operands are the same value; `ANY` requires nothing.
        """
        arguments = self.before.arguments
        for argument in arguments:
            if not isinstance(argument, Name):
                return argument.op if isinstance(argument, CallPattern) else argument.value
        return TWICE if len(arguments) > 1 and arguments[-1] == arguments[-2] else ANY


def _read(node: ast.expr, name: str | None = None) -> Pattern:
    match node:
        case ast.Name(id=known):
            return Name(known)
        case ast.Constant(value=value):
            return NumberPattern(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
            return NumberPattern(-value)  # type: ignore[operator]
        case ast.NamedExpr(target=target, value=value):
            return _read(value, target.id)
        case ast.Call(func=ast.Name(id=op), args=arguments):
            return CallPattern(REGISTRY[op], tuple(map(_read, arguments)), name)
    raise ValueError(f"not a rewrite rule: {ast.unparse(node)}")


def applied(law: RewriteRule, operation: Operation, walk: Rewriter) -> Found:
    """Return the replacement for an operation's result by a rule; None if the rule does not match."""
    first = operation.inputs[0].spec
    if not isinstance(first, TensorType) or first.dtype.kind not in law.kinds:
        return None
    bound: Bound = {}
    if not _all_match(law.before, operation, walk, bound):
        return None
    (result,) = operation.outputs
    found = _made(law.after, result, first, bound, walk)
    return None if found is None or not _may_stand(law, found, operation, bound) else (found,)


def _may_stand(law: RewriteRule, found: Operand, operation: Operation, bound: Bound) -> bool:
    """Return whether the replacement has the right type: nothing was broadcast, and no shape is lost."""
    (result,) = operation.outputs
    if isinstance(law.after, CallPattern) or (law.scalars_only and "" not in bound):
        return fits(found, result)
    return found.spec == result.spec and all(is_static(operand.shape) for operand in operation.inputs)


def _all_match(pattern: CallPattern, operation: Operation, walk: Rewriter, bound: Bound) -> bool:
    if len(pattern.arguments) != len(operation.inputs):
        return False
    for part, operand in zip(pattern.arguments, operation.inputs, strict=True):
        if not _matches(part, operand, walk, bound):
            return False
    if pattern.name is not None:
        bound[pattern.name] = operation.outputs[0]
    return True


def _matches(pattern: Pattern, operand: Operand, walk: Rewriter, bound: Bound) -> bool:
    if isinstance(pattern, Name):
        if pattern.name in ("k", "m") and type(operand) is not Constant:
            return False
        known = bound.setdefault(pattern.name, operand)
        return known is operand or _are_equal(known, operand)
    if isinstance(pattern, NumberPattern):
        if not isinstance(operand, Constant) or not is_all(operand, pattern.value):
            return False
        if operand.shape != ():
            bound[""] = operand  # a number with a shape, which may determine the result's shape
        return True
    maker = walk.maker(operand)
    return maker is not None and maker.op is pattern.op and _all_match(pattern, maker, walk, bound)


def _are_equal(one: Operand, other: Operand) -> bool:
    if not isinstance(one, Constant) or not isinstance(other, Constant):
        return False
    return value_keys.of_constant(one) == value_keys.of_constant(other)


def is_all(constant: Constant, number: Any) -> bool:
    """Return whether every element equals `number`; zeros must have the sign of `number`."""
    array = constant.value
    if array.dtype.kind not in _KINDS_OF[type(number)] or not 0 < array.size <= UNIFORM:
        return False
    if array.flat[0] != number or (array.ndim and not (array == number).all()):
        return False
    if number == 0 and array.dtype.kind in "fc":
        return bool((np.signbit(array.real) == (math.copysign(1, number) < 0)).all())
    return True


_KINDS_OF = {bool: "b", int: "iufc", float: "fc"}
"""The kinds of dtypes that a number in a rule matches."""


def _made(pattern: Pattern, result: Value, first: TensorType, bound: Bound, walk: Rewriter) -> Operand | None:
    """Emit the replacement of a rule, and return its value."""
    if isinstance(pattern, Name):
        return bound[pattern.name]
    if isinstance(pattern, NumberPattern):
        count = num_elements(result.shape)
        if count is None or count > UNIFORM:
            return None
        return Constant(np.full(result.shape, pattern.value, result.dtype.numpy_dtype))
    parts = []
    for argument in pattern.arguments:
        if isinstance(argument, NumberPattern):
            part: Operand | None = Constant(np.array(argument.value, first.dtype.numpy_dtype))
        else:
            part = _made(argument, result, first, bound, walk)
        if part is None:
            return None
        parts.append(part)
    return walk.add(pattern.op, parts)
