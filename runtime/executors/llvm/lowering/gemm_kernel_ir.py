"""The LLVM IR text of the blocked GEMM (gemm_blocked.py), already in its optimized form.

    units:            columns or rows of c, which threads share
      part:           `length` rows of b, and as many columns of a
        some.rows:    a block of rows of a, packed if a is transposed
          group:      adjacent strips of b, `across` bytes wide, packed into the L1 cache
            row:      `down` rows of c
              tile:   `down` rows by `across` bytes of c: one register for each accumulator
                sum:  outer product of a column of a and a row of the strip

LLVM's passes would take most of the compile time and improve nothing: loop variables are phis from the
beginning, and invariants are computed outside of loops.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from string import Template
from typing import NamedTuple

from .gemm_packing import Tile, straight

STRIP = 1 << 15
"""The bytes of strips that are packed at once, of at least one strip. They fit in the L1 cache."""

BLOCK = 1 << 16
"""The most bytes of rows of a transposed `a` that are packed at once. They fit in the L2 cache."""

_SIZES = {"float": 4, "double": 8, "i8": 1, "i16": 2, "i32": 4, "i64": 8}


class Sizes(NamedTuple):
    """The size table of a GEMM, in 64-bit words; distances and widths of rows are in bytes."""

    stays: int
    """1 if full-width strips are read without packing."""
    adds: int
    """1 if the product is added to c."""
    down: int
    """The distance between rows of a."""
    along: int
    """The distance between elements of a row of a."""
    apart: int
    """The distance between rows of b, or between columns if b is transposed."""
    far: int
    """The distance between rows of c."""
    m: int
    n: int
    """The width of a row of c, in bytes."""
    k: int
    length: int
    """The rows of a strip."""
    block: int
    """The rows of a transposed a that are packed at once; 0 if the rows of a are read without packing."""
    a_unit: int
    """The distance in a between units."""
    b_unit: int
    """The distance in b between units."""
    c_unit: int
    """The distance in c between units."""
    m_unit: int
    """The rows of a unit; 0 if units are columns."""
    n_unit: int
    units: int
    threads: int
    wakes: int
    """1 if sleeping threads are woken to share the work."""


def product(kind: str, tile: Tile) -> str:
    """Return the IR of the GEMM for an element type, and of its packing function."""
    size = _SIZES[kind]
    bytes_of_vector, across, down = tile
    count = bytes_of_vector // size
    vector = f"<{count} x {kind}>"
    rows, columns = range(down), range(0, across, bytes_of_vector)
    tiles = list(itertools.product(rows, range(len(columns))))
    parts = {
        "given": (
            line
            for i, each in enumerate(_GIVEN)
            for line in (
                f"%at.{each} = getelementptr ptr, ptr %given, i64 {i}",
                f"store ptr %{each}, ptr %at.{each}",
            )
        ),
        "taken": _fetched("given", "ptr", _TAKEN),
        "looked_up": _fetched("table", "i64", _LOOKED_UP),
        "lines": map(_line, rows[1:]),
        "sources": _addresses("source", "from", rows, columns),
        "targets": _addresses("target", "to", rows, columns),
        "expected": (f"call void @llvm.prefetch.p0(ptr %to.{i}.{j}, i32 1, i32 3, i32 1)" for i, j in tiles),
        "loaded": (f"%begun.{i}.{j} = load {vector}, ptr %from.{i}.{j}, align {size}" for i, j in tiles),
        "sums": (
            f"%sum.{i}.{j} = phi {vector} [ %begun.{i}.{j}, %begin ], [ %more.{i}.{j}, %sum ]"
            for i, j in tiles
        ),
        "rows": (_row(vector, size, j, at) for j, at in enumerate(columns)),
        "factors": (_factor(vector, kind, count, i) for i in rows),
        "products": (_added(vector, kind, i, j) for i, j in tiles),
        "stored": (f"store {vector} %more.{i}.{j}, ptr %to.{i}.{j}, align {size}" for i, j in tiles),
    }
    return _TEXT.substitute(
        {name: "\n  ".join(lines) for name, lines in parts.items()},
        kind=kind, units=Sizes._fields.index("units"), threads=Sizes._fields.index("threads"),
        wakes=Sizes._fields.index("wakes"), vector=vector, count=count, bits=8 * size, across=across, down=down,
        packed=STRIP, tile=across * down, pack=straight(f"agc_pack_{kind}", size, across), size=size,
        block=BLOCK, high=down * size,
    )  # fmt: skip


_GIVEN = ("pack", "a", "b", "c", "table")
_TAKEN = ("pack", "all.a", "all.b", "all.c", "table")
_LOOKED_UP = tuple({"m": "all.m", "n": "all.n"}.get(name, name.replace("_", ".")) for name in Sizes._fields)[
    :-3
]


def _fetched(start: str, kind: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the IR that loads consecutive words."""
    for i, name in enumerate(names):
        yield f"%at.{name} = getelementptr {kind}, ptr %{start}, i64 {i}"
        yield f"%{name} = load {kind}, ptr %at.{name}"


