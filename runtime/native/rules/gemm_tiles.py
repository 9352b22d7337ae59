"""Products of matrices in registers: small ones, those of integers, and all where there is no BLAS.

        24 columns
      b  ▒▒▒▒▒▒     three vectors of a row of b,
    a  ░ ██████     four numbers of a column of a:
    4  ░ ██████     twelve vectors of sums, which stay in registers
       ░ ██████     while k counts
       ░ ██████

What is left at the right and at the bottom gets narrower tiles. Sizes are known, and each kind of product is one
function of the module, however often it is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ... import dtypes
from ..emit.types import Register, integer, ir, memory_type, pointer

_VECTOR = 32  # bytes
_ACROSS = 3  # vectors beside each other in a tile
_DOWN = 4  # rows of a tile


class Kind(NamedTuple):
    """A product: `m` by `k` times `k` by `n`; a first matrix that is turned stands in memory as its transpose."""

    dtype: dtypes.DType
    m: int
    n: int
    k: int
    turned: bool = False

    @property
    def name(self) -> str:
        return f"product_{self.dtype.name}_{'t' if self.turned else 'n'}_{self.m}_{self.n}_{self.k}"


def product(module: Any, kind: Kind) -> Any:
    """The function `(a, b, c)` of a kind of products, written into the module when it is first needed."""
    found = module.globals.get(kind.name)
    if found is None:
        found = ir().Function(module, ir().FunctionType(ir().VoidType(), [pointer()] * 3), kind.name)
        found.linkage = "internal"
        found.attributes.add("noinline")
        found.args[2].add_attribute("noalias")
        _Writer(kind, found).write()
    return found


class _Writer:
    """Writes one such function."""

    def __init__(self, kind: Kind, function: Any) -> None:
        self.kind = kind
        self.function = function
        self.b = ir().IRBuilder(function.append_basic_block("entry"))
        self.element = memory_type(kind.dtype)
        # As NumPy does it, half floats are added up as single ones.
        self.summed = ir().FloatType() if kind.dtype is dtypes.float16 else self.element
        self.width = _VECTOR // max(kind.dtype.size, 4 if kind.dtype.kind == "f" else 1)

    def write(self) -> None:
        full = self.width * _ACROSS
        tiles, left = divmod(self.kind.n, full)
        if tiles:
            with self._counted(tiles) as tile:
                self._rows(self.b.mul(tile, integer(64)(full)), [self.width] * _ACROSS)
        if left:
            self._rows(integer(64)(tiles * full), _parts(left, self.width))
        self.b.ret_void()

    def _rows(self, column: Register, widths: Sequence[int]) -> None:
        """All tiles of so many columns from this one on, from top to bottom."""
        tiles, left = divmod(self.kind.m, _DOWN)
        if tiles:
            with self._counted(tiles) as tile:
                self._tile(self.b.mul(tile, integer(64)(_DOWN)), _DOWN, column, widths)
        if left:
            self._tile(integer(64)(tiles * _DOWN), left, column, widths)

    def _tile(self, row: Register, rows: int, column: Register, widths: Sequence[int]) -> None:
        vectors = [ir().VectorType(self.summed, width) for width in widths]
        zeros = [ir().Constant(vector, None) for _ in range(rows) for vector in vectors]
        with self._counted(self.kind.k, zeros) as (place, sums, following):
            across = self._row_of_b(place, column, widths)
            for i in range(rows):
                number = self._number_of_a(self.b.add(row, integer(64)(i)), place)
                for j, vector in enumerate(across):
                    which = i * len(widths) + j
                    following.append(self._added(sums[which], self._spread(number, vector.type), vector))
        starts = [sum(widths[:j]) for j in range(len(widths))]
        for i in range(rows):
            for j, start in enumerate(starts):
                first = self._place(self.b.add(row, integer(64)(i)), self.kind.n, column, start)
                self._store(following[i * len(widths) + j], self._at(self.function.args[2], first))

    def _row_of_b(self, place: Register, column: Register, widths: Sequence[int]) -> list[Register]:
        found = []
        for j, width in enumerate(widths):
            first = self._place(place, self.kind.n, column, sum(widths[:j]))
            vector = ir().VectorType(self.element, width)
            value = self.b.load(
                self._at(self.function.args[1], first), align=self.kind.dtype.size, typ=vector
            )
            found.append(self._widened(value, ir().VectorType(self.summed, width)))
        return found

    def _number_of_a(self, row: Register, place: Register) -> Register:
        kind = self.kind
        index = self._place(place, kind.m, row) if kind.turned else self._place(row, kind.k, place)
        value = self.b.load(self._at(self.function.args[0], index), typ=self.element)
        return self._widened(value, self.summed)

    def _widened(self, value: Register, wanted: Any) -> Register:
        return value if self.summed is self.element else self.b.fpext(value, wanted)

    def _store(self, value: Register, where: Register) -> None:
        if self.summed is not self.element:
            value = self.b.fptrunc(value, ir().VectorType(self.element, value.type.count))
        self.b.store(value, where, align=self.kind.dtype.size)

    def _spread(self, number: Register, vector: Any) -> Register:
        """A number in all places of a vector."""
        first = self.b.insert_element(ir().Constant(vector, ir().Undefined), number, integer(32)(0))
        places = ir().Constant(ir().VectorType(integer(32), vector.count), None)
        return self.b.shuffle_vector(first, ir().Constant(vector, ir().Undefined), places)

    def _added(self, total: Register, x: Register, y: Register) -> Register:
        if self.kind.dtype.kind != "f":
            return self.b.add(total, self.b.mul(x, y))
        vector = total.type
        name = f"llvm.fmuladd.v{vector.count}{self.summed.intrinsic_name}"
        module = self.function.module
        fused = module.globals.get(name)
        if fused is None:
            fused = ir().Function(module, ir().FunctionType(vector, [vector] * 3), name)
        return self.b.call(fused, [x, y, total])

    def _place(self, row: Register, columns: int, column: Register, more: int = 0) -> Register:
        """The number of an element among all of a matrix."""
        index = self.b.add(self.b.mul(row, integer(64)(columns)), column)
        return self.b.add(index, integer(64)(more)) if more else index

    def _at(self, base: Register, index: Register) -> Register:
        return self.b.gep(base, [index], inbounds=True, source_etype=self.element)

    @contextmanager
    def _counted(self, count: int, starts: Sequence[Register] | None = None) -> Iterator[Any]:
        """A loop. With `starts`, it carries values: it gives the number, those now, and a list for the next ones."""
        before = self.b.block
        body, after = (self.function.append_basic_block(name) for name in ("loop", "after"))
        self.b.branch(body)
        self.b.position_at_end(body)
        number = self.b.phi(integer(64), "i")
        number.add_incoming(integer(64)(0), before)
        carried = [self.b.phi(start.type) for start in starts or ()]
        following: list[Register] = []
        yield number if starts is None else (number, carried, following)
        end = self.b.block
        for phi, start, last in zip(carried, starts or (), following, strict=True):
            phi.add_incoming(start, before)
            phi.add_incoming(last, end)
        next_number = self.b.add(number, integer(64)(1), flags=("nuw", "nsw"))
        number.add_incoming(next_number, end)
        self.b.cbranch(self.b.icmp_unsigned("<", next_number, integer(64)(count)), body, after)
        self.b.position_at_end(after)


def _parts(count: int, width: int) -> list[int]:
    """A count as whole vectors, and then halves of them.

    >>> _parts(19, 8)
    [8, 8, 2, 1]
    """
    parts = [width] * (count // width)
    left = count % width
    while left:
        width //= 2
        if left >= width:
            parts.append(width)
            left -= width
    return parts
