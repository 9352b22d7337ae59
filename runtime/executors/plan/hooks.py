"""Hooks for the profiler on running graphs; importing this module needs no executor."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .plan import Plan


class ExecutionHooks:
    """Callbacks for new plans and for functions that run for the first time; None if not set."""

    plan: Callable[[Plan], None] | None = None
    concrete: Callable[[Any], None] | None = None


watch = ExecutionHooks()

plans: weakref.WeakSet[Plan] = weakref.WeakSet()
"""All plans that exist."""
