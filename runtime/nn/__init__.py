"""The module `tf.nn`: operations of neural networks, by TensorFlow's names."""
# Namespace nn: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from ..core.missing_names import explain as _explain, places as _places


_LATE = _places({
    "..ops.arrays.sort": "top_k",
    "..ops.math.derived_math": "zero_fraction",
    "..ops.math.elementwise": "sigmoid softplus tanh",
    "..ops.nn.activations": "bias_add elu gelu log_softmax relu silu softmax swish=silu",
    "..ops.nn.candidate_sampling": "all_candidate_sampler fixed_unigram_candidate_sampler",
    "..ops.nn.confusion_and_topk": "approx_max_k approx_min_k",
    "..ops.nn.conv_api":
        "atrous_conv2d atrous_conv2d_transpose conv1d conv1d_transpose conv2d conv2d_transpose conv3d "
        "conv3d_transpose conv_transpose convolution depthwise_conv2d depthwise_conv2d_backprop_filter "
        "depthwise_conv2d_backprop_input separable_conv2d",
    "..ops.nn.dilation": "with_space_to_batch",
    "..ops.nn.dropout": "dropout",
    "..ops.nn.embedding_lookup": "embedding_lookup",
    "..ops.nn.in_top_k": "compute_average_loss in_top_k scale_regularization_loss",
    "..ops.nn.losses":
        "l2_loss log_poisson_loss sigmoid_cross_entropy_with_logits softmax_cross_entropy_with_logits "
        "sparse_softmax_cross_entropy_with_logits weighted_cross_entropy_with_logits",
    "..ops.nn.lrn": "local_response_normalization lrn=local_response_normalization",
    "..ops.nn.morphology": "dilation2d erosion2d",
    "..ops.nn.pool_api":
        "avg_pool avg_pool1d avg_pool2d avg_pool3d max_pool max_pool1d max_pool2d max_pool3d "
        "max_pool_with_argmax pool",
    "..ops.nn.rectifiers": "crelu leaky_relu relu6 selu softsign",
    "..ops.nn.space_to_depth": "depth_to_space space_to_batch space_to_depth",
    "..ops.reduce.isotonic": "isotonic_regression",
    "..ops.reduce.moments":
        "batch_norm_with_global_normalization batch_normalization moments normalize_moments "
        "sufficient_statistics weighted_moments",
    "..ops.reduce.norms": "l2_normalize",
    ".ctc": "collapse_repeated ctc_beam_search_decoder ctc_greedy_decoder ctc_loss ctc_unique_labels",
    ".embeddings": "embedding_lookup_sparse safe_embedding_lookup_sparse",
    ".experimental": "experimental=",
    ".sampled_losses": "compute_accidental_hits nce_loss sampled_softmax_loss",
})

__all__ = [
    *_LATE,
]

_explain(__name__, late=_LATE)
