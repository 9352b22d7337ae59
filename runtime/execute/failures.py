"""Failures at run time, in the user's terms: which operation, on which line of the program.

    InvalidArgumentError: indices[0] = 7 is not in [0, 3) [op gather]
      at train.py:12, in fit

Both executors report through here, so they say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from ..ir.graph import Constant, Operation

_NUMPY = (ValueError, TypeError, IndexError, ArithmeticError)
"""What kernels raise that leave the checking of their arguments to NumPy."""


def located(error: Exception, operation: Operation, inputs: Sequence[Any]) -> Exception:
    """The exception to raise when `operation` failed with `error` on `inputs`."""
    place = f"[op {operation.type}]" + (f"\n  at {operation.origin}" if operation.origin else "")
    if operation.type == "raise":
        if operation.origin:
            error.add_note(f"  at {operation.origin}")
        return error
    if isinstance(error, errors.OpError):
        found = error
    elif isinstance(error, _NUMPY):
        found = errors.InvalidArgumentError(_reason(error, operation, inputs))
    elif isinstance(error, MemoryError):
        found = errors.ResourceExhaustedError(f"out of memory: {error}")
    else:
        error.add_note(place)
        return error
    if found.op is None:
        found.op_type, found.op = found.op_type or operation.type, operation
    found.message = f"{found.message} {place}"
    found.args = (found.message,)
    return found


def _reason(error: Exception, operation: Operation, inputs: Sequence[Any]) -> str:
    """The reason that the operation's own rule gives on these inputs, else NumPy's."""
    if not operation.regions and all(isinstance(x, (np.ndarray, np.generic)) for x in inputs):
        try:
            operation.op.infer([Constant(np.asarray(x)) for x in inputs], operation.attrs)
        except (ValueError, TypeError, errors.OpError) as refusal:
            return str(refusal)
    return str(error).strip()
