"""The module `tf.nn`: operations of neural networks, by TensorFlow's names."""
# Namespace nn: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from ..core.missing_names import explain as _explain
from ..ops.arrays.sort import top_k
from ..ops.math.derived_math import zero_fraction
from ..ops.math.elementwise import sigmoid, softplus, tanh
from ..ops.nn.activations import bias_add, elu, gelu, log_softmax, relu, silu, softmax, silu as swish
from ..ops.nn.candidate_sampling import all_candidate_sampler, fixed_unigram_candidate_sampler
from ..ops.nn.confusion_and_topk import approx_max_k, approx_min_k
from ..ops.nn.conv_api import (
    atrous_conv2d, atrous_conv2d_transpose, conv1d, conv1d_transpose, conv2d, conv2d_transpose, conv3d,
    conv3d_transpose, conv_transpose, convolution, depthwise_conv2d, depthwise_conv2d_backprop_filter,
    depthwise_conv2d_backprop_input, separable_conv2d,
)
from ..ops.nn.dilation import with_space_to_batch
from ..ops.nn.dropout import dropout
from ..ops.nn.embedding_lookup import embedding_lookup
from ..ops.nn.in_top_k import compute_average_loss, in_top_k, scale_regularization_loss
from ..ops.nn.losses import (
    l2_loss, log_poisson_loss, sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits, weighted_cross_entropy_with_logits,
)
from ..ops.nn.lrn import local_response_normalization, local_response_normalization as lrn
from ..ops.nn.morphology import dilation2d, erosion2d
from ..ops.nn.pool_api import (
    avg_pool, avg_pool1d, avg_pool2d, avg_pool3d, max_pool, max_pool1d, max_pool2d, max_pool3d,
    max_pool_with_argmax, pool,
)
from ..ops.nn.rectifiers import crelu, leaky_relu, relu6, selu, softsign
from ..ops.nn.space_to_depth import depth_to_space, space_to_batch, space_to_depth
from ..ops.reduce.isotonic import isotonic_regression
from ..ops.reduce.moments import (
    batch_norm_with_global_normalization, batch_normalization, moments, normalize_moments,
    sufficient_statistics, weighted_moments,
)
from ..ops.reduce.norms import l2_normalize
from . import experimental
from .ctc import collapse_repeated, ctc_beam_search_decoder, ctc_greedy_decoder, ctc_loss, ctc_unique_labels
from .embeddings import embedding_lookup_sparse, safe_embedding_lookup_sparse
from .sampled_losses import compute_accidental_hits, nce_loss, sampled_softmax_loss

__all__ = [
    "all_candidate_sampler", "approx_max_k", "approx_min_k", "atrous_conv2d", "atrous_conv2d_transpose",
    "avg_pool", "avg_pool1d", "avg_pool2d", "avg_pool3d", "batch_norm_with_global_normalization",
    "batch_normalization", "bias_add", "collapse_repeated", "compute_accidental_hits", "compute_average_loss",
    "conv1d", "conv1d_transpose", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose",
    "conv_transpose", "convolution", "crelu", "ctc_beam_search_decoder", "ctc_greedy_decoder", "ctc_loss",
    "ctc_unique_labels", "depth_to_space", "depthwise_conv2d", "depthwise_conv2d_backprop_filter",
    "depthwise_conv2d_backprop_input", "dilation2d", "dropout", "elu", "embedding_lookup",
    "embedding_lookup_sparse", "erosion2d", "experimental", "fixed_unigram_candidate_sampler", "gelu",
    "in_top_k", "isotonic_regression", "l2_loss", "l2_normalize", "leaky_relu",
    "local_response_normalization", "log_poisson_loss", "log_softmax", "lrn", "max_pool", "max_pool1d",
    "max_pool2d", "max_pool3d", "max_pool_with_argmax", "moments", "nce_loss", "normalize_moments", "pool",
    "relu", "relu6", "safe_embedding_lookup_sparse", "sampled_softmax_loss", "scale_regularization_loss",
    "selu", "separable_conv2d", "sigmoid", "sigmoid_cross_entropy_with_logits", "silu", "softmax",
    "softmax_cross_entropy_with_logits", "softplus", "softsign", "space_to_batch", "space_to_depth",
    "sparse_softmax_cross_entropy_with_logits", "sufficient_statistics", "swish", "tanh", "top_k",
    "weighted_cross_entropy_with_logits", "weighted_moments", "with_space_to_batch", "zero_fraction",
]

_explain(__name__)
