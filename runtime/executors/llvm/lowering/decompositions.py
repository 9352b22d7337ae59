"""Lower eigh, qr and svd of real matrices to calls of NumPy's LAPACK, one per matrix.

eigh a     syevd a           ascending eigenvalues, eigenvectors in the columns
qr a       geqrf a; r ← its upper triangle; orgqr a; q ← a
svd a      gesdd a

The workspaces are large enough for the block sizes that NumPy's calls use.
"""

from __future__ import annotations

from collections.abc import Sequence

from .... import dtypes
from ....ir.graph import Operation
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, LazyValue, Shape
from ..codegen.llvm_types import Register, constant
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers
from .casts import converted
from .lapack import Lapack
from .softmax import as_dtype

REAL = dtypes.float64
_BLOCK = 64


class _Columns:
    """Memory for a column-major matrix."""

    def __init__(self, e: Emitter, rows: int, columns: int) -> None:
        self.e, self.rows, self.columns = e, rows, columns
        self.memory = Buffer.new(e, REAL, (columns, rows))

    @property
    def address(self) -> Register:
        return self.memory.address

    def at(self, row: Register, column: Register) -> Register:
        number = self.e.plus(self.e.times(column, self.rows), row)
        return self.e.load(REAL, self.address, number)

    def load(self, node: LazyValue, batch: Sequence[Register]) -> None:
        """Copy a matrix of a batch."""
        e = self.e
        with e.nest([node.shape[-1], node.shape[-2]]) as (column, row):
            element = node.at(e, Index.of(node.shape, [*batch, row, column]))
            number = e.plus(e.times(column, self.rows), row)
            e.store(REAL, self.address, number, converted(e, element, node.dtype, REAL))


def _put(
    e: Emitter, result: Buffer, batch: Sequence[Register], rows: int, columns: int, find: object
) -> None:
    """Store a matrix of a result; `find(row, column)` returns its elements."""
    assert callable(find)
    if not rows * columns:
        return
    with e.nest([rows, columns]) as (row, column):
        target = Index.of(result.shape, [*batch, row, column]).flat(e)
        e.store(REAL, result.address, target, find(row, column))


def _shapes(operation: Operation) -> list[Shape]:
    return [tuple(size for size in value.shape or () if size is not None) for value in operation.outputs]


def _matrix(region: Region, node: LazyValue) -> LazyValue:
    if node.dtype.kind == "c":
        raise RefusedError("decompositions of complex matrices are not compiled")
    if not node.size:
        raise RefusedError("empty matrices are not compiled")
    return region.settled(node)


@lowers("eigh")
def _(region: Region, operation: Operation, node: LazyValue) -> list[LazyValue]:
    e, source, n = region.e, _matrix(region, node), node.shape[-1]
    lapack, matrix = Lapack(e, REAL), _Columns(e, n, n)
    work_size, whole_size = 1 + 6 * n + 2 * n * n + _BLOCK * n, 3 + 5 * n
    own, work, whole = Buffer.new(e, REAL, (n,)), Buffer.new(e, REAL, (work_size,)), lapack.pivots(whole_size)
    values, vectors = (Buffer.new(e, REAL, shape) for shape in _shapes(operation))
    with e.nest(node.shape[:-2], parallel=False, inner=n**3) as batch:
        matrix.load(source, batch)
        code = lapack.call(
            "syevd", lapack.character("V"), lapack.character("L"), lapack.number(n), matrix.address,
            lapack.number(n), own.address, work.address, lapack.number(work_size), whole.address,
            lapack.number(whole_size),
        )  # fmt: skip
        e.demand(lapack.succeeded(code))
        with e.nest([n]) as (number,):
            target = Index.of(values.shape, [*batch, number]).flat(e)
            e.store(REAL, values.address, target, e.load(REAL, own.address, number))
        _put(e, vectors, batch, n, n, matrix.at)
    return [as_dtype(region, part, node.dtype) for part in (values, vectors)]


@lowers("qr")
def _(region: Region, operation: Operation, node: LazyValue) -> list[LazyValue]:
    e, source = region.e, _matrix(region, node)
    m, n = node.shape[-2:]
    k, (q_shape, r_shape) = min(m, n), _shapes(operation)
    given = q_shape[-1]
    lapack, matrix = Lapack(e, REAL), _Columns(e, m, max(n, given))
    size = _BLOCK * max(n, given)
    tau, work = Buffer.new(e, REAL, (k,)), Buffer.new(e, REAL, (size,))
    q, r = (Buffer.new(e, REAL, shape) for shape in (q_shape, r_shape))
    zero = constant(REAL, 0)

    def upper(row: Register, column: Register) -> Register:
        return e.b.select(e.b.icmp_signed("<=", row, column), matrix.at(row, column), zero)

    rest = (matrix.address, lapack.number(m), tau.address, work.address, lapack.number(size))
    with e.nest(node.shape[:-2], parallel=False, inner=m * n * k) as batch:
        matrix.load(source, batch)
        e.demand(lapack.succeeded(lapack.call("geqrf", lapack.number(m), lapack.number(n), *rest)))
        _put(e, r, batch, r_shape[-2], n, upper)
        code = lapack.call("orgqr", lapack.number(m), lapack.number(given), lapack.number(k), *rest)
        e.demand(lapack.succeeded(code))
        _put(e, q, batch, m, given, matrix.at)
    return [as_dtype(region, part, node.dtype) for part in (q, r)]


@lowers("svd")
def _(region: Region, operation: Operation, node: LazyValue) -> list[LazyValue]:
    e, source, attrs = region.e, _matrix(region, node), operation.attrs
    m, n = node.shape[-2:]
    k, shapes = min(m, n), _shapes(operation)
    letter = ("A" if attrs["full_matrices"] else "S") if attrs["compute_uv"] else "N"
    lapack, matrix = Lapack(e, REAL), _Columns(e, m, n)
    columns, rows = (shapes[1][-1], shapes[2][-1]) if attrs["compute_uv"] else (1, 1)
    left, right = _Columns(e, m, columns), _Columns(e, rows, n)
    size = 5 * k * k + 10 * k + (_BLOCK + 2) * (m + n)
    work, whole = Buffer.new(e, REAL, (size,)), lapack.pivots(8 * k)
    own, found = Buffer.new(e, REAL, (k,)), [Buffer.new(e, REAL, shape) for shape in shapes]
    with e.nest(node.shape[:-2], parallel=False, inner=m * n * k) as batch:
        matrix.load(source, batch)
        code = lapack.call(
            "gesdd", lapack.character(letter), lapack.number(m), lapack.number(n), matrix.address,
            lapack.number(m), own.address, left.address, lapack.number(m), right.address, lapack.number(rows),
            work.address, lapack.number(size), whole.address,
        )  # fmt: skip
        e.demand(lapack.succeeded(code))
        with e.nest([k]) as (number,):
            target = Index.of(found[0].shape, [*batch, number]).flat(e)
            e.store(REAL, found[0].address, target, e.load(REAL, own.address, number))
        if attrs["compute_uv"]:
            _put(e, found[1], batch, m, columns, left.at)
            _put(e, found[2], batch, n, rows, lambda row, column: right.at(column, row))
    return [as_dtype(region, part, node.dtype) for part in found]
