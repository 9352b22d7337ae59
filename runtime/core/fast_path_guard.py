"""Who keeps calls of functions from the shortest way, which asks nobody anything but whether this list is empty.

    a thread builds a graph, or has a tape                     its sign
    functions run eagerly, or are profiled, or a graph
    takes whatever no block claims                             a word for each

Native code reads the length itself (call/dispatch_stub.py). Who is on the list or not does not matter otherwise: the
longer way looks at what is true for its own thread.
"""

from __future__ import annotations

busy: list[object] = []


def block_fast_path(sign: object, is_busy: bool) -> None:
    """Put a sign on the list once, or take it off."""
    if is_busy and sign not in busy:
        busy.append(sign)
    elif not is_busy and sign in busy:
        busy.remove(sign)


class FastPathBlocker:
    """What stands for a thread; it is taken off the list when the thread ends."""

    def __init__(self) -> None:
        self.sign = object()

    def __del__(self) -> None:
        block_fast_path(self.sign, False)
