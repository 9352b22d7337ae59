"""The batch that batching rules work on: one operation, its arguments for all rows, and the number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.shapes import Dims
from ..ir.batching import BatchedArgument
from ..ir.graph import Operation
from ..ops.arrays.concat_split import concat
from ..ops.arrays.reshape import broadcast_to, reshape
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.framework.op import Op


def with_rows(argument: BatchedArgument, count: Any) -> Any:
    """Return the tensor of `argument` with a batch axis of size `count`, broadcast if all rows share it."""
    if argument.has_rows:
        return argument.tensor
    return broadcast_to(argument.tensor, concat([[count], shape_of(argument.tensor)], 0))


class OperationBatch:
    """One operation on all rows; see `ir.batching.Batch`."""

    def __init__(self, operation: Operation, arguments: Sequence[BatchedArgument], count: Any) -> None:
        self.operation, self.arguments, self.count = operation, arguments, count
        self.attrs = operation.attrs

    @property
    def result_shape(self) -> Dims:
        return self.operation.outputs[0].shape

    def run(self) -> Any:
        """Return the results for all rows by the operation's batching rule; None if it does not apply."""
        rule = self.operation.op.batch
        if rule is None or self.operation.regions or self.operation.stateful:
            return None
        return rule(self)

    def call(self, *tensors: Any, **changed: Any) -> Any:
        op, attrs = self.operation.op, {**self.operation.attrs, **changed}
        given = dict(
            zip((op.parameters[i] for i, _ in op.operand_parameters), op.grouped(list(tensors)), strict=True)
        )
        assert isinstance(op, Op)
        return op(**given, **attrs)

    def with_rows(self, argument: BatchedArgument) -> Any:
        return with_rows(argument, self.count)

    def aligned(self, argument: BatchedArgument, rank: int) -> Any:
        if not argument.has_rows or argument.rank is None or argument.rank >= rank:
            return argument.tensor
        sizes = shape_of(argument.tensor)
        return reshape(argument.tensor, concat([sizes[:1], [1] * (rank - argument.rank), sizes[1:]], 0))

    def prepend(self, first: Any, rest: Any) -> Any:
        return concat([[first], rest], 0)
