"""One walk over a pipeline: what an iterator holds, in Python and in graphs."""

from __future__ import annotations

import threading

from .element_spec import Row
from .pipeline_stage import PipelineStage
from .user_functions import functions_of


class Walk:
    """The elements of a stage, one after the other. Several threads may pull."""

    def __init__(self, stage: PipelineStage) -> None:
        for function in functions_of(stage):
            function.restart()  # the same random numbers in each walk, as in TensorFlow
        self._elements = stage.elements()
        self._lock = threading.Lock()
        self._ended = False
        self.current: Row = ()

    def next(self) -> Row:
        """The next row; StopIteration at the end, and ever after."""
        with self._lock:
            if self._ended:
                raise StopIteration
            try:
                return next(self._elements)
            except StopIteration:
                self._ended = True
                self._elements = iter(())  # what a stage holds, such as threads, is let go
                raise

    def advance(self) -> bool:
        """Make the next row the current one; whether there is one."""
        try:
            self.current = self.next()
        except StopIteration:
            self.current = ()
            return False
        return True
