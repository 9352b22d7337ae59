"""Operator overloading that turns formulas into LLVM instructions.

    def square_root_of_sum(x, y):                 %a = fmul double %x, %x
        return (x * x + y * y).sqrt()      ==>    %b = fmul double %y, %y
                                                  %c = fadd double %a, %b
                                                  %d = call double @llvm.sqrt.f64(double %c)

A `Number` is an SSA value: a float, an integer of the same width, or a boolean. Formulas emit no branches, so that
they can be vectorized. A formula can also be emitted with vector types from the start.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

FORMATS = {"half": (16, 10), "float": (32, 23), "double": (64, 52)}
"""For each type: its bits, and the bits of its significand without the implicit leading one."""


class FormulaContext:
    """The context of a formula: the builder, the float type, and whether the target has fused multiply-add."""

    def __init__(self, builder: ir.IRBuilder, real: ir.Type, *, fused: bool) -> None:
        self.builder, self.real_type, self.fused = builder, real, fused
        self.lanes = real.count if isinstance(real, ir.VectorType) else 0
        self.scalar = real.element if self.lanes else real
        self.size, self.fraction = FORMATS[str(self.scalar)]
        self.bias = (1 << (self.size - self.fraction - 2)) - 1
        self.whole_type = self.like(ir.IntType(self.size))

    def like(self, scalar: ir.Type) -> ir.Type:
        """Return `scalar`, or a vector of it if the formula is emitted with vector types."""
        return ir.VectorType(scalar, self.lanes) if self.lanes else scalar

    def number(self, value: ir.Value) -> Number:
        return Number(self, value)

    def constant(self, kind: ir.Type, value: Any) -> Number:
        scalar = kind.element if self.lanes else kind
        one = ir.Constant(scalar, value)
        return Number(self, ir.Constant(kind, [one] * self.lanes) if self.lanes else one)

    def real(self, value: float) -> Number:
        """Return a float constant."""
        return self.constant(self.real_type, float(value))

    def whole(self, value: int) -> Number:
        """Return an integer constant of the same width as the floats."""
        half = 1 << (self.size - 1)
        return self.constant(self.whole_type, (value + half) % (2 * half) - half)

    def call(self, name: str, *operands: Number) -> Number:
        """Call an LLVM intrinsic with operands of one type."""
        kind = operands[0].value.type
        suffix = ("f" if operands[0].is_real else "i") + str(self.size)
        full = f"llvm.{name}." + (f"v{self.lanes}{suffix}" if self.lanes else suffix)
        known = self.builder.module.globals.get(full)
        declared = known or ir.Function(
            self.builder.module, ir.FunctionType(kind, [kind] * len(operands)), full
        )
        return Number(self, self.builder.call(declared, [operand.value for operand in operands]))


class Number:
    """An SSA value with Python's operators."""

    def __init__(self, code: FormulaContext, value: ir.Value) -> None:
        self.code, self.value = code, value

    @property
    def is_real(self) -> bool:
        return bool(self.value.type == self.code.real_type)

    def coerced(self, other: Number | float) -> Number:
        """Return `other` as a `Number`; Python numbers become constants of this type."""
        if isinstance(other, Number):
            return other
        if self.is_real:
            return self.code.real(other)
        if self.value.type == self.code.whole_type:
            return self.code.whole(int(other))
        return self.code.constant(self.value.type, int(other))  # a boolean

    def made(self, real: str, whole: str, other: Number | float, swapped: bool = False) -> Number:
        left, right = (self.coerced(other), self) if swapped else (self, self.coerced(other))
        build = getattr(self.code.builder, real if self.is_real else whole)
        return Number(self.code, build(left.value, right.value))

    def __add__(self, other: Number | float) -> Number:
        return self.made("fadd", "add", other)

    def __radd__(self, other: float) -> Number:
        return self.made("fadd", "add", other, swapped=True)

    def __sub__(self, other: Number | float) -> Number:
        return self.made("fsub", "sub", other)

    def __rsub__(self, other: float) -> Number:
        return self.made("fsub", "sub", other, swapped=True)

    def __mul__(self, other: Number | float) -> Number:
        return self.made("fmul", "mul", other)

    def __rmul__(self, other: float) -> Number:
        return self.made("fmul", "mul", other, swapped=True)

    def __truediv__(self, other: Number | float) -> Number:
        return self.made("fdiv", "sdiv", other)

    def __rtruediv__(self, other: float) -> Number:
        return self.made("fdiv", "sdiv", other, swapped=True)

    def __neg__(self) -> Number:
        build = self.code.builder.fneg if self.is_real else self.code.builder.neg
        return Number(self.code, build(self.value))

    def __and__(self, other: Number | int) -> Number:
        return self.made("and_", "and_", other)

    def __or__(self, other: Number | int) -> Number:
        return self.made("or_", "or_", other)

    def __xor__(self, other: Number | int) -> Number:
        return self.made("xor", "xor", other)

    def __lshift__(self, count: int) -> Number:
        return self.made("shl", "shl", count)

    def __rshift__(self, count: int) -> Number:
        """Shift logically, since some targets have no arithmetic shift of 64-bit lanes."""
        return self.made("lshr", "lshr", count)

    def compared(self, relation: str, other: Number | float, unordered: bool = False) -> Number:
        builder, right = self.code.builder, self.coerced(other).value
        if not self.is_real:
            return Number(self.code, builder.icmp_signed(relation, self.value, right))
        compare = builder.fcmp_unordered if unordered else builder.fcmp_ordered
        return Number(self.code, compare(relation, self.value, right))

    def __lt__(self, other: Number | float) -> Number:
        return self.compared("<", other)

    def __le__(self, other: Number | float) -> Number:
        return self.compared("<=", other)

    def __gt__(self, other: Number | float) -> Number:
        return self.compared(">", other)

    def __ge__(self, other: Number | float) -> Number:
        return self.compared(">=", other)

    def equals(self, other: Number | float) -> Number:
        return self.compared("==", other)

    def is_nan(self) -> Number:
        return self.compared("uno", self)

    def invalid_below(self, other: float) -> Number:
        """Return whether this is less than `other`, or NaN."""
        return self.compared("<", other, unordered=True)

    def where(self, yes: Number | float, no: Number | float) -> Number:
        """Select `yes` or `no` by this boolean."""
        model = yes if isinstance(yes, Number) else no
        assert isinstance(model, Number)
        chosen = (model.coerced(yes).value, model.coerced(no).value)
        return Number(self.code, self.code.builder.select(self.value, *chosen))

    def clamped(self, low: float, high: float) -> Number:
        """Clamp to the limits; NaN stays NaN."""
        floor = (self < low).where(low, self)
        return (floor > high).where(high, floor)

    def bits(self) -> Number:
        """Bitcast a float to an integer."""
        return Number(self.code, self.code.builder.bitcast(self.value, self.code.whole_type))

    def as_real(self) -> Number:
        """Bitcast an integer to a float."""
        return Number(self.code, self.code.builder.bitcast(self.value, self.code.real_type))

    def magnitude(self) -> Number:
        return self.code.call("fabs", self)

    def with_sign_of(self, other: Number) -> Number:
        return self.code.call("copysign", self, other)

    def sqrt(self) -> Number:
        return self.code.call("sqrt", self)

    def rounded(self, added: int = 0, factor: float = 1.0) -> tuple[Number, Number]:
        """Round `self * factor` to the nearest integer.

        Return the integer as a float, and, plus `added`, in the low bits of an integer.
        Adding 1.5 · 2^52 shifts the fraction bits out of the significand.
        """
        magic = self.code.real(1.5 * 2.0**self.code.fraction + added)
        shifted = magic + self if factor == 1.0 else magic.plus_product(self, factor)
        return shifted - magic, shifted.bits()

    def plus_product(self, left: Number | float, right: Number | float) -> Number:
        """Return `self + left * right`, rounded once if the target has fused multiply-add."""
        operands = (self.coerced(left), self.coerced(right), self)
        return self.code.call("fma" if self.code.fused else "fmuladd", *operands)


