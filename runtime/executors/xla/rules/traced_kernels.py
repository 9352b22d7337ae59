"""The operations whose NumPy kernels JAX traces as they are.

A kernel is here if it does not look at values, changes no array in place, and computes in the same way for all sizes.
The sweep over all operations compares each with the interpreter.
"""

from __future__ import annotations

from ..rule_registry import TRACED

TRACED |= {
    "_clip", "abs", "acos", "acosh", "add", "add_n", "all_candidates", "angle", "asin", "asinh", "atan", "atan2",
    "atanh", "axes_back", "axes_last", "band_part", "banded_triangular_solve", "batch_to_space_nd", "bessel_j0",
    "bessel_j1", "bessel_k0", "bessel_k0e", "bessel_k1", "bessel_k1e", "bessel_y0", "bessel_y1", "betainc",
    "bias_add", "bitcast", "bitwise_and", "bitwise_or", "bitwise_xor", "broadcast_dynamic_shape", "broadcast_to",
    "ceil", "checked_coordinates", "checked_row_splits", "complex_inverse", "complex_transform", "concat", "conj",
    "coordinate_order", "cos", "cosh", "count_nonzero", "cross", "ctc_loss_and_gradient", "ctc_unique_labels",
    "dawsn", "depth_to_space", "diag", "diag_part", "diagonals_of_matrix", "dilation2d", "dilation2d_backprop_filter",
    "dilation2d_backprop_input", "divide_no_nan", "dynamic_partition", "dynamic_stitch", "eig", "einsum", "elu",
    "equal", "equal_or_false", "erfcinv", "exp", "expand_dims", "expm", "expm1", "extract_image_patches_grad",
    "extract_volume_patches", "fake_quantize", "fake_quantize_gradient", "fill", "floor", "frame", "fresnel_cos",
    "fresnel_sin", "greater", "greater_equal", "identity_matrix", "igamma", "igamma_slope", "igammac", "imag",
    "in_top_k", "inv", "inverse_permutation", "invert", "is_finite", "is_inf", "is_nan", "leaky_relu", "left_shift",
    "less", "less_equal", "log", "log1p", "log_sigmoid", "log_softmax", "logical_and", "logical_not", "logical_or",
    "logical_xor", "logm", "matmul", "matrix_of_diagonals", "matrix_transpose", "matrix_with_diagonals", "matvec",
    "maximum", "minimum", "multiply", "multiply_no_nan", "negative", "nextafter", "not_equal", "not_equal_or_true",
    "ones_like", "overlap_and_add", "polygamma", "pseudo_inverse", "random_index_shuffle", "rank",
    "real", "real_inverse", "real_transform", "realdiv", "reciprocal", "reduce_all", "reduce_any",
    "reduce_euclidean_norm", "reduce_prod", "reduce_std", "reduce_sum", "reduce_variance", "relu", "relu6", "repeat",
    "reshaped_coordinates", "resize", "resize_grad", "resize_nearest_neighbor", "resize_nearest_neighbor_grad",
    "reverse", "reverse_sequence", "right_shift", "rint", "roll", "round", "rows_in_order", "rsqrt", "segment_max",
    "segment_min", "segment_prod", "segment_sum", "selu", "sequence_distances", "sequence_mask", "set_sizes", "shape",
    "sign", "sin", "sinh", "size", "softmax", "softmax_cross_entropy", "softplus", "softsign", "solve",
    "space_to_batch_nd", "space_to_depth", "split", "split_sizes", "splits_of_lengths",
    "splits_of_rowids", "spread", "sqrt", "sqrtm", "square", "squared_difference", "squeeze", "stack", "subtract",
    "sum_tiles", "sum_to", "tan", "tanh", "tensordot", "tensordot_back", "tile", "transpose", "triangular_solve",
    "tridiagonal_solution", "unravel_index", "unstack", "where", "xdivy", "xlog1py", "xlogy", "zeros_like", "zeta",
}  # fmt: skip
