"""The array API standard (https://data-apis.org/array-api, version 2024.12) on tensors.

    xp = x.__array_namespace__()          as libraries do that work on arrays of any kind
    xp.add(xp.asarray([1, 2]), 1)         a tensor; in a `tf.function`, a recorded operation

The functions promote dtypes as in the standard, and raise TypeError for promotions that the standard leaves open. The
tensors' own operators stay TensorFlow's: `x + y` promotes nothing. Later additions are `isin`, `broadcast_shapes` and
`linalg.eig`.

>>> add(asarray([1, 2], dtype=int8), asarray([1000, 0], dtype=int16))
<tf.Tensor: shape=(2,), dtype=int16, numpy=array([1001,    2], dtype=int16)>
"""

from __future__ import annotations

import sys
from math import e, inf, nan, pi
from typing import TYPE_CHECKING, Any

from ...dtypes import bool_ as bool
from ...dtypes import (
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from . import (
    creation,
    data_types,
    elementwise,
    fft,
    info,
    linalg,
    manipulation,
    promotion,
    searching,
    statistical,
)
from . import matmul as products

__array_api_version__ = "2024.12"

newaxis = None

__all__ = [
    "__array_api_version__", "e", "fft", "inf", "linalg", "nan", "newaxis", "pi",
    "bool", "complex64", "complex128", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16",
    "uint32", "uint64",
    "matmul", "matrix_transpose", "tensordot", "vecdot",
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace",
    "meshgrid", "ones", "ones_like", "tril", "triu", "zeros", "zeros_like",
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and",
    "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "ceil",
    "clip", "conj", "copysign", "cos", "cosh", "divide", "equal", "exp", "expm1", "floor",
    "floor_divide", "greater", "greater_equal", "hypot", "imag", "isfinite", "isinf", "isnan", "less",
    "less_equal", "log", "log10", "log1p", "log2", "logaddexp", "logical_and", "logical_not",
    "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative", "nextafter", "not_equal",
    "positive", "pow", "real", "reciprocal", "remainder", "round", "sign", "signbit", "sin", "sinh",
    "sqrt", "square", "subtract", "tan", "tanh", "trunc",
    "__array_namespace_info__",
    "finfo", "iinfo", "isdtype",
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims", "flip", "moveaxis",
    "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "tile", "unstack",
    "astype", "can_cast", "result_type",
    "argmax", "argmin", "argsort", "count_nonzero", "diff", "isin", "nonzero", "searchsorted", "sort",
    "take", "take_along_axis", "unique_all", "unique_counts", "unique_inverse", "unique_values",
    "where",
    "all", "any", "cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "std", "sum",
    "var",
]  # fmt: skip

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


_PARTS = (
    creation, data_types, elementwise, info, manipulation, products, promotion, searching, statistical,
)  # fmt: skip
"""The modules whose functions are those of `__all__`."""
globals().update({
    name: value for part in _PARTS for name, value in vars(part).items()
    if name in __all__ and getattr(value, "__module__", None) == part.__name__
})  # fmt: skip


def of_version(api_version: str | None) -> Any:
    """Return this module, which serves all versions up to its own. Raise ValueError for other versions."""
    if api_version in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
        return sys.modules[__name__]
    raise ValueError(
        f"there is version {__array_api_version__} of the array API and older ones, not {api_version!r}"
    )
