"""The arrays of variables that a plan may overwrite, since nothing but the variable refers to them.

    w = tf.Variable(…)
    step()                 overwrites the array of `w`
    kept = w.value()
    step()                 `kept` has this array, so the new value of `w` gets another one

NumPy computes large arrays without the GIL. So while other threads could read a variable, no array is overwritten.
Signal handlers that Python runs between two parts of an update are deferred (deferred_signals.py).
"""

from __future__ import annotations

import sys
import threading
import weakref
from typing import Any

import numpy as np

from ...core.inner_thread import InnerThread

LARGE = 1 << 18
"""The bytes of the smallest arrays for which it is worth the time to look for other references."""


def own_array(variable: Any, old: Any = None, otherwise: Any = None) -> Any:
    """Return the array of a variable if it may be overwritten, else `otherwise`.

    `old` is a local variable of the caller that may have this array as well, and that is not read any more.
    """
    found = _unshared(variable, old, _MOST)
    return found if found is not None and is_alone() else otherwise


def is_alone() -> bool:
    """Return whether no other thread could run Python code of the program, which may read variables."""
    own = threading.get_ident()
    others = [thread for thread in threading.enumerate() if thread.ident != own]
    # Threads that the module `threading` did not start have frames, too.
    return (
        all(isinstance(each, InnerThread) for each in others)
        and len(sys._current_frames()) <= len(others) + 1
    )


def _unshared(variable: Any, old: Any, most: tuple[int, int]) -> Any:
    """Return the array of a variable if it has at most so many references, without and with `old`; else None."""
    state = vars(variable)
    array = state.get("_array")
    if type(array) is not np.ndarray or array.nbytes < LARGE or "_held" in state:
        return None
    if sys.getrefcount(array) > most[old is array] or weakref.getweakrefcount(array):
        return None
    flags = array.flags
    return array if flags.owndata and flags.writeable and flags.c_contiguous else None


class _Example:
    """An object with an array, as a variable has it."""

    def __init__(self) -> None:
        self._array = np.empty(LARGE, np.uint8)


def _least(variable: Any, old: Any = None) -> int:
    """Return the references of an array that nothing else has: how many a call takes depends on Python's version."""
    return next(most for most in range(100) if _unshared(variable, old, (most, most)) is not None)


def _references() -> tuple[int, int]:
    example = _Example()
    old = example._array
    with_old = _least(example, old)
    del old
    return _least(example), with_old


_MOST = _references()
