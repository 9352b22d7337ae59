"""`map_fn`: a function applied to each row of tensors.

    map_fn(f, xs)       stack([f(xs[0]), f(xs[1]), …])

Eager code goes through the rows with Python's `for`; in a graph they are the elements of TensorArrays, and one `while`
goes through them.

>>> map_fn(lambda x: x * x, convert_to_tensor([1, 2, 3])).numpy().tolist()
[1, 4, 9]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import dtypes, errors, nest
from .control_flow import while_loop
from .convert import convert_to_tensor
from .ir.builder import current
from .ops.joining import stack
from .row_nests import RowNest, check_function, check_row, no_rows
from .shapes import TensorShape
from .tensor import Tensor
from .tensor_array import TensorArray


def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """`fn` of each row of `elems`, and the results as rows of one tensor.

    Args:
        fn: takes a row, or a nest of them in the structure of `elems`, and gives a tensor or a nest of them.
        elems: a tensor, or a nest of tensors with the same number of rows.
        fn_output_signature: the dtypes, or TensorSpecs, of what `fn` gives, in its structure; without it that is like
            `elems`. `dtype` is an older name.
        infer_shape: whether all results have one shape.
        parallel_iterations, back_prop, swap_memory: accepted for compatibility.

    Raises ValueError for elements without rows, different numbers of rows, and results of another structure or shape;
    InvalidArgumentError (TypeError in a graph) for results of another dtype.

    >>> pairs = convert_to_tensor([1, 2]), convert_to_tensor([3, 4])
    >>> map_fn(lambda pair: pair[0] * pair[1], pairs, fn_output_signature=dtypes.int32).numpy().tolist()
    [3, 8]
    """
    check_function(fn)
    rows = RowNest(elems)
    signature = fn_output_signature if fn_output_signature is not None else dtype
    like = elems if signature is None else signature
    wanted = [_Wanted(leaf) for leaf in (rows.tensors if signature is None else nest.flatten(signature))]

    def applied(*leaves: Any) -> list[Tensor]:
        result = fn(rows.packed(leaves))
        nest.assert_same_structure(like, result)
        return [each.read(leaf) for each, leaf in zip(wanted, nest.flatten(result), strict=True)]

    if current() is None:
        results = [applied(*leaves) for leaves in rows]
        columns = [_column([result[i] for result in results], each) for i, each in enumerate(wanted)]
    else:
        columns = _staged(rows, applied, wanted, infer_shape)
    return nest.pack_sequence_as(like, columns)


class _Wanted:
    """What `fn` is to give in one place: a dtype, and what is known of the shape."""

    def __init__(self, said: Any) -> None:
        is_spec = hasattr(said, "shape") and not isinstance(said, Tensor)
        self.dtype = dtypes.as_dtype(getattr(said, "dtype", said))
        self.shape = TensorShape(said.shape if is_spec else None)

    def read(self, leaf: Any) -> Tensor:
        tensor = convert_to_tensor(leaf, dtype_hint=self.dtype)
        if tensor.dtype is not self.dtype:
            message = (
                f"map_fn: results of {self.dtype.name} are expected, but fn gives {tensor.dtype.name}: "
                "say their dtypes with fn_output_signature="
            )
            raise errors.InvalidArgumentError(message, "map_fn") if current() is None else TypeError(message)
        check_row(tensor.shape, self.shape)
        return tensor


def _column(values: Sequence[Tensor], wanted: _Wanted) -> Tensor:
    """The values as the rows of one tensor."""
    if not values:
        return no_rows(wanted.shape, wanted.dtype)
    for value in values:
        check_row(value.shape, values[0].shape)
    return stack(values)  # type: ignore[no-any-return]


def _staged(
    rows: RowNest, applied: Callable[..., list[Tensor]], wanted: Sequence[_Wanted], infer_shape: bool
) -> list[Tensor]:
    arrays = rows.arrays()
    results = tuple(
        TensorArray(each.dtype, rows.count, element_shape=each.shape, infer_shape=infer_shape)
        for each in wanted
    )

    def body(index: Any, *before: TensorArray) -> tuple[Any, ...]:
        values = applied(*(array.read(index) for array in arrays))
        written = (array.write(index, value) for array, value in zip(before, values, strict=True))
        return (index + 1, *written)

    _, *filled = while_loop(lambda index, *_: index < rows.count, body, (0, *results))
    return [rows.stacked(array) for array in filled]


__all__ = ["map_fn"]
