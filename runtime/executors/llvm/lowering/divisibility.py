"""Test divisibility by a constant without a division.

    x % 3 == 0      ==>      x * 0xaaaaaaab <= 0x55555555        of uint32

Multiplication by the inverse of an odd divisor, modulo 2**bits, maps its multiples to the smallest numbers, and other
integers to larger ones. An offset makes signed multiples start at zero. The factors of two of an even divisor are
trailing zeros. A rotation turns nonzero trailing bits into large numbers (Hacker's Delight, section 10-17).
LLVM has this transformation, but does not apply it to induction variables.
"""

from __future__ import annotations

from ..codegen.function_builder import Emitter
from ..codegen.llvm_types import Register, ir
from ..codegen.scalar_builder import is_known


def note(e: Emitter, remainder: Register, x: Register, y: Register) -> None:
    """Record the operands of a remainder, for `is_multiple`."""
    if is_known(y) and not is_known(x) and abs(int(y.constant)).bit_count() > 1:
        e.remainders[id(remainder)] = remainder, x, abs(int(y.constant))


def is_multiple(e: Emitter, remainder: Register, other: Register, signed: bool) -> Register | None:
    """Return whether a remainder is zero; None if this is another comparison, or the divisor is a power of two."""
    noted = e.remainders.get(id(remainder))
    if noted is None or not is_known(other) or int(other.constant) != 0:
        return None
    _, x, divisor = noted
    inverse, start, zeros, most = numbers(divisor, x.type.width, signed)
    b, kind = e.b, x.type
    product = b.add(b.mul(x, ir().Constant(kind, inverse)), ir().Constant(kind, start))
    if zeros:
        right, left = ir().Constant(kind, zeros), ir().Constant(kind, kind.width - zeros)
        product = b.or_(b.lshr(product, right), b.shl(product, left))
    return b.icmp_unsigned("<=", product, ir().Constant(kind, most))


def numbers(divisor: int, bits: int, signed: bool) -> tuple[int, int, int, int]:
    """Return the factor, the offset, the rotation to the right, and the largest result for a multiple.

    >>> numbers(3, 32, False)
    (2863311531, 0, 0, 1431655765)
    >>> inverse, start, zeros, most = numbers(6, 8, True)
    >>> [x for x in range(-20, 20) if _rotated((x * inverse + start) % 256, zeros, 8) <= most]
    [-18, -12, -6, 0, 6, 12, 18]
    """
    zeros = (divisor & -divisor).bit_length() - 1
    odd = divisor >> zeros
    inverse = pow(odd, -1, 1 << bits)
    if not signed:
        return inverse, 0, zeros, ((1 << bits) - 1) // divisor
    start = ((1 << (bits - 1)) - 1) // odd & -(1 << zeros)
    return inverse, start, zeros, 2 * start >> zeros


def _rotated(number: int, by: int, bits: int) -> int:
    return number >> by | (number << (bits - by)) % (1 << bits)
