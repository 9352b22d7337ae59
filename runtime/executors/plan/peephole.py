"""Peephole expressions: Python expressions that cost a tenth of the general kernels, mostly on scalars.

    r = floormod m, 2 : int32[]              ==>      r = m % int32_2 if int32_2 else op_floormod(m, int32_2)
    n = read_variable v : int32[]            ==>      n = v._array[()]
    y = getitem x, r [key='_, ::-1']         ==>      y = x[r, ::-1]

An expression calls the kernel in rare cases, and fails where the kernel does.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from ...core.shapes import is_static
from ...ir.graph import Constant, Operation
from ...ir.op_def import OpDef
from ...ir.value_types import TensorType
from ...kernels.matrix_products import may_be_shared
from ...ops.arrays.gather_ops import take
from ...ops.arrays.getitem import HOLE, parsed, select
from ...ops.arrays.reshape import sum_to
from ...ops.linalg.matmul import matmul_op
from ...ops.math.cast import cast_op
from ...ops.reduce.short_axis_kernels import needs_numpy
from ...ops.state.variable_ops import read_variable
from .escaping import literal

_CASTS = {"b": "iufc", "i": "biufc", "u": "biufc", "f": "fc"}
"""By source kind, the target kinds to which NumPy's scalar types convert as arrays do."""

_ELEMENT = "{0}[{1}] if 0 <= {1} < len({0}) else {kernel}({0}, {1}, axis=0, batch_dims=0)"


def shortcut(operation: Operation) -> str | None:
    """Return the expression for an operation; None if there is none.

    It has holes `{0}`, `{1}` … for operands, `{kernel}`, and `{type}` for the type of the result.
    """
    rule = _RULES.get(operation.op)
    if rule is not None:
        return rule(operation)
    table = operation.op.numpy_scalar
    if not table or not all(is_scalar(operand.spec) for operand in operation.inputs):
        return None
    return table.get(operation.inputs[0].dtype.kind)


def _element(operation: Operation) -> str | None:
    return _ELEMENT if picks_element(operation) else None


def _cast(operation: Operation) -> str | None:
    to = operation.outputs[0].dtype.kind
    is_native = is_scalar(operation.inputs[0].spec) and to in _CASTS.get(operation.inputs[0].dtype.kind, "")
    return "{type}({0})" if is_native else None


def _read(operation: Operation) -> str:
    return "{0}._array[()]" if is_scalar(operation.outputs[0].spec) else "{0}._array"


def product(operation: Operation) -> str | None:
    """Return the expression for a product of two matrices, or of the rows of a batch and one matrix.

    None for other batches and for adjoints, which the kernel computes.
    """
    attrs = operation.attrs
    left, right = (0 if operand.shape is None else len(operand.shape) for operand in operation.inputs)
    is_plain = right == 2 and (left == 2 or (left > 2 and not attrs["transpose_a"]))
    if not is_plain or attrs["adjoint_a"] or attrs["adjoint_b"]:
        return None
    turned = (attrs["transpose_a"], attrs["transpose_b"])
    a, b = (f"{{{i}}}.T" if turn else f"{{{i}}}" for i, turn in enumerate(turned))
    return f"{a} @ {b}"


def is_large_product(operation: Operation) -> bool:
    """Return whether an operation is a matrix product that OpenBLAS might share among its threads."""
    return operation.op is matmul_op and may_be_shared(operation.inputs[0].shape, operation.outputs[0].shape)


def _sum(operation: Operation) -> str | None:
    """Return the expression for a sum of few elements along leading axes; None if axes of size 1 remain."""
    tensor, shape = operation.inputs
    sizes: Any = tensor.shape
    if not is_static(sizes) or not isinstance(shape, Constant) or tensor.dtype.kind not in "iuf":
        return None
    left = tuple(shape.value.tolist())
    axes = tuple(range(len(sizes) - len(left)))
    return (
        f"np.add.reduce({{0}}, {literal(axes)}, {{type}})"
        if axes and sizes[len(axes) :] == left and needs_numpy(sizes, axes)
        else None
    )


def is_scalar(spec: object) -> bool:
    """Return whether the plan computes a value of this type with NumPy scalars."""
    return isinstance(spec, TensorType) and spec.shape == () and spec.dtype.kind != "S"


def _indexing(operation: Operation) -> str | None:
    """Return the index expression of a `getitem`, with a hole for each operand."""
    spec = operation.inputs[0].spec
    if not isinstance(spec, TensorType) or not spec.shape or spec.dtype.kind == "S":
        return None  # the kernel handles scalars, and strings, whose elements would be `bytes`
    numbers = itertools.count(1)
    items = [_item(item, numbers) for item in parsed(operation.attrs["key"])]
    return f"{{0}}[{', '.join(items)}]"


def _item(item: Any, numbers: Iterator[int]) -> str:
    """Return one part of a key as source; a hole if an operand gives it."""
    if type(item) is slice:
        parts = (item.start, item.stop, item.step)
        texts = ["" if part is None else _item(part, numbers) for part in parts]
        return ":".join(texts if texts[2] else texts[:2])
    if item is HOLE:
        return f"{{{next(numbers)}}}"
    return "..." if item is Ellipsis else literal(item)


def picks_element(operation: Operation) -> bool:
    """Return whether a gather takes one element of a vector."""
    vector, index = (operand.spec for operand in operation.inputs)
    return (
        is_scalar(index)
        and isinstance(vector, TensorType)
        and vector.shape is not None
        and len(vector.shape) == 1
        and vector.dtype.kind != "S"
        and (operation.attrs.get("axis"), operation.attrs.get("batch_dims")) == (0, 0)
    )


_RULES: dict[OpDef, Callable[[Operation], str | None]] = {
    take: _element,
    select: _indexing,
    matmul_op: product,
    sum_to: _sum,
    read_variable: _read,
    cast_op: _cast,
}
"""Operations whose expressions depend on more than the kind of the dtype."""
