"""`tf.sysconfig`: how this runtime was built.

>>> get_build_info()["is_cuda_build"]
False
"""

from __future__ import annotations

from .core.missing_names import explain as _explain


def get_build_info() -> dict[str, bool]:
    """What the runtime was built with; it is Python, so nothing of it."""
    return {"is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False}


__all__ = ["get_build_info"]

_explain(__name__)
