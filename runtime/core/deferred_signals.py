"""Defer the handlers of signals while a variable's array is half updated: a handler may read it, or raise."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` converts numbers and handlers to enums, which takes longer
import contextlib
import threading
from collections.abc import Iterator
from typing import Any

_NUMBERS = sorted(_signal.valid_signals())


@contextlib.contextmanager
def deferred_signals() -> Iterator[None]:
    """Call the handlers of signals that arrive in this block after the block. Only the main thread has handlers."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: found for number in _NUMBERS if callable(found := _signal.getsignal(number))}
    arrived: list[tuple[int, Any]] = []
    is_over = False

    def handle(number: int, frame: Any) -> None:
        if is_over:  # a handler raised before this one was restored
            handlers[number](number, frame)
        else:
            arrived.append((number, frame))

    try:
        with contextlib.ExitStack() as stack:
            for number, handler in handlers.items():
                stack.callback(_signal.signal, number, handler)
                _signal.signal(number, handle)
            yield
    finally:
        is_over = True
        for number, frame in arrived:
            handlers[number](number, frame)
