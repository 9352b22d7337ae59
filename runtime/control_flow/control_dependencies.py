"""TensorFlow's functions for control dependencies. Operations with effects run in program order without them.

>>> executing_eagerly()
True
>>> with control_dependencies([]):
...     group(no_op())
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from .. import errors
from ..core.export import export
from ..ir.builder import current
from ..ops.math.cast import identity


@export("executing_eagerly")
def executing_eagerly() -> bool:
    """Return whether operations run at once: False while a graph is being built.

    >>> import agc.runtime as tf
    >>> tf.executing_eagerly(), bool(tf.function(lambda: tf.executing_eagerly())())
    (True, False)
    """
    return current() is None


@export("control_dependencies")
@contextlib.contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """Do nothing in most cases, since operations with effects run in program order.

    In a graph for sessions, which run only the operations that are fetched, the operations of the block depend on
    `control_inputs`. Functions among them are called first in eager code. In a graph they raise a TypeError, as in
    TensorFlow.

    >>> import agc.runtime as tf
    >>> with tf.control_dependencies([tf.constant(1)]):
    ...     tf.constant(2).numpy()
    np.int32(2)
    """
    builder = current()
    for given in control_inputs or ():
        if callable(given):
            if builder is not None:
                raise TypeError(
                    f"control_dependencies takes operations and tensors in a graph, not {given!r}"
                )
            given()
    if builder is None or not builder.keeps_constants:
        yield
        return
    before = None if control_inputs is None else builder.operations_of(control_inputs)
    with builder.after(before):
        yield


@export("group")
def group(*inputs: Any, name: str | None = None) -> Any:
    """Return None, since the effects of the inputs happen anyway.

    In a graph for sessions, return an operation that depends on the inputs.

    >>> from agc.runtime import Variable
    >>> v = Variable(1)
    >>> group(v.assign_add(2), v.assign_add(3))
    >>> v.numpy()
    np.int32(6)
    """
    builder = current()
    if builder is not None and builder.keeps_constants:
        return builder.no_op(builder.operations_of(inputs), name)
    return None


@export("no_op")
def no_op(name: str | None = None) -> Any:
    """Do nothing. In a graph for sessions, return an operation that does nothing.

    >>> no_op()
    """
    return group(name=name)


@export("identity_n")
def identity_n(input: Sequence[Any], name: str | None = None) -> list[Any]:
    """Return the tensors unchanged, in a list.

    Raises InvalidArgumentError (ValueError in a graph) when there are none.

    >>> [int(x) for x in identity_n([1, 2])]
    [1, 2]
    """
    tensors = list(input)
    if not tensors:
        message = "identity_n needs at least one tensor"
        raise errors.InvalidArgumentError(message, "identity_n") if current() is None else ValueError(message)
    return [identity(tensor, name=name) for tensor in tensors]


@export("tuple")
def tuple(tensors: Sequence[Any], control_inputs: Any = None, name: str | None = None) -> list[Any]:
    """Return the tensors in a list, with None for None; in a graph raise ValueError when there is not a tensor.

    >>> [x if x is None else int(x) for x in tuple([1, None])]
    [1, None]
    """
    if current() is not None and all(tensor is None for tensor in tensors):
        raise ValueError(f"'tensors' must have at least one Tensor. Received: {tensors}.")
    return [None if tensor is None else identity(tensor) for tensor in tensors]
