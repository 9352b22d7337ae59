"""Emits branches and checks: code that runs on a condition, and code that ends the function early.

    demand(i < n)      outside of loops                      in a loop nest
                       br i1 %ok, %onward, %failure          %flag |= !%ok        tested after the nest

A check that fails ends the function with the code 1. The caller then runs the graph as a plan, which reports
the error. Inside a loop nest a check only sets a flag, so that the loop stays free of branches and LLVM can
vectorize it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..call.kernel import FAILED, INTERRUPTED
from .llvm_types import ComplexPair, Element, Register, integer
from .memory_builder import Storage
from .scalar_builder import is_known

OFTEN = 1 << 20
"""Branch weight of the likely successor of a branch; the other one has weight 1."""


class TooLateError(Exception):
    """Code that may fail follows code that has overwritten variables."""


class CheckBuilder(Storage):
    """Emitter of branches and checks."""

    def __init__(self, module: Any, function: Any, b: Any, top: Any) -> None:
        super().__init__(module, function, b, top)
        self.memo: dict[Any, Any] = {}  # values that the code emitted up to here has computed
        self._failure: Any = None  # the block that leaves the function with `FAILED`
        self._noted: Register = None  # the flag of the checks in nests
        self._is_noted = False  # whether the current nest has set that flag
        self._stopped: Register = None
        self._is_committed = False  # whether variables have been overwritten
        self._ends: list[tuple[Any, int]] = []  # the blocks that leave the function, and their codes

    @contextmanager
    def into(self, block: Any) -> Iterator[None]:
        """Continue emission in another block."""
        outer, self.memo = self.memo, {}
        self.b.position_at_end(block)
        yield
        self.memo = outer

    @contextmanager
    def where(self, holds: Register) -> Iterator[None]:
        """Emit a block that runs if `holds` is true."""
        inside, onward = self.block("then"), self.block("onward")
        self.b.cbranch(holds, inside, onward)
        with self.into(inside):
            yield
            self.b.branch(onward)
        self.b.position_at_end(onward)

    def guarded(self, test: Register, emit: Callable[[], Element], other: Element) -> Element:
        """Emit a branch. Return the element that `emit` emits if `test` is true, else `other`.

        `emit` may read at an index that is valid only if `test` is true; LLVM vectorizes this as a masked load. With
        `choose`, a valid index would have to be chosen first, which LLVM vectorizes as a gather.
        """
        if is_known(test):
            return emit() if test.constant else other
        before, inside, after = self.b.block, self.block("guarded"), self.block("after")
        self.b.cbranch(test, inside, after)
        with self.into(inside):
            found, end = emit(), self.b.block
            self.b.branch(after)
        self.b.position_at_end(after)

        def joined(x: Register, y: Register) -> Register:
            phi = self.b.phi(x.type)
            phi.add_incoming(x, end)
            phi.add_incoming(y, before)
            return phi

        if isinstance(found, ComplexPair):
            return ComplexPair(*map(joined, found, other))
        return joined(found, other)

    def block(self, name: str) -> Any:
        return self.function.append_basic_block(name)

    def demand(self, holds: Register) -> None:
        """Fail the run unless `holds` is true."""
        if is_known(holds) and holds.constant:
            return
        if self._groups:
            if self._noted is None:
                self._noted = self.slot(integer(8))
                self._top.store(integer(8)(0), self._noted)
            broken = self.b.zext(self.b.not_(holds), integer(8))
            self.b.store(self.b.or_(self.b.load(self._noted, typ=integer(8)), broken), self._noted)
            self._is_noted = True
        else:
            self.fail_unless(holds)

    def _look_at_notes(self) -> None:
        if self._is_noted:
            self._is_noted = False
            noted = self.b.load(self._noted, typ=integer(8))
            self.fail_unless(self.b.icmp_unsigned("==", noted, integer(8)(0)))

    def stopped(self) -> Register:
        """Return the address of the flag that says whether the run was interrupted (interrupts.py)."""
        if self._stopped is None:
            self._stopped = self.slot(integer(8))
            self._top.store(integer(8)(0), self._stopped)
        return self._stopped

    def leave_if_stopped(self) -> None:
        """Leave the function if the run was interrupted."""
        onward = self.block("onward")
        goes_on = self.b.icmp_unsigned("==", self.b.load(self._stopped, typ=integer(8)), integer(8)(0))
        self.b.cbranch(goes_on, onward, self.end_with(INTERRUPTED)).set_weights([OFTEN, 1])
        self.b.position_at_end(onward)

    def fail_unless(self, holds: Register) -> None:
        """Leave the function unless `holds` is true."""
        onward = self.block("onward")
        self.b.cbranch(holds, onward, self.failure()).set_weights([OFTEN, 1])
        self.b.position_at_end(onward)

    def commit(self) -> None:
        """Demand that no code that is emitted from now on leaves the function without success."""
        self._is_committed = True

    @property
    def is_committed(self) -> bool:
        return self._is_committed

    @property
    def may_fail(self) -> bool:
        """Return whether the function, which is complete, may return another code than success."""
        return len(self._ends) > 1

    def failure(self) -> Any:
        """Return the block that leaves the function with `FAILED`."""
        if self._is_committed:
            raise TooLateError
        return self._failed()

    def _failed(self) -> Any:
        if self._failure is None:
            self._failure = self.block("failure")
            self._ends.append((self._failure, FAILED))
        return self._failure

    def end_with(self, code: int) -> Any:
        """Append a block that leaves the function with `code`."""
        if self._is_committed:
            raise TooLateError
        block = self.block("end")
        self._ends.append((block, code))
        return block
