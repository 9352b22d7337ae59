"""Matrix products by BLAS in parts that threads share, as LLVM IR.

              columns
         ┌──┬──┬──┬──┐      agc_product_s(run, a, b, c, table)
    rows │ 0│ 1│ 2│ 3│          parts ← halve the longer side until they are small enough
         ├──┼──┼──┼──┤          limit BLAS to one thread
         │ 4│ 5│ 6│ 7│          run the parts of all matrices of the batch in the thread pool
         └──┴──┴──┴──┘              cblas_sgemm(…) of one part, read and written with strides

The number of parts depends on the sizes alone, and so does the result. It grows with the cube root of the work: BLAS
packs the rows and columns of each part anew, and the packing takes more of the time the smaller the parts are. Products
of few rows get small parts, which OpenBLAS multiplies without packing.

The table (`PartSizes`) holds all sizes. BLAS is limited with the counter of kernels/blas_limit.py, so that plans and
native code may run at the same time.
"""

from __future__ import annotations

import ctypes
import functools
from string import Template
from typing import NamedTuple

from .... import dtypes
from ....kernels import blas, blas_limit
from .. import llvm_engine, opt_levels
from ..codegen.llvm_types import Register
from ..shared_code import SharedCode

SHARED = 1 << 18
"""The number of multiplications from which on spinning threads share the work. OpenBLAS uses one thread up to here."""

WAKES = 1 << 21
"""The number of multiplications from which on sleeping threads are woken too. Inside a loop they always are."""

FEW = 48
"""The number of rows up to which parts are as small as `UNPACKED`."""

UNPACKED = 10**6
"""The number of multiplications up to which OpenBLAS does not pack its operands."""

_BEGIN, _END = "agc_begin_blas_limit", "agc_end_blas_limit"


class PartSizes(NamedTuple):
    """The sizes of a batch of products, in elements. Strides of 0 read one matrix for all products of the batch."""

    a_flag: Register
    b_flag: Register
    m: Register
    n: Register
    k: Register
    a_stride: Register
    b_stride: Register
    c_stride: Register
    a_row: Register
    """The distance of rows of the first matrix; 1 if it is transposed."""
    b_column: Register
    count: Register
    """The number of products, which is a multiple of `inner`."""
    inner: Register
    a_outer: Register
    a_inner: Register
    b_outer: Register
    b_inner: Register
    c_outer: Register
    c_inner: Register
    threads: Register
    """The number of threads; 0 if BLAS computes each product as a whole, with its own threads."""
    is_repeated: Register


def symbol(dtype: dtypes.DType, gemm: blas.Gemm) -> str:
    """Return the symbol of the function for a dtype, and begin to compile the function."""
    letter = blas.LETTERS[dtype]
    _shared(letter, gemm).begin()
    return f"agc_product_{letter}"


def limits(dtype: dtypes.DType, gemm: blas.Gemm) -> tuple[str, str]:
    """Return the symbols of the functions that limit BLAS to one thread, and that end the limit."""
    _shared(blas.LETTERS[dtype], gemm).begin()
    return _BEGIN, _END


@functools.cache
def _shared(letter: str, gemm: blas.Gemm) -> SharedCode:
    name = f"agc_product_{letter}"
    symbols = {name: name, _BEGIN: "begin.limit", _END: "end.limit"}
    return SharedCode(functools.partial(_code, letter, gemm), symbols)


def _code(letter: str, gemm: blas.Gemm) -> llvm_engine.LinkedCode:
    llvm_engine.known_as(gemm.symbol, gemm.address)
    code = llvm_engine.LinkedCode(*llvm_engine.assembled(text(letter, gemm), opt_levels.FEWEST))
    if blas_limit.can_limit():
        for name, address in zip(("get", "put", "limit"), blas_limit.addresses(), strict=True):
            ctypes.c_void_p.from_address(code.variable(name)).value = address
        blas_limit.share(code.function("begin.limit"), code.function("end.limit"))
    return code


