"""The operations that have no form in ONNX, by reason. Every operation has a rule or is listed here."""

from __future__ import annotations

REASONS = {
    "ONNX has no complex numbers": (
        "complex complex_inverse complex_transform real_inverse real_transform"
    ),
    "ONNX has no decompositions of matrices": (
        "banded_triangular_solve eig eigh expm logm lu pseudo_inverse qr sqrtm svd tridiagonal_solution"
    ),
    "ONNX has no special functions": (
        "bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 bessel_k1e "
        "bessel_y0 bessel_y1 betainc dawsn expint fresnel_cos fresnel_sin igamma igamma_slope igammac polygamma spence "
        "zeta gcd lcm nextafter"
    ),
    "ONNX does not read files or decode their formats": (
        "decode_base64 decode_compressed decode_csv decode_image decode_raw encode_base64 encode_jpeg encode_png "
        "encode_wav jpeg_shape matching_files parse_example parse_sequence_example parse_sparse_rows parse_tensor "
        "ragged_feature_lengths read_file samples_of_wav serialize_sparse_rows serialize_tensor write_file"
    ),
    "ONNX has no operator for this change of strings": (
        "fingerprint hash_features ragged_text reduce_join regex_replace string_bytes string_format string_length "
        "string_ngrams string_split string_strip substr to_hash_bucket to_hash_bucket_fast to_hash_bucket_strong "
        "unicode_code_points unicode_encode_rows unicode_transcode unsorted_segment_join"
    ),
    "the random numbers of ONNX differ from those of agc": (
        "binomial_variates bounded_normals full_integers gamma_variates generator_state "
        "log_uniform_candidates poisson_variates random_categorical random_index_shuffle random_shuffle "
        "sample_distorted_bounding_box seeded_categorical seeded_shuffle stateless_random_integers "
        "stateless_random_normal stateless_random_truncated_normal stateless_random_uniform "
        "stateless_sample_distorted_bounding_box stream_after stream_after_drawing stream_state "
        "uniform_candidates weighted_candidates"
    ),
    "it runs Python code": "numpy_function py_function stateless_numpy_function timestamp placeholder",
    "ONNX has no exceptions": "raise",
    "variables are values in ONNX": (
        "assign_add_variable assign_sub_variable assign_variable export_table find_in_mutable_table insert_into_table "
        "is_initialized read_variable remove_from_table scatter_variable table_size"
    ),
    "lists of lists, and comparisons of lists, have no form in ONNX": (
        "array_one_list array_sublist list_count list_equal list_index list_keep list_of_lists list_repeat list_take"
    ),
    "it exchanges tensors between processes": "all_gather all_reduce broadcast_from reduce_scatter reduce_to",
    "it depends on the replica that runs it": "replica_id",
    "it needs a loop that no rule writes": (
        "combined_sets common_rows counted ctc_beam_search ctc_collapse ctc_greedy ctc_loss_and_gradient "
        "ctc_unique_labels dilation2d dilation2d_backprop_filter dilation2d_backprop_input draw_bounding_boxes "
        "histogram_fixed_width pool_means pooled_violators sequence_distances set_sizes suppress suppress_classes "
        "suppress_overlaps suppress_padded"
    ),
}  # fmt: skip

INEXPRESSIBLE = {name: reason for reason, names in REASONS.items() for name in names.split()}
"""The reason for each operation without a rule."""
