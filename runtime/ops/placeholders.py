"""Values that a graph is given when it runs.

x = placeholder(float32, (None,))          # fed by `Session.run(..., feed_dict={x: [1.0]})`
"""

from __future__ import annotations

from typing import Any, NoReturn

from .. import dtypes, errors, shapes
from ..ir.graph import Operation, Value
from ..ir.specs import Spec
from .attributes import Dims, DType
from .declare import Name, op


@op(stateful=True)
def placeholder(dtype: DType, shape: Dims = None, name: Name = None) -> Spec:
    """A tensor whose value is fed when the graph runs.

    Args:
        dtype: of what will be fed.
        shape: that of what will be fed; None for dimensions, or a rank, that are not known.

    Raises InvalidArgumentError when it is computed, which is when nothing is fed for it.

    >>> placeholder(dtypes.int32, [2])
    Traceback (most recent call last):
    agc.runtime.errors.InvalidArgumentError: You must feed a value for a placeholder of dtype int32 and shape (2,)
    """
    return Spec(dtype, shape)


@placeholder.kernel
def _(dtype: dtypes.DType, shape: shapes.Dims) -> NoReturn:
    raise errors.InvalidArgumentError(
        f"You must feed a value for a placeholder of dtype {dtype.name} and shape {shapes.show(shape)}"
    )


def placeholder_of(value: Value) -> Operation:
    """What stands for the input of a function's graph among its operations."""
    spec = value.spec
    attrs: dict[str, Any] = {"dtype": spec.dtype, "shape": spec.shape} if isinstance(spec, Spec) else {}
    return Operation(placeholder, (), attrs, (value,))
