"""The unit cache: finished units on disk, so that other processes need not lower the same graph again.

    graph ──digest──► {"names": …, "sizes": …}  constants…  object files…

An entry is found by a digest of the optimized graph and of everything else that lowering depends on: agc's own
sources, the processor, BLAS, and the number of threads. Units that call Python are not kept.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from agc.autograph.disk_cache import sources

from ...functionalize.varying_shapes import VaryingType
from ...ir.graph import Constant, Graph
from ...ir.json_format import serialize
from ...kernels import blas, blas_limit, native_pool
from . import arena, external_symbols, llvm_engine, object_cache, shared_code
from .codegen.parallel_loops import count as count_of_threads
from .codegen.shared_functions import WRITERS
from .compilation_unit import CompilationUnit, HostTable, content

_LARGEST = 1 << 20
"""The maximum size in bytes of the constants of a graph, and of a unit that is kept."""

_READ = ("core", "executors", "functionalize", "ir", "kernels", "ops", "optimize")
"""The packages of the runtime that lowering reads."""


def key(graph: Graph, donors: Mapping[int, int]) -> str | None:
    """Return the key of the unit of a graph without lists; None for large constants and for Python objects."""
    operands = (operand for operation in graph.walk() for operand in operation.inputs)
    if sum(operand.value.nbytes for operand in operands if isinstance(operand, Constant)) > _LARGEST:
        return None
    try:
        sizes = [value.spec.sizes for value in graph.inputs if isinstance(value.spec, VaryingType)]
        text = json.dumps([serialize(graph, portable=True, with_origins=False), sizes, [*donors.items()]])
    except (TypeError, ValueError):
        return None
    return llvm_engine.key(f"{_surroundings()}\n{text}")


def _surroundings() -> str:
    """Return everything besides the graph and the host that lowering depends on."""
    gemm = [found and (found.symbol, found.bits) for found in map(blas.find, blas.LETTERS)]
    pool = native_pool.extension() is not None, native_pool.with_blas() is not None, blas_limit.can_limit()
    return str([_sources(), np.__version__, gemm, pool, count_of_threads()])


@functools.cache
def _sources() -> str:
    runtime = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return sources(*(os.path.join(runtime, package) for package in _READ)).hex()


class StoredUnit:
    """A unit that was compiled before. It has what loading needs of a `CompilationUnit`."""

    sized: ClassVar[dict[int, Any]] = {}
    lists: ClassVar[list[Any]] = []
    meter = key = None
    is_stored = True
    assigned: Sequence[int] = ()

    def __init__(self, graph: Graph, entry: dict[str, Any], parts: Sequence[bytes]) -> None:
        self.graph = graph
        self.overwritten: dict[int, int] = dict(entry["overwritten"])
        outputs = enumerate(graph.outputs)
        self.results = [content(output.spec) for i, output in outputs if i not in self.overwritten]
        self.is_long: bool = entry["is_long"]
        self.kept: int = entry["kept"]
        self.symbols: list[str] = entry["symbols"]
        names: list[str] = entry["constants"]
        arrays = [np.frombuffer(part, np.uint8).copy() for part in parts[: len(names)]]
        numbers = {name: i for i, name in enumerate(entry["names"])}
        self.host = HostTable(numbers, dict(zip(names, arrays, strict=True)), ())
        self._files = parts[len(names) :]

    def assembled(self) -> Sequence[bytes]:
        """Return the object files."""
        return self._files

    def forget(self) -> None:
        """Do nothing: there is no module."""


def read(key: str, graph: Graph) -> StoredUnit | None:
    """Return the unit that was stored for a graph, or None. Begin to compile the code that it shares with others."""
    data = object_cache.read(key)
    if data is None:
        return None
    head, _, rest = data.partition(b"\n")
    try:
        entry = json.loads(head)
        ends = [*itertools.accumulate(entry["sizes"], initial=0)]
        parts = [rest[begin:end] for begin, end in itertools.pairwise(ends)]
        unit = StoredUnit(graph, entry, parts) if ends[-1] == len(rest) else None
        _begin(entry["symbols"])
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):  # it has another form
        return None
    return unit


def is_trusted(key: str) -> bool:
    """Return whether results of the unit with this key were compared with a plan's, and were equal."""
    return object_cache.read(_mark(key)) is not None


def trust(key: str) -> None:
    """Take note that results of the unit with this key were equal to a plan's."""
    object_cache.write(_mark(key), b"")


def _mark(key: str) -> str:
    return f"{key}.equal"


def _begin(symbols: Sequence[str]) -> None:
    if not WRITERS.keys() >= set(symbols):
        from .lowering import gemm_blocked

        gemm_blocked.begin(symbols)


def write(unit: CompilationUnit, files: Sequence[bytes]) -> None:
    """Store a unit under its key, if other processes can load it."""
    host, arrays = unit.host, unit.host.arrays.values()
    is_plain = not (unit.sized or unit.lists or host.callbacks or unit.meter)
    is_small = sum(array.nbytes for array in arrays) <= _LARGEST
    known = {*WRITERS, *external_symbols.names(), *shared_code.names()}
    if unit.key is None or not (is_plain and is_small and known.issuperset(unit.symbols)):
        return
    if any(name != arena.NAME and name not in host.arrays for name in host.numbers):
        return
    parts = [*(array.tobytes() for array in arrays), *files]
    entry = {
        "overwritten": [*unit.overwritten.items()],
        "is_long": unit.is_long,
        "names": [*host.numbers],
        "constants": [*host.arrays],
        "kept": unit.kept,
        "symbols": unit.symbols,
        "sizes": [*map(len, parts)],
    }
    object_cache.write(unit.key, b"\n".join([json.dumps(entry).encode(), b"".join(parts)]))
