"""Functions that the expressions in the tables of `tf.raw_ops` call as `own.f`, by family.

A family is imported at the first use of one of its functions: most programs use few of them, and lookup tables and
sparse tensors load many modules.
"""

from __future__ import annotations

from ...core.missing_names import explain, places

explain(
    __name__,
    late=places(
        {
            ".arrays": (
                "axes axis_in_format bincount bounds broadcast_gradient_axes bucketize c_division concat_offset dtype "
                "five list_difference list_of nth_element permuted_format population_count printed select static "
                "stream text truncated_division unique_along vjp without_gradient"
            ),
            ".images": "box_colors projective_transform resized soft_suppression",
            ".linalg": "eig eigh matrix_diag svd",
            ".lists": (
                "add_n element_shape joined_lists list_item list_of_rows list_parts new_list popped resized_list "
                "scattered_list split_list stacked"
            ),
            ".nn": (
                "bias_add_grad cross_entropy ctc_greedy fused_batch_norm fused_batch_norm_grad inner isotonic pads "
                "sparse_cross_entropy"
            ),
            ".sparse_tensors": (
                "cwise fill_rows nested ngrams ragged_parts ragged_to_tensor set_operation sparse sparse_list "
                "sparse_reshape sparse_to_dense split_parts with_offsets"
            ),
            ".state": "adam effect found gamma_slope momentum one_seed random scattered variable",
            ".tables": "import_file import_rows mutable_table static_table",
        }
    ),
)
