"""`tf.test`: questions of test programs about the machine, and their start.

>>> is_gpu_available(), is_built_with_cuda(), gpu_device_name()
(False, False, '')
"""

from __future__ import annotations

import unittest
from typing import Any

from .autodiff.gradient_checker import compute_gradient
from .core.missing_names import explain as _explain


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Whether there is a GPU that operations could run on: there is none."""
    return False


def gpu_device_name() -> str:
    """The name of a GPU; "" as there is none."""
    return ""


def is_built_with_cuda() -> bool:
    return False


def is_built_with_rocm() -> bool:
    return False


def is_built_with_gpu_support() -> bool:
    return False


def is_built_with_xla() -> bool:
    """Whether `jit_compile=True` is supported."""
    return False


def is_cpu_target_available(target: str) -> bool:
    """Whether code for a kind of CPU can be made: there is no native compiler."""
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
