"""Exchange of tensors through DLPack (https://dmlc.github.io/dlpack), by NumPy's implementation.

>>> import numpy as np
>>> x = from_dlpack(np.arange(3))
>>> x
<tf.Tensor: shape=(3,), dtype=int64, numpy=array([0, 1, 2])>
>>> np.from_dlpack(x).flags.writeable  # a tensor never changes
False
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import EagerTensor, Tensor

CPU = (1, 0)
"""DLPack's name of the memory of all tensors: kDLCPU, device 0."""


@export("experimental.dlpack.to_dlpack")
def to_dlpack(tf_tensor: Any) -> Any:
    """Return a tensor as a DLPack capsule, which can be consumed once. TypeError for strings and traced tensors.

    >>> from agc.runtime import constant
    >>> from_dlpack(to_dlpack(constant([1, 2]))).numpy().tolist()
    [1, 2]
    """
    return exported(convert_to_tensor(tf_tensor))


def exported(tensor: Tensor, **options: Any) -> Any:
    """Return the result of `tensor.__dlpack__(**options)`.

    Consumers that support read-only memory get the memory itself, others a copy.
    """
    if not isinstance(tensor, EagerTensor) or tensor.dtype is dtypes.string:
        raise TypeError(f"only eager tensors of numbers can be exported, not {tensor!r}")
    view = tensor._array.view()
    view.flags.writeable = False
    try:
        return view.__dlpack__(**options)
    except BufferError:
        if options.get("copy") is False:
            raise
        return tensor._array.copy().__dlpack__(**options)


class _Capsule:
    """A capsule with the methods that NumPy requires."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU


@export("experimental.dlpack.from_dlpack")
def from_dlpack(dlcapsule: Any) -> EagerTensor:
    """Return a tensor with the values of a capsule, or of another library's array. The data are copied.

    Raises BufferError, TypeError or RuntimeError for memory that NumPy cannot read, such as a GPU's.

    >>> from_dlpack(np.array([1.0, 2.0])).numpy().tolist()
    [1.0, 2.0]
    """
    source = dlcapsule if hasattr(dlcapsule, "__dlpack__") else _Capsule(dlcapsule)
    return EagerTensor(np.from_dlpack(source).copy())
