"""The numeric operations at the top level of TensorFlow: `from ._top_level_names import *`."""

from __future__ import annotations

from .ops.linalg.matmul import einsum, matmul, tensordot
from .ops.math.arithmetic import (
    add,
    add_n,
    atan2,
    clip_by_value,
    divide,
    maximum,
    minimum,
    multiply,
    pow,
    realdiv,
    subtract,
    truediv,
    truncatediv,
    truncatemod,
)  # fmt: skip
from .ops.math.cast import bitcast, cast, complex, identity, saturate_cast
from .ops.math.comparison import (
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    not_equal,
)  # fmt: skip
from .ops.math.elementwise import (
    abs,
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atanh,
    cos,
    cosh,
    exp,
    floor,
    negative,
    round,
    sigmoid,
    sign,
    sin,
    sinh,
    sqrt,
    square,
    tan,
    tanh,
)  # fmt: skip
from .ops.reduce.argmax import argmax, argmin
from .ops.reduce.reductions import (
    reduce_all,
    reduce_any,
    reduce_logsumexp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
)  # fmt: skip
from .ops.reduce.scans import cumsum

__all__ = [
    "abs", "acos", "acosh", "add", "add_n", "argmax", "argmin", "asin", "asinh", "atan", "atan2",
    "atanh", "bitcast", "cast", "clip_by_value", "complex", "cos", "cosh", "cumsum", "divide",
    "einsum", "equal", "exp", "floor", "greater", "greater_equal", "identity", "less", "less_equal",
    "logical_and", "logical_not", "logical_or", "matmul", "maximum", "minimum", "multiply",
    "negative", "not_equal", "pow", "realdiv", "reduce_all", "reduce_any",
    "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum",
    "round", "saturate_cast", "sigmoid", "sign", "sin", "sinh", "sqrt", "square", "subtract", "tan",
    "tanh", "tensordot", "truediv", "truncatediv", "truncatemod",
]  # fmt: skip
