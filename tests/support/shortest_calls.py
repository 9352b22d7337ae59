"""Calls of compiled functions, and whether they run any Python."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import pytest
from agc.runtime.executors.llvm.call import native_call

from .entered_code import entered

needs_extension = pytest.mark.skipif(
    not native_call.is_available(), reason=f"no C extension: {native_call.extension()}"
)


def compiled(python_function: Any, *args: Any, **kwargs: Any) -> Any:
    """A function that has traced and compiled for such arguments, and goes the shortest way with them."""
    function = tf.function(python_function, jit_compile=True)
    function(*args, **kwargs), function(*args, **kwargs)
    return function


def frames(call: Any, *args: Any, **kwargs: Any) -> tuple[Any, list[str]]:
    """Return the result of a call, and the names of the Python functions that it enters."""
    result, codes = entered(call, *args, **kwargs)
    return result, [code.co_qualname for code in codes]


def goes_shortest(call: Any, *args: Any, **kwargs: Any) -> bool:
    return not frames(call, *args, **kwargs)[1]
