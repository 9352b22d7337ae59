"""Tensors of all processes joined along an axis, and the inverse: the part of one process.

process 0: all_gather [1, 2]       ==>     [1, 2, 3]           sizes along the axis may differ
process 1: all_gather [3]          ==>     [1, 2, 3]
"""

from __future__ import annotations

from typing import Any

from ...core import shapes
from ...ir.traits import COLLECTIVE, KEEPS_VARIABLES
from ...ir.value_types import TensorType
from ...kernels import collectives
from ..arrays.shape_ops import shape
from ..framework.attribute_parsers import Axis
from ..framework.op import Input, Name, op
from ..framework.op_families import BOOLS, NUMERIC, require_dtype, wrong


@op(stateful=True, traits=KEEPS_VARIABLES | COLLECTIVE)
def all_gather(input: Input, axis: Axis = 0, even: int = 0, name: Name = None) -> TensorType:
    """Return the tensors of all processes joined along an axis, in the order of the processes.

    The sizes along `axis` may differ, unless `even` is the number of processes, which then give the same size. Raises
    InvalidArgumentError for scalars, and if other sizes or dtypes differ.

    >>> all_gather([[1, 2]], axis=0).numpy().tolist()
    [[1, 2]]
    """
    require_dtype(input, NUMERIC | BOOLS, "all_gather")
    own = _with_size(input.shape, axis, None, "all_gather")
    size = input.shape[axis] if even and input.shape is not None else None
    return TensorType(input.dtype, own if size is None else _with_size(own, axis, size * even, "all_gather"))


def _with_size(dims: shapes.Dims, axis: int, size: int | None, what: str) -> shapes.Dims:
    if dims is None:
        return None
    if not -len(dims) <= axis < len(dims):
        raise wrong(f"{what}: a tensor of rank {len(dims)} has no axis {axis}")
    position = axis % len(dims)
    return tuple(size if i == position else other for i, other in enumerate(dims))


all_gather.kernel(lambda input, axis=0, even=0: collectives.gathered(input, axis))


@all_gather.gradient
def _(dy: Any, y: Any, input: Any, axis: int = 0, even: int = 0) -> Any:
    return reduce_scatter(dy, shape(input)[axis], axis)


@op(stateful=True, traits=KEEPS_VARIABLES | COLLECTIVE)
def reduce_scatter(input: Input, size: Input, axis: Axis = 0, name: Name = None) -> TensorType:
    """Return `size` rows of the sum over the processes: the first process gets the first rows.

    The shapes of `input` are equal in all processes; the sizes add up to that of `axis`, else InvalidArgumentError.

    >>> reduce_scatter([1.0, 2.0], 2).numpy().tolist()
    [1.0, 2.0]
    """
    require_dtype(input, NUMERIC, "reduce_scatter")
    rows = None if size.value is None else int(size.value)
    return TensorType(input.dtype, _with_size(input.shape, axis, rows, "reduce_scatter"))


reduce_scatter.kernel(lambda input, size, axis=0: collectives.scattered(input, int(size), axis))


@reduce_scatter.gradient
def _(dy: Any, y: Any, input: Any, size: Any, axis: int = 0) -> Any:
    return all_gather(dy, axis), None
