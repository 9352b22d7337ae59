"""Read, write and build matrices by several diagonals at once, stored as rows of equal length.

    matrix  0 1 2        k=(-1, 1)        pad 1 5     the first above the main one; above it, rows are
            3 4 5        ────────▶        0 4 8       padded at the left (RIGHT_LEFT: aligned to the right),
            6 7 8                         3 7 pad     below it at the right

>>> diag_part([[0, 1, 2], [3, 4, 5], [6, 7, 8]], k=(-1, 1), padding_value=9).numpy().tolist()
[[9, 1, 5], [0, 4, 8], [3, 7, 9]]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ... import dtypes
from ...core import shapes
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import EagerTensor, Tensor
from ...ir.graph import Operand
from ...ir.value_types import TensorType
from ..arrays.creation import zeros_like
from ..framework.cached_dispatch import cached_dispatch
from ..framework.composite_dispatch import dispatching_composites
from ..framework.op import Ints, Name, Same, op
from ..framework.op_families import BOOLS, NUMERIC, Array, require_dtype
from ..framework.static_values import integer, integers
from ..reduce.reductions import reduce_sum
from . import diagonals

ALIGNMENTS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


@export("linalg.diag")
@cached_dispatch
def diag(
    diagonal: TensorLike,
    name: Name = "diag",
    k: Any = 0,
    num_rows: Any = -1,
    num_cols: Any = -1,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Return matrices with these diagonals, and `padding_value` elsewhere.

    Args:
        diagonal: [..., n] for one diagonal, [..., several, n] for a range of them, the highest first.
        k: the number of the diagonal: 0 for the main one, positive above it, negative below it; or the lowest
            and the highest number of a range.
        num_rows, num_cols: the size of the matrices; -1 for the smallest that is possible, square if both are -1.
        align: the side to which the shorter diagonals above the main one are aligned, and the side for those
            below it.

    >>> diag([1, 2], k=1).numpy().tolist()
    [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
    >>> diag([[1, 2], [3, 0]], k=(-1, 0), num_cols=3, padding_value=7).numpy().tolist()
    [[1, 7, 7], [3, 2, 7]]
    """
    values = convert_to_tensor(diagonal)
    ends = _ends(k)
    usual = all(type(x) is int and x == y for x, y in ((num_rows, -1), (num_cols, -1), (padding_value, 0)))
    if isinstance(ends, int) and usual:
        return diagonals.diag(values, name, ends)  # type: ignore[no-any-return]
    return matrix_of_diagonals(values, ends, num_rows, num_cols, _padding(padding_value, values), align, name)  # type: ignore[no-any-return]