def text(letter: str, gemm: blas.Gemm) -> str:
    """Return the IR of the function for a BLAS type prefix."""
    part = {"c": "float", "z": "double"}.get(letter)  # complex factors are passed by address
    factors = {"one": "1.0", "zero": "0.0"}
    constants = [
        f"@{name} = internal constant [2 x {part}] [{part} {number}, {part} 0.0]"
        for name, number in factors.items()
        if part
    ]
    loads = [
        f"%{name}.at = getelementptr i64, ptr %table, i64 {i}\n  %{name} = load i64, ptr %{name}.at"
        for i, name in enumerate(PartSizes._fields)
    ]
    wholes = ("rows.here", "columns.here", "k", "a.apart", "b.apart", "c.apart")
    convert, kind = ("add i64 {}, 0", "i64") if gemm.bits == 64 else ("trunc i64 {} to i32", "i32")
    return _TEXT.substitute(
        name=f"agc_product_{letter}", gemm=gemm.symbol, whole=kind,
        kind={"s": "float", "d": "double"}.get(letter, "ptr"), size={"s": 4, "z": 16}.get(letter, 8),
        one="@one" if part else factors["one"], zero="@zero" if part else factors["zero"],
        constants="\n".join(constants), loads="\n  ".join(loads),
        narrow="\n  ".join(f"%{name}.whole = {convert.format('%' + name)}" for name in wholes),
        limiting=_LIMIT if blas_limit.can_limit() else _NO_LIMIT,
        shared=SHARED, wakes=WAKES, few=FEW, unpacked=UNPACKED,
    )  # fmt: skip


