"""Error messages of operations: the reason, the operation, and its arguments unless the reason names one.

    Incompatible shapes: (2,) vs. (3,)    →    Incompatible … (3,) [op add of x: float32[2], y: float32[3]]
    indices = 7 is not in [0, 3)          →    indices = 7 is not in [0, 3) [op gather]

Rules and kernels raise errors with a reason only. Errors that Python or NumPy raises within them
are treated in the same way.
"""

from __future__ import annotations

import dis
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from ... import dtypes, errors
from ...ir.op_def import OpDef
from ...ir.value_types import TensorType

FAILURES = (errors.OpError, ValueError, TypeError, IndexError, ArithmeticError)
"""Exceptions that rules and kernels raise, also from NumPy and Python, for invalid arguments."""

_OF_ARGUMENTS = (errors.InvalidArgumentError, errors.ResourceExhaustedError, errors.UnimplementedError)
_PYTHONS = (ValueError, IndexError, AssertionError)
_UNFIT = "the arguments do not fit together"
_NUMPY = os.path.dirname(np.__file__)
_RAISE = dis.opmap["RAISE_VARARGS"]
_HERE = __name__.split(".")[0]
_WIDEST = 60


class PythonTypeError(TypeError):
    """A rule's TypeError that stays a TypeError in eager mode; others become InvalidArgumentError there.

    TensorFlow raises these errors in Python, not in a kernel.
    """


def runtime_op_error(
    error: Exception, op: OpDef, inputs: Sequence[Any], attrs: Mapping[str, Any]
) -> Exception:
    """Return the exception for a failure of the kernel of `op`, or of its rule in eager mode."""
    if isinstance(error, PythonTypeError):
        return ruled_out(error, op, inputs, attrs)
    found = failure(error)
    found.op_type = found.op_type or op.name
    if not speaks_for_itself(found, op):
        restate(found, named(found, op, inputs, attrs))
    return found


def failure(error: Exception, reason: str | None = None) -> errors.OpError:
    """Convert an exception of a kernel to an OpError."""
    if isinstance(error, errors.OpError):
        return error
    if isinstance(error, MemoryError):
        return errors.ResourceExhaustedError(f"out of memory: {error}")
    return errors.InvalidArgumentError(reason_of(error) if reason is None else reason)


def reason_of(error: Exception) -> str:
    """Return an error's message; errors raised within Python or NumPy are prefixed with a general reason."""
    text = str(error).strip()
    return text if is_raised_here(error) else f"{_UNFIT}: {text}"


def is_raised_here(error: Exception) -> bool:
    """Return whether a `raise` statement of a rule or a kernel raised the error; True if that is unknown."""
    trace = error.__traceback__
    if trace is None:
        return True
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    return code.co_code[trace.tb_lasti] == _RAISE and not code.co_filename.startswith(_NUMPY)


def speaks_for_itself(error: errors.OpError, op: OpDef) -> bool:
    """Return whether the error's message is the user's own: an assertion, or an error of Python's lists."""
    return op.name in ("assert", "raise") or isinstance(error, _PYTHONS)


def ruled_out(error: Exception, op: OpDef, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Exception:
    """Return the exception for a failure of the rule of `op` while tracing: a ValueError or TypeError."""
    if isinstance(error, errors.OpError):
        return runtime_op_error(error, op, inputs, attrs)
    if type(error).__module__.startswith(_HERE) and not isinstance(error, PythonTypeError):
        return error
    kind = TypeError if isinstance(error, TypeError) and is_raised_here(error) else ValueError
    return kind(named(kind(reason_of(error)), op, inputs, attrs))


def throw(found: Exception, error: Exception) -> NoReturn:
    """Raise `found` in place of `error`, without a context; raise `error` itself if they are the same."""
    if found is error:
        raise error
    raise found from None


def restate(error: errors.OpError, message: str) -> None:
    """Replace the message of an error."""
    error.message = message
    error.args = (message,)


def named(error: Exception, op: OpDef, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> str:
    """Return the error's message with the operation that failed."""
    reason = error.message if isinstance(error, errors.OpError) else str(error)
    return reason if "[op " in reason else f"{reason} {place(error, reason, op, inputs, attrs)}"


def place(error: Exception, reason: str, op: OpDef, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> str:
    """Return the operation's name, with its arguments if the reason is about them and names none."""
    if isinstance(error, errors.OpError) and not isinstance(error, _OF_ARGUMENTS):
        return f"[op {op.name}]"
    parameters = [name for name in op.parameters if name != "name"]
    is_named = re.search(rf"\b({'|'.join(map(re.escape, parameters))})\b", reason)
    if not parameters or (is_named and not reason.startswith(_UNFIT)):
        return f"[op {op.name}]"
    return f"[op {op.name} of {', '.join(_arguments(op, inputs, attrs))}]"


def _arguments(op: OpDef, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Iterable[str]:
    """Yield each argument with its type, or its value; attributes equal to their defaults are left out."""
    for name, value in zip(op.input_names, op.grouped(list(inputs)), strict=True):
        yield f"{name}: {_kinds(value) if isinstance(value, list) else _kind(value)}"
    for name, value in attrs.items():
        if repr(value) != repr(op.defaults.get(name)):
            text = repr(value)
            yield f"{name}: {text if len(text) < _WIDEST else text[:_WIDEST] + '…'}"


def _kinds(values: Sequence[Any]) -> str:
    shown = ", ".join(map(_kind, values[:4]))
    return f"[{shown}, …]" if len(values) > 4 else f"[{shown}]"


def _kind(value: Any) -> str:
    if isinstance(value, (np.ndarray, np.generic)):
        return str(TensorType(dtypes.of_array(value), value.shape))
    return "string[]" if isinstance(value, bytes) else str(getattr(value, "spec", type(value).__name__))
