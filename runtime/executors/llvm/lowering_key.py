"""Keys in the object cache for what lowering makes: other processes find it without lowering.

They depend on everything that lowering depends on besides its input: agc's own sources, the processor, BLAS, and the
number of threads.
"""

from __future__ import annotations

import functools
import os

import numpy as np
from agc.autograph.disk_cache import sources

from ...kernels import blas, blas_limit, native_pool
from . import llvm_engine
from .codegen.parallel_loops import count as count_of_threads

_READ = ("core", "executors", "functionalize", "ir", "kernels", "ops", "optimize")
"""The packages of the runtime that lowering reads."""


def lowering_key(text: str) -> str:
    """Return the key of code that lowering makes of what `text` describes."""
    gemm = [found and (found.symbol, found.bits) for found in map(blas.find, blas.LETTERS)]
    pool = native_pool.extension() is not None, native_pool.with_blas() is not None, blas_limit.can_limit()
    surroundings = [_sources(), np.__version__, gemm, pool, count_of_threads()]
    return llvm_engine.key(f"{surroundings}\n{text}")


@functools.cache
def _sources() -> str:
    runtime = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return sources(*(os.path.join(runtime, package) for package in _READ)).hex()
