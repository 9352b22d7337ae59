"""Windows that slide over each channel alone, in C: depthwise convolutions and pooling.

    slid("largest", x, y, None, None, slide)      y = max of y and the windows of x

An optional extension computes it; native_windows.c lists the kinds. The callers compute the same with NumPy.
"""

from __future__ import annotations

from typing import Any

from .window_geometry import Sliding

try:
    from . import _native_windows as native  # type: ignore[attr-defined, unused-ignore]
except ImportError:
    native = None

Array = Any


def fits(slide: Sliding | None, *arrays: Array) -> bool:
    """Return whether the extension takes these windows and arrays."""
    if native is None or slide is None or not 1 <= len(slide.window) <= 2:
        return False
    kind = arrays[0].dtype
    return kind.char in "fd" and all(array.dtype == kind and array.flags.c_contiguous for array in arrays)


def slid(kind: str, x: Array, y: Array, w: Array | None, z: Array | None, slide: Sliding) -> None:
    """Run one kind on arrays that fit: `x` has the channels last, after one or two axes of windows."""
    geometry: Any = (slide.window, slide.strides, slide.dilations, slide.before)
    if len(slide.window) == 1:
        geometry = tuple((fill, *pair) for fill, pair in zip((1, 1, 1, 0), geometry, strict=True))
        x, y, z = (array if array is None else array[:, None] for array in (x, y, z))
        if w is not None:
            w = w[None] if kind in ("convolve", "correlate") else w[:, None]
    done = native.slide(kind, x, y, w, z, geometry)
    assert done, f"{kind} does not take these arrays"
