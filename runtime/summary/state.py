"""The summary state of each thread: the writer, the step, and whether to record. `SummaryWriter` sets the writer."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ir.name_scopes import name_scope


class _State(threading.local):
    writer: SummaryWriter | None = None
    step: Any = None
    recording: Any = True


_state = _State()


def current() -> _State:
    """Return the state of this thread."""
    return _state


@contextlib.contextmanager
def changed(**values: Any) -> Iterator[None]:
    """Set other values within a block."""
    before = {name: getattr(_state, name) for name in values}
    vars(_state).update(values)
    try:
        yield
    finally:
        vars(_state).update(before)


@export("summary.experimental.summary_scope")
@contextlib.contextmanager
def summary_scope(
    name: str | None, default_name: str = "summary", values: Any = None
) -> Iterator[tuple[str, str]]:
    """Run a block of operations of a summary; yield its tag, which has the enclosing scopes, and the name scope.

    >>> from agc.runtime import name_scope
    >>> with name_scope("layer"), summary_scope("loss") as (tag, scope):
    ...     tag
    'layer/loss'
    """
    own = name or default_name
    with name_scope(own) as scope:
        yield scope_prefix_of(scope) + own, scope


def scope_prefix_of(scope: str) -> str:
    """Return the scopes that enclose the innermost one."""
    outer, slash, _ = scope.rstrip("/").rpartition("/")
    return outer + slash


@export("summary.experimental.get_step")
def get_step() -> Any:
    """Return the default step, or None.

    >>> get_step() is None
    True
    """
    return _state.step


@export("summary.experimental.set_step")
def set_step(step: Any) -> None:
    """Set the default step of summaries (an integer, a tensor or a variable); None for no default.

    >>> set_step(3)
    >>> get_step()
    3
    >>> set_step(None)
    """
    _state.step = step


def step_or_default(step: Any) -> Any:
    """Return the given step, or the default. Raises ValueError when there is none."""
    found = _state.step if step is None else step
    if found is None:
        raise ValueError(
            "No step set. Please specify one either through the `step` argument or through "
            "tf.summary.experimental.set_step()"
        )
    return found


@export("summary.should_record_summaries")
def should_record_summaries() -> Tensor:
    """Return whether there is a writer and `record_if` allows recording. A bool scalar.

    >>> should_record_summaries().numpy()
    np.False_
    """
    if _state.writer is None or not _state.writer.keeps:
        return convert_to_tensor(False)
    condition = _state.recording() if callable(_state.recording) else _state.recording
    return convert_to_tensor(condition)


@export("summary.record_if")
@contextlib.contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """Record summaries in the block only if `condition`, a bool or a function that returns one, is true.

    >>> with SummaryWriter().as_default(), record_if(False):
    ...     should_record_summaries().numpy()
    np.False_
    """
    with changed(recording=condition):
        yield


@export("summary.SummaryWriter")
class SummaryWriter:
    """The base class of writers, which drops summaries; `create_file_writer` returns one that keeps them.

    >>> with SummaryWriter().as_default():
    ...     should_record_summaries().numpy()
    np.False_
    """

    keeps = False

    @contextlib.contextmanager
    def as_default(self, step: Any = None) -> Iterator[SummaryWriter]:
        """Use this writer in the block; `step` is the default step of the block."""
        self._demand_open()
        with changed(writer=self), changed(step=step) if step is not None else contextlib.nullcontext():
            yield self
        self.flush()

    def set_as_default(self, step: Any = None) -> None:
        """Use this writer from now on."""
        self._demand_open()
        _state.writer = self
        if step is not None:
            _state.step = step

    def _demand_open(self) -> None:
        """Raise RuntimeError if the writer is closed."""

    def write(self, event: bytes) -> None:
        """Write an event."""

    def init(self) -> None:
        """Do nothing: a writer opens its file when it is made."""

    def flush(self) -> None:
        """Write buffered events to the disk."""

    def close(self) -> None:
        """Write everything, and close the file."""
