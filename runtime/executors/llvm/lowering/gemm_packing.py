"""Pack strips of the second matrix, which are as wide as a register tile, into consecutive memory.

    b  · · ▒ ▒ ▒ · · ·                         b, transposed   · · · ·
       · · ▒ ▒ ▒ · · ·                                         ▒ ▒ ▒ ▒
       · · ▒ ▒ ▒ · · ·                                         ▒ ▒ ▒ ▒
       · · ▒ ▒ ▒ · · ·   ==>  ▒ ▒ ▒ ▒ ▒ ▒ …   <==              ▒ ▒ ▒ ▒

In a large matrix the rows of a strip are a large stride apart, so that they compete for the same cache sets.
A packed strip uses the cache evenly, for all tiles that read it. At the right edge a strip has columns beyond
the matrix; their content is unspecified.

    pack(b, apart, start, count, column, columns, end, strip)

`apart` is the distance of rows of `b`, or of its columns if transposed. `start` and `count` are the first row and the
number of rows. `column` and `columns` are the offset in a row and the width, in bytes. `end` is the end of `b`.
"""

from __future__ import annotations

from string import Template
from typing import NamedTuple

from ..processor import vector_bytes


class Tile(NamedTuple):
    """The register tile of a product: its sizes. The accumulators stay in registers."""

    vector: int
    """Bytes of a vector."""
    across: int
    """Bytes of a row of a tile and of a strip, which is two vectors."""
    down: int
    """Rows of a tile."""


def tile() -> Tile:
    """Return the tile of this machine: 8 accumulators, or 16 for AVX-512, which has more registers."""
    vector = max(32, vector_bytes())
    return Tile(vector, 2 * vector, 8 if vector == 64 else 4)


_TAKES = "ptr %b, i64 %apart, i64 %start, i64 %count, i64 %column, i64 %columns, ptr %end, ptr %strip"


def straight(name: str, size: int, across: int) -> str:
    """Return the IR of the function that packs a strip. Columns beyond the edge get elements of the next row."""
    return _STRAIGHT.substitute(name=name, takes=_TAKES, across=across, size=size)


