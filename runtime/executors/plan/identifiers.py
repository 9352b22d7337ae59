"""Unique names in generated source, distinct from the names of kernels and constants."""

from __future__ import annotations

import functools
import keyword
import re
from typing import Any

import numpy as np

from ... import dtypes
from .escaping import BUILT_IN, identifier

_DTYPES = "|".join(dtype.name for dtype in (*dtypes.ALL, *dtypes.NARROW_FLOATS))
GLOBAL = re.compile(rf"(op|graph|block|fused|draw|constant|dtype|{_DTYPES})_|constant$")
"""Matches names that generated source uses for kernels, functions and constants, by their prefixes."""

_TAKEN = dict.fromkeys(("np", "largest", "smallest", *BUILT_IN, "_", *keyword.kwlist, *keyword.softkwlist), 1)


class Identifiers:
    """A generator of unique identifiers: `m`, `m_1`, `m_2`."""

    def __init__(self) -> None:
        self._next = dict(_TAKEN)  # by taken name, its next suffix

    def unique(self, requested_name: str) -> str:
        taken = self._next
        name = base = identifier(requested_name)
        while name in taken:
            name = f"{base}_{taken[base]}"
            taken[base] += 1
        taken[name] = 1
        return name


@functools.lru_cache(1024)
def local(wish: str) -> str:
    """Return a name hint for a local variable, with a prefix if `wish` resembles a global name."""
    name = identifier(wish)
    return f"v_{name}" if GLOBAL.match(name) else name


def constant(array: np.ndarray[Any, Any]) -> str:
    """Return a name hint for a constant: `int32_1`, `float32_0_5`, `constant`."""
    if array.ndim or array.dtype.kind in "OV":
        return "constant"
    text = str(array[()]).replace("-", "neg_", 1) if str(array[()]).startswith("-") else str(array[()])
    return f"{dtypes.of_array(array).name}_{re.sub('[^0-9A-Za-z_]', '_', text).strip('_')}"
