"""`write`: writes a value at a step to the default writer, now or each time a graph runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ir.value_types import TensorType
from ..ops.framework.attribute_parsers import Object
from ..ops.framework.op import Input, Name, op
from ..ops.math.cast import cast
from ..storage.tensor_protos import serialized
from . import events, state

Array = np.ndarray[Any, Any]
Encode = Callable[[Array], Array]


class Destination:
    """The attribute of the writing operation: the writer, the tag, the metadata and the encoding of the data."""

    def __init__(self, writer: Any, tag: str, metadata: bytes, encode: Encode) -> None:
        self.writer = writer
        self.tag = tag
        self.metadata = metadata
        self.encode = encode
        self.__name__ = tag

    def write(self, step: int, data: Array) -> None:
        content = serialized(self.encode(data))
        self.writer.write(events.summary_event(time.time(), step, self.tag, content, self.metadata))


@op(stateful=True)
def write_summary(
    data: Input, step: Input, record: Input, destination: Object = None, name: Name = None
) -> TensorType:
    """Write `data` at `step` if `record` is true; return whether it was written.

    >>> write_summary([1.0], 3, False)
    <tf.Tensor: shape=(), dtype=bool, numpy=False>
    """
    if not step.dtype.is_integer or step.shape not in ((), None):
        raise ValueError(f"write_summary, argument `step`: an integer scalar is needed, not {step.spec}")
    return TensorType(dtypes.bool_, ())


@write_summary.kernel
def _(data: Any, step: Any, record: Any, destination: Destination | None) -> Any:
    if record and destination is not None:
        destination.write(int(step), np.asarray(data))
    return np.bool_(record)


def recorded(tag: str, data: Any, step: Any, metadata: bytes, encode: Encode) -> Tensor:
    """Write the encoded data under a tag.

    Returns a bool scalar: whether it was written. Raises ValueError when there is no step.
    """
    writer = state.current().writer
    if writer is None:
        return convert_to_tensor(False)
    when = cast(state.step_or_default(step), dtypes.int64)
    result: Tensor = write_summary(
        data, when, state.should_record_summaries(), Destination(writer, tag, metadata, encode)
    )
    return result


@export("summary.write")
def write(tag: str, tensor: Any, step: Any = None, metadata: Any = None, name: str | None = None) -> Tensor:
    """Write a tensor of any dtype and shape under exactly this tag.

    Args:
        tag: the name in TensorBoard.
        tensor: the data, or a function that returns them.
        step: an integer, a tensor or a variable; default: that of `experimental.set_step`, or of the writer.
        metadata: an object with `SerializeToString`, or its bytes.
        name: accepted.

    Returns a bool scalar: whether it was written. Raises ValueError when there is no step.

    >>> write("loss", 0.5, step=0).numpy()
    np.False_
    """
    content = metadata.SerializeToString() if hasattr(metadata, "SerializeToString") else metadata or b""
    data = tensor() if callable(tensor) else tensor
    return recorded(tag, data, step, content, np.asarray)