def _line(i: int) -> str:
    """Return the IR for the address of row `i` of a; rows beyond the end repeat the last one."""
    return f"""%has.{i} = icmp sgt i64 %rows, {i}
  %down.{i} = select i1 %has.{i}, i64 %row.down, i64 0
  %line.{i} = getelementptr i8, ptr %line.{i - 1}, i64 %down.{i}"""


def _addresses(start: str, name: str, rows: range, columns: range) -> Iterator[str]:
    """Yield the IR for the addresses of the vectors of a tile."""
    yield f"%{name}.0.0 = getelementptr i8, ptr %{start}, i64 0"
    for i in rows[1:]:
        yield f"%{name}.{i}.0 = getelementptr i8, ptr %{name}.{i - 1}.0, i64 %{start}.far"
    for i, (j, at) in itertools.product(rows, enumerate(columns[1:], 1)):
        yield f"%{name}.{i}.{j} = getelementptr i8, ptr %{name}.{i}.0, i64 {at}"


def _row(vector: str, size: int, j: int, at: int) -> str:
    """Return the IR that loads a vector of the strip."""
    return f"""%at.{j} = getelementptr i8, ptr %strip.at, i64 {at}
  %row.{j} = load {vector}, ptr %at.{j}, align {size}"""


def _factor(vector: str, kind: str, count: int, i: int) -> str:
    """Return the IR that splats an element of a."""
    return f"""%a.{i} = getelementptr i8, ptr %line.{i}, i64 %a.at
  %number.{i} = load {kind}, ptr %a.{i}
  %alone.{i} = insertelement {vector} poison, {kind} %number.{i}, i32 0
  %factor.{i} = shufflevector {vector} %alone.{i}, {vector} poison, <{count} x i32> zeroinitializer"""


def _added(vector: str, kind: str, i: int, j: int) -> str:
    """Return the IR of a multiply-add to one accumulator."""
    if not kind.startswith("i"):
        name = f"@llvm.fmuladd.v{vector.split()[0][1:]}f{8 * _SIZES[kind]}"
        return f"%more.{i}.{j} = call {vector} {name}({vector} %factor.{i}, {vector} %row.{j}, {vector} %sum.{i}.{j})"
    return f"""%product.{i}.{j} = mul {vector} %factor.{i}, %row.{j}
  %more.{i}.{j} = add {vector} %sum.{i}.{j}, %product.{i}.{j}"""