_TEXT = Template("""
declare void @${gemm}(i32, i32, i32, ${whole}, ${whole}, ${whole}, ${kind}, ptr, ${whole}, ptr, ${whole}, ${kind},
  ptr, ${whole})
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.ctlz.i64(i64, i1)

${constants}

; Compute some parts. `around` has the addresses, the rows and columns of a part, and the parts per row and per matrix.
define internal void @part(ptr %around, i64 %begin, i64 %end) nounwind {
start:
  %a = load ptr, ptr %around
  %b.at = getelementptr i64, ptr %around, i64 1
  %b = load ptr, ptr %b.at
  %c.at = getelementptr i64, ptr %around, i64 2
  %c = load ptr, ptr %c.at
  %table.at = getelementptr i64, ptr %around, i64 3
  %table = load ptr, ptr %table.at
  %rows.at = getelementptr i64, ptr %around, i64 4
  %rows = load i64, ptr %rows.at
  %columns.at = getelementptr i64, ptr %around, i64 5
  %columns = load i64, ptr %columns.at
  %across.at = getelementptr i64, ptr %around, i64 6
  %across = load i64, ptr %across.at
  %grid.at = getelementptr i64, ptr %around, i64 7
  %grid = load i64, ptr %grid.at
  ${loads}
  %flag.a = trunc i64 %a_flag to i32
  %flag.b = trunc i64 %b_flag to i32
  %a.apart = call i64 @llvm.smax.i64(i64 %a_stride, i64 1)
  %b.apart = call i64 @llvm.smax.i64(i64 %b_stride, i64 1)
  %c.apart = call i64 @llvm.smax.i64(i64 %c_stride, i64 1)
  br label %each
each:
  %number = phi i64 [ %begin, %start ], [ %next, %each ]
  %matrix = udiv i64 %number, %grid
  %place = urem i64 %number, %grid
  %outer.number = udiv i64 %matrix, %inner
  %inner.number = urem i64 %matrix, %inner
  %row.number = udiv i64 %place, %across
  %column.number = urem i64 %place, %across
  %row = mul i64 %row.number, %rows
  %column = mul i64 %column.number, %columns
  %rows.left = sub i64 %m, %row
  %rows.here = call i64 @llvm.smin.i64(i64 %rows, i64 %rows.left)
  %columns.left = sub i64 %n, %column
  %columns.here = call i64 @llvm.smin.i64(i64 %columns, i64 %columns.left)

  %a.1 = mul i64 %outer.number, %a_outer
  %a.2 = mul i64 %inner.number, %a_inner
  %a.3 = mul i64 %row, %a_row
  %a.4 = add i64 %a.1, %a.2
  %a.5 = add i64 %a.4, %a.3
  %a.6 = mul i64 %a.5, ${size}
  %a.here = getelementptr i8, ptr %a, i64 %a.6
  %b.1 = mul i64 %outer.number, %b_outer
  %b.2 = mul i64 %inner.number, %b_inner
  %b.3 = mul i64 %column, %b_column
  %b.4 = add i64 %b.1, %b.2
  %b.5 = add i64 %b.4, %b.3
  %b.6 = mul i64 %b.5, ${size}
  %b.here = getelementptr i8, ptr %b, i64 %b.6
  %c.1 = mul i64 %outer.number, %c_outer
  %c.2 = mul i64 %inner.number, %c_inner
  %c.3 = mul i64 %row, %c_stride
  %c.4 = add i64 %c.1, %c.2
  %c.5 = add i64 %c.4, %c.3
  %c.6 = add i64 %c.5, %column
  %c.7 = mul i64 %c.6, ${size}
  %c.here = getelementptr i8, ptr %c, i64 %c.7

  ${narrow}
  call void @${gemm}(i32 101, i32 %flag.a, i32 %flag.b, ${whole} %rows.here.whole, ${whole} %columns.here.whole,
    ${whole} %k.whole, ${kind} ${one}, ptr %a.here, ${whole} %a.apart.whole, ptr %b.here, ${whole} %b.apart.whole,
    ${kind} ${zero}, ptr %c.here, ${whole} %c.apart.whole)
  %next = add i64 %number, 1
  %goes.on = icmp slt i64 %next, %end
  br i1 %goes.on, label %each, label %done
done:
  ret void
}

${limiting}

; Compute all products of a batch. `run` runs parts in the thread pool; null for one thread.
define void @${name}(ptr %run, ptr %a, ptr %b, ptr %c, ptr %table) nounwind {
start:
  %around = alloca [8 x i64]
  ${loads}
  %m.n = mul i64 %m, %n
  %elements = mul i64 %m.n, %count
  %is.empty = icmp eq i64 %elements, 0
  br i1 %is.empty, label %done, label %begin
begin:
  %size = mul i64 %m.n, %k
  %total = mul i64 %size, %count
  %positive = or i64 %total, 1
  %zeros = call i64 @llvm.ctlz.i64(i64 %positive, i1 false)
  %surplus = sub i64 45, %zeros
  %bounded = call i64 @llvm.smax.i64(i64 %surplus, i64 0)
  %halvings = udiv i64 %bounded, 3
  %count.zeros = call i64 @llvm.ctlz.i64(i64 %count, i1 false)
  %matrices = sub i64 63, %count.zeros
  %parts.wanted = sub i64 %halvings, %matrices
  %is.whole = icmp eq i64 %threads, 0
  %is.few.rows = icmp sle i64 %m, ${few}
  %is.few.columns = icmp sle i64 %n, ${few}
  %is.few = or i1 %is.few.rows, %is.few.columns
  br i1 %is.whole, label %split, label %look
look:
  %rows = phi i64 [ %m, %begin ], [ %rows.next, %halve ]
  %columns = phi i64 [ %n, %begin ], [ %columns.next, %halve ]
  %wanted = phi i64 [ %parts.wanted, %begin ], [ %wanted.next, %halve ]
  %part.area = mul i64 %rows, %columns
  %part.size = mul i64 %part.area, %k
  %is.packed = icmp sgt i64 %part.size, ${unpacked}
  %is.narrow = and i1 %is.packed, %is.few
  %is.wanted = icmp sgt i64 %wanted, 0
  %splits = or i1 %is.wanted, %is.narrow
  %longer = call i64 @llvm.smax.i64(i64 %rows, i64 %columns)
  %is.divisible = icmp sgt i64 %longer, 32
  %goes.on = and i1 %splits, %is.divisible
  br i1 %goes.on, label %halve, label %split
halve:
  %is.high = icmp sgt i64 %rows, %columns
  %half = lshr i64 %longer, 1
  %half.up = add i64 %half, 15
  %rounded = and i64 %half.up, -16
  %rows.next = select i1 %is.high, i64 %rounded, i64 %rows
  %columns.next = select i1 %is.high, i64 %columns, i64 %rounded
  %wanted.next = sub i64 %wanted, 1
  br label %look

split:
  %rows.part = phi i64 [ %m, %begin ], [ %rows, %look ]
  %columns.part = phi i64 [ %n, %begin ], [ %columns, %look ]
  %one.part = phi i64 [ 0, %begin ], [ %part.size, %look ]
  %rows.up = add i64 %rows.part, -1
  %rows.all = add i64 %m, %rows.up
  %down = udiv i64 %rows.all, %rows.part
  %columns.up = add i64 %columns.part, -1
  %columns.all = add i64 %n, %columns.up
  %across = udiv i64 %columns.all, %columns.part
  %grid = mul i64 %down, %across
  %rounds = mul i64 %grid, %count
  store ptr %a, ptr %around
  %b.at = getelementptr i64, ptr %around, i64 1
  store ptr %b, ptr %b.at
  %c.at = getelementptr i64, ptr %around, i64 2
  store ptr %c, ptr %c.at
  %table.at = getelementptr i64, ptr %around, i64 3
  store ptr %table, ptr %table.at
  %rows.at = getelementptr i64, ptr %around, i64 4
  store i64 %rows.part, ptr %rows.at
  %columns.at = getelementptr i64, ptr %around, i64 5
  store i64 %columns.part, ptr %columns.at
  %across.at = getelementptr i64, ptr %around, i64 6
  store i64 %across, ptr %across.at
  %grid.at = getelementptr i64, ptr %around, i64 7
  store i64 %grid, ptr %grid.at
  %is.limited = icmp sgt i64 %one.part, ${shared}
  br i1 %is.limited, label %limit, label %limited
limit:
  call void @begin.limit()
  br label %limited
limited:
  %is.large = icmp sge i64 %total, ${shared}
  %are.several = icmp sgt i64 %rounds, 1
  %has.threads = icmp sgt i64 %threads, 1
  %may.share = and i1 %is.large, %are.several
  %is.shared = and i1 %may.share, %has.threads
  br i1 %is.shared, label %share, label %alone
share:
  %is.very.large = icmp sge i64 %total, ${wakes}
  %is.in.loop = icmp ne i64 %is_repeated, 0
  %wakes = or i1 %is.very.large, %is.in.loop
  %wakes.word = zext i1 %wakes to i64
  call void %run(ptr @part, ptr %around, i64 %rounds, i64 %threads, i64 %wakes.word)
  br label %computed
alone:
  call void @part(ptr %around, i64 0, i64 %rounds)
  br label %computed
computed:
  br i1 %is.limited, label %unlimit, label %done
unlimit:
  call void @end.limit()
  br label %done
done:
  ret void
}
""")

