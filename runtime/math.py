"""The module `tf.math`: numeric operations, with TensorFlow's names."""
# Namespace math: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from .core.missing_names import explain as _explain, places as _places


_LATE = _places({
    "._math_special": "special=",
    ".ops.arrays.permutation": "invert_permutation",
    ".ops.arrays.sort": "top_k",
    ".ops.math.arithmetic":
        "add add_n atan2 divide divide_no_nan floordiv floormod maximum minimum mod=floormod multiply "
        "multiply_no_nan pow squared_difference subtract truediv=divide xdivy xlogy",
    ".ops.math.comparison":
        "equal greater greater_equal less less_equal logical_and logical_not logical_or logical_xor "
        "not_equal",
    ".ops.math.derived_math":
        "accumulate_n cumulative_logsumexp is_non_decreasing is_strictly_increasing lbeta nextafter polyval "
        "reciprocal_no_nan xlog1py zero_fraction",
    ".ops.math.elementwise":
        "abs acos acosh angle asin asinh atan atanh ceil conj cos cosh exp expm1 floor imag is_finite "
        "is_inf is_nan log log1p log_sigmoid negative real reciprocal rint round rsqrt sigmoid sign sin "
        "sinh softplus sqrt square tan tanh",
    ".ops.math.error_and_gamma": "erf erfc lgamma",
    ".ops.math.scalar_product": "scalar_mul",
    ".ops.math.special":
        "bessel_i0 bessel_i0e bessel_i1 bessel_i1e betainc digamma erfcinv erfinv igamma igammac ndtri "
        "polygamma zeta",
    ".ops.nn.activations": "log_softmax softmax",
    ".ops.nn.confusion_and_topk": "approx_max_k approx_min_k confusion_matrix",
    ".ops.nn.in_top_k": "in_top_k",
    ".ops.nn.rectifiers": "softsign",
    ".ops.reduce.argmax": "argmax argmin",
    ".ops.reduce.bincount": "bincount",
    ".ops.reduce.norms": "l2_normalize",
    ".ops.reduce.reductions":
        "count_nonzero reduce_all reduce_any reduce_euclidean_norm reduce_logsumexp reduce_max reduce_mean "
        "reduce_min reduce_prod reduce_sum",
    ".ops.reduce.scans": "cumprod cumsum",
    ".ops.reduce.segments":
        "segment_max segment_mean segment_min segment_prod segment_sum unsorted_segment_max "
        "unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n "
        "unsorted_segment_sum",
    ".ops.reduce.variance": "reduce_std reduce_variance",
})

__all__ = [
    *_LATE,
]

_explain(__name__, late=_LATE)
