"""Placeholders: values that are fed to a graph at run time; also constants and no-ops of graphs.

x = placeholder(float32, (None,))          # fed by `Session.run(..., feed_dict={x: [1.0]})`
"""

from __future__ import annotations

from typing import Any, NoReturn

from ... import dtypes, errors
from ...core import shapes
from ...ir.graph import Operation, Value
from ...ir.value_types import TensorType
from ..framework.attribute_parsers import Dims, DType
from ..framework.op import Input, Name, op


@op(stateful=True)
def placeholder(dtype: DType, shape: Dims = None, name: Name = None) -> TensorType:
    """Return a tensor whose value is fed when the graph runs.

    Args:
        dtype: of the fed value.
        shape: that of the fed value; None for unknown dimensions or an unknown rank.

    Raises InvalidArgumentError at run time if no value is fed.

    >>> placeholder(dtypes.int32, [])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    agc.runtime.errors.InvalidArgumentError: You must feed a value for a placeholder of dtype ... [op placeholder]
    """
    return TensorType(dtype, shape)


@placeholder.kernel
def _(dtype: dtypes.DType, shape: shapes.Dims) -> NoReturn:
    raise errors.InvalidArgumentError(
        f"You must feed a value for a placeholder of dtype {dtype.name} and shape {shapes.show(shape)}"
    )


def placeholder_of(value: Value) -> Operation:
    """Return an operation that represents an input of a function's graph among its operations."""
    spec = value.spec
    attrs: dict[str, Any] = {"dtype": spec.dtype, "shape": spec.shape} if isinstance(spec, TensorType) else {}
    return Operation(placeholder, (), attrs, (value,))


@op
def const(value: Input, name: Name = None) -> TensorType:
    """Return a constant of the graph as a separate tensor.

    >>> const(3)
    <tf.Tensor: shape=(), dtype=int32, numpy=3>
    """
    spec: TensorType = value.spec
    return spec


const.kernel(lambda value: value)
const.gradient(lambda dy, y, value: dy)


@op(name="no_op", stateful=True)
def nothing(name: Name = None) -> tuple[()]:
    """Do nothing; sessions run this operation for its control dependencies.

    >>> nothing()
    []
    """
    return ()


nothing.kernel(lambda: ())


@op(stateful=True)
def placeholder_with_default(input: Input, shape: Dims = None, name: Name = None) -> TensorType:
    """Return a tensor that has the value of `input` unless another value is fed.

    >>> placeholder_with_default([1, 2], [None]).numpy()
    array([1, 2], dtype=int32)
    """
    if not shapes.compatible(input.shape, shape):
        raise ValueError(
            f"the shape {shapes.show(shape)} does not fit the default, {shapes.show(input.shape)}"
        )
    return TensorType(input.dtype, shape)


placeholder_with_default.kernel(lambda input, shape: input)
placeholder_with_default.gradient(lambda dy, y, input, shape: dy)
