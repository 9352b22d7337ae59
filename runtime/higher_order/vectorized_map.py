"""`vectorized_map` (vmap): apply a function to all rows at once.

    f = lambda row: w @ row + 1          matmul w, rows           one operation for all rows
    vectorized_map(f, rows)        ==>   add …, 1

The function is traced for one row. Each of its operations is then run by its batching rule. An
operation without a rule, such as a `while` with an end that depends on the row, runs row by row in a loop. So does a
function that has effects in an order (assignments, printing) or TensorArrays.

>>> vectorized_map(lambda x: x * x + 1, convert_to_tensor([1, 2, 3])).numpy().tolist()
[2, 5, 10]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agc.autograph.api import convert

from .. import nest
from ..config import functions_run_eagerly, run_functions_eagerly
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import EagerTensor, Tensor
from ..core.tensor_spec import TensorSpec
from ..ir.batching import BatchedArgument
from ..ir.builder import Builder, current
from ..ir.captured_tensors import tensor_of
from ..ir.graph import Constant, Operand, Operation, Value
from ..ir.traits import DRAWS_RANDOM
from ..ir.value_types import TensorType, VariableType
from ..ops.arrays.ranges import range as counted
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.framework.op import wrap
from ..ops.state.variable_ops import read_variable
from ..tracing.function import function
from .batch import OperationBatch, with_rows
from .map_fn import map_fn
from .row_structures import check_function


@export("vectorized_map")
def vectorized_map(
    fn: Callable[..., Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True
) -> Any:
    """Apply `fn` to all rows of `elems` at once; the result is that of `map_fn`.

    Args:
        fn: takes a row, or a nest of them in the structure of `elems`; returns a nest of tensors and None.
        elems: a tensor, or a nest of tensors with the same number of rows; a single row is broadcast.
        fallback_to_while_loop: whether operations that cannot run on all rows at once may run in a loop;
            else they raise a ValueError.
        warn: accepted for compatibility.

    Effects of `fn` that have an order, and TensorArrays in it, need the loop as well.

    >>> import agc.runtime as tf
    >>> tf.vectorized_map(lambda row: tf.norm(row), tf.constant([[3.0, 4.0], [6.0, 8.0]])).numpy().tolist()
    [5.0, 10.0]
    """
    check_function(fn)
    if current() is None:
        # Rows are mapped in graphs, even if functions run eagerly.
        run_eagerly = functions_run_eagerly()
        run_functions_eagerly(False)
        try:
            return function(_mapped)(convert(fn), elems, fallback_to_while_loop)
        finally:
            run_functions_eagerly(run_eagerly)
    return _Rows(fn, elems, fallback_to_while_loop).mapped()


def _mapped(fn: Callable[..., Any], elems: Any, may_loop: bool) -> Any:
    return _Rows(fn, elems, may_loop).mapped()


class _Rows:
    """A function that is being vectorized, and the tensors of rows."""

    def __init__(self, fn: Callable[..., Any], elems: Any, may_loop: bool) -> None:
        self.fn, self.elems, self.may_loop = fn, elems, may_loop
        self.tensors = [convert_to_tensor(leaf) for leaf in nest.flatten(elems)]
        if not self.tensors:
            raise ValueError("vectorized_map needs at least one tensor in `elems`")
        if any(tensor.shape.rank == 0 for tensor in self.tensors):
            raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
        if any(tensor.shape.rank is None for tensor in self.tensors):
            raise ValueError("vectorized_map needs tensors of known rank: set it with tf.ensure_shape")
        sizes = [tensor.shape[0] for tensor in self.tensors]
        self.known = None if None in sizes else max(size for size in sizes if size is not None)
        others = {size for size in sizes if size not in (None, 1, self.known)}
        if others and self.known is not None:
            raise ValueError(
                f"vectorized_map: {self.known} and {others.pop()} rows cannot be mapped together"
            )
        first = next((t for t, size in zip(self.tensors, sizes, strict=True) if size != 1), self.tensors[0])
        self.count: Any = shape_of(first)[0] if self.known is None else self.known
        self.shared = [size == 1 and self.known != 1 for size in sizes]
        builder = current()
        assert builder is not None, "vectorized_map records operations in a graph"
        self.outer = builder

    def mapped(self) -> Any:
        inner = Builder("row", self.outer)
        with inner:
            result = self.fn(
                nest.pack_sequence_as(self.elems, [self._row(inner, i) for i in range(len(self.tensors))])
            )
            leaves = [leaf if leaf is None else convert_to_tensor(leaf) for leaf in nest.flatten(result)]
        outputs = [inner.operand(leaf) for leaf in leaves if leaf is not None]
        operations = inner.finish(outputs).live_operations()
        if any(_needs_order(operation) for operation in operations):
            return self._in_order(result, leaves)
        known = self._arguments(inner)
        for operation in operations:
            results = self._computed(operation, [self._argument(known, each) for each in operation.inputs])
            known.update(zip(operation.outputs, results, strict=True))
        computed = iter([with_rows(self._argument(known, output), self.count) for output in outputs])
        return nest.pack_sequence_as(
            result, [leaf if leaf is None else self._sized(next(computed)) for leaf in leaves]
        )

    def _row(self, inner: Builder, number: int) -> Tensor:
        tensor = self.tensors[number]
        if self.shared[number]:
            return tensor[0]
        return inner.input_tensor(
            f"row_{number}", TensorType(tensor.dtype, tuple(tensor.shape.as_list()[1:]))
        )

    def _arguments(self, inner: Builder) -> dict[Value, BatchedArgument]:
        """Return the batched values of the inputs of the traced function: rows, and captured values."""
        from_outside = [value for value in inner.inputs if value in inner.outers]
        captured = dict(zip(from_outside, inner.captured_outer(), strict=True))
        rows = iter([t for t, is_shared in zip(self.tensors, self.shared, strict=True) if not is_shared])
        known = {}
        for value in inner.inputs:
            if value in captured:
                outer = captured[value]
                operand = outer if isinstance(outer, Value) else self.outer.captured_variable(outer)
                known[value] = BatchedArgument(wrap(operand, self.outer), False)
            else:
                known[value] = BatchedArgument(next(rows), True)
        return known

    def _argument(self, known: dict[Value, BatchedArgument], operand: Operand) -> BatchedArgument:
        return BatchedArgument(tensor_of(operand), False) if isinstance(operand, Constant) else known[operand]

    def _computed(self, operation: Operation, arguments: list[BatchedArgument]) -> list[BatchedArgument]:
        """Return the results of an operation for all rows."""
        if not any(argument.has_rows for argument in arguments):
            if operation.stateful and operation.op is not read_variable:  # random numbers differ in each row
                return self._looped(operation, [*arguments, BatchedArgument(counted(self.count), True)])
            return [
                BatchedArgument(wrap(value, self.outer), False) for value in self._again(operation, arguments)
            ]
        result = OperationBatch(operation, arguments, self.count).run()
        if result is None:
            return self._looped(operation, arguments)
        return [
            BatchedArgument(each, True)
            for each in (result if isinstance(result, (list, tuple)) else [result])
        ]

    def _again(self, operation: Operation, arguments: Sequence[BatchedArgument]) -> Sequence[Value]:
        """Record the operation again on other values."""
        builder = current()
        assert builder is not None
        operands = [builder.operand(argument.tensor) for argument in arguments[: len(operation.inputs)]]
        specs = [output.spec for output in operation.outputs]
        names = [output.name for output in operation.outputs]
        return builder.add(operation.op, operands, operation.attrs, specs, operation.regions, names)

    def _looped(self, operation: Operation, arguments: list[BatchedArgument]) -> list[BatchedArgument]:
        """Return the results of an operation that runs row by row."""
        if not self.may_loop:
            raise ValueError(
                f"{operation.type} has no vectorized form: to run it in a loop, pass "
                "fallback_to_while_loop=True"
            )
        rows = [argument.tensor for argument in arguments if argument.has_rows]

        def one(given: Any) -> list[Any]:
            row = iter(given)
            replaced = [
                BatchedArgument(next(row), False) if argument.has_rows else argument for argument in arguments
            ]
            builder = current()
            assert builder is not None
            return [wrap(value, builder) for value in self._again(operation, replaced)]

        signature = [TensorSpec(output.shape, output.dtype) for output in operation.outputs]
        return [BatchedArgument(each, True) for each in map_fn(one, rows, fn_output_signature=signature)]

    def _in_order(self, result: Any, leaves: list[Any]) -> Any:
        """Run the whole function row by row."""
        if not self.may_loop:
            raise ValueError("A function with effects cannot be vectorized: use tf.map_fn")
        signature = [TensorSpec(leaf.shape, leaf.dtype) for leaf in leaves if leaf is not None]
        varying = [t for t, is_shared in zip(self.tensors, self.shared, strict=True) if not is_shared]

        def one(given: Any) -> list[Any]:
            row = iter(given)
            parts = [t[0] if s else next(row) for t, s in zip(self.tensors, self.shared, strict=True)]
            return [
                leaf
                for leaf in nest.flatten(self.fn(nest.pack_sequence_as(self.elems, parts)))
                if leaf is not None
            ]

        computed = iter(map_fn(one, varying, fn_output_signature=signature))
        return nest.pack_sequence_as(result, [leaf if leaf is None else next(computed) for leaf in leaves])

    def _sized(self, tensor: Any) -> Any:
        if tensor.shape.rank is not None and not isinstance(tensor, EagerTensor):
            tensor.set_shape([self.known, *tensor.shape[1:]])
        return tensor


def _needs_order(operation: Operation) -> bool:
    """Return whether the operation has ordered effects, or operands or results that are no tensors."""
    op = operation.op
    if operation.stateful and op is not read_variable and not op.has(DRAWS_RANDOM):
        return True
    specs = [operand.spec for operand in (*operation.inputs, *operation.outputs)]
    return not all(isinstance(spec, (TensorType, VariableType)) for spec in specs)
