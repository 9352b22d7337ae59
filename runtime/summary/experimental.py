"""The default step of summaries."""

from __future__ import annotations

from .state import get_step, set_step

__all__ = ["get_step", "set_step"]
