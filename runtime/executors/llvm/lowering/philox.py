"""The counter-based generator Philox 4x32-10, as in `agc.runtime.kernels.random.philox`.

    words(key, counter + i)        four 32-bit words for each block i, a pure function of key and counter

A stream has a key of two 32-bit words and a 128-bit counter in two halves. A seed of two numbers is scrambled to a key
and the upper half of the counter. A seed of three numbers is a counter and a key.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .... import dtypes
from ....kernels.random.seed_hash import SCRAMBLING
from ..codegen.lazy_values import Buffer, Index, LazyValue
from ..codegen.llvm_types import Register, integer
from ..codegen.region_lowering import Region
from .casts import converted

_FACTORS = (0xD2511F53, 0xCD9E8D57)
_STEPS = (0x9E3779B9, 0xBB67AE85)


class PhiloxBlocks(NamedTuple):
    """A stream of blocks: the words of the key, and the lower and upper half of the first counter."""

    k0: Register
    k1: Register
    low: Register
    high: Register

    def block(self, b: Any, number: Register) -> list[Register]:
        """Return the four words of a block."""
        low = b.add(self.low, number)
        carry = b.zext(b.icmp_unsigned("<", low, self.low), integer(64))
        counter = [*_halves(b, low), *_halves(b, b.add(self.high, carry))]
        return words(b, (self.k0, self.k1), counter)


def words(b: Any, key: tuple[Register, Register], counter: list[Register]) -> list[Register]:
    """Return the words of the block with this counter of four words."""
    k0, k1 = key
    c0, c1, c2, c3 = counter
    for _ in range(10):
        (low0, high0), (low1, high1) = (
            _halves(b, b.mul(b.zext(word, integer(64)), integer(64)(factor)))
            for word, factor in zip((c0, c2), _FACTORS, strict=True)
        )
        c0, c1, c2, c3 = b.xor(b.xor(high1, c1), k0), low1, b.xor(b.xor(high0, c3), k1), low0
        k0, k1 = (b.add(k, integer(32)(step)) for k, step in zip((k0, k1), _STEPS, strict=True))
    return [c0, c1, c2, c3]


def _halves(b: Any, value: Register) -> tuple[Register, Register]:
    """Return the lower and the upper word of 64 bits."""
    return b.trunc(value, integer(32)), b.trunc(b.lshr(value, integer(64)(32)), integer(32))


def joined(b: Any, low: Register, high: Register) -> Register:
    """Return two words as one of 64 bits."""
    return b.or_(b.zext(low, integer(64)), b.shl(b.zext(high, integer(64)), integer(64)(32)))


def stream_of(region: Region, seed: LazyValue) -> PhiloxBlocks:
    """Return the stream of a seed."""
    e, numbers = region.e, region.settled(seed)
    parts = [
        converted(e, numbers.at(e, Index.of(seed.shape, [e.word(position)])), seed.dtype, dtypes.int64)
        for position in range(seed.shape[0])
    ]
    if len(parts) == 3:
        low, high, key = parts
        return PhiloxBlocks(*_halves(e.b, key), low, high)
    first, second = parts
    counter = [*_halves(e.b, first), *_halves(e.b, second)]
    k0, k1, c0, c1 = words(e.b, tuple(integer(32)(part) for part in SCRAMBLING), counter)
    return PhiloxBlocks(k0, k1, e.word(0), joined(e.b, c0, c1))


def words_of(region: Region, stream: PhiloxBlocks, count: int) -> Buffer:
    """Return `count` words of a stream, in memory."""
    e, blocks = region.e, -(-count // 4)
    memory = Buffer.new(e, dtypes.uint32, (4 * blocks,))
    if blocks:
        with e.nest([blocks]) as (number,):
            for position, word in enumerate(stream.block(e.b, number)):
                e.store(dtypes.uint32, memory.address, e.plus(e.times(number, 4), e.word(position)), word)
    return memory