_LIMIT = """
declare i32 @sched_yield()

@get = global ptr null
@put = global ptr null
@limit = global ptr null

define internal ptr @locked() nounwind noinline {
  %lock = load ptr, ptr @limit
  br label %look
look:
  %found = cmpxchg ptr %lock, i64 0, i64 1 seq_cst seq_cst
  %is.mine = extractvalue { i64, i1 } %found, 1
  br i1 %is.mine, label %done, label %wait
wait:
  call i32 @sched_yield()
  br label %look
done:
  ret ptr %lock
}

; Limit BLAS to one thread until `end.limit`.
define void @begin.limit() nounwind noinline {
  %lock = call ptr @locked()
  %users.at = getelementptr i64, ptr %lock, i64 1
  %before.at = getelementptr i64, ptr %lock, i64 2
  %users = load i64, ptr %users.at
  %more = add i64 %users, 1
  store i64 %more, ptr %users.at
  %is.first = icmp eq i64 %users, 0
  br i1 %is.first, label %first, label %done
first:
  %get = load ptr, ptr @get
  %put = load ptr, ptr @put
  %before = call i32 %get()
  %before.word = sext i32 %before to i64
  store i64 %before.word, ptr %before.at
  call void %put(i32 1)
  br label %done
done:
  store atomic i64 0, ptr %lock seq_cst, align 8
  ret void
}

define void @end.limit() nounwind noinline {
  %lock = call ptr @locked()
  %users.at = getelementptr i64, ptr %lock, i64 1
  %before.at = getelementptr i64, ptr %lock, i64 2
  %users = load i64, ptr %users.at
  %fewer = sub i64 %users, 1
  store i64 %fewer, ptr %users.at
  %is.last = icmp eq i64 %fewer, 0
  br i1 %is.last, label %last, label %done
last:
  %put = load ptr, ptr @put
  %before.word = load i64, ptr %before.at
  %before = trunc i64 %before.word to i32
  call void %put(i32 %before)
  br label %done
done:
  store atomic i64 0, ptr %lock seq_cst, align 8
  ret void
}
"""

_NO_LIMIT = """
define void @begin.limit() { ret void }
define void @end.limit() { ret void }
"""
