"""The runtime's exceptions, with TensorFlow's names and error codes.

    OpError ── InvalidArgumentError, OutOfRangeError, FailedPreconditionError, …   (a kernel refused its input)
    OperatorNotAllowedInGraphError    (a traced tensor met a Python construct that needs its value)
    InaccessibleTensorError           (a traced tensor left the graph it belongs to)

>>> error = InvalidArgumentError("indices[0] = 7 is not in [0, 3)")
>>> error.message, error.error_code
('indices[0] = 7 is not in [0, 3)', 3)
"""

from __future__ import annotations

from agc.autograph.api import StagingError


class OpError(Exception):
    """An operation failed. `message` is the reason, `op` the operation's name where it is known."""

    error_code: int = 2

    def __init__(self, message: str, op: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.op = op


class CancelledError(OpError):
    """The operation was cancelled."""

    error_code = 1


class UnknownError(OpError):
    """An error with no better class."""

    error_code = 2


class InvalidArgumentError(OpError):
    """An operation received an argument that it cannot take: a wrong shape, dtype, index or value."""

    error_code = 3


class DeadlineExceededError(OpError):
    """The operation did not finish in time."""

    error_code = 4


class NotFoundError(OpError):
    """Something that was asked for (a file, a key) does not exist."""

    error_code = 5


class AlreadyExistsError(OpError):
    """Something that should be made exists already."""

    error_code = 6


class PermissionDeniedError(OpError):
    """The caller may not do this."""

    error_code = 7


class ResourceExhaustedError(OpError):
    """Out of memory, or another resource ran out."""

    error_code = 8


class FailedPreconditionError(OpError):
    """The system is not in the state that the operation needs, e.g. a variable without a value."""

    error_code = 9


class AbortedError(OpError):
    """The operation was given up, usually because of another one."""

    error_code = 10


class OutOfRangeError(OpError):
    """An iteration went past its end."""

    error_code = 11


class UnimplementedError(OpError):
    """This combination is not supported."""

    error_code = 12


class InternalError(OpError):
    """The runtime broke one of its own rules: a defect of agc."""

    error_code = 13


class UnavailableError(OpError):
    """A service is not available now."""

    error_code = 14


class DataLossError(OpError):
    """Data is damaged or lost beyond repair."""

    error_code = 15


class UnauthenticatedError(OpError):
    """The caller could not be identified."""

    error_code = 16


class OperatorNotAllowedInGraphError(TypeError):
    """A traced tensor was used where Python needs its value (`bool(t)`, iteration, `range(t)` …)."""


class InaccessibleTensorError(TypeError):
    """A traced tensor was used outside of the function or block that it was made in."""


class NotConvertedError(OperatorNotAllowedInGraphError, StagingError):
    """The same in code that AutoGraph did not convert, or leaves to Python; the diagnostic says why."""
