"""Values that nobody can use any more, such as those that a finished graph has left in an attribute.

def call(self, x):             traced twice: in the second graph the attribute still holds a value of the
    self.last = x * 2          first one. For a block that assigns it, it has no value before; if the block
    return self.last           may leave it alone, what it holds afterwards is of no use, as before.
"""

from __future__ import annotations

from typing import Any

from ..staging import backends


def is_lost(value: Any) -> bool:
    """Whether a value, or one inside of a container, is of no use to what is being traced now."""
    if type(value) in (tuple, list):
        return any(map(is_lost, value))
    if type(value) is dict:
        return any(map(is_lost, value.values()))
    asked = getattr(backends[type(value)], "is_lost", None)
    return asked is not None and bool(asked(value))
