"""Settings of TensorFlow's eager runtime, which change nothing here: operations run at once and in order.

>>> with async_scope(), function_executor_type("SINGLE_THREADED_EXECUTOR"):
...     print(1 + 1)
2
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..core.export import export


@export("experimental.async_scope")
@contextlib.contextmanager
def async_scope() -> Iterator[None]:
    """Run the block as always: errors of operations are raised where they happen.

    >>> with async_scope():
    ...     print("computed")
    computed
    """
    yield


@export("experimental.async_clear_error")
def async_clear_error() -> None:
    """Do nothing: no error is pending.

    >>> async_clear_error()
    """


@export("experimental.function_executor_type")
@contextlib.contextmanager
def function_executor_type(executor_type: str | None) -> Iterator[None]:
    """Run the block as always; `executor_type` names an executor of TensorFlow's.

    >>> with function_executor_type("SINGLE_THREADED_EXECUTOR"):
    ...     print("computed")
    computed
    """
    yield