@export("linalg.diag_part")
@dispatching_composites("diag_part")
def diag_part(
    input: TensorLike, name: Name = "diag_part", k: Any = 0, padding_value: Any = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """Return the diagonal `k` of matrices, or a range of diagonals; `k` and `align` as in `diag`.

    Shorter diagonals are padded with `padding_value`.

    >>> diag_part([[1, 2, 3], [4, 5, 6]], k=1).numpy().tolist()
    [2, 6]
    >>> diag_part([[1, 2], [3, 4]], k=(0, 1), align="LEFT_LEFT").numpy().tolist()
    [[2, 0], [1, 4]]
    """
    matrix = convert_to_tensor(input)
    ends = _ends(k)
    if isinstance(ends, int):
        return diagonals.diag_part(matrix, name, ends)  # type: ignore[no-any-return]
    return diagonals_of_matrix(matrix, ends, _padding(padding_value, matrix), align, name)  # type: ignore[no-any-return]


@export("linalg.set_diag")
def set_diag(
    input: TensorLike, diagonal: TensorLike, name: Name = "set_diag", k: Any = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """Return `input` with other diagonals; `k` and `align` as in `diag`.

    >>> set_diag([[1, 2], [3, 4]], [8, 9]).numpy().tolist()
    [[8, 2], [3, 9]]
    >>> set_diag([[1, 2], [3, 4]], [[0, 7], [8, 9]], k=(0, 1)).numpy().tolist()
    [[8, 7], [3, 9]]
    """
    ends = _ends(k)
    if isinstance(ends, int):
        return diagonals.set_diag(input, diagonal, name, ends)  # type: ignore[no-any-return]
    return matrix_with_diagonals(input, diagonal, ends, align, name)  # type: ignore[no-any-return]


def _ends(k: Any) -> Any:
    """Return one number if there is statically one diagonal, else `k` itself."""
    if isinstance(k, Tensor) and not isinstance(k, EagerTensor):
        return k
    numbers = np.asarray(k._array if isinstance(k, EagerTensor) else k)
    if numbers.size == 0 or len(set(numbers.reshape(-1).tolist())) > 1 or numbers.dtype.kind not in "iu":
        return k
    return int(numbers.reshape(-1)[0]) if numbers.size <= 2 else k


def _padding(value: Any, like: Tensor) -> Any:
    return bool(value) if like.dtype is dtypes.bool_ and not isinstance(value, Tensor) else value


class _Range(NamedTuple):
    """The numbers of the lowest and the highest diagonal."""

    low: int
    high: int

    @property
    def total(self) -> int:
        return self.high - self.low + 1

    def length(self, rows: int, columns: int) -> int:
        """Return the length of the longest diagonal; ValueError for diagonals out of range."""
        for k, what in ((self.low, "lower"), (self.high, "upper")):
            if not -rows < k < columns and k:
                raise ValueError(
                    f"{what}_diag_index is out of bound: {k}. It must be between {-rows} and {columns}"
                )
        return min(rows + min(self.high, 0), columns - max(self.low, 0))


def _range_of(k: Operand) -> _Range | None:
    """Return the range of diagonals; None if it is not static."""
    found = integers(k)
    if found is None or None in found:
        return None
    if not 1 <= len(found) <= 2:
        raise ValueError(f"diag_index must have only one or two elements, received {len(found)} elements.")
    low, high = found[0], found[-1]
    assert low is not None
    assert high is not None
    if low > high:
        raise ValueError(f"lower_diag_index must not be larger than upper_diag_index: {low} > {high}")
    return _Range(low, high)


def _check_align(align: str) -> None:
    if align not in ALIGNMENTS:
        raise ValueError(f"align must be one of {', '.join(ALIGNMENTS)}, not {align!r}")


def _check_scalar(padding_value: Operand) -> None:
    if padding_value.shape not in (None, ()):
        raise ValueError(f"padding_value must be a scalar, not of shape {shapes.show(padding_value.shape)}")


class _Cells(NamedTuple):
    """The indices of the elements of diagonals: in the rows of the compact form, and in the matrix."""

    diagonal: Array
    position: Array
    row: Array
    column: Array


def _cells(size: tuple[int, int], longest: int, ends: _Range, align: str) -> _Cells:
    """Return the indices of the elements of these diagonals; diagonals outside the matrix have none."""
    rows, columns = size
    k = np.arange(ends.high, ends.low - 1, -1)[:, None]
    lengths = np.minimum(rows + np.minimum(k, 0), columns - np.maximum(k, 0))
    above, below = (side == "LEFT" for side in align.split("_"))
    at_left = ((k >= 0) & above) | ((k <= 0) & below)
    step = np.arange(longest)[None] - np.where(at_left, 0, longest - lengths)
    diagonal, position = np.nonzero((step >= 0) & (step < lengths))
    along = step[diagonal, position]
    number = k[diagonal, 0]
    return _Cells(diagonal, position, along + np.maximum(-number, 0), along + np.maximum(number, 0))


def _as_rows(values: Array, ends: _Range) -> Array:
    return values[..., None, :] if ends.total == 1 else values


@op
def matrix_of_diagonals(
    diagonal: Same,
    k: Ints,
    num_rows: Ints,
    num_cols: Ints,
    padding_value: Same,
    align: str = "RIGHT_LEFT",
    name: Name = None,
) -> TensorType:
    """Compute `diag` for a range of diagonals.

    >>> matrix_of_diagonals([[1., 2.], [3., 0.]], [-1, 0], -1, 3, 7.).numpy().tolist()
    [[1.0, 7.0, 7.0], [3.0, 2.0, 7.0]]
    """
    require_dtype(diagonal, NUMERIC | BOOLS, "diag")
    _check_align(align)
    ends, shape = _range_of(k), diagonal.shape
    sizes = integer(num_rows), integer(num_cols)
    _check_scalar(padding_value)
    if ends is None or shape is None:
        return TensorType(diagonal.dtype, None)
    outer = _outer(shape, ends, "diag")
    if shape[-1] is None or None in sizes:
        return TensorType(diagonal.dtype, (*outer, None, None))
    return TensorType(diagonal.dtype, (*outer, *_size(shape[-1], ends, *sizes)))  # type: ignore[arg-type]


def _outer(shape: tuple[int | None, ...], ends: _Range, what: str) -> tuple[int | None, ...]:
    """Return the sizes of the leading axes, before the diagonals."""
    inner = 1 if ends.total == 1 else 2
    if len(shape) < inner:
        raise ValueError(
            f"{what}: diagonal must be at least {inner}-dim, received shape: {shapes.show(shape)}"
        )
    if inner == 2 and shape[-2] not in (None, ends.total):
        raise ValueError(
            "The number of diagonals provided in the input does not match the lower_diag_index and upper_diag_index "
            f"range: {shape[-2]} for {ends.low} to {ends.high}."
        )
    return shape[:-inner]


def _size(longest: int, ends: _Range, rows: int, columns: int) -> tuple[int, int]:
    """Return the rows and columns of a matrix with a longest diagonal of this size; -1 means to infer a size."""
    least_rows, least_columns = longest - min(ends.high, 0), longest + max(ends.low, 0)
    if rows == columns == -1:
        return (max(least_rows, least_columns),) * 2
    rows = least_rows if rows == -1 else rows
    columns = least_columns if columns == -1 else columns
    if rows < least_rows:
        raise ValueError("The number of rows is too small.")
    if columns < least_columns:
        raise ValueError("The number of columns is too small.")
    if rows != least_rows and columns != least_columns:
        raise ValueError(
            "The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal."
        )
    return rows, columns


def _known(k: Array) -> _Range:
    numbers = np.ravel(k).tolist()
    if not 1 <= len(numbers) <= 2 or numbers[0] > numbers[-1]:
        raise ValueError(f"k must be one number, or two in ascending order, not {numbers}")
    return _Range(numbers[0], numbers[-1])


@matrix_of_diagonals.kernel
def _(diagonal: Array, k: Array, num_rows: Array, num_cols: Array, padding_value: Array, align: str) -> Array:
    ends = _known(k)
    _outer(diagonal.shape, ends, "diag")
    outer = diagonal.shape[: -1 if ends.total == 1 else -2]
    size = _size(diagonal.shape[-1], ends, int(num_rows), int(num_cols))
    matrix = np.full((*outer, *size), padding_value, diagonal.dtype)
    if matrix.size:
        cells = _cells(size, diagonal.shape[-1], ends, align)
        values = _as_rows(diagonal, ends)[..., cells.diagonal, cells.position]
        matrix[..., cells.row, cells.column] = values
    return matrix


@matrix_of_diagonals.gradient
def _(
    dy: Any, y: Any, diagonal: Any, k: Any, num_rows: Any, num_cols: Any, padding_value: Any, align: str
) -> Any:
    back = diagonals_of_matrix(dy, k, zeros_like(padding_value), align)
    return back, None, None, None, lambda: reduce_sum(dy) - reduce_sum(back)


@op
def diagonals_of_matrix(
    input: Same, k: Ints, padding_value: Same, align: str = "RIGHT_LEFT", name: Name = None
) -> TensorType:
    """Compute `diag_part` for a range of diagonals.

    >>> diagonals_of_matrix([[1., 2.], [3., 4.]], [0, 1], 9.).numpy().tolist()
    [[9.0, 2.0], [1.0, 4.0]]
    """
    require_dtype(input, NUMERIC | BOOLS, "diag_part")
    _check_align(align)
    _check_scalar(padding_value)
    ends, shape = _range_of(k), _matrix(input, "diag_part")
    if ends is None or shape is None:
        return TensorType(input.dtype, None)
    rows, columns = shape[-2:]
    longest = None if rows is None or columns is None else ends.length(rows, columns)
    return TensorType(input.dtype, (*shape[:-2], *([] if ends.total == 1 else [ends.total]), longest))


def _matrix(input: Operand, what: str) -> tuple[int | None, ...] | None:
    if input.shape is not None and len(input.shape) < 2:
        raise ValueError(f"{what}: input must be at least 2-dim, received shape: {shapes.show(input.shape)}")
    return input.shape


@diagonals_of_matrix.kernel
def _(input: Array, k: Array, padding_value: Array, align: str) -> Array:
    ends = _known(k)
    longest = ends.length(*input.shape[-2:])
    cells = _cells(input.shape[-2:], longest, ends, align)
    found = np.full((*input.shape[:-2], ends.total, longest), padding_value, input.dtype)
    found[..., cells.diagonal, cells.position] = input[..., cells.row, cells.column]
    return found[..., 0, :] if ends.total == 1 else found


@diagonals_of_matrix.gradient
def _(dy: Any, y: Any, input: Any, k: Any, padding_value: Any, align: str) -> Any:
    back = matrix_with_diagonals(zeros_like(input), dy, k, align)
    return back, None, lambda: reduce_sum(dy) - reduce_sum(back)


@op
def matrix_with_diagonals(
    input: Same, diagonal: Same, k: Ints, align: str = "RIGHT_LEFT", name: Name = None
) -> TensorType:
    """Compute `set_diag` for a range of diagonals.

    >>> matrix_with_diagonals([[1., 2.], [3., 4.]], [[0., 7.], [8., 9.]], [0, 1]).numpy().tolist()
    [[8.0, 7.0], [3.0, 9.0]]
    """
    require_dtype(input, NUMERIC | BOOLS, "set_diag")
    _check_align(align)
    ends, shape = _range_of(k), _matrix(input, "set_diag")
    if ends is not None and shape is not None and diagonal.shape is not None:
        outer = shapes.merge(shape[:-2], _outer(diagonal.shape, ends, "set_diag"))
        assert outer is not None
        if None not in (*shape[-2:], diagonal.shape[-1]):
            _check_length(ends.length(*shape[-2:]), diagonal.shape[-1])  # type: ignore[arg-type]
    return input.spec  # type: ignore[no-any-return]


def _check_length(longest: int, given: int | None) -> None:
    if given != longest:
        raise ValueError(f"set_diag: the longest of the diagonals has {longest} elements, not {given}")


@matrix_with_diagonals.kernel
def _(input: Array, diagonal: Array, k: Array, align: str) -> Array:
    ends = _known(k)
    if _outer(diagonal.shape, ends, "set_diag") != input.shape[:-2]:
        raise ValueError(f"set_diag: diagonals {diagonal.shape} do not fit matrices {input.shape}")
    _check_length(ends.length(*input.shape[-2:]), diagonal.shape[-1])
    cells = _cells(input.shape[-2:], diagonal.shape[-1], ends, align)
    matrix = np.array(input)
    values = _as_rows(diagonal, ends)[..., cells.diagonal, cells.position]
    matrix[..., cells.row, cells.column] = values
    return matrix


@matrix_with_diagonals.gradient
def _(dy: Any, y: Any, input: Any, diagonal: Any, k: Any, align: str) -> Any:
    def to_diagonal() -> Any:
        return diagonals_of_matrix(dy, k, zeros_like(reduce_sum(dy)), align)

    return lambda: matrix_with_diagonals(dy, zeros_like(diagonal), k, align), to_diagonal, None
