"""Arithmetic without NumPy's warnings: overflow and the like give infinities and NaNs, as in TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def quietly(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, called with NumPy's floating-point warnings off.

    >>> import warnings
    >>> with warnings.catch_warnings(action="error"):
    ...     print(quietly(np.divide)(np.float32(1), np.float32(0)))
    inf
    """
    wrapper: Any = np.errstate(all="ignore")(function)
    # Its frame is named after this file, so that it counts as agc's own in tracebacks.
    wrapper.__code__ = wrapper.__code__.replace(co_filename=__file__)
    return wrapper  # type: ignore[no-any-return]
