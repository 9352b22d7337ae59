"""What a refusal tells, whoever gives it: the operation, and its arguments where the reason names none of them.

    Incompatible shapes: (2,) vs. (3,)    →    Incompatible … (3,) [op add of x: float32[2], y: float32[3]]
    indices = 7 is not in [0, 3)          →    indices = 7 is not in [0, 3) [op gather]

Rules and kernels raise with a reason alone, also the errors of Python and NumPy for what they left to these.
"""

from __future__ import annotations

import dis
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ... import dtypes, errors
from ...ir.value_types import TensorType

if TYPE_CHECKING:
    from .op import Op

OF_COMPUTING = (ValueError, TypeError, IndexError, ArithmeticError)
"""What kernels raise, and NumPy and Python in them, for arguments that they cannot take."""

_OF_ARGUMENTS = (errors.InvalidArgumentError, errors.ResourceExhaustedError, errors.UnimplementedError)
_PYTHONS = (ValueError, IndexError, AssertionError)
_UNFIT = "the arguments do not fit each other"
_NUMPY = os.path.dirname(np.__file__)
_RAISE = dis.opmap["RAISE_VARARGS"]
_HERE = __name__.split(".")[0]
_WIDEST = 60


class PythonTypeError(TypeError):
    """A rule's TypeError that is one where operations run at once, too; others are InvalidArgumentErrors there.

    TensorFlow finds these in Python, and not in a kernel.
    """


def runtime_op_error(error: Exception, op: Op, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Exception:
    """What to raise when the kernel of `op`, or its rule where it runs at once, failed with `error`."""
    if isinstance(error, PythonTypeError):
        return ruled_out(error, op, inputs, attrs)
    found = failure(error)
    found.op_type = found.op_type or op.name
    if not speaks_for_itself(found, op):
        restate(found, named(found, op, inputs, attrs))
    return found


def failure(error: Exception, reason: str | None = None) -> errors.OpError:
    """What a kernel raised, as the error of an operation."""
    if isinstance(error, errors.OpError):
        return error
    if isinstance(error, MemoryError):
        return errors.ResourceExhaustedError(f"out of memory: {error}")
    return errors.InvalidArgumentError(reason_of(error) if reason is None else reason)


def reason_of(error: Exception) -> str:
    """What an error says; where Python or NumPy raised it, not a rule or a kernel, that the arguments do not fit."""
    text = str(error).strip()
    return text if is_raised_here(error) else f"{_UNFIT}: {text}"


def is_raised_here(error: Exception) -> bool:
    """Whether a `raise` of a rule's or a kernel's made the error, or nobody knows."""
    trace = error.__traceback__
    if trace is None:
        return True
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    return code.co_code[trace.tb_lasti] == _RAISE and not code.co_filename.startswith(_NUMPY)


def speaks_for_itself(error: errors.OpError, op: Op) -> bool:
    """Whether the error is one that the user's program asks for: an assertion, or what Python's lists raise."""
    return op.name in ("assert", "raise") or isinstance(error, _PYTHONS)


def ruled_out(error: Exception, op: Op, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Exception:
    """What to raise when the rule of `op` failed with `error` while a graph is made: a ValueError or TypeError."""
    if isinstance(error, errors.OpError):
        return runtime_op_error(error, op, inputs, attrs)
    if type(error).__module__.startswith(_HERE) and not isinstance(error, PythonTypeError):
        return error
    kind = TypeError if isinstance(error, TypeError) and is_raised_here(error) else ValueError
    return kind(named(kind(reason_of(error)), op, inputs, attrs))


def throw(found: Exception, error: Exception) -> NoReturn:
    """Raise what is to be raised in place of `error`, which may be itself, with the cause that it has."""
    if found is error:
        raise error
    raise found from None


def restate(error: errors.OpError, message: str) -> None:
    """Give an error another message."""
    error.message = message
    error.args = (message,)


def named(error: Exception, op: Op, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> str:
    """The reason, with the operation that it is of."""
    reason = error.message if isinstance(error, errors.OpError) else str(error)
    return reason if "[op " in reason else f"{reason} {place(error, reason, op, inputs, attrs)}"


def place(error: Exception, reason: str, op: Op, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> str:
    """The operation, and what its arguments are where the reason is about them and names none."""
    if isinstance(error, errors.OpError) and not isinstance(error, _OF_ARGUMENTS):
        return f"[op {op.name}]"
    parameters = [name for name in op.parameters if name != "name"]
    is_named = re.search(rf"\b({'|'.join(map(re.escape, parameters))})\b", reason)
    if not parameters or (is_named and not reason.startswith(_UNFIT)):
        return f"[op {op.name}]"
    return f"[op {op.name} of {', '.join(_arguments(op, inputs, attrs))}]"


def _arguments(op: Op, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Iterable[str]:
    """Each argument with its kind and shape, or its value; attributes that are what they are by default not."""
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
