"""The runtime's exceptions, with TensorFlow's names and error codes.

    OpError ── InvalidArgumentError, OutOfRangeError, FailedPreconditionError, …   (a kernel refused its input)
    OperatorNotAllowedInGraphError    (a traced tensor met a Python construct that needs its value)
    InaccessibleTensorError           (a traced tensor left the graph it belongs to)

>>> error = InvalidArgumentError("indices[0] = 7 is not in [0, 3)")
>>> error.message, error.error_code
('indices[0] = 7 is not in [0, 3)', 3)
"""

from __future__ import annotations

from typing import Any

from agc.autograph.api import StagingError

from .core.missing_names import explain as _explain

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """A failed operation.

    Attributes: `message` is the reason, `error_code` its number. When a graph failed, `op` is the operation in the
    graph and `node_def` its definition in the graph's JSON form; both are None in eager code. `op_type` is the type
    of the operation if it is known. `experimental_payloads` is empty.

    Constructed as `OpError(message, op_type)`, or in TensorFlow's way, `OpError(node_def, op, message)`.
    """

    error_code: int = UNKNOWN

    def __init_subclass__(cls, code: int | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if code is not None:
            cls.error_code = code

    def __init__(
        self, node_def: Any = None, op: Any = None, message: str | None = None, error_code: int | None = None
    ) -> None:
        if isinstance(node_def, str) and message is None:
            node_def, op, message, self.op_type = None, None, node_def, op
        else:
            self.op_type = getattr(op, "type", None)
        self.message = message or ""
        super().__init__(self.message)
        self.op = op
        self._node_def = node_def
        self.experimental_payloads: dict[str, bytes] = {}
        if type(self) is OpError and error_code is not None:
            self.error_code = error_code

    @property
    def node_def(self) -> Any:
        """The operation's definition in the graph; None in eager code, or if the graph no longer exists."""
        if self._node_def is None and self.op is not None and self.op.graph is not None:
            return self.op.node_def
        return self._node_def

    def __reduce__(self) -> Any:
        return _made_again, (type(self), self.message, self.op_type)


def _made_again(kind: type[OpError], message: str, op_type: str | None) -> OpError:
    """Return an error that was pickled, without the graph that it came from."""
    error = kind.__new__(kind)
    OpError.__init__(error, message, op_type)
    return error


class CancelledError(OpError, code=CANCELLED):
    """The operation was cancelled."""


class UnknownError(OpError, code=UNKNOWN):
    """An error with no better class."""


class InvalidArgumentError(OpError, code=INVALID_ARGUMENT):
    """An operation received an argument that it cannot take: a wrong shape, dtype, index or value."""


class DeadlineExceededError(OpError, code=DEADLINE_EXCEEDED):
    """The operation did not finish in time."""


class NotFoundError(OpError, code=NOT_FOUND):
    """A requested object (a file, a key) does not exist."""


class AlreadyExistsError(OpError, code=ALREADY_EXISTS):
    """An object that should be created exists already."""


class PermissionDeniedError(OpError, code=PERMISSION_DENIED):
    """The caller has no permission for the operation."""


class ResourceExhaustedError(OpError, code=RESOURCE_EXHAUSTED):
    """Out of memory, or another resource ran out."""


class FailedPreconditionError(OpError, code=FAILED_PRECONDITION):
    """The system is not in the state that the operation needs, e.g. a variable without a value."""


class AbortedError(OpError, code=ABORTED):
    """The operation was aborted, usually because of another one."""


class OutOfRangeError(OpError, code=OUT_OF_RANGE):
    """An iteration went past its end."""


class UnimplementedError(OpError, code=UNIMPLEMENTED):
    """This combination is not supported."""


class InternalError(OpError, code=INTERNAL):
    """The runtime violated one of its own invariants: a defect of agc."""


class UnavailableError(OpError, code=UNAVAILABLE):
    """A service is not available now."""


class DataLossError(OpError, code=DATA_LOSS):
    """Data is damaged or lost beyond repair."""


class UnauthenticatedError(OpError, code=UNAUTHENTICATED):
    """The caller could not be identified."""


class OperatorNotAllowedInGraphError(TypeError):
    """A traced tensor was used where Python needs its value (`bool(t)`, iteration, `range(t)` …)."""


class InaccessibleTensorError(StagingError):
    """A traced tensor was used outside of the function or block that it was made in; the diagnostic says where."""


class NotConvertedError(OperatorNotAllowedInGraphError, StagingError):
    """A traced tensor was used as its value in code that AutoGraph did not convert; the diagnostic says why."""


_explain(__name__)
