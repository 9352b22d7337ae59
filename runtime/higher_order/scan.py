"""`foldl`, `foldr` and `scan`: reductions with an accumulator over the rows of tensors.

    foldl(f, xs)        f(f(xs[0], xs[1]), xs[2]) …
    foldr(f, xs)        the same from the last row to the first
    scan(f, xs)         all intermediate values of foldl (of foldr with `reverse`)

>>> scan(lambda total, x: total + x, convert_to_tensor([1, 2, 3])).numpy().tolist()
[1, 3, 6]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .. import errors, nest
from ..control_flow.functional_api import while_loop
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..core.tensor_array import TensorArray
from ..ir.builder import current
from ..ops.arrays.concat_split import stack
from .row_structures import RowNest, check_function, check_row, no_rows


@export("foldl")
def foldl(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Combine the rows of `elems`, from the first to the last: `a = fn(a, row)` for each row.

    Args:
        fn: takes the accumulator and a row, and returns the next accumulator; both may be nests.
        elems: a tensor, or a nest of tensors with the same number of rows.
        initializer: the first accumulator; without it that is the first row.
        parallel_iterations, back_prop, swap_memory: accepted for compatibility.

    Raises OutOfRangeError (InvalidArgumentError in a graph) when there is neither a row nor an initializer.

    >>> foldl(lambda a, x: a - x, convert_to_tensor([1, 2, 3, 4])).numpy().item()
    -8
    """
    return _Fold(fn, elems, initializer, reverse=False).last()


@export("foldr")
def foldr(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Combine the rows of `elems`, from the last to the first; arguments and errors as for `foldl`.

    >>> foldr(lambda a, x: a - x, convert_to_tensor([1, 2, 3, 4])).numpy().item()
    -2
    """
    return _Fold(fn, elems, initializer, reverse=True).last()


@export("scan")
def scan(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """Return the accumulators of `foldl` (of `foldr` with `reverse`) after each row, as the rows of a tensor.

    The result has the structure of `initializer`, or else of `elems`, and as many rows. With `reverse` the first
    row of the result was computed last. Other arguments and errors as for `foldl`; all accumulators have one dtype
    and one shape.

    >>> fibonacci = scan(lambda a, _: (a[1], a[0] + a[1]), convert_to_tensor([0] * 6), initializer=(0, 1))
    >>> fibonacci[0].numpy().tolist()
    [1, 1, 2, 3, 5, 8]
    """
    return _Fold(fn, elems, initializer, reverse).every(infer_shape)


class _Fold:
    """A fold over rows: the rows, the initial accumulator, and the function."""

    def __init__(self, fn: Callable[..., Any], elems: Any, initializer: Any, reverse: bool) -> None:
        check_function(fn)
        self.fn, self.reverse = fn, reverse
        self.rows = RowNest(elems)
        self.has_initializer = initializer is not None
        self.like = initializer if self.has_initializer else elems
        given = nest.flatten(initializer) if self.has_initializer else ()
        self.initial = [convert_to_tensor(leaf) for leaf in given]

    def last(self) -> Any:
        if current() is None:
            for accumulated in self._eagerly():
                last = accumulated
        else:
            last = self._staged(())[0]
        return nest.pack_sequence_as(self.like, last)

    def every(self, infer_shape: bool) -> Any:
        if current() is None:
            return nest.pack_sequence_as(self.like, self._eager_columns())
        kinds = self.initial if self.has_initializer else self.rows.tensors
        arrays = [TensorArray(kind.dtype, self.rows.count, infer_shape=infer_shape) for kind in kinds]
        filled = self._staged(arrays)[1]
        return nest.pack_sequence_as(self.like, [self.rows.stacked(array) for array in filled])

    def _next(self, accumulated: Sequence[Any], row: Sequence[Any]) -> list[Tensor]:
        result = self.fn(nest.pack_sequence_as(self.like, accumulated), self.rows.packed(row))
        nest.assert_same_structure(self.like, result)
        pairs = zip(accumulated, nest.flatten(result), strict=True)
        return [convert_to_tensor(leaf, dtype_hint=before.dtype) for before, leaf in pairs]

    def _eagerly(self) -> Iterator[Sequence[Tensor]]:
        """Yield the accumulators, beginning with the initial one."""
        rows = list(self.rows)[:: -1 if self.reverse else 1]
        if not self.has_initializer and not rows:
            raise errors.OutOfRangeError("Tried to read from index 0 but array size is: 0")
        accumulated: Sequence[Tensor] = self.initial if self.has_initializer else rows.pop(0)
        yield accumulated
        for row in rows:
            accumulated = self._next(accumulated, row)
            yield accumulated

    def _eager_columns(self) -> list[Tensor]:
        steps = list(self._eagerly())
        first = steps.pop(0) if self.has_initializer else steps[0]
        if not steps:
            return [no_rows(tensor.shape, tensor.dtype) for tensor in first]
        columns = list(zip(*(steps[::-1] if self.reverse else steps), strict=True))
        for start, column in zip(first, columns, strict=True):
            _check_column(start, column)
        return [stack(column) for column in columns]

    def _staged(self, results: Sequence[TensorArray]) -> tuple[list[Any], list[TensorArray]]:
        """Return the last accumulator, and arrays of all accumulators at the index of their row."""
        arrays, count = self.rows.arrays(), self.rows.count
        kinds = len(self.initial) if self.has_initializer else len(arrays)

        def row(step: Any) -> list[Tensor]:
            row_number = count - 1 - step if self.reverse else step
            return [array.read(row_number) for array in arrays]

        def written(step: Any, values: Sequence[Any], before: Sequence[TensorArray]) -> list[TensorArray]:
            row_number = count - 1 - step if self.reverse else step
            return [array.write(row_number, value) for array, value in zip(before, values, strict=False)]

        def body(step: Any, *state: Any) -> tuple[Any, ...]:
            values = self._next(state[:kinds], row(step))
            return (step + 1, *values, *written(step, values, state[kinds:]))

        start = self.initial if self.has_initializer else row(0)
        filled = list(results) if self.has_initializer else written(0, start, results)
        first = 0 if self.has_initializer else 1
        _, *state = while_loop(lambda step, *_: step < count, body, (first, *start, *filled))
        return state[:kinds], state[kinds:]


def _check_column(start: Tensor, column: Sequence[Tensor]) -> None:
    for value in column:
        if value.dtype is not start.dtype:
            raise errors.InvalidArgumentError(
                f"scan: the values are {start.dtype.name} at first, but fn gives {value.dtype.name}", "scan"
            )
        check_row(value.shape, column[0].shape)
