"""Formulas written like mathematics become LLVM instructions.

    def square_root_of_sum(x, y):                 %a = fmul double %x, %x
        return (x * x + y * y).sqrt()      ==>    %b = fmul double %y, %y
                                                  %c = fadd double %a, %b
                                                  %d = call double @llvm.sqrt.f64(double %c)

A `Number` stands for a value of the code being written: a float, an integer of as many bits, or a truth value. Nothing
here branches, so that LLVM can do in four or eight lanes what a formula does in one; a formula may also be
written for lanes from the start.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

FORMATS = {"float": (32, 23), "double": (64, 52)}
"""For each type: its bits, and the bits of its significand behind the leading one."""


class Code:
    """Where instructions of a formula go: a builder, the float type of the formula, and what the machine can do."""

    def __init__(self, builder: ir.IRBuilder, real: ir.Type, *, fused: bool) -> None:
        self.builder, self.real_type, self.fused = builder, real, fused
        self.lanes = real.count if isinstance(real, ir.VectorType) else 0
        self.scalar = real.element if self.lanes else real
        self.size, self.fraction = FORMATS[str(self.scalar)]
        self.bias = (1 << (self.size - self.fraction - 2)) - 1
        self.whole_type = self.like(ir.IntType(self.size))

    def like(self, scalar: ir.Type) -> ir.Type:
        """A type of as many lanes as the formula has."""
        return ir.VectorType(scalar, self.lanes) if self.lanes else scalar

    def number(self, value: ir.Value) -> Number:
        return Number(self, value)

    def constant(self, kind: ir.Type, value: Any) -> Number:
        scalar = kind.element if self.lanes else kind
        one = ir.Constant(scalar, value)
        return Number(self, ir.Constant(kind, [one] * self.lanes) if self.lanes else one)

    def real(self, value: float) -> Number:
        """A constant."""
        return self.constant(self.real_type, float(value))

    def whole(self, value: int) -> Number:
        """A constant integer, of as many bits as the floats have."""
        half = 1 << (self.size - 1)
        return self.constant(self.whole_type, (value + half) % (2 * half) - half)

    def call(self, name: str, *operands: Number) -> Number:
        """An intrinsic function of LLVM on numbers of one type."""
        kind = operands[0].value.type
        suffix = ("f" if operands[0].is_real else "i") + str(self.size)
        full = f"llvm.{name}." + (f"v{self.lanes}{suffix}" if self.lanes else suffix)
        known = self.builder.module.globals.get(full)
        declared = known or ir.Function(
            self.builder.module, ir.FunctionType(kind, [kind] * len(operands)), full
        )
        return Number(self, self.builder.call(declared, [operand.value for operand in operands]))


class Number:
    """A value of the code being written, with Python's operators."""

    def __init__(self, code: Code, value: ir.Value) -> None:
        self.code, self.value = code, value

    @property
    def is_real(self) -> bool:
        return bool(self.value.type == self.code.real_type)

    def coerced(self, other: Number | float) -> Number:
        """The other operand: Python's numbers become constants of this type."""
        if isinstance(other, Number):
            return other
        if self.is_real:
            return self.code.real(other)
        if self.value.type == self.code.whole_type:
            return self.code.whole(int(other))
        return self.code.constant(self.value.type, int(other))  # a truth value

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
        """Zeros come in from the left: not every machine can bring in the sign in lanes of 64 bits."""
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
        """Whether this is less, or NaN."""
        return self.compared("<", other, unordered=True)

    def where(self, yes: Number | float, no: Number | float) -> Number:
        """One of two numbers, where this is a truth value."""
        model = yes if isinstance(yes, Number) else no
        assert isinstance(model, Number)
        chosen = (model.coerced(yes).value, model.coerced(no).value)
        return Number(self.code, self.code.builder.select(self.value, *chosen))

    def clamped(self, low: float, high: float) -> Number:
        """This within limits; NaN stays NaN."""
        floor = (self < low).where(low, self)
        return (floor > high).where(high, floor)

    def bits(self) -> Number:
        """The bits of a float, as an integer."""
        return Number(self.code, self.code.builder.bitcast(self.value, self.code.whole_type))

    def as_real(self) -> Number:
        """The float of these bits."""
        return Number(self.code, self.code.builder.bitcast(self.value, self.code.real_type))

    def magnitude(self) -> Number:
        return self.code.call("fabs", self)

    def with_sign_of(self, other: Number) -> Number:
        return self.code.call("copysign", self, other)

    def sqrt(self) -> Number:
        return self.code.call("sqrt", self)

    def rounded(self, added: int = 0, factor: float = 1.0) -> tuple[Number, Number]:
        """The integer next to this times a factor: as a float, and in the last bits of an integer, plus what is added.

        Adding 1.5 · 2^52 pushes the bits behind the point out of a number.
        """
        magic = self.code.real(1.5 * 2.0**self.code.fraction + added)
        shifted = magic + self if factor == 1.0 else magic.plus_product(self, factor)
        return shifted - magic, shifted.bits()

    def plus_product(self, left: Number | float, right: Number | float) -> Number:
        """`self + left * right`, rounded once where the machine has an instruction for it."""
        operands = (self.coerced(left), self.coerced(right), self)
        return self.code.call("fma" if self.code.fused else "fmuladd", *operands)


Formula = Callable[..., "Number"]


def through_double(rough: Formula | None = None) -> Callable[[Formula], Formula]:
    """A formula for both float types that is computed in float64: of a float32 the result is rounded only once.

    For float32 a rougher formula may do: an error of many last places of a float64 does not show.
    """

    def decorated(formula: Formula) -> Formula:
        @functools.wraps(formula)
        def written(*operands: Number) -> Number:
            code = operands[0].code
            if code.size == 64:
                return formula(*operands)
            double = Code(code.builder, code.like(ir.DoubleType()), fused=code.fused)
            wide = [double.number(code.builder.fpext(x.value, double.real_type)) for x in operands]
            result = (rough or formula)(*wide)
            return code.number(code.builder.fptrunc(result.value, code.real_type))

        return written

    return decorated


def polynomial(x: Number, coefficients: Sequence[float]) -> Number:
    """The polynomial in `x` of these coefficients, by Estrin's rule, where pairs do not wait for one another.

    The constant term is added last, so that it is rounded only once.
    """
    first, *coefficients = coefficients
    return x.code.real(first).plus_product(x, estrin(x, coefficients))


def horner(x: Number, coefficients: Sequence[float]) -> Number:
    """The polynomial by Horner's rule: one instruction for each coefficient, which memory gives, and no register more.

    For loops that have much else to do while it waits.
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
