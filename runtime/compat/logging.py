"""`tf.compat.v1.logging`: messages of programs, through the logger of `tf.get_logger`.

>>> set_verbosity(ERROR)
>>> get_verbosity() == ERROR, info("not shown: %d", 1)
(True, None)
>>> set_verbosity(WARN)
"""

from __future__ import annotations

import collections
import itertools
import logging
import sys
from collections.abc import Iterator
from typing import Any

from ..control_flow.tracing_context import get_logger

DEBUG, INFO, WARN, ERROR, FATAL = logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.FATAL

_LOGGER = get_logger()
debug, info, warning, error, fatal, log = (
    _LOGGER.debug, _LOGGER.info, _LOGGER.warning, _LOGGER.error, _LOGGER.fatal, _LOGGER.log,
)  # fmt: skip
warn, vlog, TaskLevelStatusMessage = warning, log, error

_COUNTS: dict[tuple[str, int], Iterator[int]] = collections.defaultdict(itertools.count)
"""The number of messages so far from each line of a program."""


def log_if(level: int, msg: str, condition: Any, *args: Any) -> None:
    """Log a message if `condition` is true."""
    if condition:
        log(level, msg, *args, stacklevel=2)


def log_first_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Log a message for the first `n` calls from the same line of the program."""
    if _calls_before() < n:
        log(level, msg, *args, stacklevel=2)


def log_every_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Log a message for the first of every `n` calls from the same line of the program."""
    if _calls_before() % n == 0:
        log(level, msg, *args, stacklevel=2)


def _calls_before() -> int:
    """Return how often the line that calls the caller has done so before."""
    frame = sys._getframe(2)
    return next(_COUNTS[frame.f_code.co_filename, frame.f_lineno])


def get_verbosity() -> int:
    """Return the level from which messages are shown."""
    return _LOGGER.getEffectiveLevel()


def set_verbosity(v: int | str) -> None:
    """Show only messages of level `v` or above. ValueError for a name that is not a level.

    >>> set_verbosity("LOUD")
    Traceback (most recent call last):
        ...
    ValueError: Unknown level: 'LOUD'
    """
    _LOGGER.setLevel(v)


def flush() -> None:
    """Write out what the handlers of the logger have buffered."""
    for handler in _LOGGER.handlers:
        handler.flush()
