"""A native kernel: machine code, and the arrays that it takes and returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....ir.value_types import TensorType

FAILED = 1
INTERRUPTED = 2
"""The codes that a kernel returns instead of 0: a check failed, or a signal handler raised."""


class Kernel:
    """Native code for inputs of given shapes. `address` is a function of the addresses of inputs and results.

    `code` is its entry from Python. `fail` runs the plan, which reports the error, after a check has failed.
    """

    code: Callable[[Any], Any]

    def __init__(
        self,
        unit: Any,
        address: int,
        inputs: Sequence[TensorType],
        needed: Sequence[Any],
        fail: Callable[[Sequence[Any]], Any],
    ) -> None:
        self.address = address
        self.inputs = inputs
        self.results: Sequence[TensorType] = unit.results
        self.assigned: Sequence[int] = (
            unit.assigned
        )  # the variable inputs whose new values are the last results
        self.is_long = unit.is_long  # whether the kernel runs without the GIL
        self.fail = fail
        self._needed = needed  # the objects whose addresses the code has

    def kernel_for(self, arguments: Sequence[Any]) -> Kernel:
        """Return the kernel of `code` (runners.py)."""
        return self
