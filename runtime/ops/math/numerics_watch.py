"""`tf.debugging.enable_check_numerics`: an error at the first operation whose result is NaN or infinite.

y = log x                         y = log x
z = add y, 1.0          ==>       y.1 = check_numerics y [message="… output 0 of operation 'log' …"]
                                  z = add y.1, 1.0

Eager operations are checked at once. A traced graph gets a check after each operation of floats, which all executors
run. Operations that only move elements, and those that read variables, are not checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import errors
from ...core.devices import placement
from ...core.export import export
from ...core.tensor import EagerTensor, Tensor
from ...ir.source_location import caller
from ..framework.op import Op, watch
from ..framework.op_families import FLOATS
from .check_numerics import check_numerics

_PACKAGE = __name__.rpartition(".")[0].rpartition(".")[0]
_MOVING = tuple(
    f"{_PACKAGE}.{family}."
    for family in ("arrays", "assertions", "lists", "lookup", "parsing", "ragged", "state")
)
"""The families whose operations compute no numbers."""


@export("debugging.enable_check_numerics")
def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """Raise InvalidArgumentError where an operation of floats gives NaN or infinity, with its name and the line.

    Eager operations are checked, and those of functions that are traced from now on.

    Args:
        stack_height_limit, path_length_limit: accepted; the message has the line of the user's program.

    >>> from agc.runtime import constant, math
    >>> enable_check_numerics()
    >>> math.log(constant([1.0, 0.0]))
    Traceback (most recent call last):
    agc.runtime.errors.InvalidArgumentError: Detected Infinity or NaN in output 0 of operation 'log' ...
    >>> disable_check_numerics()
    """
    placement.observe(checked=True)
    watch.results = _checked


@export("debugging.disable_check_numerics")
def disable_check_numerics() -> None:
    """Stop the checks of `enable_check_numerics`. Functions that are traced already keep theirs.

    >>> disable_check_numerics()
    """
    placement.observe(checked=False)
    watch.results = None


def _checked(op: Op, results: Sequence[Any]) -> Sequence[Any]:
    if op is check_numerics or op.rule.__module__.startswith(_MOVING):
        return results
    return [_checked_result(op, number, result) for number, result in enumerate(results)]


def _checked_result(op: Op, number: int, result: Any) -> Any:
    if not isinstance(result, Tensor) or result.dtype not in FLOATS:
        return result
    text = f"Detected Infinity or NaN in output {number} of operation {op.name!r}"
    if not isinstance(result, EagerTensor):
        return check_numerics(result, text)
    array = np.asarray(result._array)
    if not np.isfinite(array).all():
        line = caller()
        raise errors.InvalidArgumentError(
            f"{text} (dtype: {result.dtype.name}, shape: {result.shape}, NaN: {int(np.isnan(array).sum())}, infinite: "
            f"{int(np.isinf(array).sum())}){f' at {line}' if line else ''}"
        )
    return result
