"""The default step of summaries."""

from __future__ import annotations

from ..core.missing_names import explain as _explain
from .state import get_step, set_step

__all__ = ["get_step", "set_step"]

_explain(__name__)
