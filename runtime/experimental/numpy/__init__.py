"""The module `tf.experimental.numpy`: NumPy's functions on tensors, with NumPy's dtypes.

>>> add([1, 2], 0.5)
<tf.Tensor: shape=(2,), dtype=float64, numpy=array([1.5, 2.5])>

The same implementations serve NumPy's functions on traced tensors.
"""

from __future__ import annotations

import sys as _sys
from math import e, inf, pi
from typing import Any as _Any

import numpy as _np
from numpy import (
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    iinfo,
    inexact,
    int8,
    int16,
    int32,
    int64,
    issubdtype,
    newaxis,
    object_,
    uint8,
    uint16,
    uint32,
    uint64,
)
from numpy import bytes_ as string_
from numpy import str_ as unicode_

from ...core.export import export as _export
from ...core.missing_names import explain as _explain
from ...core.tensor import Tensor as ndarray  # noqa: N813
from ...interop.numpy_dispatch import comparisons as _comparisons
from ...interop.numpy_dispatch import joining as _joining
from ...interop.numpy_dispatch import linalg as _linalg
from ...interop.numpy_dispatch import manipulation as _manipulation
from ...interop.numpy_dispatch import nan_sums as _nan_sums
from ...interop.numpy_dispatch import statistics as _statistics
from . import random
from .behavior import experimental_enable_numpy_behavior
from .creation import (
    arange,
    array,
    asanyarray,
    ascontiguousarray,
    copy,
    diag_indices,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    geomspace,
    linspace,
    logspace,
    meshgrid,
    ones,
    ones_like,
    tri,
    zeros,
    zeros_like,
)
from .creation import identity_matrix as identity
from .lifting import lift as _lift
from .lifting import lift_each as _lift_each
from .lifting import lift_sequence as _lift_sequence
from .lifting import universal as _universal
from .parameters import (
    all,
    amax,
    amin,
    any,
    argsort,
    clip,
    concatenate,
    count_nonzero,
    einsum,
    finfo,
    flatten,
    isscalar,
    matmul,
    max,
    min,
    ndim,
    nextafter,
    pad,
    prod,
    promote_types,
    reshape,
    shape,
    size,
    sort,
    std,
    sum,
    take,
    where,
)
from .promotion import asarray, result_type
from .promotion import promote as _promote

absolute = _universal(_np.absolute)
add = _universal(_np.add)
arccos = _universal(_np.arccos)
arccosh = _universal(_np.arccosh)
arcsin = _universal(_np.arcsin)
arcsinh = _universal(_np.arcsinh)
arctan = _universal(_np.arctan)
arctan2 = _universal(_np.arctan2)
arctanh = _universal(_np.arctanh)
bitwise_and = _universal(_np.bitwise_and)
bitwise_or = _universal(_np.bitwise_or)
bitwise_xor = _universal(_np.bitwise_xor)
cbrt = _universal(_np.cbrt)
ceil = _universal(_np.ceil)
conjugate = _universal(_np.conjugate)
cos = _universal(_np.cos)
cosh = _universal(_np.cosh)
deg2rad = _universal(_np.deg2rad)
divmod = _universal(_np.divmod)
equal = _universal(_np.equal)
exp = _universal(_np.exp)
exp2 = _universal(_np.exp2)
expm1 = _universal(_np.expm1)
fabs = _universal(_np.fabs)
float_power = _universal(_np.power, "float_power")
floor = _universal(_np.floor)
floor_divide = _universal(_np.floor_divide)
gcd = _universal(_np.gcd)
greater = _universal(_np.greater)
greater_equal = _universal(_np.greater_equal)
heaviside = _universal(_np.heaviside)
hypot = _universal(_np.hypot)
isfinite = _universal(_np.isfinite)
isinf = _universal(_np.isinf)
isnan = _universal(_np.isnan)
lcm = _universal(_np.lcm)
less = _universal(_np.less)
less_equal = _universal(_np.less_equal)
log = _universal(_np.log)
log10 = _universal(_np.log10)
log1p = _universal(_np.log1p)
log2 = _universal(_np.log2)
logaddexp = _universal(_np.logaddexp)
logaddexp2 = _universal(_np.logaddexp2)
logical_and = _universal(_np.logical_and)
logical_not = _universal(_np.logical_not)
logical_or = _universal(_np.logical_or)
logical_xor = _universal(_np.logical_xor)
maximum = _universal(_np.maximum)
minimum = _universal(_np.minimum)
multiply = _universal(_np.multiply)
negative = _universal(_np.negative)
not_equal = _universal(_np.not_equal)
positive = _universal(_np.positive)
power = _universal(_np.power)
rad2deg = _universal(_np.rad2deg)
reciprocal = _universal(_np.reciprocal)
remainder = _universal(_np.remainder)
sign = _universal(_np.sign)
signbit = _universal(_np.signbit)
sin = _universal(_np.sin)
sinh = _universal(_np.sinh)
sqrt = _universal(_np.sqrt)
square = _universal(_np.square)
subtract = _universal(_np.subtract)
tan = _universal(_np.tan)
tanh = _universal(_np.tanh)
true_divide = _universal(_np.true_divide)
bitwise_not = _universal(_np.invert)
abs, conj, divide, mod, float_, complex_, int_ = (
    absolute,
    conjugate,
    true_divide,
    remainder,
    float64,
    complex128,
    int64,
)

