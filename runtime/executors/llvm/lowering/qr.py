"""Lower `qr` to calls of NumPy's LAPACK, two per matrix.

copy a in column-major order;   geqrf a;   r ← the upper triangle of a;   orgqr a;   q ← a
"""

from __future__ import annotations

import math

from .... import dtypes
from ....ir.graph import Operation
from ..codegen.lazy_values import Buffer, Index, LazyValue
from ..codegen.llvm_types import constant
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers
from .casts import as_dtype, converted
from .lapack import Lapack

LARGE = 8_192
"""The most elements of all matrices. The kernel shares more among threads, and OpenBLAS those of a larger matrix."""


@lowers("qr")
def _(region: Region, operation: Operation, node: LazyValue) -> list[LazyValue]:
    *batch, rows, columns = node.shape
    count = min(rows, columns)
    inner = rows if operation.attrs["full_matrices"] else count
    stored = max(columns, inner)
    if not node.size:
        raise RefusedError("empty matrices are not compiled")
    if math.prod(batch) * rows * stored > LARGE:
        raise RefusedError("kernels are as fast for many and for large matrices")
    e, dtype = region.e, dtypes.complex128 if node.dtype.kind == "c" else dtypes.float64
    source, lapack = region.settled(node), Lapack(e, dtype)
    q, r = Buffer.new(e, dtype, (*batch, rows, inner)), Buffer.new(e, dtype, (*batch, inner, columns))
    matrix, factors, work = (Buffer.new(e, dtype, shape) for shape in ((stored, rows), (count,), (stored,)))
    height, width, used = map(lapack.number, (rows, columns, inner))
    rest = matrix.address, height, factors.address, work.address, lapack.number(stored)
    with e.nest(batch, parallel=False, inner=rows * columns * count) as numbers:
        with e.nest([columns, rows]) as (column, row):
            element = source.at(e, Index.of(source.shape, [*numbers, row, column]))
            place = e.plus(e.times(column, rows), row)
            e.store(dtype, matrix.address, place, converted(e, element, node.dtype, dtype))
        e.demand(lapack.succeeded(lapack.call("geqrf", height, width, *rest)))
        with e.nest([inner, columns]) as (row, column):
            is_upper = e.b.icmp_signed("<=", row, column)
            element = e.load(dtype, matrix.address, e.plus(e.times(column, rows), row))
            kept = e.choose(is_upper, element, constant(dtype, 0))
            e.store(dtype, r.address, Index.of(r.shape, [*numbers, row, column]).flat(e), kept)
        generate = "ungqr" if dtype.kind == "c" else "orgqr"
        e.demand(lapack.succeeded(lapack.call(generate, height, used, lapack.number(count), *rest)))
        with e.nest([rows, inner]) as (row, column):
            element = e.load(dtype, matrix.address, e.plus(e.times(column, rows), row))
            e.store(dtype, q.address, Index.of(q.shape, [*numbers, row, column]).flat(e), element)
    return [as_dtype(region, part, node.dtype) for part in (q, r)]
