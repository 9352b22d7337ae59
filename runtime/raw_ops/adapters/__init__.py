"""Functions that the expressions in the tables of `tf.raw_ops` call as `own.f`, by family."""

from .arrays import (
    axes,
    axis_in_format,
    bincount,
    bounds,
    broadcast_gradient_axes,
    bucketize,
    c_division,
    concat_offset,
    dtype,
    five,
    list_difference,
    list_of,
    nth_element,
    permuted_format,
    population_count,
    printed,
    select,
    static,
    stream,
    text,
    truncated_division,
    unique_along,
    vjp,
    without_gradient,
)
from .images import box_colors, projective_transform, resized, soft_suppression
from .linalg import eig, eigh, matrix_diag, svd
from .lists import (
    add_n,
    element_shape,
    joined_lists,
    list_item,
    list_of_rows,
    list_parts,
    new_list,
    popped,
    resized_list,
    scattered_list,
    split_list,
    stacked,
)
from .nn import (
    bias_add_grad,
    cross_entropy,
    ctc_greedy,
    fused_batch_norm,
    fused_batch_norm_grad,
    inner,
    isotonic,
    pads,
    sparse_cross_entropy,
)
from .sparse import (
    cwise,
    fill_rows,
    nested,
    ngrams,
    ragged_parts,
    ragged_to_tensor,
    set_operation,
    sparse,
    sparse_list,
    sparse_reshape,
    sparse_to_dense,
    split_parts,
    with_offsets,
)
from .state import adam, effect, found, momentum, one_seed, random, scattered, variable
from .tables import import_file, import_rows, mutable_table, static_table

__all__ = [
    "adam", "axes", "axis_in_format", "bias_add_grad", "bincount", "bounds", "box_colors",
    "broadcast_gradient_axes", "bucketize", "c_division", "concat_offset", "cross_entropy", "ctc_greedy",
    "cwise", "dtype", "effect", "eig", "eigh", "add_n", "element_shape", "fill_rows", "five", "found",
    "fused_batch_norm", "fused_batch_norm_grad", "import_file", "import_rows", "inner", "isotonic",
    "joined_lists", "list_difference", "list_item", "list_of", "list_of_rows", "list_parts",
    "matrix_diag", "momentum", "mutable_table", "nested", "new_list", "ngrams", "nth_element", "one_seed",
    "pads", "permuted_format", "popped", "population_count", "printed", "projective_transform",
    "ragged_parts", "ragged_to_tensor", "random", "resized", "resized_list", "scattered",
    "scattered_list", "split_list", "select", "set_operation", "soft_suppression", "sparse", "sparse_cross_entropy",
    "sparse_list", "sparse_reshape", "sparse_to_dense", "split_parts", "stacked", "static",
    "static_table", "stream", "svd", "text", "truncated_division", "unique_along", "variable", "vjp",
    "with_offsets", "without_gradient",
]  # fmt: skip
