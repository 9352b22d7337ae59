"""What TensorFlow code says about graphs and order, where agc keeps the order of the program by itself.

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
from ..ir.builder import current
from ..ops.math.cast import identity


def executing_eagerly() -> bool:
    """Whether operations compute at once: false while a graph is being built."""
    return current() is None


@contextlib.contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """Nothing to do: operations with effects run in the order of the program.

    In a graph for sessions, which run only what they are asked for, the operations of the block bring these along.
    Functions among the inputs are called first, where operations run at once; in a graph they are refused with a
    TypeError, as in TensorFlow.
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


def group(*inputs: Any, name: str | None = None) -> Any:
    """Nothing to do: effects of the inputs happen without being asked for.

    In a graph for sessions, an operation that brings these along.
    """
    builder = current()
    return (
        builder.no_op(builder.operations_of(inputs), name)
        if builder is not None and builder.keeps_constants
        else None
    )


def no_op(name: str | None = None) -> Any:
    """Do nothing. In a graph for sessions, an operation that does so."""
    return group(name=name)


def identity_n(input: Sequence[Any], name: str | None = None) -> list[Any]:
    """The tensors as they are, in a list; InvalidArgumentError (ValueError in a graph) when there are none.

    >>> [int(x) for x in identity_n([1, 2])]
    [1, 2]
    """
    tensors = list(input)
    if not tensors:
        message = "identity_n needs at least one tensor"
        raise errors.InvalidArgumentError(message, "identity_n") if current() is None else ValueError(message)
    return [identity(tensor, name=name) for tensor in tensors]


def tuple(tensors: Sequence[Any], control_inputs: Any = None, name: str | None = None) -> list[Any]:
    """The tensors in a list, with None where None is; in a graph ValueError when there is nothing else.

    >>> [x if x is None else int(x) for x in tuple([1, None])]
    [1, None]
    """
    if current() is not None and all(tensor is None for tensor in tensors):
        raise ValueError(f"'tensors' must have at least one Tensor. Received: {tensors}.")
    return [None if tensor is None else identity(tensor) for tensor in tensors]


__all__ = ["control_dependencies", "executing_eagerly", "group", "identity_n", "no_op", "tuple"]
