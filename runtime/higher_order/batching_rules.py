"""Batching rules for `vectorized_map` (vmap): each rule runs an operation on all rows at once.

    add x, y          of rows of x, one y           the rows get axes of size 1 where they have fewer than y
    reduce_sum x      of rows                       the same along the next axes
    gather x, i       of one x, rows of i           one gather

A rule takes the operation, its arguments and the number of rows. It returns the result for all rows, or None if it
does not support the arguments. The operation is then computed row by row.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..core.tensor import EagerTensor
from ..ir.graph import Operation
from ..ops.arrays import concat_split, reshape, shape_ops
from ..ops.arrays.gather_where import gather
from ..ops.framework.op_families import Elementwise
from ..ops.linalg.matmul import einsum


class Argument(NamedTuple):
    """A tensor; with `has_rows` its first axis is the batch axis."""

    tensor: Any
    has_rows: bool

    @property
    def rank(self) -> int | None:
        """The rank of one row."""
        rank: int | None = self.tensor.shape.rank
        return None if rank is None else rank - self.has_rows


Arguments = Sequence[Argument]
Rule = Callable[[Operation, Arguments, Any], Any]

RULES: dict[str, Rule] = {}


def rule_for(operation: Operation) -> Rule | None:
    """Return the batching rule of an operation; None if there is none."""
    if isinstance(operation.op, Elementwise):
        return _elementwise
    return RULES.get(operation.type)


def with_rows(argument: Argument, count: Any) -> Any:
    """Return the argument with a batch axis, broadcast if all rows share it."""
    if argument.has_rows:
        return argument.tensor
    return reshape.broadcast_to(argument.tensor, _shape([count], shape_ops.shape(argument.tensor)))


def _shape(front: Sequence[Any], rest: Any) -> Any:
    return concat_split.concat([concat_split.stack(list(front)), rest], 0)


def _called(operation: Operation, tensors: Sequence[Any], **changed: Any) -> Any:
    """Call the operation on other tensors, with some attributes changed."""
    op, attrs = operation.op, {**operation.attrs, **changed}
    arguments = op.grouped(list(tensors))
    given = dict(zip((op.parameters[i] for i, _ in op._inputs), arguments, strict=True))
    return op(**given, **attrs)


def _rule(*names: str) -> Callable[[Rule], Rule]:
    def declare(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, rule))
        return rule

    return declare


def _shifted(axis: int) -> int:
    """Return the axis of the batch that an axis of a row becomes."""
    return axis + 1 if axis >= 0 else axis


@_rule("where", "_clip", "matmul")
def _elementwise(operation: Operation, arguments: Arguments, count: Any) -> Any:
    """Broadcast: insert axes of size 1 after the batch axis of rows of lower rank."""
    ranks = [argument.rank for argument in arguments]
    known = [rank for rank in ranks if rank is not None]
    if len(known) < len(ranks) or (operation.type == "matmul" and min(known) < 2):
        return None
    widest = max(known)
    tensors = []
    for argument, rank in zip(arguments, known, strict=True):
        tensor = argument.tensor
        if argument.has_rows and rank < widest:
            sizes = shape_ops.shape(tensor)
            ones = [1] * (widest - rank)
            tensor = reshape.reshape(tensor, concat_split.concat([sizes[:1], ones, sizes[1:]], 0))
        tensors.append(tensor)
    return _called(operation, tensors)


@_rule("cast", "identity", "stop_gradient", "check_numerics", "zeros_like", "ones_like", "relu", "relu6", "elu", "selu",
       "leaky_relu", "cholesky", "inv", "det", "diag_part", "band_part", "qr", "svd", "eigh")  # fmt: skip
def _as_it_is(operation: Operation, arguments: Arguments, count: Any) -> Any:
    return _called(operation, [arguments[0].tensor])


@_rule("solve", "triangular_solve")
def _with_all_rows(operation: Operation, arguments: Arguments, count: Any) -> Any:
    return _called(operation, [with_rows(argument, count) for argument in arguments])


@_rule("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_any", "reduce_all",
       "reduce_logsumexp", "squeeze")  # fmt: skip
def _along_axes(operation: Operation, arguments: Arguments, count: Any) -> Any:
    (argument,) = arguments
    axes = operation.attrs["axis"]
    if axes is None:
        if argument.rank is None:
            return None
        sizes = argument.tensor.shape.as_list()[1:]
        if operation.type == "squeeze" and None in sizes:
            return None
        wanted = [i for i, size in enumerate(sizes) if operation.type != "squeeze" or size == 1]
        if not wanted:
            return argument.tensor
        axes = tuple(wanted)
    return _called(operation, [argument.tensor], axis=tuple(map(_shifted, axes)))


@_rule("argmax", "argmin", "cumsum", "cumprod", "softmax", "log_softmax", "expand_dims", "unstack", "split")
def _along_an_axis(operation: Operation, arguments: Arguments, count: Any) -> Any:
    return _called(operation, [arguments[0].tensor], axis=_shifted(operation.attrs["axis"] or 0))


@_rule("concat", "stack")
def _joined(operation: Operation, arguments: Arguments, count: Any) -> Any:
    tensors = [with_rows(argument, count) for argument in arguments]
    return _called(operation, tensors, axis=_shifted(operation.attrs["axis"]))


@_rule("reshape")
def _reshape(operation: Operation, arguments: Arguments, count: Any) -> Any:
    tensor, shape = arguments
    if shape.has_rows:
        return None
    known = operation.outputs[0].shape
    if known is not None and None not in known:
        return reshape.reshape(tensor.tensor, concat_split.stack([count, *known]))
    return reshape.reshape(tensor.tensor, _shape([count], shape.tensor))


@_rule("transpose")
def _transpose(operation: Operation, arguments: Arguments, count: Any) -> Any:
    tensor, perm = arguments
    if perm.has_rows:
        return None
    return _called(operation, [tensor.tensor, concat_split.concat([[0], perm.tensor + 1], 0)])


@_rule("broadcast_to")
def _broadcast_to(operation: Operation, arguments: Arguments, count: Any) -> Any:
    tensor, shape = arguments
    length = operation.outputs[0].shape
    if shape.has_rows or tensor.rank is None or length is None:
        return None
    sizes = shape_ops.shape(tensor.tensor)
    ones = [1] * (len(length) - tensor.rank)
    rows = (
        reshape.reshape(tensor.tensor, concat_split.concat([sizes[:1], ones, sizes[1:]], 0))
        if ones
        else tensor.tensor
    )
    return reshape.broadcast_to(rows, _shape([count], shape.tensor))


@_rule("tile")
def _tile(operation: Operation, arguments: Arguments, count: Any) -> Any:
    tensor, multiples = arguments
    return None if multiples.has_rows else _called(operation, [tensor.tensor, _shape([1], multiples.tensor)])


@_rule("pad")
def _pad(operation: Operation, arguments: Arguments, count: Any) -> Any:
    tensor, paddings, value = arguments
    if paddings.has_rows or value.has_rows:
        return None
    return _called(
        operation, [tensor.tensor, concat_split.concat([[[0, 0]], paddings.tensor], 0), value.tensor]
    )


@_rule("reverse")
def _reverse(operation: Operation, arguments: Arguments, count: Any) -> Any:
    tensor, axes = arguments
    if not isinstance(axes.tensor, EagerTensor):
        return None
    return _called(
        operation, [tensor.tensor, [_shifted(axis) for axis in axes.tensor.numpy().ravel().tolist()]]
    )


@_rule("gather")
def _gather(operation: Operation, arguments: Arguments, count: Any) -> Any:
    params, indices = arguments
    axis, batch_dims = operation.attrs["axis"], operation.attrs["batch_dims"]
    if params.has_rows and indices.has_rows:
        return gather(params.tensor, indices.tensor, axis=_shifted(axis), batch_dims=_shifted(batch_dims))
    if batch_dims:
        return None
    if params.has_rows:
        return gather(params.tensor, indices.tensor, axis=_shifted(axis))
    return gather(params.tensor, indices.tensor) if axis == 0 else None


@_rule("getitem")
def _getitem(operation: Operation, arguments: Arguments, count: Any) -> Any:
    tensor, *parts = arguments
    key = operation.attrs["key"]
    if not any(part.has_rows for part in parts):
        return _called(
            operation, [tensor.tensor, *(part.tensor for part in parts)], key=f":, {key}" if key else ":"
        )
    if key != "_" or parts[0].rank != 0:
        return None
    return gather(tensor.tensor, parts[0].tensor, batch_dims=1 if tensor.has_rows else 0)


@_rule("einsum")
def _einsum(operation: Operation, arguments: Arguments, count: Any) -> Any:
    equation: str = operation.attrs["equation"].replace(" ", "")
    if "->" not in equation or "." in equation:
        return None
    terms, result = equation.split("->")
    row = next(letter for letter in string.ascii_letters if letter not in equation)
    marked = [
        row * argument.has_rows + term for argument, term in zip(arguments, terms.split(","), strict=True)
    ]
    return einsum(f"{','.join(marked)}->{row}{result}", *(argument.tensor for argument in arguments))


@_rule("tensordot")
def _tensordot(operation: Operation, arguments: Arguments, count: Any) -> Any:
    a, b = arguments
    if a.rank is None or b.rank is None:
        return None
    letters = iter(string.ascii_letters)
    row = next(letters)
    left = [next(letters) for _ in range(a.rank)]
    right = [next(letters) for _ in range(b.rank)]
    axes_a, axes_b = operation.attrs["axes_a"], operation.attrs["axes_b"]
    for i, j in zip(axes_a, axes_b, strict=True):
        right[j] = left[i]
    summed = {left[i] for i in axes_a}
    result = "".join(letter for letter in [*left, *right] if letter not in summed)
    one, other = row * a.has_rows + "".join(left), row * b.has_rows + "".join(right)
    return einsum(f"{one},{other}->{row}{result}", a.tensor, b.tensor)
