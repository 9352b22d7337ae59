"""The contestants: a library in one of its modes, if an interpreter has it.

agc eager      operations one by one, after     TF eager        operations one by one, of eager workloads
               half a second of calls
agc plan       jit_compile=False                TF graph        tf.function
agc automatic  jit_compile=None, after half     TF XLA          jit_compile=True
               a second of calls                JAX, torch, torch compiled, numba
agc native     jit_compile=True
NumPy          by hand, the reference           limit           C, or the bare calls of BLAS
"""

from __future__ import annotations

import importlib
import importlib.util
import shutil
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

Run = Callable[[], Any]


class Contestant(NamedTuple):
    name: str
    library: str
    builder: str  # of the functions in a workload's file
    given: Callable[[ModuleType], tuple[Any, ...]]  # the arguments before the sizes
    is_ours: bool = False
    is_automatic: bool = False
    is_eager: bool = False

    def run_of(self, module: ModuleType, size: dict[str, Any]) -> Run:
        """A run of a workload, not yet called. Raises AttributeError where the workload has no text for it."""
        build = getattr(module, self.builder)
        return build(*self.given(importlib.import_module(self.library)), **size)  # type: ignore[no-any-return]

    def takes(self, module: ModuleType) -> bool:
        """Whether a workload is for it."""
        if getattr(module, "ONLY_EAGER", False):
            return self.is_eager and hasattr(module, self.builder)
        if self.name == "TF eager" or (self.name == "agc eager" and not getattr(module, "EAGER", True)):
            return False
        if self.name == "torch compiled" and getattr(module, "UNROLLED", False):
            return False
        return hasattr(module, self.builder)

    def is_here(self) -> bool:
        """Whether this interpreter has what it needs."""
        if self.name == "limit":
            return shutil.which("gcc") is not None
        if importlib.util.find_spec(self.library.partition(".")[0]) is None:
            return False
        if self.name in ("agc native", "agc automatic"):
            return "native" in importlib.import_module("agc.runtime.executors").EXECUTORS
        return True


def _eager(tf: ModuleType) -> tuple[Any, ...]:
    tf.config.run_functions_eagerly(True)
    return (tf, False)


def _with_doubles(jax: ModuleType) -> tuple[Any, ...]:
    jax.config.update("jax_enable_x64", True)
    return (jax,)


def _compiler(numpy: ModuleType) -> tuple[Any, ...]:
    return (importlib.import_module("benchmarks.c").Program,)


REFERENCE, LIMIT = "NumPy", "limit"

CONTESTANTS = (
    Contestant("agc eager", "agc.runtime", "tensorflow", _eager, True, is_automatic=True, is_eager=True),
    Contestant("agc plan", "agc.runtime", "tensorflow", lambda tf: (tf, False), True),
    Contestant("agc automatic", "agc.runtime", "tensorflow", lambda tf: (tf, None), True, is_automatic=True),
    Contestant("agc native", "agc.runtime", "tensorflow", lambda tf: (tf, True), True),
    Contestant("TF eager", "tensorflow", "tensorflow", _eager, is_eager=True),
    Contestant("TF graph", "tensorflow", "tensorflow", lambda tf: (tf, False)),
    Contestant("TF XLA", "tensorflow", "tensorflow", lambda tf: (tf, True)),
    Contestant("JAX", "jax", "jax", _with_doubles),
    Contestant("torch", "torch", "torch", lambda torch: (torch, False), is_eager=True),
    Contestant("torch compiled", "torch", "torch", lambda torch: (torch, True)),
    Contestant("numba", "numba", "numba", lambda numba: (numba,)),
    Contestant(REFERENCE, "numpy", "by_hand", lambda numpy: (), is_eager=True),
    Contestant(LIMIT, "numpy", "limit", _compiler, is_eager=True),
)
"""In the order of the columns."""

BY_NAME = {contestant.name: contestant for contestant in CONTESTANTS}
