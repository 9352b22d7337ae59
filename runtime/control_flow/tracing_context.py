"""The tracing context: whether a function is being traced, and which values are known while tracing.

>>> from agc.runtime import convert_to_tensor
>>> inside_function(), get_static_value(convert_to_tensor([1, 2])).tolist()
(False, [1, 2])
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.conversion import is_tensor
from ..core.export import export
from ..core.symbolic_tensor import SymbolicTensor
from ..core.tensor import EagerTensor
from ..ir.builder import current, eagerly

if TYPE_CHECKING:
    import logging


@export("inside_function")
def inside_function() -> bool:
    """Return whether a function is being traced.

    >>> import agc.runtime as tf
    >>> seen = [inside_function()]
    >>> _ = tf.function(lambda: seen.append(inside_function()))()
    >>> seen
    [False, True]
    """
    return current() is not None


@export("init_scope")
@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """Run a block eagerly, also while a function is traced: its tensors and variables belong to no graph.

    >>> with init_scope():
    ...     inside_function()
    False
    """
    with eagerly():
        yield


@export("is_symbolic_tensor")
def is_symbolic_tensor(tensor: Any) -> bool:
    """Return whether this is a tensor of a graph that is being built.

    >>> from agc.runtime import convert_to_tensor
    >>> is_symbolic_tensor(convert_to_tensor(1))
    False
    """
    return isinstance(tensor, SymbolicTensor)


@export("get_static_value")
def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """Return the value of a tensor as a NumPy array, if it is known while a function is traced; else None.

    What is not a tensor, such as a number or a list, is returned as it is.

    Args:
        partial: whether a vector of integers may have unknown elements, which are None.

    >>> import agc.runtime as tf
    >>> tf.get_static_value(tf.constant([1, 2])).tolist()
    [1, 2]
    >>> bool(tf.function(lambda x: tf.get_static_value(x) is None)(tf.constant(1)))
    True
    >>> tf.get_static_value([3]), tf.get_static_value(tf.Variable(3))
    ([3], None)
    """
    if isinstance(tensor, EagerTensor):
        return tensor.numpy()
    if not isinstance(tensor, SymbolicTensor):
        return None if is_tensor(tensor) else tensor
    known = tensor._value.elements
    if known is None or (None in known and not partial):
        return None
    shape: Any = tensor.shape.sizes if tensor.shape.is_fully_defined() else (len(known),)
    return np.array(known, object if None in known else tensor.dtype.numpy_dtype).reshape(shape)[()]


@export("get_logger")
def get_logger() -> logging.Logger:
    """Return the logger of TensorFlow programs, called "tensorflow".

    >>> get_logger().name
    'tensorflow'
    """
    import logging  # imported late, since the import is slow

    return logging.getLogger("tensorflow")
