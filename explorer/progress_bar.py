"""`agc.progress`: shows how far a loop over a dataset has come.

    for batch in agc.progress(dataset):        ▇▇▇▇▇▇▇▇──────────────  40 of 100   1.2 s, 1.8 s left

A notebook shows one bar, a terminal one line on stderr; both are rewritten at most ten times a second.
"""

from __future__ import annotations

import html
import sys
from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import Any

import agc.runtime as tf

from .terminal import in_notebook

SECONDS = 0.1
"""The least time between two states that are shown."""
WIDTH = 24
"""The letters of a bar in a terminal."""


def progress(items: Any, name: str = "", total: int | None = None) -> Any:
    """Return an iterable of the same items that shows how many of them have come.

    Args:
        items: a `tf.data.Dataset` or another iterable.
        name: a text to show before the bar.
        total: the number of items; by default the cardinality of a dataset or the length, if it is known.

    Where a function is traced, a loop over a dataset becomes one operation: `items` is returned as it is. Nothing
    is shown if stderr is neither a notebook nor a terminal.

    >>> [int(each) for each in progress(tf.data.Dataset.range(3))]
    [0, 1, 2]
    """
    if not tf.executing_eagerly():
        return items
    return Progress(items, name, size_of(items) if total is None else total)


def size_of(items: Any) -> int | None:
    """Return the number of items, or None if it is unknown or infinite."""
    if hasattr(items, "cardinality"):
        size = int(items.cardinality())
        return size if size >= 0 else None
    try:
        return len(items)
    except TypeError:
        return None


class State:
    """The progress of a loop: items that have come, items in all if that is known, and seconds."""

    def __init__(self, name: str, done: int, total: int | None, seconds: float) -> None:
        self.name, self.done, self.total, self.seconds = name, done, total, seconds

    def __str__(self) -> str:
        """Return the state in words.

        >>> print(State("train", 40, 100, 1.2))
        train  40 of 100  1.2 s, 1.8 s left
        """
        count = f"{self.done} of {self.total}" if self.total is not None else f"{self.done} items"
        left = ""
        if self.total is not None and 0 < self.done < self.total:
            left = f", {_duration(self.seconds / self.done * (self.total - self.done))} left"
        return "  ".join(filter(None, [self.name, count, f"{_duration(self.seconds)}{left}"]))

    def line(self) -> str:
        """Return the state as a line of a terminal."""
        if not self.total:
            return str(self)
        full = WIDTH * min(self.done, self.total) // self.total
        return f"{'▇' * full}{'─' * (WIDTH - full)}  {self}"

    def _repr_html_(self) -> str:
        value = "" if not self.total else f' value="{self.done}" max="{self.total}"'
        bar = "" if self.total is None else f'<progress style="width: 16em"{value}></progress> '
        text = f'<span style="font-variant-numeric: tabular-nums">{html.escape(str(self))}</span>'
        return f"<div>{bar}{text}</div>"

    __repr__ = __str__


def _duration(seconds: float) -> str:
    """Return a time in words.

    >>> _duration(0.25), _duration(75), _duration(7500)
    ('0.2 s', '1:15 min', '2:05 h')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    large, small = divmod(int(seconds) // (60 if seconds >= 3600 else 1), 60)
    return f"{large}:{small:02} {'h' if seconds >= 3600 else 'min'}"


class Progress:
    """An iterable that shows its progress each time it is iterated over."""

    def __init__(self, items: Iterable[Any], name: str, total: int | None) -> None:
        self.items, self.name, self.total = items, name, total

    def __iter__(self) -> Iterator[Any]:
        show = _display()
        start = shown = monotonic()
        done = 0
        show(State(self.name, done, self.total, 0.0), False)
        try:
            for item in self.items:
                yield item
                done += 1
                now = monotonic()
                if now - shown >= SECONDS:
                    show(State(self.name, done, self.total, now - start), False)
                    shown = now
        finally:
            show(State(self.name, done, self.total, monotonic() - start), True)

    def __len__(self) -> int:
        if self.total is None:
            raise TypeError("the number of items is unknown")
        return self.total


def _display() -> Callable[[State, bool], None]:
    """Return a function that shows a state in place of the last one; its second argument says whether it is the end."""
    if in_notebook():
        from IPython.display import display

        handles: list[Any] = []

        def update(state: State, is_last: bool) -> None:
            if handles:
                handles[0].update(state)
            else:
                handles.append(display(state, display_id=True))  # type: ignore[no-untyped-call]

        return update
    if sys.stderr is not None and sys.stderr.isatty():
        return _rewrite_line
    return lambda state, is_last: None


def _rewrite_line(state: State, is_last: bool) -> None:
    sys.stderr.write(f"\r\x1b[K{state.line()}{chr(10) if is_last else ''}")
    sys.stderr.flush()
