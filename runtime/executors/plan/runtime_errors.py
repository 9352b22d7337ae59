"""Report failures at run time in terms of user code: the operation and the line of the program.

    InvalidArgumentError: indices[0] = 7 is not in [0, 3) [op gather]
      at train.py:12, in fit

All executors use this module, so their messages are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import errors
from ...ir.graph import Constant, Operation
from ...ir.traits import LOCATES_ERRORS, RAISES
from ...ops.framework.op_errors import FAILURES, failure, place, reason_of, restate, speaks_for_itself


def located(error: Exception, operation: Operation, inputs: Sequence[Any]) -> Exception:
    """Return the exception to raise after `operation` failed with `error` on `inputs`."""
    if operation.op.has(RAISES):
        if operation.origin:
            error.add_note(f"  at {operation.origin}")
        return error
    if operation.op.has(LOCATES_ERRORS) and isinstance(error, errors.OpError) and error.op is not None:
        return error
    refusal = None if isinstance(error, (errors.OpError, MemoryError)) else _refusal(operation, inputs)
    if refusal is None and not isinstance(error, (MemoryError, *FAILURES)):
        error.add_note(_placed(f"[op {operation.type}]", operation))
        return error
    found = failure(error, refusal)
    if found.op is None:
        found.op_type, found.op = found.op_type or operation.type, operation
    restate(found, _placed(f"{found.message} {_location_note(found, operation, inputs)}", operation))
    return found


def _location_note(error: errors.OpError, operation: Operation, inputs: Sequence[Any]) -> str:
    if operation.regions or speaks_for_itself(error, operation.op):
        return f"[op {operation.type}]"
    return place(error, error.message, operation.op, inputs, operation.attrs)


def _placed(text: str, operation: Operation) -> str:
    return f"{text}\n  at {operation.origin}" if operation.origin else text


def _refusal(operation: Operation, inputs: Sequence[Any]) -> str | None:
    """Return the reason that shape inference gives for rejecting these inputs; None if it accepts them."""
    if not operation.regions and all(isinstance(x, (np.ndarray, np.generic)) for x in inputs):
        try:
            operation.op.infer([Constant(np.asarray(x)) for x in inputs], operation.attrs)
        except FAILURES as refusal:
            return refusal.message if isinstance(refusal, errors.OpError) else reason_of(refusal)
    return None
