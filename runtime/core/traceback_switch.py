"""TensorFlow's switch for filtered tracebacks, which has no effect: tracebacks are Python's own, with all frames.

>>> is_traceback_filtering_enabled()
True
"""

from __future__ import annotations

from .export import export

_switches = {"traceback_filtering": True}


@export("debugging.enable_traceback_filtering")
def enable_traceback_filtering() -> None:
    """Do nothing (for compatibility): tracebacks are Python's own, with all frames.

    >>> enable_traceback_filtering()
    """
    _switches["traceback_filtering"] = True


@export("debugging.disable_traceback_filtering")
def disable_traceback_filtering() -> None:
    """Do nothing (for compatibility): tracebacks are Python's own, with all frames.

    >>> disable_traceback_filtering()
    >>> is_traceback_filtering_enabled()
    False
    >>> enable_traceback_filtering()
    """
    _switches["traceback_filtering"] = False


@export("debugging.is_traceback_filtering_enabled")
def is_traceback_filtering_enabled() -> bool:
    """Return True unless `disable_traceback_filtering` was called last.

    >>> is_traceback_filtering_enabled()
    True
    """
    return _switches["traceback_filtering"]