allclose = _lift(_comparisons.allclose, 2)
array_equal = _lift(_comparisons.array_equal, 2)
iscomplex = _lift(_comparisons.iscomplex)
isclose = _lift(_comparisons.isclose, 2)
isneginf = _lift(_comparisons.isneginf)
isposinf = _lift(_comparisons.isposinf)
isreal = _lift(_comparisons.isreal)
iscomplexobj = _lift(_comparisons.iscomplexobj)
isrealobj = _lift(_comparisons.isrealobj)
append = _lift(_joining.append, 2)
compress = _lift(_joining.compress)
dsplit = _lift(_joining.dsplit)
fliplr = _lift(_joining.fliplr)
flipud = _lift(_joining.flipud)
hsplit = _lift(_joining.hsplit)
nonzero = _lift(_joining.nonzero)
rot90 = _lift(_joining.rot90)
take_along_axis = _lift(_joining.take_along_axis)
vsplit = _lift(_joining.vsplit)
cross = _lift(_linalg.cross, 2)
diag = _lift(_linalg.diag_)
diagflat = _lift(_linalg.diagflat)
diagonal = _lift(_linalg.diagonal)
dot = _lift(_linalg.dot, 2)
inner = _lift(_linalg.inner, 2)
kron = _lift(_linalg.kron, 2)
outer = _lift(_linalg.outer, 2)
tensordot = _lift(_linalg.tensordot, 2)
trace = _lift(_linalg.trace)
tril = _lift(_linalg.tril)
triu = _lift(_linalg.triu)
vdot = _lift(_linalg.vdot, 2)
broadcast_to = _lift(_manipulation.broadcast_to)
expand_dims = _lift(_manipulation.expand_dims)
flip = _lift(_manipulation.flip)
moveaxis = _lift(_manipulation.moveaxis)
ravel = _lift(_manipulation.ravel)
repeat = _lift(_manipulation.repeat)
roll = _lift(_manipulation.roll)
split = _lift(_manipulation.split)
squeeze = _lift(_manipulation.squeeze)
swapaxes = _lift(_manipulation.swapaxes)
tile = _lift(_manipulation.tile)
transpose = _lift(_manipulation.transpose)
average = _lift(_nan_sums.average)
diff = _lift(_nan_sums.diff)
fix = _lift(_nan_sums.fix)
nanmean = _lift(_nan_sums.nanmean)
nanprod = _lift(_nan_sums.nanprod)
nansum = _lift(_nan_sums.nansum)
polyval = _lift(_nan_sums.polyval, 2)
ptp = _lift(_nan_sums.ptp)
sinc = _lift(_nan_sums.sinc)
vander = _lift(_nan_sums.vander)
angle = _lift(_statistics.angle)
argmax = _lift(_statistics.argmax_)
argmin = _lift(_statistics.argmin_)
cumprod = _lift(_statistics.cumprod)
cumsum = _lift(_statistics.cumsum)
imag = _lift(_statistics.imag)
mean = _lift(_statistics.mean)
real = _lift(_statistics.real)
round = _lift(_statistics.round_)
var = _lift(_statistics.var)
around = round

atleast_1d = _lift_each(_joining.atleast_1d)
atleast_2d = _lift_each(_joining.atleast_2d)
atleast_3d = _lift_each(_joining.atleast_3d)
broadcast_arrays = _lift_each(_joining.broadcast_arrays)
ix_ = _lift_each(_joining.ix_)
dstack = _lift_sequence(_joining.dstack)
hstack = _lift_sequence(_manipulation.hstack)
stack = _lift_sequence(_manipulation.stack)
vstack = _lift_sequence(_manipulation.vstack)


def select(condlist: _Any, choicelist: _Any, default: _Any = 0) -> _Any:
    """Return for each element the choice of the first condition that is true, else `default`."""
    return _joining.select(list(map(asarray, condlist)), *_choices(choicelist, default))


def _choices(choicelist: _Any, default: _Any) -> _Any:
    *choices, other = _promote((*choicelist, default))
    return choices, other


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

_export("experimental.numpy")(_sys.modules[__name__])
_explain(__name__)
