"""`tf.test`: helpers of test programs, with TensorFlow's names.

>>> is_gpu_available(), is_built_with_cuda(), gpu_device_name()
(False, False, '')
"""

from __future__ import annotations

import functools
import unittest
from collections.abc import Callable
from typing import Any

from ..autodiff.gradient_checker import compute_gradient
from ..core.missing_names import explain as _explain
from . import experimental
from .test_case import TestCase


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Return False: operations never run on a GPU.

    >>> is_gpu_available()
    False
    """
    return False


def gpu_device_name() -> str:
    """Return the name of a GPU, which is "" since there is none.

    >>> gpu_device_name()
    ''
    """
    return ""


def is_built_with_cuda() -> bool:
    return False


def is_built_with_rocm() -> bool:
    return False


def is_built_with_gpu_support() -> bool:
    return False


def is_built_with_xla() -> bool:
    """Return False: XLA is no part of the package. `jit_compile="xla"` runs functions by it, through JAX.

    >>> is_built_with_xla()
    False
    """
    return False


def is_cpu_target_available(target: str) -> bool:
    """Return False: no target of XLA's compiler can be chosen.

    >>> is_cpu_target_available("x86")
    False
    """
    return False


def main(argv: list[str] | None = None) -> None:
    """Run the test cases of the main module, as `unittest.main` does.

    >>> if __name__ == "__main__":
    ...     main()
    """
    unittest.main(argv=argv)


def disable_with_predicate(pred: Callable[[], bool], skip_message: str) -> Callable[[Any], Any]:
    """Return a decorator that skips a test if `pred()` is true when the test runs.

    >>> disable_with_predicate(lambda: False, "no reason")(lambda self: "ran")(None)
    'ran'
    """

    def decorated(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def checked(self: Any, *args: Any, **kwargs: Any) -> Any:
            if pred():
                self.skipTest(skip_message)
            return test(self, *args, **kwargs)

        return checked

    return decorated


def with_eager_op_as_function(cls: Any = None, only_as_function: bool = False) -> Any:
    """Return a test or class unchanged: there is one way to run operations eagerly.

    >>> with_eager_op_as_function(int) is int
    True
    """
    return (lambda decorated: decorated) if cls is None else cls


__all__ = [
    "TestCase", "compute_gradient", "disable_with_predicate", "experimental",
    "gpu_device_name", "is_built_with_cuda", "is_built_with_gpu_support", "is_built_with_rocm", "is_built_with_xla",
    "is_cpu_target_available", "is_gpu_available", "main",
    "with_eager_op_as_function",
]  # fmt: skip

_explain(__name__)
