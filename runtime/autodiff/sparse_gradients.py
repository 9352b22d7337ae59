"""Sparse gradients: `IndexedSlices`, and `ScatteredGradient` for parts selected by an index.

    y = gather x, indices           dx = IndexedSlices(dy, indices, shape of x)
    y = getitem x, i [key='_']      dx = ScatteredGradient([dy at i], shape of x)

Sparse gradients of one tensor are added by concatenation. They stay IndexedSlices through `read_variable` and
`identity`, and as results of functions. All other operations get a dense tensor, to which the parts are added one by
one: no part is expanded to the size of the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..composite.indexed_slices import IndexedSlices
from ..core.tensor import Tensor
from ..ops.arrays.concat_split import join
from ..ops.arrays.gather_ops import put_back, take
from ..ops.arrays.getitem import put_back_item, select
from ..ops.arrays.reshape import expand_dims, reshape
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.lists.tensor_list import list_new
from ..ops.math.arithmetic import add
from ..ops.math.cast import cast, identity
from ..ops.state.variable_ops import read_variable

HANDING_ON = frozenset({identity, read_variable})
"""Operations with a gradient that accepts slices."""

PARTS = 3
"""The number of tensors in IndexedSlices."""


class GradientPart(NamedTuple):
    """A gradient of the elements that `key` selects; `indices` are the tensors in the key."""

    value: Any
    key: str
    indices: list[Any]


class ScatteredGradient(NamedTuple):
    """The sum of parts, in a tensor of this shape that is zero elsewhere."""

    parts: list[GradientPart]
    shape: Any


@take.gradient
def _(dy: Any, y: Any, params: Any, indices: Any, axis: int, batch_dims: int) -> Any:
    shape = shape_of(params)
    if axis != 0 or batch_dims != 0:
        return put_back(dy, indices, shape, axis, batch_dims), None
    rows = [-1, *params.shape.sizes[1:]] if params.shape.rank and None not in params.shape.sizes[1:] else None
    values = reshape(dy, join([[-1], shape[1:]], 0) if rows is None else rows)
    return IndexedSlices(values, reshape(indices, [-1]), shape), None


@select.gradient
def _(dy: Any, y: Any, tensor: Any, parts: list[Any], key: str) -> Any:
    return ScatteredGradient([GradientPart(dy, key, list(parts))], shape_of(tensor)), None


def summed(one: Any, other: Any) -> Any:
    """Return the sum of two gradients: tensors, or lists of TensorArrays."""
    if isinstance(one, Tensor):
        return add(one, other)
    from ..ops.lists.list_gradients import array_sum

    return array_sum(one, other)


def total(grads: Sequence[Any]) -> Any:
    """Return the sum of gradients of one tensor, in the order of the program."""
    if len(grads) == 1:
        return grads[0]
    if all(isinstance(grad, IndexedSlices) for grad in grads):
        return _joined(grads)
    scattered = [_scattered(grad) for grad in grads if isinstance(grad, (IndexedSlices, ScatteredGradient))]
    others = [grad for grad in grads if not isinstance(grad, (IndexedSlices, ScatteredGradient))]
    whole = others[0] if others else None
    for other in others[1:]:
        whole = summed(whole, other)
    if not scattered:
        return whole
    together = ScatteredGradient([part for one in scattered for part in one.parts], scattered[0].shape)
    if whole is None:
        return together
    from ..ops.lists.list_gradients import array_of_rows

    return _whole(added(array_of_rows(expand_dims(whole, 0)), together), together)


def dense(grad: Any) -> Any:
    """Return a gradient as one tensor; lists of TensorArrays and None stay unchanged."""
    if isinstance(grad, Tensor) or not is_in_parts(grad):
        return grad
    if isinstance(grad, IndexedSlices):
        return put_back(grad.values, grad.indices, grad.dense_shape, 0, 0)
    if len(grad.parts) == 1:
        ((value, key, indices),) = grad.parts
        return put_back_item(value, grad.shape, indices, key)
    return _whole(added(list_new(grad.parts[0].value.dtype, None), grad), grad)


def public(grad: Any) -> Any:
    """Return a gradient in its public form: a tensor or IndexedSlices."""
    return dense(grad) if isinstance(grad, ScatteredGradient) else grad


def added(running: Any, grad: Any) -> Any:
    """Return a running sum with the parts of a gradient added."""
    from ..ops.lists.accumulator_list import array_add  # for gradients of parts of a tensor

    whole = _scattered(grad)
    for value, key, indices in whole.parts:
        running = array_add(running, value, indices, whole.shape, key)
    return running


def is_in_parts(grad: Any) -> bool:
    return isinstance(grad, (IndexedSlices, ScatteredGradient))


def _whole(running: Any, grad: ScatteredGradient) -> Any:
    from ..ops.lists.list_gradients import array_item

    return array_item(running, 0, grad.shape, grad.parts[0].value.dtype)


def _scattered(grad: Any) -> ScatteredGradient:
    if isinstance(grad, ScatteredGradient):
        return grad
    from ..ops.lists.accumulator_list import ROWS

    return ScatteredGradient([GradientPart(grad.values, ROWS, [grad.indices])], grad.dense_shape)


def _joined(slices: Sequence[IndexedSlices]) -> IndexedSlices:
    kinds = {one.indices.dtype for one in slices}
    indices = [one.indices if len(kinds) == 1 else cast(one.indices, "int64") for one in slices]
    return IndexedSlices(join([one.values for one in slices], 0), join(indices, 0), slices[0].dense_shape)


def taken_apart(grad: Any) -> list[Any]:
    """Return the tensors of a gradient; an empty list for None."""
    if isinstance(grad, IndexedSlices):
        return [grad.values, grad.indices, grad.dense_shape]
    if isinstance(grad, ScatteredGradient):
        return [grad.shape, *(x for part in grad.parts for x in (part.value, *part.indices))]
    return [] if grad is None else [grad]


def put_together(parts: Sequence[Any], sizes: Sequence[int]) -> list[Any]:
    """Return gradients made of their tensors; `sizes` are the numbers of tensors of each."""
    rest = iter(parts)
    grads = []
    for size in sizes:
        found = [next(rest) for _ in range(size)]
        grads.append(IndexedSlices(*found) if size == PARTS else found[0] if found else None)
    return grads
