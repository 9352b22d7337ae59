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
    state = vars(variable)
    array = state.get("_array")
    if type(array) is not np.ndarray or array.nbytes < LARGE or "_held" in state:
        return otherwise
    most = _OF_A_LOCAL + 1 + (old is array)  # `array` here, the variable, and the caller's `old`
    del old  # Python 3.14 borrows arguments from the caller, older versions count them once more
    if sys.getrefcount(array) > most or weakref.getweakrefcount(array):
        return otherwise
    flags = array.flags
    return array if flags.owndata and flags.writeable and flags.c_contiguous and is_alone() else otherwise


def is_alone() -> bool:
    """Return whether no other thread could run Python code of the program, which may read variables."""
    own = threading.get_ident()
    others = [thread for thread in threading.enumerate() if thread.ident != own]
    # Threads that the module `threading` did not start have frames, too.
    return (
        all(isinstance(each, InnerThread) for each in others)
        and len(sys._current_frames()) <= len(others) + 1
    )


def _of_a_local() -> int:
    """Return how many references Python counts for an object that only a local variable has."""
    new = object()
    return sys.getrefcount(new)


_OF_A_LOCAL = _of_a_local()  # 2, or 1 where an argument does not count
