"""`__array_namespace_info__()`: devices, dtypes and capabilities of the namespace.

>>> __array_namespace_info__().default_dtypes()["indexing"]
tf.int64
"""

from __future__ import annotations

from typing import Any

from ...core.devices import CPU
from ...dtypes import DType
from .data_types import ANY, DEFAULTS, KINDS, refuse_device


class __array_namespace_info__:  # noqa: N801  # the standard's name
    """The inspection API of the standard for this namespace."""

    def capabilities(self) -> dict[str, Any]:
        """Return the capabilities, which hold in graphs, too; the maximum number of dimensions is NumPy's."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        return CPU

    def devices(self) -> list[str]:
        return [CPU]

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        refuse_device(device)
        return dict(DEFAULTS)

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, DType]:
        """Return the dtypes by name: of a kind, of a tuple of kinds, or all."""
        refuse_device(device)
        wanted = (kind,) if isinstance(kind, str) else kind
        unknown = [each for each in wanted or () if each not in KINDS]
        if unknown:
            raise ValueError(f"unsupported kind: {unknown[0]!r}; there are {', '.join(map(repr, KINDS))}")
        return {
            dtype.name: dtype
            for dtype in ANY
            if wanted is None or any(dtype in KINDS[each] for each in wanted)
        }
