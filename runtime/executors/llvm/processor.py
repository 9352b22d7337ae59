"""LLVM's library, imported at the first compilation, and its facts about the processor that it compiles for."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.util
import os
import sys
from typing import Any


@functools.cache
def binding() -> Any:
    """Return `llvmlite.binding`, ready to compile for this machine."""
    _load_without_gil()
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


def _load_without_gil() -> None:
    """Load LLVM's library. The import of llvmlite would load it with the GIL, while another thread runs a plan."""
    package = importlib.util.find_spec("llvmlite")
    if package is not None and package.origin is not None and sys.platform == "linux":
        path = os.path.join(os.path.dirname(package.origin), "binding", "libllvmlite.so")
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).dlopen(path.encode(), os.RTLD_NOW)  # if this fails, the import reports it


@functools.cache
def features() -> Any:
    """Return the features of the processor, a mapping of LLVM's names to booleans.

    Those whose names start with one of the words in AGC_LEAVE_OUT are left out, so that tests see other processors.
    """
    found = binding().get_host_cpu_features()
    left_out = tuple(os.environ.get("AGC_LEAVE_OUT", "").replace(",", " ").split())
    found.update({name: False for name in found if name.startswith(left_out)})
    return found


@functools.cache
def name_and_features() -> tuple[str, str]:
    """Return the name of the processor, and the features that code may use, as LLVM writes them.

    Loads of single elements beat gather instructions.
    """
    known = features().flatten()
    return binding().get_host_cpu_name(), f"{known},+prefer-no-gather" if features().get("avx2") else known


@functools.cache
def vector_bytes() -> int:
    """Return the width in bytes of the vectors that this machine computes with at full speed."""
    return 64 if features().get("avx512vl") else 32 if features().get("avx2") else 16


@functools.cache
def fuses() -> bool:
    """Return whether this machine has fused multiply-add."""
    return any(features().get(name) for name in ("fma", "fp-armv8", "neon"))
