"""The unit cache: finished units on disk, so that other processes need not lower the same graph again.

    graph, types of its inputs ──digest──► {"names": …, "files": …}  constants…

The object files are entries of their own in the object cache, since other units may have the same modules.
Units that call Python are not kept.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ... import dtypes
from ...config import optimizer
from ...functionalize.varying_shapes import VaryingType
from ...ir.attribute_json import array_data
from ...ir.graph import Constant, Graph
from ...ir.value_types import TensorType
from . import arena, external_symbols, object_cache, shared_code
from .graph_text import graph_text
from .lowering_key import lowering_key
from .runtime_library import NAMES

if TYPE_CHECKING:
    from .compilation_unit import CompilationUnit
    from .kernel_callbacks import Callback

_LARGEST = 1 << 20
"""The maximum size in bytes of the constants of a graph, and of a unit that is kept."""


def key(graph: Graph, arguments: Sequence[Any], donors: Mapping[int, int], with_sizes: bool) -> str | None:
    """Return the key of the unit of a graph without lists; None for large constants and for Python objects.

    Without a cache there is no key either: the text of a large graph takes long. The key is that of the graph before
    it is optimized for the types and constants in `arguments`.
    """
    if not object_cache.is_on():
        return None
    try:
        types = [_described(argument) for argument in arguments]
        options = optimizer.get_experimental_options()
        text = json.dumps([graph_text(graph, _LARGEST), types, [*donors.items()], with_sizes, options])
    except (TypeError, ValueError):
        return None
    return lowering_key(text)


def _described(argument: Any) -> Any:
    """Return the type or constant that an input is specialized to, as JSON data."""
    if isinstance(argument, Constant):
        return array_data(argument.value)
    if isinstance(argument, VaryingType):
        return [argument.dtype.name, argument.sizes, "varying"]
    if type(argument) is not TensorType:
        raise TypeError(argument)
    return [argument.dtype.name, argument.shape]


class HostTable(NamedTuple):
    """The names in the table of host addresses, and the constants and functions that some of them have."""

    numbers: Mapping[str, int]
    arrays: Mapping[str, np.ndarray[Any, Any]]
    callbacks: Sequence[Callback]


class StoredUnit:
    """A unit that was compiled before. It has what loading needs of a `CompilationUnit`."""

    sized: ClassVar[dict[int, Any]] = {}
    lists: ClassVar[list[Any]] = []
    meter = key = None
    is_stored = True
    assigned: Sequence[int] = ()

    def __init__(self, entry: dict[str, Any], constants: Sequence[bytes], files: dict[str, bytes]) -> None:
        self.inputs = [_type(*each) for each in entry["inputs"]]
        self.results = [_type(*each) for each in entry["results"]]
        self.overwritten: dict[int, int] = dict(entry["overwritten"])
        self.is_long: bool = entry["is_long"]
        self.kept: int = entry["kept"]
        self.symbols: list[str] = entry["symbols"]
        arrays = [np.frombuffer(part, np.uint8).copy() for part in constants]
        numbers = {name: i for i, name in enumerate(entry["names"])}
        self.host = HostTable(numbers, dict(zip(entry["constants"], arrays, strict=True)), ())
        self._files = files

    def assembled(self) -> dict[str, bytes]:
        """Return the object files, by their keys in the object cache."""
        return self._files

    def forget(self) -> None:
        """Do nothing: there is no module."""


def _type(dtype: str, shape: Sequence[int]) -> TensorType:
    return TensorType(dtypes.as_dtype(dtype), tuple(shape))


def _plain(spec: TensorType) -> tuple[str, list[int]]:
    return spec.dtype.name, [int(size or 0) for size in spec.shape or ()]


def read(key: str) -> StoredUnit | None:
    """Return the unit that was stored under a key, or None. Begin to compile the code that it shares with others."""
    data = object_cache.read(key)
    if data is None:
        return None
    head, _, rest = data.partition(b"\n")
    try:
        entry = json.loads(head)
        found = {name: object_cache.read(name) for name in entry["files"]}
        files = {name: data for name, data in found.items() if data is not None}
        ends = [*itertools.accumulate(entry["sizes"], initial=0)]
        parts = [rest[begin:end] for begin, end in itertools.pairwise(ends)]
        is_whole = ends[-1] == len(rest) and files == found
        unit = StoredUnit(entry, parts, files) if is_whole else None
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
    if not set(symbols).issubset(NAMES):
        from .lowering import gemm_blocked

        gemm_blocked.begin(symbols)


def write(unit: CompilationUnit, files: Mapping[str, bytes]) -> None:
    """Store a unit under its key, if other processes can load it."""
    host, arrays = unit.host, unit.host.arrays.values()
    is_plain = not (unit.sized or unit.lists or host.callbacks or unit.meter)
    is_small = sum(array.nbytes for array in arrays) <= _LARGEST
    known = {*NAMES, *external_symbols.names(), *shared_code.names()}
    if unit.key is None or not (is_plain and is_small and known.issuperset(unit.symbols)):
        return
    if any(name != arena.NAME and name not in host.arrays for name in host.numbers):
        return
    parts = [array.tobytes() for array in arrays]
    entry = {
        "inputs": [*map(_plain, unit.inputs)],
        "results": [*map(_plain, unit.results)],
        "overwritten": [*unit.overwritten.items()],
        "is_long": unit.is_long,
        "names": [*host.numbers],
        "constants": [*host.arrays],
        "kept": unit.kept,
        "symbols": unit.symbols,
        "files": [*files],
        "sizes": [*map(len, parts)],
    }
    object_cache.write(unit.key, b"\n".join([json.dumps(entry).encode(), b"".join(parts)]))
