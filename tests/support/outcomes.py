"""Results to the last bit, to compare what different executors give."""

from __future__ import annotations

from typing import Any

import numpy as np


def bits(result: Any) -> Any:
    """Dtype, shape and bits of an array, of a list those of its elements; all NaNs are one."""
    if not isinstance(result, (np.ndarray, np.generic)):
        return [bits(item) for item in result.items()] if hasattr(result, "items") else repr(result)
    array = np.array(result)
    if array.dtype.kind in "fc":
        array[np.isnan(array)] = np.nan
    return array.dtype, array.shape, array.tolist() if array.dtype.hasobject else array.tobytes()
