"""Runners: functions from the values of a graph's inputs to those of its outputs, and what some offer besides.

A runner that is a bound method may offer more through its object: `shortest`, `kernel_for`, `plan_for`, `when_decided`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Runner = Callable[[Sequence[Any]], Sequence[Any]]


def shortest(runner: Runner) -> Runner:
    """Return the steady-state runner: the same graph without first-run checks."""
    return getattr(getattr(runner, "__self__", None), "shortest", None) or runner


def kernel_for(runner: Runner, arguments: Sequence[Any]) -> Any:
    """Return the machine code of `runner` for inputs like `arguments`, or None if there is none."""
    find = getattr(getattr(runner, "__self__", None), "kernel_for", None)
    return None if find is None else find(arguments)


def plan_for(runner: Runner, arguments: Sequence[Any]) -> Any:
    """Return the plan that runs inputs like `arguments` from now on, or None if another runner may replace it."""
    find = getattr(getattr(runner, "__self__", None), "plan_for", None)
    return None if find is None else find(arguments)


def when_decided(runner: Runner, arguments: Sequence[Any], tell: Callable[[], None]) -> None:
    """Call `tell` once a runner that measures several executors has chosen one, if it still measures."""
    wait = getattr(getattr(runner, "__self__", None), "when_decided", None)
    if wait is not None:
        wait(arguments, tell)
