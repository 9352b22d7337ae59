"""`resize` and functions based on it.

>>> resize([[[1.], [3.]]], [1, 4]).numpy().ravel().tolist()
[1.0, 1.5, 2.5, 3.0]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..core.conversion import TensorLike, convert_to_tensor
from ..core.export import export
from ..core.tensor import EagerTensor, Tensor
from ..ops.arrays.concat_split import stack
from ..ops.arrays.reshape import ensure_shape
from ..ops.framework.cached_dispatch import cached_dispatch
from ..ops.framework.op import Name
from ..ops.framework.op_families import wrong
from ..ops.image import resize as resizing
from ..ops.math.arithmetic import maximum, minimum
from ..ops.math.cast import cast
from ..ops.math.elementwise import floor, round
from .batch_rank import as_given, batched, height_and_width, require
from .crop_and_pad import pad_to_bounding_box


@export("image.ResizeMethod")
class ResizeMethod:
    """The names of the methods of `resize`.

    >>> ResizeMethod.BICUBIC
    'bicubic'
    """

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


_STRETCHED = {"bilinear": "triangle", "bicubic": "keyscubic"}
_KERNELS = ("lanczos3", "lanczos5", "gaussian", "mitchellcubic")


@export("image.resize")
@cached_dispatch
def resize(
    images: TensorLike,
    size: Any,
    method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: Name = None,
) -> Tensor:
    """Resize images, one or a batch of them, to [height, width], as float32.

    Args:
        method: "bilinear", "nearest" (which keeps the dtype), "bicubic", "area", "lanczos3", "lanczos5",
            "gaussian" or "mitchellcubic".
        preserve_aspect_ratio: use the largest size of the same proportions that fits into `size`.
        antialias: when shrinking, weight all source elements; no effect for "nearest" and "area".

    >>> resize([[[1.], [2.], [3.], [4.]]], [1, 2], method="nearest").numpy().ravel().tolist()
    [2.0, 4.0]
    """
    if convert_to_tensor(images).shape.rank is None:
        raise ValueError("'images' contains no shape.")
    batch, single = batched(images, "resize")
    wanted = _size(size)
    if preserve_aspect_ratio:
        wanted = _of_same_proportions(batch, wanted)
    if isinstance(wanted, tuple) and min(wanted) < 1:
        raise wrong(f"resize: output dimensions must be positive: {wanted}")
    return as_given(_by_method(batch, stack(list(wanted)), method, antialias, name), single)


def _size(size: Any) -> Any:
    """Return the requested size: Python integers if they are known."""
    if isinstance(size, (list, tuple)) and all(isinstance(part, int) for part in size):
        known = size
    else:
        tensor = convert_to_tensor(size)
        if not tensor.dtype.is_integer:
            raise ValueError(f"resize: 'size' must be a 1-D int32 Tensor, not {tensor.dtype.name}")
        if tensor.shape.sizes not in (None, (None,), (2,)):
            raise ValueError(
                f"'size' must be a 1-D Tensor of 2 elements: new_height, new_width; not {tensor.shape}"
            )
        if not isinstance(tensor, EagerTensor):
            return [cast(tensor[0], dtypes.int32), cast(tensor[1], dtypes.int32)]
        known = tensor.numpy().tolist()
    if len(known) != 2:
        raise ValueError(
            f"'size' must be a 1-D Tensor of 2 elements: new_height, new_width; not {list(known)}"
        )
    return (int(known[0]), int(known[1]))


def _of_same_proportions(images: Tensor, wanted: Any) -> Any:
    sizes = height_and_width(images)
    if isinstance(wanted, tuple) and all(isinstance(size, int) for size in sizes):
        scale = min(np.float32(new) / np.float32(old) for new, old in zip(wanted, sizes, strict=True))
        return tuple(int(np.rint(scale * np.float32(old))) for old in sizes)
    old = [cast(size, dtypes.float32) for size in sizes]
    ratios = [cast(new, dtypes.float32) / size for new, size in zip(wanted, old, strict=True)]
    return [cast(round(minimum(*ratios) * size), dtypes.int32) for size in old]


def _by_method(images: Tensor, size: Any, method: Any, antialias: bool, name: Name) -> Tensor:
    if method == "nearest":
        return resizing.resize_nearest_neighbor(images, size, name)  # type: ignore[no-any-return]
    if method in _STRETCHED and antialias:
        return resizing.resize(images, size, _STRETCHED[method], True, name)  # type: ignore[no-any-return]
    if method in _KERNELS:
        return resizing.resize(images, size, method, antialias, name)  # type: ignore[no-any-return]
    if method in ("bilinear", "bicubic", "area"):
        return resizing.resize(images, size, method, False, name)  # type: ignore[no-any-return]
    raise ValueError(f"Resize method is not implemented: {method!r}")


@export("image.resize_with_pad")
def resize_with_pad(
    image: TensorLike,
    target_height: Any,
    target_width: Any,
    method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Tensor:
    """Resize `image` to the largest size of the same proportions that fits, and pad it with zeros.

    >>> resize_with_pad([[[2.], [2.]]], 2, 2).numpy().ravel().tolist()
    [2.0, 2.0, 0.0, 0.0]
    """
    images, single = batched(image, "resize_with_pad")
    require(target_width > 0, "target_width must be > 0.")
    require(target_height > 0, "target_height must be > 0.")
    old, wanted = height_and_width(images), (target_height, target_width)
    if all(isinstance(size, int) for size in (*old, *wanted)):
        ratio = max(np.float32(size) / np.float32(goal) for size, goal in zip(old, wanted, strict=True))
        inner: Any = [np.float32(size) / ratio for size in old]
        margins: Any = [
            max(0, int((np.float32(goal) - size) / 2)) for goal, size in zip(wanted, inner, strict=True)
        ]
        small: Any = [int(size) for size in inner]
    else:
        sizes = [cast(size, dtypes.float32) for size in old]
        goals = [cast(goal, dtypes.float32) for goal in wanted]
        share = maximum(*(size / goal for size, goal in zip(sizes, goals, strict=True)))
        inner = [size / share for size in sizes]
        margins = [
            maximum(0, cast(floor((goal - size) / 2), dtypes.int32))
            for goal, size in zip(goals, inner, strict=True)
        ]
        small = [cast(floor(size), dtypes.int32) for size in inner]
    resized = resize(
        images, small if isinstance(small[0], int) else stack(small), method, antialias=antialias
    )
    padded = pad_to_bounding_box(resized, margins[0], margins[1], target_height, target_width)
    known = [size if isinstance(size, int) else None for size in wanted]
    return as_given(ensure_shape(padded, [images.shape[0], *known, images.shape[3]]), single)
