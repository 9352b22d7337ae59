"""`tf.test`: helpers of test programs, with TensorFlow's names.

>>> is_gpu_available(), is_built_with_cuda(), gpu_device_name()
(False, False, '')
"""

from __future__ import annotations

import unittest
from typing import Any

from .autodiff.gradient_checker import compute_gradient
from .core.missing_names import explain as _explain


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Return False: operations never run on a GPU."""
    return False


def gpu_device_name() -> str:
    """Return the name of a GPU, which is "" since there is none."""
    return ""


def is_built_with_cuda() -> bool:
    return False


def is_built_with_rocm() -> bool:
    return False


def is_built_with_gpu_support() -> bool:
    return False


def is_built_with_xla() -> bool:
    """Return False: there is no XLA."""
    return False


def is_cpu_target_available(target: str) -> bool:
    """Return False: XLA's CPU targets do not exist here."""
    return False


def main(argv: list[str] | None = None) -> None:
    """Run the test cases of the main module, as `unittest.main` does."""
    unittest.main(argv=argv)


__all__ = [
    "compute_gradient",
    "gpu_device_name", "is_built_with_cuda", "is_built_with_gpu_support", "is_built_with_rocm", "is_built_with_xla",
    "is_cpu_target_available", "is_gpu_available", "main",
]  # fmt: skip

_explain(__name__)
