"""Payne-Hanek range reduction: the remainder of large numbers modulo π/2, with as many bits of 2/π as needed.

    x = m 2^e    ==>    x · 2/π mod 4 = m · (the bits of 2/π from position e - 1 on) mod 4

Earlier bits only add multiples of four. 192 of the later bits suffice: m has 53 bits, and no float64 is closer
than 2^-62 to a multiple of π/2 (M. Payne and R. Hanek, "Radian reduction for trigonometric functions", 1983;
J.-M. Muller, "Elementary Functions", 2016, section 11.4).
"""

from __future__ import annotations

from llvmlite import ir

from .double_double import DoubleDouble, product
from .formula_builder import Number

DIGITS = (
    0x0000000000000000,
    0xA2F9836E4E441529,
    0xFC2757D1F534DDC0,
    0xDB6295993C439041,
    0xFE5163ABDEBBC561,
    0xB7246E3A424DD2E0,
    0x06492EEA09D1921C,
    0xFE1DEB1CB129A73E,
    0xE88235F52EBB4484,
    0xE99C7026B45F7E41,
    0x3991D639835339F4,
    0x9C845F8BBDF9283B,
    0x1FF897FFDE05980F,
    0xEF2F118B5A0A6D1F,
    0x6D367ECF27CB09B7,
    0x4F463F669E5FEA2D,
    0x7527BAC7EBE5F17B,
    0x3D0739F78A5292EA,
    0x6BFB5FB11F8D5D08,
    0x56033046FC7B6BAB,
)
"""The bits of 2/π, after a word of zeros."""
HALF_PI = (1.5707963267948966, 6.123233995736766e-17)

WORD, LONG = ir.IntType(64), ir.IntType(128)


def reduced_far(x: Number) -> tuple[Number, DoubleDouble]:
    """Return the nearest multiple of π/2, in the low bits of an integer, and the rest, for float64 above 2^16."""
    builder = x.code.builder
    bits = x.magnitude().bits()
    mantissa = (bits & ((1 << 52) - 1)) | (1 << 52)
    quarters, rest = product_modulo(builder, mantissa.value, window(x, bits))
    negative = builder.icmp_signed("<", rest, LONG(0))
    size = builder.select(negative, builder.neg(rest), rest)
    zeros = builder.ctlz(size, ir.IntType(1)(1))
    digits = builder.shl(size, zeros)
    # The first 106 bits as two floats, times the power of two that the leading zeros determine.
    first = builder.uitofp(builder.trunc(builder.lshr(digits, LONG(75)), WORD), x.value.type)
    following = builder.and_(builder.trunc(builder.lshr(digits, LONG(22)), WORD), WORD((1 << 53) - 1))
    second = builder.uitofp(following, x.value.type)
    exponent = builder.sub(WORD(1023), builder.trunc(zeros, WORD))
    power = x.code.number(builder.shl(exponent, WORD(52))).as_real()
    signed = power.with_sign_of(x)
    factor = x.code.number(negative).where(-signed, signed)
    fraction = DoubleDouble(
        x.code.number(first) * 2.0**-53 * factor, x.code.number(second) * 2.0**-106 * factor
    )
    quadrant = x.code.number(quarters)
    turned = (x < 0.0).where(-quadrant, quadrant)
    return turned, product(fraction, DoubleDouble(*map(x.code.real, HALF_PI)))


def window(x: Number, bits: Number) -> list[ir.Value]:
    """Return the 192 bits of 2/π that the exponent of `x` selects, highest word first."""
    builder = x.code.builder
    position = (bits >> 52) - (1023 + 52 + 2 - 64)  # skip e - 2 bits after the word of zeros
    # Some lanes may hold small numbers, for which the index would be negative; their results are unused.
    start = (position < 0).where(0, position).value
    table = digits(builder.module)
    first, shift = builder.lshr(start, WORD(6)), builder.and_(start, WORD(63))
    words = []
    for k in range(4):
        index = builder.add(first, WORD(k))
        words.append(builder.load(builder.gep(table, [WORD(0), index], inbounds=True)))
    joined = builder.module.globals.get("llvm.fshl.i64") or ir.Function(
        builder.module, ir.FunctionType(WORD, [WORD] * 3), "llvm.fshl.i64"
    )
    return [builder.call(joined, [words[k], words[k + 1], shift]) for k in range(3)]


def digits(module: ir.Module) -> ir.GlobalVariable:
    name = "agc.digits_of_two_over_pi"
    known = module.globals.get(name)
    if known is not None:
        return known
    kind = ir.ArrayType(WORD, len(DIGITS))
    table = ir.GlobalVariable(module, kind, name)
    table.initializer, table.global_constant, table.linkage = (
        ir.Constant(kind, list(DIGITS)),
        True,
        "internal",
    )
    return table


def product_modulo(builder: ir.IRBuilder, m: ir.Value, words: list[ir.Value]) -> tuple[ir.Value, ir.Value]:
    """Return m times the window, modulo four: the nearest quarter, and the signed rest as a fraction of 2^128."""
    wide = builder.zext(m, LONG)
    carry: ir.Value = LONG(0)
    sums = []
    for word in reversed(words):
        total = builder.add(builder.mul(wide, builder.zext(word, LONG)), carry)
        carry = builder.lshr(total, LONG(64))
        sums.append(builder.trunc(total, WORD))
    low, middle, high = (builder.zext(word, LONG) for word in sums)
    whole = builder.or_(builder.shl(high, LONG(64)), middle)
    rest = builder.or_(builder.shl(whole, LONG(2)), builder.lshr(low, LONG(62)))
    half = builder.and_(builder.lshr(whole, LONG(125)), LONG(1))
    quarters = builder.add(builder.lshr(whole, LONG(126)), half)
    return builder.trunc(quarters, WORD), rest
