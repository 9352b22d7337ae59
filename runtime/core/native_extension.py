"""Import the C extensions of this package, which are optional."""

from __future__ import annotations

import importlib
import os
from typing import Any


def native_extension(name: str) -> Any:
    """Return the C extension with a name; None if it was not built, or is switched off."""
    if os.environ.get("AGC_NATIVE_CALLS") == "0":
        return None
    try:
        return importlib.import_module(f".{name}", __package__)
    except ImportError:
        return None
