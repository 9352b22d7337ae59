"""The namespace `tf.strings`."""

from __future__ import annotations

from .ops.strings import as_string, join, length, lower, strip, upper

__all__ = ["as_string", "join", "length", "lower", "strip", "upper"]