Formula = Callable[..., "Number"]


def through_double(rough: Formula | None = None) -> Callable[[Formula], Formula]:
    """Decorate a formula to compute float32 in float64, so that the result is rounded only once.

    A cheaper formula `rough` may compute float32, since an error of many ulps of float64 disappears in the rounding.
    """

    def decorated(formula: Formula) -> Formula:
        @functools.wraps(formula)
        def written(*operands: Number) -> Number:
            code = operands[0].code
            if code.size == 64:
                return formula(*operands)
            double = FormulaContext(code.builder, code.like(ir.DoubleType()), fused=code.fused)
            wide = [double.number(code.builder.fpext(x.value, double.real_type)) for x in operands]
            result = (rough or formula)(*wide)
            return code.number(code.builder.fptrunc(result.value, code.real_type))

        return written

    return decorated


def polynomial(x: Number, coefficients: Sequence[float]) -> Number:
    """Evaluate a polynomial in `x` by Estrin's scheme, which has short dependency chains.

    The constant term is added last, so that it is rounded only once.
    """
    first, *coefficients = coefficients
    return x.code.real(first).plus_product(x, estrin(x, coefficients))


def horner(x: Number, coefficients: Sequence[float]) -> Number:
    """Evaluate a polynomial by Horner's scheme: one instruction per coefficient, and no extra registers.

    This suits loops with enough independent work to hide the latency.
    """
    total = x.code.real(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = x.code.real(coefficient).plus_product(total, x)
    return total


def estrin(x: Number, coefficients: Sequence[float]) -> Number:
    terms: list[Number] = []
    for index in range(0, len(coefficients), 2):
        low = x.code.real(coefficients[index])
        pair = coefficients[index : index + 2]
        terms.append(low.plus_product(x, pair[1]) if len(pair) == 2 else low)
    power = x
    while len(terms) > 1:
        power = power * power
        joined = [low.plus_product(high, power) for low, high in zip(terms[::2], terms[1::2], strict=False)]
        terms = joined + terms[len(joined) * 2 :]
    return terms[0]
