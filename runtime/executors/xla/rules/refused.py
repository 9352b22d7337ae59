"""Why XLA does not run the other operations, by reason."""

from __future__ import annotations

from ..rule_registry import FUNCTIONALIZED, REASONS

_BY_REASON = {
    "strings have no type in XLA": (
        "as_string", "decode_base64", "decode_compressed", "decode_csv", "decode_image", "decode_raw",
        "encode_base64", "encode_jpeg", "encode_png", "encode_wav", "fingerprint", "hash_features",
        "jpeg_shape", "parse_example", "parse_sequence_example", "parse_sparse_rows", "parse_tensor",
        "ragged_feature_lengths", "ragged_text", "reduce_join", "regex_full_match", "regex_replace",
        "samples_of_wav", "serialize_sparse_rows", "serialize_tensor", "string_bytes", "string_format",
        "string_join", "string_length", "string_lower", "string_ngrams", "string_split", "string_strip",
        "string_to_number", "string_upper", "substr", "to_hash_bucket", "to_hash_bucket_fast",
        "to_hash_bucket_strong", "unicode_code_points", "unicode_encode_rows", "unicode_transcode",
        "unsorted_segment_join",
    ),
    "the shape of its result depends on values": (
        "array_lengths", "boolean_mask", "combined_sets", "common_rows", "coordinates_of_all_rows",
        "ctc_beam_search", "ctc_collapse", "ctc_greedy", "distinct_coordinates", "occurrences",
        "ragged_coordinates", "ranges", "rowids_of_splits", "suppress",
        "suppress_overlaps", "true_indices", "unique", "unique_with_counts",
    ),
    "it draws a number of random bits that depends on values": (
        "binomial_variates", "bounded_normals", "gamma_variates", "log_uniform_candidates",
        "poisson_variates", "uniform_candidates", "weighted_candidates",
    ),
    "it calls Python code": (
        "numpy_function", "py_function", "stateless_numpy_function",
    ),
    "it reads or changes an object outside of the graph": (
        "check_keys", "dataset", "dataset_cardinality", "dataset_handle", "export_table",
        "find_in_mutable_table", "find_in_table", "insert_into_table", "is_initialized", "iterator",
        "iterator_advance", "iterator_current", "iterator_handle", "iterator_next",
        "iterator_next_as_optional", "matching_files", "optional_from_value", "optional_get_value",
        "optional_has_value", "optional_none", "read_file", "remove_from_table", "renewed_dataset", "table_size",
        "timestamp", "write_file", "write_summary",
    ),
    "its replicas are programs of their own": (
        "run_in_replicas",
    ),
    "sessions feed it": (
        "placeholder", "placeholder_with_default",
    ),
    "it is a part of a plan": (
        "native_call", "native_part",
    ),
    "the number of its steps depends on values": (
        "draw_bounding_boxes", "pooled_violators", "suppress_classes", "suppress_padded",
    ),
    "its operand comes from pooled_violators, which XLA does not run": (
        "pool_means",
    ),
    "it makes a list of parts whose sizes depend on values": (
        "array_of_parts", "array_spread", "array_whole",
    ),
}  # fmt: skip

REASONS.update((name, reason) for reason, names in _BY_REASON.items() for name in names)

FUNCTIONALIZED |= {
    "assign_add_variable", "assign_sub_variable", "assign_variable", "generator_state", "random_categorical",
    "random_integers", "random_normal", "random_shuffle", "random_truncated_normal", "random_uniform",
    "read_variable", "scatter_variable", "stream_state",
}  # fmt: skip
