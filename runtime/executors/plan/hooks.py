"""Who looks on while graphs run, and at what: importing this needs no executor."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .plan import Plan


class ExecutionHooks:
    """Told of new plans, and of functions that run for the first time. None: nobody."""

    plan: Callable[[Plan], None] | None = None
    concrete: Callable[[Any], None] | None = None


watch = ExecutionHooks()

plans: weakref.WeakSet[Plan] = weakref.WeakSet()
"""All that there are."""
