"""Names of TensorFlow 1 that are another name of the same function in `tf.compat.v1`.

    tf.compat.v1.matrix_determinant    ==>    tf.compat.v1.linalg.det

A line of `MOVED` has a namespace, and names in it: `old>new` is another name, and `old` the same one.
"""

from __future__ import annotations

import functools

MOVED = """
compat: dimension_value
compat.v1: floormod>mod lin_space>linspace manip.gather_nd>gather_nd manip.reverse>reverse manip.roll>roll
 manip.scatter_nd>scatter_nd manip.space_to_batch_nd>space_to_batch_nd manip.tile>tile
 random.set_random_seed>set_random_seed sparse.placeholder>sparse_placeholder
 tensor_scatter_add>tensor_scatter_nd_add tensor_scatter_sub>tensor_scatter_nd_sub
 tensor_scatter_update>tensor_scatter_nd_update
compat.v1.debugging: assert_greater_equal assert_integer assert_less_equal assert_near assert_negative
 assert_non_negative assert_non_positive assert_none_equal assert_positive assert_proper_iterable assert_rank_at_least
 assert_rank_in assert_same_float_dtype assert_scalar assert_type check_numerics is_numeric_tensor
 verify_tensor_all_finite>assert_all_finite
compat.v1.errors: OpError
compat.v1.image: image.resize_image_with_crop_or_pad>resize_with_crop_or_pad image.transpose_image>transpose random_crop
compat.v1.io: FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature decode_base64 decode_compressed
 decode_csv decode_raw deserialize_many_sparse encode_base64 matching_files parse_example parse_single_example
 parse_single_sequence_example parse_tensor python_io.TFRecordOptions>TFRecordOptions
 python_io.TFRecordWriter>TFRecordWriter read_file serialize_many_sparse serialize_sparse serialize_tensor write_file
compat.v1.io.gfile: gfile.GFile>GFile gfile.Open>GFile
compat.v1.linalg: cholesky_solve cross diag>tensor_diag diag_part>tensor_diag_part global_norm
 linalg.transpose>matrix_transpose matrix_band_part>band_part matrix_determinant>det matrix_diag>diag
 matrix_diag_part>diag_part matrix_set_diag>set_diag matrix_solve>solve matrix_solve_ls>lstsq matrix_transpose
 matrix_triangular_solve>triangular_solve qr self_adjoint_eig>eigh self_adjoint_eigvals>eigvalsh svd trace
compat.v1.math: accumulate_n angle betainc bincount ceil confusion_matrix conj count_nonzero cumprod
 debugging.is_finite>is_finite debugging.is_inf>is_inf debugging.is_nan>is_nan
 debugging.is_non_decreasing>is_non_decreasing debugging.is_strictly_increasing>is_strictly_increasing digamma
 div_no_nan>divide_no_nan erf erfc expm1 floor_div>floordiv igamma igammac imag invert_permutation is_finite is_inf
 is_nan is_non_decreasing is_strictly_increasing lbeta lgamma log_sigmoid logical_xor polygamma real reciprocal rint
 rsqrt segment_max segment_mean segment_min segment_prod segment_sum squared_difference unsorted_segment_max
 unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum zeta
compat.v1.nn: nn.depthwise_conv2d_native_backprop_filter>depthwise_conv2d_backprop_filter
 nn.depthwise_conv2d_native_backprop_input>depthwise_conv2d_backprop_input
compat.v1.quantization: fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient fake_quant_with_min_max_vars
 fake_quant_with_min_max_vars_gradient fake_quant_with_min_max_vars_per_channel
 fake_quant_with_min_max_vars_per_channel_gradient
compat.v1.random: nn.log_uniform_candidate_sampler>log_uniform_candidate_sampler
 nn.uniform_candidate_sampler>uniform_candidate_sampler random_gamma>gamma random_poisson>poisson
compat.v1.sets: sets.set_difference>difference sets.set_intersection>intersection sets.set_size>size
 sets.set_union>union
compat.v1.signal: fft fft2d fft3d ifft ifft2d ifft3d spectral.dct>dct spectral.fft>fft spectral.fft2d>fft2d
 spectral.fft3d>fft3d spectral.idct>idct spectral.ifft>ifft spectral.ifft2d>ifft2d spectral.ifft3d>ifft3d
 spectral.irfft>irfft spectral.irfft2d>irfft2d spectral.irfft3d>irfft3d spectral.rfft>rfft spectral.rfft2d>rfft2d
 spectral.rfft3d>rfft3d
compat.v1.sparse: sparse.matmul>sparse_dense_matmul sparse_add>add sparse_concat>concat
 sparse_fill_empty_rows>fill_empty_rows sparse_mask>mask sparse_maximum>maximum sparse_minimum>minimum
 sparse_reduce_max>reduce_max sparse_reduce_sum>reduce_sum sparse_reorder>reorder sparse_reset_shape>reset_shape
 sparse_reshape>reshape sparse_retain>retain sparse_segment_mean>segment_mean
 sparse_segment_sqrt_n>segment_sqrt_n sparse_segment_sum>segment_sum sparse_slice>slice sparse_softmax>softmax
 sparse_tensor_dense_matmul>sparse_dense_matmul sparse_tensor_to_dense>to_dense sparse_to_indicator>to_indicator
 sparse_transpose>transpose
compat.v1.strings: reduce_join regex_replace string_join>join string_strip>strip string_to_hash_bucket>to_hash_bucket
 string_to_hash_bucket_fast>to_hash_bucket_fast string_to_hash_bucket_strong>to_hash_bucket_strong
 string_to_number>to_number
"""


@functools.cache
def moved() -> dict[str, str]:
    """Return the lines of `MOVED`: the path of each name below `tf.compat.v1`, and the path below `tf`."""
    paths = {}
    for line in MOVED.replace("\n ", " ").strip().splitlines():
        namespace, _, tokens = line.partition(": ")
        for token in tokens.split():
            old, _, new = token.partition(">")
            paths[old] = f"{namespace}.{new or old}"
    return paths
