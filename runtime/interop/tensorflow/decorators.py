"""`tensorflow.python.util.deprecation` and `tf_inspect`: decorators that warn, and Python's `inspect`."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

_Decorator = Callable[[Any], Any]


def deprecated(date: Any, instructions: str, *names: Any, **kwargs: Any) -> _Decorator:
    """Return a decorator that changes nothing: a library's warnings about itself are not those of the runtime."""
    return lambda function: function


def deprecated_alias(deprecated_name: str, name: str, func_or_class: Any, warn_once: bool = True) -> Any:
    """Return the function or class itself."""
    return func_or_class


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Do nothing: no decorator warns."""
    yield


def getfullargspec(obj: Any) -> inspect.FullArgSpec:
    """Return the parameters of the function below its decorators, without annotations.

    TensorFlow's functions have no annotations, and TensorFlow Probability compares their parameters with its own.
    """
    return inspect.getfullargspec(inspect.unwrap(obj))._replace(annotations={})