_TEXT = Template("""
declare i64 @llvm.smin.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @llvm.smax.i64(i64, i64)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare ${vector} @llvm.fmuladd.v${count}f${bits}(${vector}, ${vector}, ${vector})

@zeros = internal constant [${across} x i8] zeroinitializer, align 64

define internal void @copy(ptr %to, i64 %to.far, ptr %from, i64 %from.far, i64 %rows, i64 %bytes) nounwind noinline {
begin:
  br label %row
row:
  %left = phi i64 [ %rows, %begin ], [ %fewer, %row ]
  %target = phi ptr [ %to, %begin ], [ %target.next, %row ]
  %source = phi ptr [ %from, %begin ], [ %source.next, %row ]
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %source, i64 %bytes, i1 false)
  %target.next = getelementptr i8, ptr %target, i64 %to.far
  %source.next = getelementptr i8, ptr %source, i64 %from.far
  %fewer = add i64 %left, -1
  %goes.on = icmp ne i64 %fewer, 0
  br i1 %goes.on, label %row, label %end
end:
  ret void
}

define void @agc_product_${kind}(ptr %run, ptr %pack, ptr %a, ptr %b, ptr %c, ptr %table) nounwind {
  %given = alloca [5 x ptr], align 64
  $given
  %units.at = getelementptr i64, ptr %table, i64 $units
  %threads.at = getelementptr i64, ptr %table, i64 $threads
  %wakes.at = getelementptr i64, ptr %table, i64 $wakes
  %units = load i64, ptr %units.at
  %threads = load i64, ptr %threads.at
  %wakes = load i64, ptr %wakes.at
  %is.alone = icmp eq ptr %run, null
  br i1 %is.alone, label %alone, label %shared
alone:
  call void @units(ptr %given, i64 0, i64 %units)
  ret void
shared:
  call void %run(ptr @units, ptr %given, i64 %units, i64 %threads, i64 %wakes)
  ret void
}

; Some units of a product: columns of as many strips, or rows of as many tiles.
define internal void @units(ptr %given, i64 %begin.unit, i64 %end.unit) nounwind {
  %packed = alloca [$packed x i8], align 64
  %packed.rows = alloca [$block x i8], align 64
  %scratch = alloca [$tile x i8], align 64
  $taken
  $looked_up
  %units.here = sub i64 %end.unit, %begin.unit
  %a.far = mul i64 %begin.unit, %a.unit
  %b.far = mul i64 %begin.unit, %b.unit
  %c.far = mul i64 %begin.unit, %c.unit
  %m.far = mul i64 %begin.unit, %m.unit
  %n.far = mul i64 %begin.unit, %n.unit
  %a = getelementptr i8, ptr %all.a, i64 %a.far
  %b = getelementptr i8, ptr %all.b, i64 %b.far
  %c = getelementptr i8, ptr %all.c, i64 %c.far
  %m.left = sub i64 %all.m, %m.far
  %n.left = sub i64 %all.n, %n.far
  %by.rows = icmp ne i64 %m.unit, 0
  %m.wanted = mul i64 %units.here, %m.unit
  %n.wanted = mul i64 %units.here, %n.unit
  %m.most = select i1 %by.rows, i64 %m.wanted, i64 %m.left
  %n.most = select i1 %by.rows, i64 %n.left, i64 %n.wanted
  %m = call i64 @llvm.smin.i64(i64 %m.left, i64 %m.most)
  %n = call i64 @llvm.smin.i64(i64 %n.left, i64 %n.most)
  %may.stay = icmp ne i64 %stays, 0
  %before.last = add i64 %k, -1
  %before = mul i64 %before.last, %apart
  %size = add i64 %before, %n
  %end = getelementptr i8, ptr %b, i64 %size
  %has.rows = icmp sgt i64 %m, 0
  %has.columns = icmp sgt i64 %n, 0
  %has.numbers = icmp sgt i64 %k, 0
  %has.tiles = and i1 %has.rows, %has.columns
  %is.something = and i1 %has.tiles, %has.numbers
  %c.below = mul i64 %far, ${down}
  %is.packed = icmp ne i64 %block, 0
  %block.rows = select i1 %is.packed, i64 %block, i64 %m
  %row.down = select i1 %is.packed, i64 ${size}, i64 %down
  %row.along = select i1 %is.packed, i64 ${high}, i64 %along
  br i1 %is.something, label %part, label %done

part: ; some rows of all strips
  %start = phi i64 [ 0, %0 ], [ %start.next, %part.done ]
  %rows.left = sub i64 %k, %start
  %count = call i64 @llvm.smin.i64(i64 %rows.left, i64 %length)
  %is.begin = icmp eq i64 %start, 0
  %starts.anew = icmp eq i64 %adds, 0
  %is.first = and i1 %is.begin, %starts.anew
  %a.start = mul i64 %start, %along
  %a.first = getelementptr i8, ptr %a, i64 %a.start
  %b.start = mul i64 %start, %apart
  %b.first = getelementptr i8, ptr %b, i64 %b.start
  %strip.size = mul i64 %count, ${across}
  %fit = udiv i64 ${packed}, %strip.size
  %most = call i64 @llvm.smax.i64(i64 %fit, i64 1)
  %strips = select i1 %may.stay, i64 1, i64 %most
  %group.size = mul i64 %strips, ${across}
  %row.size = mul i64 %count, ${size}
  %row.far = select i1 %is.packed, i64 %row.size, i64 %down
  %line.below = mul i64 %row.far, ${down}
  br label %some.rows

some.rows: ; of a
  %block.begin = phi i64 [ 0, %part ], [ %block.end, %block.done ]
  %block.most = add i64 %block.begin, %block.rows
  %block.end = call i64 @llvm.smin.i64(i64 %block.most, i64 %m)
  %block.count = sub i64 %block.end, %block.begin
  %block.far = mul i64 %block.begin, %down
  %a.block = getelementptr i8, ptr %a.first, i64 %block.far
  %c.far.block = mul i64 %block.begin, %far
  %c.block = getelementptr i8, ptr %c, i64 %c.far.block
  %lines = select i1 %is.packed, ptr %packed.rows, ptr %a.block
  br i1 %is.packed, label %pack.rows, label %groups
pack.rows: ; those of all tiles, which share cache lines
  %packed.number = phi i64 [ 0, %some.rows ], [ %packed.number.next, %packed.number.done ]
  %column.far = mul i64 %packed.number, %along
  %column.first = getelementptr i8, ptr %a.block, i64 %column.far
  %tile.first = mul i64 %packed.number, ${high}
  br label %pack.tile
pack.tile:
  %packed.row = phi i64 [ 0, %pack.rows ], [ %packed.row.next, %packed.tile.done ]
  %unpacked.far = mul i64 %packed.row, ${size}
  %unpacked = getelementptr i8, ptr %column.first, i64 %unpacked.far
  %tile.far = mul i64 %packed.row, %row.size
  %tile.shift = add i64 %tile.far, %tile.first
  %packed.place = getelementptr i8, ptr %packed.rows, i64 %tile.shift
  %rows.unpacked = sub i64 %block.count, %packed.row
  %is.full = icmp sge i64 %rows.unpacked, ${down}
  br i1 %is.full, label %pack.whole, label %pack.cut
pack.whole:
  %packed.vector = load <${high} x i8>, ptr %unpacked, align ${size}
  store <${high} x i8> %packed.vector, ptr %packed.place, align ${high}
  br label %packed.tile.done
pack.cut:
  %cut.size = mul i64 %rows.unpacked, ${size}
  call void @llvm.memcpy.p0.p0.i64(ptr %packed.place, ptr %unpacked, i64 %cut.size, i1 false)
  br label %packed.tile.done
packed.tile.done:
  %packed.row.next = add i64 %packed.row, ${down}
  %more.unpacked = icmp slt i64 %packed.row.next, %block.count
  br i1 %more.unpacked, label %pack.tile, label %packed.number.done
packed.number.done:
  %packed.number.next = add i64 %packed.number, 1
  %more.numbers = icmp slt i64 %packed.number.next, %count
  br i1 %more.numbers, label %pack.rows, label %groups
groups:
  br label %group

group: ; adjacent strips, packed before the tiles read them
  %group.begin = phi i64 [ 0, %groups ], [ %group.end, %group.done ]
  %group.most = add i64 %group.begin, %group.size
  %group.end = call i64 @llvm.smin.i64(i64 %group.most, i64 %n)
  %c.first = getelementptr i8, ptr %c.block, i64 %group.begin
  br label %strip
strip:
  %strip.column = phi i64 [ %group.begin, %group ], [ %strip.next.column, %strip.done ]
  %strip.place = phi ptr [ %packed, %group ], [ %strip.next, %strip.done ]
  %strip.left = sub i64 %n, %strip.column
  %wide = call i64 @llvm.smin.i64(i64 %strip.left, i64 ${across})
  %strip.is.whole = icmp sge i64 %strip.left, ${across}
  %stays.there = and i1 %may.stay, %strip.is.whole
  br i1 %stays.there, label %strip.done, label %pack.it
pack.it:
  call void %pack(ptr %b, i64 %apart, i64 %start, i64 %count, i64 %strip.column, i64 %wide, ptr %end, ptr %strip.place)
  br label %strip.done
strip.done:
  %strip.next.column = add i64 %strip.column, ${across}
  %strip.next = getelementptr i8, ptr %strip.place, i64 %strip.size
  %more.strips = icmp slt i64 %strip.next.column, %group.end
  br i1 %more.strips, label %strip, label %row

row: ; of tiles
  %number = phi i64 [ 0, %strip.done ], [ %number.next, %row.done ]
  %c.row = phi ptr [ %c.first, %strip.done ], [ %c.next, %row.done ]
  %line.0 = phi ptr [ %lines, %strip.done ], [ %line.next, %row.done ]
  %rows = sub i64 %block.count, %number
  %is.short = icmp slt i64 %rows, ${down}
  %rows.here = call i64 @llvm.smin.i64(i64 %rows, i64 ${down})
  ${lines}
  br label %tile

tile:
  %column = phi i64 [ %group.begin, %row ], [ %column.next, %tile.done ]
  %place = phi ptr [ %c.row, %row ], [ %place.next, %tile.done ]
  %packed.strip = phi ptr [ %packed, %row ], [ %packed.next, %tile.done ]
  %columns.left = sub i64 %n, %column
  %columns = call i64 @llvm.smin.i64(i64 %columns.left, i64 ${across})
  %is.cut = icmp slt i64 %columns.left, ${across}
  %is.whole = xor i1 %is.cut, true
  %is.there = and i1 %may.stay, %is.whole
  %there = getelementptr i8, ptr %b.first, i64 %column
  %strip.first = select i1 %is.there, ptr %there, ptr %packed.strip
  %step = select i1 %is.there, i64 %apart, i64 ${across}
  %is.part = or i1 %is.cut, %is.short
  %target = select i1 %is.part, ptr %scratch, ptr %place
  %target.far = select i1 %is.part, i64 ${across}, i64 %far
  %source = select i1 %is.first, ptr @zeros, ptr %target
  %source.far = select i1 %is.first, i64 0, i64 %target.far
  %is.whole.tile = xor i1 %is.part, true
  %is.ready = or i1 %is.first, %is.whole.tile
  br i1 %is.ready, label %begin, label %fetch
fetch:
  call void @copy(ptr %scratch, i64 ${across}, ptr %place, i64 %far, i64 %rows.here, i64 %columns)
  br label %begin
begin: ; what is written at the end is brought near meanwhile
  ${targets}
  ${expected}
  ${sources}
  ${loaded}
  br label %sum

sum:
  %left = phi i64 [ %count, %begin ], [ %fewer, %sum ]
  %a.at = phi i64 [ 0, %begin ], [ %a.next, %sum ]
  %strip.at = phi ptr [ %strip.first, %begin ], [ %strip.below, %sum ]
  ${sums}
  ${rows}
  ${factors}
  ${products}
  %a.next = add i64 %a.at, %row.along
  %strip.below = getelementptr i8, ptr %strip.at, i64 %step
  %fewer = add i64 %left, -1
  %goes.on = icmp ne i64 %fewer, 0
  br i1 %goes.on, label %sum, label %summed

summed:
  ${stored}
  br i1 %is.part, label %bring, label %tile.done
bring:
  call void @copy(ptr %place, i64 %far, ptr %scratch, i64 ${across}, i64 %rows.here, i64 %columns)
  br label %tile.done
tile.done:
  %column.next = add i64 %column, ${across}
  %place.next = getelementptr i8, ptr %place, i64 ${across}
  %packed.next = getelementptr i8, ptr %packed.strip, i64 %strip.size
  %more.columns = icmp slt i64 %column.next, %group.end
  br i1 %more.columns, label %tile, label %row.done
row.done:
  %number.next = add i64 %number, ${down}
  %c.next = getelementptr i8, ptr %c.row, i64 %c.below
  %line.next = getelementptr i8, ptr %line.0, i64 %line.below
  %more.rows = icmp slt i64 %number.next, %block.count
  br i1 %more.rows, label %row, label %group.done
group.done:
  %more.groups = icmp slt i64 %group.end, %n
  br i1 %more.groups, label %group, label %block.done
block.done:
  %more.blocks = icmp slt i64 %block.end, %m
  br i1 %more.blocks, label %some.rows, label %part.done
part.done:
  %start.next = add i64 %start, %length
  %more.parts = icmp slt i64 %start.next, %k
  br i1 %more.parts, label %part, label %done
done:
  ret void
}
${pack}
""")
"""The GEMM function. Placeholders expand to one line per row or vector of a tile."""
