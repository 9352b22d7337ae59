"""Reductions over the processes of a strategy, and copies from one of them.

process 0: all_reduce [1.]         ==>     [3.]
process 1: all_reduce [2.]         ==>     [3.]

They are stateful: passes keep their number and order, which must be the same in all processes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ...ir.traits import COLLECTIVE, FRESH_RESULT, KEEPS_VARIABLES
from ...ir.value_types import TensorType
from ...kernels import collectives
from ..framework.op import Input, Name, Tensors, op
from ..framework.op_families import BOOLS, NUMERIC, require_dtype, wrong

REDUCTIONS = ("sum", "mean", "min", "max")


@op(stateful=True, traits=KEEPS_VARIABLES | FRESH_RESULT | COLLECTIVE)
def all_reduce(
    inputs: Tensors, reduction: str = "sum", bytes_per_pack: int = 0, name: Name = None
) -> tuple[TensorType, ...]:
    """Return the sum, mean, min or max of each tensor over the processes; shapes are equal in all of them.

    The tensors travel together, in one buffer for each dtype, or in buffers of about `bytes_per_pack`. Raises
    InvalidArgumentError for tensors that are not numbers, and for the mean of integers.

    >>> [one.numpy().tolist() for one in all_reduce([[1, 2], 3])]
    [[1, 2], 3]
    """
    if reduction not in REDUCTIONS:
        raise wrong(f"all_reduce: `reduction` is one of {', '.join(REDUCTIONS)}, not {reduction!r}")
    for tensor in inputs:
        require_dtype(tensor, NUMERIC, "all_reduce")
        if reduction == "mean" and tensor.dtype.is_integer:
            raise wrong(f"all_reduce: the mean of {tensor.dtype.name} is no integer; cast to a float first")
        if reduction in ("min", "max") and tensor.dtype.is_complex:
            raise wrong(f"all_reduce: {tensor.dtype.name} has no order")
    return tuple(tensor.spec for tensor in inputs)


@all_reduce.kernel
def _(inputs: list[Any], reduction: str = "sum", bytes_per_pack: int = 0) -> tuple[Any, ...]:
    return tuple(collectives.reduced(inputs, reduction, bytes_per_pack))


@all_reduce.gradient
def _(dy: Any, y: Any, inputs: list[Any], reduction: str = "sum", bytes_per_pack: int = 0) -> list[Any]:
    if reduction in ("min", "max"):
        raise NotImplementedError(f"all_reduce with {reduction!r} has no gradient: reduce with 'sum'")
    wanted = [position for position, one in enumerate(dy) if one is not None]
    grads: list[Any] = [None] * len(dy)
    for position, grad in zip(
        wanted, all_reduce([dy[i] for i in wanted], reduction, bytes_per_pack), strict=True
    ):
        grads[position] = grad
    return grads


@op(stateful=True, traits=KEEPS_VARIABLES | FRESH_RESULT | COLLECTIVE)
def broadcast_from(input: Input, root: int = 0, name: Name = None) -> TensorType:
    """Return the tensor of the process `root` in all processes; shapes and dtypes are equal in all of them.

    Raises InvalidArgumentError if there is no process `root`.

    >>> broadcast_from([1.0, 2.0]).numpy().tolist()
    [1.0, 2.0]
    """
    require_dtype(input, NUMERIC | BOOLS, "broadcast_from")
    spec: TensorType = input.spec
    return spec


broadcast_from.kernel(lambda input, root=0: collectives.copied(input, root))


@broadcast_from.gradient
def _(dy: Any, y: Any, input: Any, root: int = 0) -> Any:
    return reduce_to(dy, root)


@op(stateful=True, traits=KEEPS_VARIABLES | FRESH_RESULT | COLLECTIVE)
def reduce_to(input: Input, root: int = 0, name: Name = None) -> TensorType:
    """Return the sum over the processes in the process `root`, and zeros in the others.

    >>> reduce_to([1.0, 2.0]).numpy().tolist()
    [1.0, 2.0]
    """
    require_dtype(input, NUMERIC, "reduce_to")
    spec: TensorType = input.spec
    return spec


reduce_to.kernel(lambda input, root=0: collectives.reduced_to(input, root))


@reduce_to.gradient
def _(dy: Any, y: Any, input: Any, root: int = 0) -> Any:
    return broadcast_from(dy, root)


@op(stateful=True, traits=KEEPS_VARIABLES | FRESH_RESULT)
def replica_id(name: Name = None) -> TensorType:
    """Return the number of this replica among those that run the same program: a scalar of int32.

    >>> replica_id().numpy()
    np.int32(0)
    """
    return TensorType(dtypes.int32, ())


replica_id.kernel(lambda: np.int32(collectives.active.engine.rank))
replica_id.no_gradient("it is an integer")
