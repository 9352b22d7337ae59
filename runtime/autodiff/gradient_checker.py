"""`compute_gradient`: the Jacobians of a function, by its gradients and by finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.conversion import convert_to_tensor
from ..core.tensor import EagerTensor
from ..ops.arrays.shape_ops import size
from .tape import GradientTape


def compute_gradient(
    f: Callable[..., Any], x: Sequence[Any], delta: float | None = None
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the Jacobians of `f` at the arguments `x`, by tape and by central differences.

    Each is a matrix for one argument: a row for each element of the result, a column for each of the argument.
    `delta` is the step of the differences, 1/1024 by default.

    Raises ValueError when `x` is no list.

    >>> from agc.runtime import square
    >>> by_tape, by_differences = compute_gradient(square, [[1.0, 2.0]])
    >>> by_tape[0].tolist(), by_differences[0].round(2).tolist()
    ([[2.0, 0.0], [0.0, 4.0]], [[2.0, 0.0], [0.0, 4.0]])
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError("`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`)")
    arguments = [convert_to_tensor(value) for value in x]
    width = 1.0 / 1024 if delta is None else delta
    by_tape = tuple(_by_tape(f, arguments, index) for index in range(len(arguments)))
    return by_tape, tuple(_by_differences(f, arguments, index, width) for index in range(len(arguments)))


def _by_tape(f: Callable[..., Any], arguments: list[Any], index: int) -> Any:
    x = arguments[index]
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(*arguments)
    rows = tape.jacobian(y, x, unconnected_gradients="zero")
    return rows.numpy().reshape(int(size(y)), int(size(x)))


def _by_differences(f: Callable[..., Any], arguments: list[Any], index: int, delta: float) -> Any:
    x = arguments[index].numpy()
    columns = []
    for number in range(x.size):
        ends = []
        for step in (delta, -delta):
            moved = np.array(x)
            moved.reshape(-1)[number] += moved.dtype.type(step)
            given = [*arguments[:index], EagerTensor(moved), *arguments[index + 1 :]]
            y: Any = convert_to_tensor(f(*given))
            ends.append(y.numpy())
        columns.append(((ends[0] - ends[1]) / (2 * delta)).reshape(-1))
    if columns:
        return np.stack(columns, axis=1).astype(x.dtype)
    return np.zeros((int(size(f(*arguments))), 0), x.dtype)
