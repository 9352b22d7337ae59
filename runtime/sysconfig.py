"""`tf.sysconfig`: the build information of this runtime.

>>> get_build_info()["is_cuda_build"]
False
"""

from __future__ import annotations

from .core.missing_names import explain as _explain


def get_build_info() -> dict[str, bool]:
    """Return the optional components that the runtime was built with: none.

    >>> get_build_info()
    {'is_cuda_build': False, 'is_rocm_build': False, 'is_tensorrt_build': False}
    """
    return {"is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False}


__all__ = ["get_build_info"]

_explain(__name__)
