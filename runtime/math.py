"""The module `tf.math`: numeric operations, with TensorFlow's names."""
# Namespace math: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from .core.missing_names import explain as _explain
from . import _math_special as special
from .ops.arrays.permutation import invert_permutation
from .ops.arrays.sort import top_k
from .ops.math.arithmetic import (
    add, add_n, atan2, divide, divide_no_nan, floordiv, floormod, maximum, minimum, floormod as mod, multiply,
    multiply_no_nan, pow, squared_difference, subtract, divide as truediv, xdivy, xlogy,
)
from .ops.math.comparison import (
    equal, greater, greater_equal, less, less_equal, logical_and, logical_not, logical_or, logical_xor,
    not_equal,
)
from .ops.math.derived_math import (
    accumulate_n, cumulative_logsumexp, is_non_decreasing, is_strictly_increasing, lbeta, nextafter, polyval,
    reciprocal_no_nan, scalar_mul, xlog1py, zero_fraction,
)
from .ops.math.elementwise import (
    abs, acos, acosh, angle, asin, asinh, atan, atanh, ceil, conj, cos, cosh, erf, erfc, exp, expm1, floor,
    imag, is_finite, is_inf, is_nan, lgamma, log, log1p, log_sigmoid, negative, real, reciprocal, rint, round,
    rsqrt, sigmoid, sign, sin, sinh, softplus, sqrt, square, tan, tanh,
)
from .ops.math.special import (
    bessel_i0, bessel_i0e, bessel_i1, bessel_i1e, betainc, digamma, erfcinv, erfinv, igamma, igammac, ndtri,
    polygamma, zeta,
)
from .ops.nn.activations import log_softmax, softmax
from .ops.nn.confusion_and_topk import approx_max_k, approx_min_k, confusion_matrix
from .ops.nn.in_top_k import in_top_k
from .ops.nn.rectifiers import softsign
from .ops.reduce.argmax import argmax, argmin
from .ops.reduce.bincount import bincount
from .ops.reduce.norms import l2_normalize
from .ops.reduce.reductions import (
    count_nonzero, reduce_all, reduce_any, reduce_euclidean_norm, reduce_logsumexp, reduce_max, reduce_mean,
    reduce_min, reduce_prod, reduce_sum,
)
from .ops.reduce.scans import cumprod, cumsum
from .ops.reduce.segments import (
    segment_max, segment_mean, segment_min, segment_prod, segment_sum, unsorted_segment_max,
    unsorted_segment_mean, unsorted_segment_min, unsorted_segment_prod, unsorted_segment_sqrt_n,
    unsorted_segment_sum,
)
from .ops.reduce.variance import reduce_std, reduce_variance

__all__ = [
    "abs", "accumulate_n", "acos", "acosh", "add", "add_n", "angle", "approx_max_k", "approx_min_k", "argmax",
    "argmin", "asin", "asinh", "atan", "atan2", "atanh", "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e",
    "betainc", "bincount", "ceil", "confusion_matrix", "conj", "cos", "cosh", "count_nonzero", "cumprod",
    "cumsum", "cumulative_logsumexp", "digamma", "divide", "divide_no_nan", "equal", "erf", "erfc", "erfcinv",
    "erfinv", "exp", "expm1", "floor", "floordiv", "floormod", "greater", "greater_equal", "igamma",
    "igammac", "imag", "in_top_k", "invert_permutation", "is_finite", "is_inf", "is_nan", "is_non_decreasing",
    "is_strictly_increasing", "l2_normalize", "lbeta", "less", "less_equal", "lgamma", "log", "log1p",
    "log_sigmoid", "log_softmax", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum",
    "minimum", "mod", "multiply", "multiply_no_nan", "ndtri", "negative", "nextafter", "not_equal",
    "polygamma", "polyval", "pow", "real", "reciprocal", "reciprocal_no_nan", "reduce_all", "reduce_any",
    "reduce_euclidean_norm", "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod",
    "reduce_std", "reduce_sum", "reduce_variance", "rint", "round", "rsqrt", "scalar_mul", "segment_max",
    "segment_mean", "segment_min", "segment_prod", "segment_sum", "sigmoid", "sign", "sin", "sinh", "softmax",
    "softplus", "softsign", "special", "sqrt", "square", "squared_difference", "subtract", "tan", "tanh",
    "top_k", "truediv", "unsorted_segment_max", "unsorted_segment_mean", "unsorted_segment_min",
    "unsorted_segment_prod", "unsorted_segment_sqrt_n", "unsorted_segment_sum", "xdivy", "xlog1py", "xlogy",
    "zero_fraction", "zeta",
]

_explain(__name__)
