"""Products of matrices, and decompositions that are unrolled for matrices of a small known size."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from .... import dtypes
from ..onnx_types import InexpressibleError
from ..registry import exports
from .shapes import swapped

_LARGEST = 32
"""The size of the largest matrix whose decomposition is unrolled."""


@exports("matmul")
def _(e: Any, operation: Any, a: Any, b: Any) -> Any:
    attrs = operation.attrs
    if attrs["transpose_a"] or attrs["adjoint_a"]:
        a = swapped(e, a)
    if attrs["transpose_b"] or attrs["adjoint_b"]:
        b = swapped(e, b)
    return e("MatMul", a, b)


@exports("matvec")
def _(e: Any, operation: Any, a: Any, b: Any) -> Any:
    if operation.attrs["transpose_a"] or operation.attrs["adjoint_a"]:
        a = swapped(e, a)
    return e.squeeze(e("MatMul", a, e.unsqueeze(b, b.rank)), -1)


@exports("einsum")
def _(e: Any, operation: Any, *operands: Any) -> Any:
    return e("Einsum", *operands, equation=operation.attrs["equation"].replace(" ", ""))


@exports("tensordot")
def _(e: Any, operation: Any, a: Any, b: Any) -> Any:
    gone_a = [axis % a.rank for axis in operation.attrs["axes_a"]]
    gone_b = [axis % b.rank for axis in operation.attrs["axes_b"]]
    letters = string.ascii_letters
    left = list(letters[: a.rank])
    right = list(letters[a.rank : a.rank + b.rank])
    for i, j in zip(gone_a, gone_b, strict=True):
        right[j] = left[i]
    out = [x for i, x in enumerate(left) if i not in gone_a] + [
        x for j, x in enumerate(right) if j not in gone_b
    ]
    return e("Einsum", a, b, equation=f"{''.join(left)},{''.join(right)}->{''.join(out)}")


@exports("tensordot_back")
def _(e: Any, operation: Any, dy: Any, other: Any, shape: Any) -> Any:
    attrs, rank = operation.attrs, shape.shape[0]
    summed = [axis % rank for axis in attrs["axes"]]
    gone = [axis % other.rank for axis in attrs["axes_other"]]
    letters = string.ascii_letters
    own, its = list(letters[:rank]), list(letters[rank : rank + other.rank])
    for i, j in zip(summed, gone, strict=True):
        its[j] = own[i]
    free = [x for i, x in enumerate(own) if i not in summed]
    rest = [x for j, x in enumerate(its) if j not in gone]
    given = free + rest if attrs["is_left"] else rest + free
    return e("Einsum", dy, other, equation=f"{''.join(given)},{''.join(its)}->{''.join(own)}")


@exports("cross")
def _(e: Any, operation: Any, a: Any, b: Any) -> Any:
    def turned(x: Any, by: int) -> Any:
        return e("Gather", x, e.ints(*[(i + by) % 3 for i in range(3)]), axis=-1)

    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise InexpressibleError("vectors of a size that is not known to be 3")
    return turned(a, 1) * turned(b, 2) - turned(a, 2) * turned(b, 1)


def _size(x: Any) -> int:
    size = x.shape[-1] if x.shape else None
    if size is None or x.shape[-2] != size:
        raise InexpressibleError("the size of the matrices is not known")
    if size > _LARGEST:
        raise InexpressibleError(
            f"ONNX has no decompositions; those of matrices above {_LARGEST} rows are not unrolled"
        )
    return int(size)


def _column(e: Any, x: Any, i: int) -> Any:
    """Return column `i` of matrices, as matrices of one column."""
    return e("Slice", x, e.ints(i), e.ints(i + 1), e.ints(-1))


def _row(e: Any, x: Any, i: int) -> Any:
    return e("Slice", x, e.ints(i), e.ints(i + 1), e.ints(-2))


def _entry(e: Any, x: Any, i: int, j: int) -> Any:
    return _column(e, _row(e, x, i), j)


@exports("cholesky")
def _(e: Any, operation: Any, x: Any) -> Any:
    """Compute the factor column by column; each column is subtracted from the rest of the matrix."""
    n = _size(x)
    columns = []
    for j in range(n):
        below = e.const((np.arange(n) >= j).astype(x.dtype.numpy_dtype)[:, None])
        column = _column(e, x, j) * below / e("Sqrt", _entry(e, x, j, j))
        columns.append(column)
        if j < n - 1:
            column.shape = (None,) * operation.outputs[0].spec.shape.__len__()
            x = x - e("MatMul", column, swapped(e, column))
    return e("Concat", *columns, axis=-1) if n > 1 else columns[0]


def eliminated(e: Any, a: Any, b: Any, n: int) -> tuple[Any, Any, Any, Any]:
    """Solve by Gauss' elimination with the largest pivots: return the solution, pivots' product, sign and log.

    The matrices `a` become the identity, so `b` becomes the solution.
    """
    determinant, sign, logs = None, None, None
    for j in range(n):
        column = e("Abs", _column(e, a, j))
        masked = e.where(e.const((np.arange(n) >= j)[:, None]), column, e.const(-1, a.dtype))
        best = e("ArgMax", masked, dtype=dtypes.int64, axis=-2, keepdims=1)  # [..., 1, 1]
        numbers = e.const(np.arange(n)[:, None])
        order = e.where(
            numbers.equals(j), best, e.where(numbers.equals(best), e.const(j, dtypes.int64), numbers)
        )
        places = e.const(np.arange(n)[None, :])
        swap = e.cast(order.equals(places), a.dtype)
        is_same = best.equals(j)
        a, b = e("MatMul", swap, a), e("MatMul", swap, b)
        pivot = _entry(e, a, j, j)
        turn = e.where(is_same, e.const(1, a.dtype), -1.0)
        determinant = pivot * turn if determinant is None else determinant * pivot * turn
        way = e("Sign", pivot) * turn
        sign = way if sign is None else sign * way
        log = e("Log", e("Abs", pivot))
        logs = log if logs is None else logs + log
        top_a, top_b = _row(e, a, j) / pivot, _row(e, b, j) / pivot
        factors = _column(e, a, j)
        is_row = e.const((np.arange(n) == j)[:, None])
        a = e.where(is_row, top_a, a - factors * top_a)
        b = e.where(is_row, top_b, b - factors * top_b)
    return b, determinant, sign, logs


def _real(x: Any) -> None:
    if x.dtype.name not in ("float32", "float64"):
        raise InexpressibleError(f"{x.dtype.name} is not decomposed")


@exports("inv")
def _(e: Any, operation: Any, x: Any) -> Any:
    _real(x)
    n = _size(x)
    x = swapped(e, x) if operation.attrs["adjoint"] else x
    return eliminated(e, x, e.const(np.eye(n), x.dtype), n)[0]


@exports("solve")
def _(e: Any, operation: Any, a: Any, b: Any) -> Any:
    _real(a)
    a_turned = swapped(e, a) if operation.attrs["adjoint"] else a
    return eliminated(e, a_turned, b, _size(a))[0]


@exports("det", "slogdet")
def _(e: Any, operation: Any, x: Any) -> Any:
    _real(x)
    n = _size(x)
    if not n:
        raise InexpressibleError("matrices without rows")
    _, determinant, sign, logs = eliminated(e, x, e.const(np.eye(n), x.dtype), n)
    if operation.type == "det":
        return e.squeeze(determinant, -1, -2)
    return [e.squeeze(sign, -1, -2), e.squeeze(logs, -1, -2)]


@exports("triangular_solve")
def _(e: Any, operation: Any, a: Any, b: Any) -> Any:
    """Solve row by row, from the row with one unknown on."""
    _real(a)
    n, is_lower = _size(a), operation.attrs["lower"]
    if operation.attrs["adjoint"]:
        a, is_lower = swapped(e, a), not is_lower
    solved: dict[int, Any] = {}
    for i in range(n) if is_lower else range(n - 1, -1, -1):
        rest, row = _row(e, b, i), _row(e, a, i)
        for j, x in solved.items():
            rest = rest - _column(e, row, j) * x
        solved[i] = rest / _column(e, row, i)
    return e("Concat", *[solved[i] for i in range(n)], axis=-2) if n > 1 else solved[0]
