"""The bar that `fit` shows: how many batches are done, how long one takes, what the results are.

3/3 ━━━━━━━━━━━━━━━━━━━━ 1s 100ms/step - loss: 5.0626
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterable
from typing import Any

from .base import Callback

_BOLD, _GREEN, _WHITE, _END = "\x1b[1m", "\x1b[32m", "\x1b[37m", "\x1b[0m"


class Progbar:
    """A bar in a terminal.

    Args:
        target: how many steps there will be; None if nobody knows.
        verbose: 1 for a bar, 2 for a line at the end, 0 for nothing.
        interval: so many seconds at least between two changes of the bar.
        stateful_metrics: names of values that are shown as they are, not as means of the steps.
    """

    def __init__(
        self,
        target: int | None,
        width: int = 20,
        verbose: int = 1,
        interval: float = 0.05,
        stateful_metrics: Iterable[str] | None = None,
        unit_name: str = "step",
    ) -> None:
        self.target, self.width, self.verbose, self.interval = target, width, verbose, interval
        self.unit_name = unit_name
        self.stateful_metrics = set(stateful_metrics or ())
        self._sums: dict[str, list[float]] = {}
        self._seen = 0
        self._start = time.time()
        self._after_first: float | None = None
        self._last_update = 0.0
        self._shown = 0

    def update(
        self, current: int, values: Iterable[tuple[str, Any]] | None = None, finalize: bool | None = None
    ) -> None:
        """So many steps are done, and these are their values."""
        is_last = (self.target is not None and current >= self.target) if finalize is None else finalize
        for name, value in values or ():
            self._take(name, value, current)
        self._seen = current
        now = time.time()
        if self.verbose == 1:
            if now - self._last_update >= self.interval or is_last:
                self._show(current, now, is_last)
                self._last_update = now
        elif self.verbose == 2 and is_last:
            count = f"{current}/{self.target if self.target is not None else current}"
            self._write(f"{count} - {now - self._start:.0f}s - {self._pace(current, now)}{self._results()}\n")
        if self._after_first is None and current:
            self._after_first = now

    def add(self, n: int, values: Iterable[tuple[str, Any]] | None = None) -> None:
        """So many more steps are done."""
        self.update(self._seen + n, values)

    def _take(self, name: str, value: Any, current: int) -> None:
        if name in self.stateful_metrics:
            self._sums[name] = [float(value), 1.0]
            return
        steps = max(current - self._seen, 1)
        total = self._sums.setdefault(name, [0.0, 0.0])
        total[0] += float(value) * steps
        total[1] += steps

    def _show(self, current: int, now: float, is_last: bool) -> None:
        target = self.target
        if target is None:
            count, bar = f"{current:>7}/Unknown", ""
        else:
            count = f"{current:>{len(str(target))}}/{target}"
            done = min(self.width, int(self.width * current / max(target, 1)))
            bar = f" {_GREEN}{'━' * done}{_END}{_WHITE}{'━' * (self.width - done)}{_END}"
        text = f"{_BOLD}{count}{_END}{bar} {_BOLD}"
        if target is not None and not is_last:
            text += f"{_duration(self._per_step(current, now) * (target - current))}{_END} "
        else:
            text += f"{now - self._start:.0f}s{_END} "
        text += self._pace(current, now) + self._results()
        gap = " " * max(self._shown - len(text), 0)
        self._shown = len(text)
        self._write("\r" + text + gap + ("\n" if is_last else ""))

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def _per_step(self, current: int, now: float) -> float:
        """Seconds for a step, without the first, which traces."""
        if self._after_first is not None and current > 1:
            return (now - self._after_first) / (current - 1)
        return (now - self._start) / max(current, 1)

    def _pace(self, current: int, now: float) -> str:
        seconds = self._per_step(current, now)
        if seconds >= 1 or seconds == 0:
            return f"{seconds:.0f}s/{self.unit_name}"
        return (
            f"{seconds * 1e3:.0f}ms/{self.unit_name}"
            if seconds >= 1e-3
            else f"{seconds * 1e6:.0f}us/{self.unit_name}"
        )

    def _results(self) -> str:
        return "".join(
            f" - {name}: {_number(total / max(count, 1))}" for name, (total, count) in self._sums.items()
        )


def _number(value: float) -> str:
    """Four digits after the point, or in scientific notation for what is small.

    >>> _number(0.123456), _number(0.0000123456)
    ('0.1235', '1.2346e-05')
    """
    return f"{value:.4f}" if math.isnan(value) or abs(value) > 1e-3 else f"{value:.4e}"


def _duration(seconds: float) -> str:
    """A time for people.

    >>> _duration(59), _duration(61), _duration(3661)
    ('59s', '1:01', '1:01:01')
    """
    whole = int(seconds)
    if whole >= 3600:
        return f"{whole // 3600}:{whole % 3600 // 60:02}:{whole % 60:02}"
    return f"{whole // 60}:{whole % 60:02}" if whole >= 60 else f"{whole}s"


class ProgbarLogger(Callback):
    """Shows a `Progbar` of the batches, with the results."""

    def __init__(self) -> None:
        super().__init__()
        self._bar: Progbar | None = None
        self._count = 0
        self._target: int | None = None
        self._is_training = False

    def _begin(self, target: int | None = None) -> None:
        self._count = 0
        self._target = self.params.get("steps") if target is None else target
        self._bar = None

    def _update(self, batch: int, logs: Any, is_last: bool = False) -> None:
        if self._bar is None:
            self._bar = Progbar(
                self._target, verbose=self.params.get("verbose", 1), stateful_metrics=logs, unit_name="step"
            )
        self._count = max(batch, self._count)
        self._bar.update(self._count, list(logs.items()), finalize=is_last)

    def _finish(self, logs: Any) -> None:
        if self._target is None:
            self._target = self._count
            if self._bar is not None:
                self._bar.target = self._target
        self._update(self._target or self._count, logs, is_last=True)

    def on_train_begin(self, logs: Any = None) -> None:
        self._is_training = True

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._begin()
        if self.params.get("epochs", 1) > 1:
            sys.stdout.write(f"Epoch {epoch + 1}/{self.params['epochs']}\n")
        self._start_bar()

    def _start_bar(self) -> None:
        """The time begins to run now."""
        self._bar = Progbar(self._target, verbose=self.params.get("verbose", 1), unit_name="step")

    def _named(self, logs: Any) -> Any:
        if self._bar is not None:
            self._bar.stateful_metrics = set(logs)
        return logs

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self._update(batch + 1, self._named(logs))

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self._finish(self._named(logs))

    def on_train_end(self, logs: Any = None) -> None:
        self._is_training = False

    def on_test_begin(self, logs: Any = None) -> None:
        if not self._is_training:
            self._begin()
            self._start_bar()

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        if not self._is_training:
            self._update(batch + 1, self._named(logs))

    def on_test_end(self, logs: Any = None) -> None:
        if not self._is_training:
            self._finish(self._named(logs))

    def on_predict_begin(self, logs: Any = None) -> None:
        self._begin()
        self._start_bar()

    def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:
        self._update(batch + 1, {})

    def on_predict_end(self, logs: Any = None) -> None:
        self._finish({})
