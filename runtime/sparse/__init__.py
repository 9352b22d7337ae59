"""The module `tf.sparse`: tensors whose elements are mostly zero, by TensorFlow's names.

>>> to_dense(add(eye(2), eye(2))).numpy().tolist()
[[2.0, 0.0], [0.0, 2.0]]
"""
# Namespace sparse: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from ..core.missing_names import explain as _explain
from .dense_conversion import eye, from_dense, sampled_addmm, sparse_dense_matmul, to_dense, to_indicator
from .elementwise import add, map_values, mask, maximum, minimum, softmax
from .feature_cross import cross, cross_hashed
from .reductions import bincount, reduce_max, reduce_sum, segment_mean, segment_sqrt_n, segment_sum
from .reorder_reshape import (
    concat, expand_dims, fill_empty_rows, reorder, reset_shape, reshape, retain, slice, split, transpose,
)
from .tensor import SparseTensor

__all__ = [
    "SparseTensor", "add", "bincount", "concat", "cross", "cross_hashed", "expand_dims", "eye",
    "fill_empty_rows", "from_dense", "map_values", "mask", "maximum", "minimum", "reduce_max", "reduce_sum",
    "reorder", "reset_shape", "reshape", "retain", "sampled_addmm", "segment_mean", "segment_sqrt_n",
    "segment_sum", "slice", "softmax", "sparse_dense_matmul", "split", "to_dense", "to_indicator", "transpose",
]

_explain(__name__)
