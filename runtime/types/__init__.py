"""`tf.types`: classes for annotations and `isinstance`."""

from __future__ import annotations

from . import experimental

__all__ = ["experimental"]
