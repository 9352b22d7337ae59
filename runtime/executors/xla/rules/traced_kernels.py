"""The operations whose NumPy kernels JAX traces as they are.

A kernel is here if it does not look at values, changes no array in place, and computes in the same way for all sizes.
The sweep over all operations compares each with the interpreter.
"""

from __future__ import annotations

from ..rule_registry import TRACED

TRACED |= {
    "_clip", "abs", "acos", "acosh", "add", "add_n", "all_candidates", "angle", "asin", "asinh", "atan", "atan2",
    "atanh", "band_part", "batch_to_space_nd", "bias_add", "bitwise_and", "bitwise_or", "bitwise_xor", "ceil",
    "concat", "conj", "cos", "cosh", "count_nonzero", "cross", "depth_to_space", "diag_part", "divide_no_nan",
    "elu", "equal", "equal_or_false", "exp", "expm1", "fake_quantize", "fake_quantize_gradient", "floor", "greater",
    "greater_equal", "identity_matrix", "imag", "in_top_k", "inverse_permutation", "invert", "is_finite", "is_inf",
    "is_nan", "leaky_relu", "left_shift", "less", "less_equal", "log", "log1p", "log_sigmoid", "logical_and",
    "logical_not", "logical_or", "logical_xor", "matrix_transpose", "matvec", "maximum", "minimum", "multiply",
    "multiply_no_nan", "negative", "nextafter", "not_equal", "not_equal_or_true", "one_hot", "range", "rank",
    "real", "realdiv", "reciprocal", "reduce_all", "reduce_any", "reduce_euclidean_norm", "reduce_mean",
    "reduce_prod", "reduce_std", "reduce_sum", "reduce_variance", "relu", "relu6", "resize",
    "resize_nearest_neighbor", "reverse", "reverse_sequence", "right_shift", "rint", "roll", "round", "rsqrt",
    "selu", "shape", "sigmoid", "sign", "sin", "sinh", "size", "softplus", "softsign", "space_to_batch_nd",
    "space_to_depth", "split", "split_sizes", "spread", "sqrt", "square", "squared_difference", "subtract",
    "sum_tiles", "sum_to", "tan", "tanh", "tensordot_back", "tile", "transpose", "unstack", "xdivy", "xlog1py",
    "xlogy",
}  # fmt: skip
