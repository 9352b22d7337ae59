"""The error for a library that a format needs and that is not installed."""

from __future__ import annotations

import importlib
from typing import Any


def library(name: str, extra: str, purpose: str) -> Any:
    """Import an optional library. Raises ImportError that names the extra of agc to install.

    >>> library("no_such_library", "onnx", "the format ONNX")
    Traceback (most recent call last):
    ImportError: the format ONNX needs the package no_such_library. Install it: pip install 'agc-autograph[onnx]'
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if error.name is not None and error.name.partition(".")[0] != name.partition(".")[0]:
            raise
        raise ImportError(
            f"{purpose} needs the package {name}. Install it: pip install 'agc-autograph[{extra}]'"
        ) from None
