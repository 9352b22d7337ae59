"""The error for a library that a format needs and that is not installed."""

from __future__ import annotations

import importlib
from typing import Any


def library(name: str, extra: str | None, purpose: str) -> Any:
    """Import an optional library. Raises ImportError with the command that installs `extra`, or the library itself.

    >>> library("no_such_library", "onnx", "the format ONNX")
    Traceback (most recent call last):
    ImportError: the format ONNX needs the package no_such_library. Install it: pip install 'agc-autograph[onnx]'
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if error.name is not None and error.name.partition(".")[0] != name.partition(".")[0]:
            raise
        package = f"'agc-autograph[{extra}]'" if extra else name
        raise ImportError(f"{purpose} needs the package {name}. Install it: pip install {package}") from None
