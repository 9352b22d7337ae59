"""TensorFlow 1's parameter order and names for functions with TensorFlow 2's parameters.

    argmax(x, 1, "name")            →    tf.argmax(input=x, axis=1, name="name")
    argmax(x, dimension=1)          →    tf.argmax(input=x, axis=1)

A line of `TABLE` has function names and their TensorFlow 1 parameters:

    x           is passed by its name
    old>new     is passed by its new name
    x=1.0       has another default than in TensorFlow 2
    ~x          has no effect
    ?x          must be one tensor: several would be partitioned in another way

None means that a parameter was not passed, as in TensorFlow 1.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

TABLE = """
argmax argmin math.argmax math.argmin: input axis name dimension>axis output_type
assert_equal assert_greater assert_less: x y ~data summarize message name
assert_rank debugging.assert_rank debugging.assert_rank_at_least: x rank ~data ~summarize message name
debugging.assert_equal debugging.assert_greater debugging.assert_greater_equal: x y ~data summarize message name
debugging.assert_less debugging.assert_less_equal debugging.assert_none_equal: x y ~data summarize message name
debugging.assert_near: x y rtol atol ~data summarize message name
debugging.assert_negative debugging.assert_positive: x ~data summarize message name
debugging.assert_non_negative debugging.assert_non_positive: x ~data summarize message name
debugging.assert_rank_in: x ranks ~data ~summarize message name
debugging.assert_scalar: tensor name message
debugging.assert_all_finite: t>x msg>message name x message
autograph.to_code: entity recursive ~arg_values ~arg_types ~indentation experimental_optional_features
autograph.to_graph: entity recursive ~arg_values ~arg_types experimental_optional_features
batch_to_space: input crops block_size>block_shape name block_shape
space_to_batch nn.space_to_batch: input paddings block_size>block_shape name block_shape
boolean_mask: tensor mask name axis
constant: value dtype shape name ~verify_shape
convert_to_tensor: value dtype name preferred_dtype>dtype_hint dtype_hint
device: device_name_or_function>device_name
expand_dims: input axis name dim>axis
gather: params indices validate_indices name axis batch_dims
gather_nd: params indices name batch_dims ~bad_indices_policy
gradients: ys xs grad_ys name ~colocate_gradients_with_ops gate_gradients aggregation_method stop_gradients
 unconnected_gradients
hessians: ys xs name ~colocate_gradients_with_ops gate_gradients aggregation_method
image.crop_and_resize: image boxes box_ind>box_indices crop_size method extrapolation_value name box_indices
image.draw_bounding_boxes: images boxes name colors
io.decode_csv: records record_defaults field_delim use_quote_delim name na_value select_cols
io.parse_example io.parse_single_example parse_example parse_single_example: serialized features name example_names
io.decode_raw: input_bytes out_type little_endian name bytes>input_bytes
io.serialize_many_sparse io.serialize_sparse: sp_input name out_type
linalg.norm norm: tensor ord axis keepdims name keep_dims>keepdims
linalg.l2_normalize math.l2_normalize nn.l2_normalize: x axis epsilon name dim>axis
math.bincount: arr weights minlength maxlength dtype
math.confusion_matrix: labels predictions num_classes dtype name weights
math.count_nonzero: input_tensor>input axis keepdims dtype name reduction_indices>axis keep_dims>keepdims input
math.in_top_k nn.in_top_k: predictions targets k name
math.log_softmax math.softmax nn.log_softmax nn.softmax: logits axis name dim>axis
math.reduce_all math.reduce_any math.reduce_logsumexp: input_tensor axis keepdims name reduction_indices>axis
 keep_dims>keepdims
math.reduce_max math.reduce_mean math.reduce_min math.reduce_prod math.reduce_sum: input_tensor axis keepdims name
 reduction_indices>axis keep_dims>keepdims
reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_sum: input_tensor axis
 keepdims name reduction_indices>axis keep_dims>keepdims
nn.avg_pool nn.avg_pool2d nn.max_pool: value>input ksize strides padding data_format name input
nn.batch_norm_with_global_normalization: t>input m>mean v>variance beta gamma variance_epsilon
 scale_after_normalization name input mean variance
nn.conv1d: value>input filters stride padding ~use_cudnn_on_gpu data_format name input dilations
nn.conv2d: input filter>filters strides padding ~use_cudnn_on_gpu data_format dilations name filters
nn.conv2d_transpose nn.conv3d_transpose: value>input filter>filters output_shape strides padding data_format name
 input filters dilations
nn.conv3d: input filter>filters strides padding data_format dilations name filters
nn.convolution: input filter>filters padding strides dilation_rate>dilations name data_format filters dilations
nn.crelu: features name axis
nn.depth_to_space nn.space_to_depth: input block_size name data_format
nn.depthwise_conv2d: input filter strides padding rate>dilations name data_format dilations
nn.embedding_lookup: ?params ids ~partition_strategy name ~validate_indices max_norm
nn.embedding_lookup_sparse: ?params sp_ids sp_weights ~partition_strategy name combiner max_norm allow_fast_lookup
nn.max_pool_with_argmax: input ksize strides padding data_format Targmax>output_dtype name output_dtype
 include_batch_in_index
