"""Effects of a program: what it prints, in program order, by ordered callbacks from XLA.

    print x                       the text is written at once if nothing can make the run fail,
    assert x > 0           ==>    else when the run has succeeded; the plan prints again if it has failed

>>> effects = Effects()
>>> effects.is_at_once = False
>>> effects.happened(lambda: print("printed"))
>>> effects.finish()
printed
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.experimental import io_callback

Array = Any


class Effects:
    """The effects of one program. `exist` says whether it has any, once it has been traced."""

    def __init__(self) -> None:
        self.exist = False
        self.is_at_once = True
        self.lock = threading.Lock()  # one run at a time
        self._pending: list[Callable[[], Any]] = []
        self._errors: list[Exception] = []

    def add(self, run: Callable[..., Any], operands: Sequence[Array]) -> None:
        """Let the program call `run` on these operands each time it comes to this place."""
        self.exist = True
        traced = [x for x in operands if isinstance(x, jax.Array)]

        def called(*arrays: Any) -> None:
            values = iter(arrays)
            given = [np.asarray(next(values)) if isinstance(x, jax.Array) else x for x in operands]
            self.happened(lambda: run(given))

        io_callback(called, None, *traced, ordered=True)

    def happened(self, act: Callable[[], Any]) -> None:
        """Do what an operation does, or keep it for the end of the run."""
        if not self.is_at_once:
            self._pending.append(act)
        elif not self._errors:
            try:
                act()
            except Exception as error:  # `finish` raises it in the thread that has called the program
                self._errors.append(error)

    def forget(self) -> None:
        """Drop what the last run has left, because it has failed."""
        self._pending, self._errors = [], []

    def finish(self) -> None:
        """Do what has been kept; raise the first error of an effect."""
        pending, failed = self._pending, self._errors
        self.forget()
        for act in pending:
            act()
        if failed:
            raise failed[0]
