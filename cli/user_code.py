"""The user's own code is run in here, and ends as it would have ended under Python.

SystemExit                      the interpreter sees to it: code, None, or a message and 1
KeyboardInterrupt               130
stdout without a reader         quietly, 1
any other exception             sys.excepthook with the user's frames only, 1
"""

from __future__ import annotations

import select
import sys
import traceback
from collections.abc import Callable

from agc.autograph.errors import is_own_file, keeps_frames, strip_frames

from . import output
from .errors import FAILED, INTERRUPTED, OK, CommandError


def run(action: Callable[[], object]) -> int:
    """Run `action`; return the exit code."""
    try:
        code = _ended(action)
    except SystemExit:
        _flushed(OK)
        raise
    return _flushed(code)


def _ended(action: Callable[[], object]) -> int:
    try:
        action()
    except (SystemExit, CommandError):
        raise
    except KeyboardInterrupt as error:
        show(error)
        return INTERRUPTED
    except BrokenPipeError as error:
        if not _nobody_reads():
            show(error)
        return FAILED
    except BaseException as error:
        show(error)
        return FAILED
    return OK


def show(error: BaseException) -> None:
    """Print an uncaught exception as Python does, without the frames of agc."""
    if not keeps_frames() and not has_users_lines(error):
        error.__traceback__ = None  # no lines at all are better than agc's
    strip_frames(error)
    sys.last_value = error  # as Python sets it: what runs at the end sees that the program has failed
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except SystemExit:
        raise
    except BaseException as second:  # the program has a hook of its own, and that fails: Python says it so
        print("Error in sys.excepthook:", file=sys.stderr)
        traceback.print_exception(strip_frames(second))
        print("\nOriginal exception was:", file=sys.stderr)
        traceback.print_exception(error)


def has_users_lines(error: BaseException) -> bool:
    """Return whether the error passed through code that is not agc's."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return not all(is_own_file(frame.f_code.co_filename) for frame in frames)


def _flushed(code: int) -> int:
    try:
        output.flush()
    except BrokenPipeError:
        output.abandon_stdout()
        return code or FAILED
    return code


def _nobody_reads() -> bool:
    """Return whether stdout is a pipe without a reader. The program may have broken pipes of its own."""
    try:
        descriptor = sys.stdout.fileno()
    except (AttributeError, OSError, ValueError):  # no stdout, or one that is no file
        return False
    if not hasattr(select, "poll"):
        return True
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))
