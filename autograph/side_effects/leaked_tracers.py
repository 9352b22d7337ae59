"""Leaked tracers: values that a finished graph has left in objects, and that are no longer usable.

def call(self, x):             Traced twice: in the second graph the attribute still holds a value of the
    self.last = x * 2          first one. For a block that assigns the attribute, it has no value before.
    return self.last           If the block may skip the assignment, the attribute has no usable value after it.
"""

from __future__ import annotations

from typing import Any

from ..staging import backends


def is_lost(value: Any) -> bool:
    """Return whether a value, or one inside of a container, is a leaked tracer for the current trace."""
    if type(value) in (tuple, list):
        return any(map(is_lost, value))
    if type(value) is dict:
        return any(map(is_lost, value.values()))
    query = getattr(backends[type(value)], "is_lost", None)
    return query is not None and bool(query(value))
