"""The state of one iteration of a pipeline, in Python and in graphs."""

from __future__ import annotations

import threading

from .drawn_seeds import parted, with_drawn_seeds
from .element_spec import Row
from .pipeline_stage import PipelineStage
from .user_functions import functions_of


class Walk:
    """One iteration of a stage. Several threads may call it."""

    def __init__(self, stage: PipelineStage) -> None:
        self.stage = stage
        self._repeatable, self._seeds = with_drawn_seeds(stage)
        self._lock = threading.Lock()
        self.current: Row = ()
        self._begin()

    def _begin(self) -> None:
        for function in functions_of(self.stage):
            function.restart()  # the same random numbers in each iteration, as in TensorFlow
        for seeds in self._seeds:
            seeds.rewind()
        self._elements = self._repeatable.elements()
        self._ended = False
        self.count = 0

    @property
    def draws(self) -> bool:
        """Return whether stages make random choices."""
        return bool(self._seeds)

    def state(self) -> list[int]:
        """Return the number of rows given, and what repeats the random choices.

        It takes no lock: a generator, or a signal's handler, may save a checkpoint while a row is being computed.
        """
        return [self.count, *(number for seeds in self._seeds for number in seeds.state())]

    def move_to(self, state: list[int]) -> None:
        """Begin again with the same random choices, and pass as many rows. Raises InvalidArgumentError."""
        states = parted(state[1:], len(self._seeds))
        with self._lock:
            for seeds, saved in zip(self._seeds, states, strict=True):
                seeds.move_to(saved)
            self._begin()
            for _ in range(state[0]):
                if next(self._elements, None) is None:
                    break
                self.count += 1

    def next(self) -> Row:
        """Return the next row; StopIteration at the end, and at every later call."""
        with self._lock:
            if self._ended:
                raise StopIteration
            try:
                row = next(self._elements)
                self.count += 1
                return row
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