def turned(name: str, size: int, across: int) -> str:
    """Return the IR of the function that packs a strip of a transpose. Columns beyond the edge repeat the last one.

    Square blocks are transposed in registers; the remaining rows are copied element by element.
    """
    side = min(8, 32 // size)
    vector = f"<{side} x i{8 * size}>"
    begun = (_line(i) for i in range(side))
    loaded = (_loaded(vector, side, size, i) for i in range(side))
    stored = (_stored(vector, size, across, i) for i in range(side))
    return _TURNED.substitute(
        name=name, takes=_TAKES, across=across, size=size, bits=8 * size, side=side, squares=-side,
        far=across * side, columns=across // size,
        begun="\n  ".join(begun), square="\n  ".join([*loaded, *_turning(vector, side), *stored]),
    )  # fmt: skip


def _line(i: int) -> str:
    """Return the IR for the address of a column."""
    return f"""%column.{i} = add i64 %place, {i}
  %there.{i} = call i64 @llvm.smin.i64(i64 %column.{i}, i64 %last)
  %far.{i} = mul i64 %there.{i}, %apart
  %line.{i} = getelementptr i8, ptr %first, i64 %far.{i}"""


def _loaded(vector: str, side: int, size: int, i: int) -> str:
    """Return the IR that loads a row of a square block of the transposed matrix."""
    return f"""%at.{i} = getelementptr i8, ptr %line.{i}, i64 %far
  %turned.{side}.{i} = load {vector}, ptr %at.{i}, align {size}"""


def _stored(vector: str, size: int, across: int, i: int) -> str:
    """Return the IR that stores a row of the transposed block to the strip."""
    return f"""%to.{i} = getelementptr i8, ptr %target, i64 {across * i}
  store {vector} %turned.1.{i}, ptr %to.{i}, align {size}"""


def _turning(vector: str, side: int) -> list[str]:
    """Return the IR that transposes a square block by exchanging its quarters, recursively.

    %turned.4.0 … 3 = abcd, efgh, ijkl, mnop   ==>   %turned.1.0 … 3 = aeim, bfjn, cgko, dhlp
    """
    lines, step = [], side // 2
    while step:
        for i in (i for i in range(side) if not i & step):
            pair = f"{vector} %turned.{2 * step}.{i}, {vector} %turned.{2 * step}.{i + step}"
            upper = [side + e - step if e & step else e for e in range(side)]
            lower = [side + e if e & step else e + step for e in range(side)]
            for number, order in ((i, upper), (i + step, lower)):
                mask = ", ".join(f"i32 {each}" for each in order)
                lines.append(f"%turned.{step}.{number} = shufflevector {pair}, <{side} x i32> <{mask}>")
        step //= 2
    return lines


_STRAIGHT = Template("""
define void @${name}(${takes}) nounwind {
begin:
  %above = mul i64 %start, %apart
  %first = add i64 %above, %column
  %source.first = getelementptr i8, ptr %b, i64 %first
  br label %row
row:
  %left = phi i64 [ %count, %begin ], [ %fewer, %next ]
  %source = phi ptr [ %source.first, %begin ], [ %source.next, %next ]
  %target = phi ptr [ %strip, %begin ], [ %target.next, %next ]
  %vector.end = getelementptr i8, ptr %source, i64 ${across}
  %is.inside = icmp ule ptr %vector.end, %end
  br i1 %is.inside, label %whole, label %cut
whole:
  %vector = load <${across} x i8>, ptr %source, align ${size}
  store <${across} x i8> %vector, ptr %target, align ${across}
  br label %next
cut:
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %source, i64 %columns, i1 false)
  br label %next
next:
  %source.next = getelementptr i8, ptr %source, i64 %apart
  %target.next = getelementptr i8, ptr %target, i64 ${across}
  %fewer = add i64 %left, -1
  %goes.on = icmp ne i64 %fewer, 0
  br i1 %goes.on, label %row, label %end.of.strip
end.of.strip:
  ret void
}
""")

_TURNED = Template("""
declare i64 @llvm.smin.i64(i64, i64)

define void @${name}(${takes}) nounwind {
begin:
  %number = sdiv i64 %column, ${size}
  %above = mul i64 %number, %apart
  %column.offset = mul i64 %start, ${size}
  %from = add i64 %above, %column.offset
  %first = getelementptr i8, ptr %b, i64 %from
  %all = sdiv i64 %columns, ${size}
  %last = add i64 %all, -1
  %in.squares = and i64 %count, ${squares}
  br label %squares

squares: ; those below each other
  %place = phi i64 [ 0, %begin ], [ %place.next, %squares.done ]
  %shift = mul i64 %place, ${size}
  %target.first = getelementptr i8, ptr %strip, i64 %shift
  ${begun}
  %is.none = icmp eq i64 %in.squares, 0
  br i1 %is.none, label %squares.done, label %square
square:
  %row = phi i64 [ 0, %squares ], [ %row.next, %square ]
  %target = phi ptr [ %target.first, %squares ], [ %target.next, %square ]
  %far = mul i64 %row, ${size}
  ${square}
  %row.next = add i64 %row, ${side}
  %target.next = getelementptr i8, ptr %target, i64 ${far}
  %more.rows = icmp slt i64 %row.next, %in.squares
  br i1 %more.rows, label %square, label %squares.done
squares.done:
  %place.next = add i64 %place, ${side}
  %more.columns = icmp slt i64 %place.next, ${columns}
  br i1 %more.columns, label %squares, label %left
left:
  %is.left = icmp slt i64 %in.squares, %count
  br i1 %is.left, label %rest, label %done

rest: ; the rows below the squares
  %rest.row = phi i64 [ %in.squares, %left ], [ %rest.next, %rest.done ]
  %rest.far = mul i64 %rest.row, ${size}
  %rest.from = getelementptr i8, ptr %first, i64 %rest.far
  %rest.shift = mul i64 %rest.row, ${across}
  %rest.to = getelementptr i8, ptr %strip, i64 %rest.shift
  br label %number.by.number
number.by.number:
  %i = phi i64 [ 0, %rest ], [ %i.next, %number.by.number ]
  %i.there = call i64 @llvm.smin.i64(i64 %i, i64 %last)
  %i.far = mul i64 %i.there, %apart
  %i.from = getelementptr i8, ptr %rest.from, i64 %i.far
  %i.to = getelementptr i${bits}, ptr %rest.to, i64 %i
  %one = load i${bits}, ptr %i.from
  store i${bits} %one, ptr %i.to
  %i.next = add i64 %i, 1
  %more.numbers = icmp slt i64 %i.next, ${columns}
  br i1 %more.numbers, label %number.by.number, label %rest.done
rest.done:
  %rest.next = add i64 %rest.row, 1
  %more.rest = icmp slt i64 %rest.next, %count
  br i1 %more.rest, label %rest, label %done
done:
  ret void
}
""")
