"""The module `tf.experimental.numpy`: NumPy's functions on tensors, with NumPy's dtypes.

>>> add([1, 2], 0.5)
<tf.Tensor: shape=(2,), dtype=float64, numpy=array([1.5, 2.5])>

A name of `__all__` is a function of creation.py, parameters.py or promotion.py, if there is one. Others are universal
functions, functions that also serve NumPy's dispatch on traced tensors, and NumPy's dtypes and constants themselves.
"""

from __future__ import annotations

import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

import numpy as _np

from ...core.export import export as _export
from ...core.missing_names import explain as _explain
from ...core.tensor import Tensor as ndarray  # noqa: N813
from ...interop.numpy_dispatch import joining as _joining
from ...interop.numpy_dispatch import nan_sums as _nan_sums
from ...interop.numpy_dispatch.functions import FUNCTIONS as _FUNCTIONS
from . import creation as _creation
from . import lifting as _lifting
from . import manuals as _manuals
from . import parameters as _parameters
from . import promotion as _promotion
from . import random
from .behavior import experimental_enable_numpy_behavior

__all__ = [
    "abs", "absolute", "add", "all", "allclose", "amax", "amin", "angle", "any", "append", "arange",
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "argmax", "argmin",
    "argsort", "around", "array", "array_equal", "asanyarray", "asarray", "ascontiguousarray",
    "atleast_1d", "atleast_2d", "atleast_3d", "average", "bitwise_and", "bitwise_not", "bitwise_or",
    "bitwise_xor", "bool_", "broadcast_arrays", "broadcast_to", "cbrt", "ceil", "clip", "complex128",
    "complex64", "complex_", "compress", "concatenate", "conj", "conjugate", "copy", "cos", "cosh",
    "count_nonzero", "cross", "cumprod", "cumsum", "deg2rad", "diag", "diag_indices", "diagflat",
    "diagonal", "diff", "divide", "divmod", "dot", "dsplit", "dstack", "e", "einsum", "empty",
    "empty_like", "equal", "exp", "exp2", "expand_dims", "experimental_enable_numpy_behavior", "expm1",
    "eye", "fabs", "finfo", "fix", "flatten", "flip", "fliplr", "flipud", "float16", "float32", "float64",
    "float_", "float_power", "floor", "floor_divide", "full", "full_like", "gcd", "geomspace", "greater",
    "greater_equal", "heaviside", "hsplit", "hstack", "hypot", "identity", "iinfo", "imag", "inexact",
    "inf", "inner", "int16", "int32", "int64", "int8", "int_", "isclose", "iscomplex", "iscomplexobj",
    "isfinite", "isinf", "isnan", "isneginf", "isposinf", "isreal", "isrealobj", "isscalar", "issubdtype",
    "ix_", "kron", "lcm", "less", "less_equal", "linspace", "log", "log10", "log1p", "log2", "logaddexp",
    "logaddexp2", "logical_and", "logical_not", "logical_or", "logical_xor", "logspace", "matmul", "max",
    "maximum", "mean", "meshgrid", "min", "minimum", "mod", "moveaxis", "multiply", "nanmean", "nanprod",
    "nansum", "ndarray", "ndim", "negative", "newaxis", "nextafter", "nonzero", "not_equal", "object_",
    "ones", "ones_like", "outer", "pad", "pi", "polyval", "positive", "power", "prod", "promote_types",
    "ptp", "rad2deg", "random", "ravel", "real", "reciprocal", "remainder", "repeat", "reshape",
    "result_type", "roll", "rot90", "round", "select", "shape", "sign", "signbit", "sin", "sinc", "sinh",
    "size", "sort", "split", "sqrt", "square", "squeeze", "stack", "std", "string_", "subtract", "sum",
    "swapaxes", "take", "take_along_axis", "tan", "tanh", "tensordot", "tile", "trace", "transpose",
    "tri", "tril", "triu", "true_divide", "uint16", "uint32", "uint64", "uint8", "unicode_", "vander",
    "var", "vdot", "vsplit", "vstack", "where", "zeros", "zeros_like",
]  # fmt: skip

if _TYPE_CHECKING:

    def __getattr__(name: str) -> _Any: ...


_OF_TWO = (
    "allclose", "array_equal", "isclose", "append", "cross", "dot", "inner", "kron", "outer", "tensordot", "vdot",
    "polyval",
)  # fmt: skip
"""Functions whose first two arguments are arrays of one dtype."""
_OF_EACH = ("atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "ix_")
"""Functions of any number of arrays."""
_OF_SEQUENCE = ("dstack", "hstack", "stack", "vstack")
"""Functions of a sequence of arrays of one dtype."""


def _public(name: str) -> _Any:
    for part in (_creation, _parameters, _promotion):
        own = vars(part).get(name)
        if getattr(own, "__module__", None) == part.__name__:
            return own
    theirs = getattr(_np, name)
    if isinstance(theirs, _np.ufunc):
        return _lifting.universal(theirs)
    if theirs not in _FUNCTIONS:
        return theirs  # a dtype or a constant
    if name in _OF_EACH:
        return _lifting.lift_each(_FUNCTIONS[theirs])
    if name in _OF_SEQUENCE:
        return _lifting.lift_sequence(_FUNCTIONS[theirs])
    return _lifting.lift(_FUNCTIONS[theirs], 2 if name in _OF_TWO else 1)


def select(condlist: _Any, choicelist: _Any, default: _Any = 0) -> _Any:
    """Return for each element the choice of the first condition that is true, else `default`.

    >>> select([[True, False]], [[1, 2]], 0).numpy().tolist()
    [1, 0]
    """
    *choices, other = _promotion.promote((*choicelist, default))
    return _joining.select(list(map(_promotion.asarray, condlist)), choices, other)


string_, unicode_, float_, complex_, int_ = _np.bytes_, _np.str_, _np.float64, _np.complex128, _np.int64
vander = _lifting.lift(_nan_sums.vander)
float_power = _lifting.universal(_np.power, "float_power")
globals().update({_name: _public(_name) for _name in __all__ if _name not in globals()})
for _name in (*_manuals.ARRAYS, *_manuals.OTHERS):
    _manuals.describe(_name, globals()[_name])
# Doctest runs these manuals, too.
__test__ = {_name: globals()[_name] for _name in (*_manuals.ARRAYS, *_manuals.OTHERS)}

_export("experimental.numpy")(_sys.modules[__name__])
_explain(__name__)