nn.moments: x axes shift name keep_dims>keepdims keepdims
nn.nce_loss: ?weights biases labels inputs num_sampled num_classes num_true sampled_values remove_accidental_hits
 ~partition_strategy name
nn.pool: input window_shape pooling_type padding dilation_rate>dilations strides name data_format dilations
nn.safe_embedding_lookup_sparse: embedding_weights sparse_ids sparse_weights combiner default_id name
 ~partition_strategy max_norm allow_fast_lookup
nn.sampled_softmax_loss: ?weights biases labels inputs num_sampled num_classes num_true sampled_values
 remove_accidental_hits ~partition_strategy name seed
nn.separable_conv2d: input depthwise_filter pointwise_filter strides padding rate>dilations name data_format dilations
nn.softmax_cross_entropy_with_logits_v2: labels logits axis name dim>axis
nn.sparse_softmax_cross_entropy_with_logits: labels logits name
nn.sufficient_statistics: x axes shift keep_dims>keepdims name keepdims
nn.weighted_cross_entropy_with_logits: labels logits pos_weight name targets>labels
nn.weighted_moments: x axes frequency_weights name keep_dims>keepdims keepdims
ones_like zeros_like: tensor>input dtype name ~optimize
pad: tensor paddings mode name constant_values
random.poisson: lam shape dtype seed name
reverse_sequence: input seq_lengths seq_axis batch_axis name seq_dim>seq_axis batch_dim>batch_axis
shape size: input name out_type
sparse.add: a b threshold thresh>threshold
sparse.concat: axis sp_inputs name expand_nonconcat_dim>expand_nonconcat_dims concat_dim>axis expand_nonconcat_dims
sparse.reduce_max sparse.reduce_sum: sp_input axis keepdims reduction_axes>axis keep_dims>keepdims
sparse.segment_mean sparse.segment_sqrt_n sparse.segment_sum: data indices segment_ids name num_segments sparse_gradient
squeeze: input axis name squeeze_dims>axis
strings.length: input name unit
strings.reduce_join: inputs axis keep_dims>keepdims separator name reduction_indices>axis keepdims
strings.substr: input pos len name unit
strings.to_hash_bucket: string_tensor>input num_buckets name input
strings.to_number: string_tensor>input out_type name input
transpose: a perm name conjugate
tuple: tensors name control_inputs
constant_initializer initializers.constant: value ~dtype ~verify_shape
glorot_normal_initializer glorot_uniform_initializer initializers.glorot_normal: seed ~dtype
initializers.glorot_uniform: seed ~dtype
initializers.he_normal initializers.he_uniform initializers.lecun_normal initializers.lecun_uniform: seed
initializers.identity: gain ~dtype
initializers.ones initializers.zeros ones_initializer zeros_initializer: ~dtype
orthogonal_initializer initializers.orthogonal: gain seed ~dtype
random_normal_initializer initializers.random_normal: mean stddev=1.0 seed ~dtype
truncated_normal_initializer initializers.truncated_normal: mean stddev=1.0 seed ~dtype
random_uniform_initializer initializers.random_uniform: minval=0.0 maxval=1.0 seed ~dtype
variance_scaling_initializer initializers.variance_scaling: scale mode distribution seed ~dtype
"""

Targets = dict[str, str | None]


class ParameterChange(NamedTuple):
    """A line of the table: new parameter names, other defaults, and the parameters that must be one tensor."""

    targets: Targets
    defaults: dict[str, Any]
    single: frozenset[str]


@functools.cache
def table() -> dict[str, ParameterChange]:
    """Return the lines of `TABLE` by function name."""
    entries = {}
    for line in TABLE.replace("\n ", " ").strip().splitlines():
        names, _, tokens = line.partition(": ")
        entry = _entry(tokens.split())
        entries.update(dict.fromkeys(names.split(), entry))
    return entries


def _entry(tokens: list[str]) -> ParameterChange:
    targets: Targets = {}
    defaults = {}
    for token in tokens:
        name, _, default = token.lstrip("~?").partition("=")
        old, _, new = name.partition(">")
        targets[old] = None if token.startswith("~") else new or old
        if default:
            defaults[old] = ast.literal_eval(default)
    return ParameterChange(
        targets, defaults, frozenset(token[1:] for token in tokens if token.startswith("?"))
    )


def adapted(function: Callable[..., Any], entry: ParameterChange) -> Callable[..., Any]:
    """Return `function` with the parameters of a table line."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind, default=entry.defaults.get(name)) for name in entry.targets]
    signature = inspect.Signature(parameters)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        return function(**dict(_passed(entry, given.arguments)))

    del call.__dict__["__wrapped__"]  # its signature differs
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _passed(entry: ParameterChange, arguments: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the arguments by their new names. Raise ValueError if one is given twice."""
    old: dict[str, str] = {}
    for name, value in arguments.items():
        target = entry.targets[name]
        if value is None or target is None:
            continue
        if target in old:
            raise ValueError(f"Cannot specify both '{name}' and '{old[target]}'.")
        if name in entry.single and isinstance(value, (list, tuple)) and len(value) > 1:
            raise ValueError(
                f"`{name}`: TensorFlow 1 partitions several tensors in another way than TensorFlow 2, which is not "
                "supported here: give one tensor, such as tf.concat of them"
            )
        old[target] = name
        yield target, value
