"""Reasons why the fast call path is disabled. The fast path only checks that this list is empty.

    a thread builds a graph, or has a tape                     its token
    functions run eagerly or are profiled, or a default
    graph records all operations                               one token each

The C extension reads the list's length (llvm/call/native_call.c). Which tokens are in the list does not matter:
the slow path checks the state of its own thread.
"""

from __future__ import annotations

from typing import Any

busy: list[object] = []

found_recorders: list[Any] = []
"""The recorders of one thread that the C extension has found; cleared when what operations do may have changed."""


def block_fast_path(sign: object, is_busy: bool) -> None:
    """Add `sign` to the list once, or remove it."""
    if is_busy and sign not in busy:
        busy.append(sign)
    elif not is_busy and sign in busy:
        busy.remove(sign)


class FastPathBlocker:
    """The token of one thread; removed from the list when the thread ends."""

    def __init__(self) -> None:
        self.sign = object()

    def __del__(self) -> None:
        block_fast_path(self.sign, False)
