"""The state of one iteration of a pipeline, in Python and in graphs."""

from __future__ import annotations

import threading

from .element_spec import Row
from .pipeline_stage import PipelineStage
from .user_functions import functions_of


class Walk:
    """One iteration of a stage. Several threads may call it."""

    def __init__(self, stage: PipelineStage) -> None:
        for function in functions_of(stage):
            function.restart()  # the same random numbers in each iteration, as in TensorFlow
        self._elements = stage.elements()
        self._lock = threading.Lock()
        self._ended = False
        self.current: Row = ()

    def next(self) -> Row:
        """Return the next row; StopIteration at the end, and at every later call."""
        with self._lock:
            if self._ended:
                raise StopIteration
            try:
                return next(self._elements)
            except StopIteration:
                self._ended = True
                self._elements = iter(())  # releases the stage's resources, such as threads
                raise

    def advance(self) -> bool:
        """Make the next row the current one; return whether there is one."""
        try:
            self.current = self.next()
        except StopIteration:
            self.current = ()
            return False
        return True
