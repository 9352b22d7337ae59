"""Conversion of images between dtypes: integers from 0 to their maximum, floats from 0 to 1.

>>> convert_image_dtype([0.0, 0.5, 1.0], dtypes.uint8).numpy().tolist()
[0, 127, 255]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import dtypes
from ..core.conversion import TensorLike, convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ops.framework.cached_dispatch import cached_dispatch
from ..ops.framework.op import Name
from ..ops.math.cast import cast, saturate_cast


@export("image.convert_image_dtype")
@cached_dispatch
def convert_image_dtype(image: TensorLike, dtype: Any, saturate: bool = False, name: Name = None) -> Tensor:
    """Convert `image` to another dtype, scaled so that brightness is preserved.

    Args:
        saturate: clip numbers to the range of the dtype.

    Raises AttributeError for dtypes of other than integers and floats, as TensorFlow does.

    >>> from ..ops.arrays.creation import constant
    >>> convert_image_dtype(constant([0, 255], dtypes.uint8), dtypes.float32).numpy().tolist()
    [0.0, 1.0]
    """
    x, wanted = convert_to_tensor(image), dtypes.as_dtype(dtype)
    for kind in (x.dtype, wanted):
        if not (kind.is_floating or kind.is_integer):
            raise AttributeError("dtype must be either floating point or integer")
    if x.dtype is wanted:
        return x
    to = saturate_cast if saturate else cast
    if x.dtype.is_integer and wanted.is_integer:
        return _between_integers(x, wanted, to)
    if x.dtype.is_floating and wanted.is_floating:
        return cast(x, wanted)
    if x.dtype.is_integer:
        return cast(x, wanted) * (1.0 / x.dtype.max)  # type: ignore[no-any-return]
    return to(x * (wanted.max + 0.5), wanted)


def _between_integers(x: Tensor, wanted: dtypes.DType, to: Callable[..., Any]) -> Tensor:
    old, new = x.dtype.max, wanted.max
    if old > new:
        return to(x // ((old + 1) // (new + 1)), wanted)  # type: ignore[no-any-return]
    return to(x, wanted) * ((new + 1) // (old + 1))  # type: ignore[no-any-return]


def as_floats(image: Any, change: Callable[[Tensor], Tensor], saturate: bool = True) -> Tensor:
    """Apply `change` to `image` as floats from 0 to 1, and return the result in the image's dtype."""
    x = convert_to_tensor(image)
    if x.dtype in (dtypes.float16, dtypes.float32):
        return change(x)
    return convert_image_dtype(change(convert_image_dtype(x, dtypes.float32)), x.dtype, saturate)
