"""The modules of lowering rules, by operation; written by `make generate`."""

_OPERATIONS = {
    "activations": "equal_or_false not_equal_or_true relu relu6",
    "asserts": "assert check_numerics no_op raise",
    "bitcast": "bitcast saturate_cast",
    "bitwise": (
        "bitwise_and bitwise_or bitwise_xor invert left_shift logical_and logical_not logical_or logical_xor "
        "right_shift"
    ),
    "boolean_mask": "boolean_mask put_back_masked shape size true_indices",
    "call": "call",
    "casts": "cast complex",
    "cond": "cond switch",
    "conv": "conv conv_backprop_filter conv_backprop_input",
    "diagonals": "band_part cross diag diag_part set_diag",
    "einsum": "einsum tensordot_back",
    "elementwise": (
        "_clip add ceil conj equal floor floordiv floormod greater greater_equal identity imag is_finite "
        "is_inf is_nan less less_equal maximum minimum multiply negative not_equal real realdiv reciprocal "
        "rint round square squared_difference stop_gradient subtract truncatediv truncatemod where"
    ),
    "fill": "fill identity_matrix linspace one_hot ones ones_like range zeros zeros_like",
    "image_resize": "resize resize_grad resize_nearest_neighbor resize_nearest_neighbor_grad",
    "indexing": "gather gather_nd getitem put_back_item put_back_part setitem slice split split_sizes unstack",
    "linear_solve": "cholesky det inv slogdet solve",
    "list_gathers": "array_gather array_picked array_spread",
    "list_ops": (
        "array_add array_concat array_one array_split array_sum list_count list_extend list_extend_rows "
        "list_reverse"
    ),
    "math_functions": (
        "abs acos acosh angle asin asinh atan atanh bessel_i0 bessel_i0e bessel_i1 bessel_i1e cos cosh "
        "digamma divide_no_nan erf erfc erfcinv erfinv exp expm1 lgamma log log1p multiply_no_nan ndtri pow "
        "sigmoid sign sin sinh softplus sqrt tan tanh xdivy xlog1py xlogy"
    ),
    "matmul": "matmul matvec tensordot",
    "nested_lists": "list_keep list_of_lists list_take",
    "patches": "extract_image_patches",
    "pooling": "avg_pool avg_pool_grad max_pool max_pool_grad",
    "qr": "qr",
    "random_choice": "seeded_categorical seeded_shuffle",
    "reductions": (
        "add_n bias_add reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum spread "
        "sum_to"
    ),
    "reshape": (
        "broadcast_to concat ensure_shape expand_dims matrix_transpose meshgrid optimization_barrier reshape "
        "reverse roll squeeze stack tile transpose"
    ),
    "rng_state": "stream_after stream_after_drawing",
    "scans": "argmax argmin cumprod cumsum",
    "scatter": (
        "put_along put_back put_back_nd scatter_nd scattered take_along tensor_scatter_nd_add "
        "tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub tensor_scatter_nd_update"
    ),
    "segments": (
        "segment_max segment_min segment_prod segment_sum unsorted_segment_max unsorted_segment_min "
        "unsorted_segment_prod unsorted_segment_sum"
    ),
    "sequences": "reverse_sequence sequence_mask",
    "softmax": (
        "count_nonzero log_softmax reduce_euclidean_norm reduce_logsumexp reduce_std reduce_variance softmax "
        "softmax_cross_entropy sparse_softmax_cross_entropy"
    ),
    "sort": "argsort searchsorted sort top_k",
    "stateless_random": (
        "full_integers stateless_random_integers stateless_random_normal stateless_random_truncated_normal "
        "stateless_random_uniform"
    ),
    "tensor_arrays": (
        "array_item array_new array_of_rows array_read array_rows array_size array_stack array_unstack "
        "array_without array_write list_append list_get list_new list_pop list_set list_size"
    ),
    "tile_and_pad": "pad repeat sum_mirrored sum_repeated sum_tiles",
    "triangular_solve": "triangular_solve",
    "while_loop": "while",
}

MODULES = {name: module for module, names in _OPERATIONS.items() for name in names.split()}
