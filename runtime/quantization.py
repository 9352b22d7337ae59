"""The namespace `tf.quantization`: rounding to the numbers of integers of a few bits, with TensorFlow's names."""
# Namespace quantization: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from .core.missing_names import explain as _explain
from .ops.nn.fake_quantization import (
    fake_quant_with_min_max_args, fake_quant_with_min_max_args_gradient,
    fake_quantize as fake_quant_with_min_max_vars,
    fake_quantize_gradient as fake_quant_with_min_max_vars_gradient,
    fake_quantize as fake_quant_with_min_max_vars_per_channel,
    fake_quantize_gradient as fake_quant_with_min_max_vars_per_channel_gradient,
)

__all__ = [
    "fake_quant_with_min_max_args", "fake_quant_with_min_max_args_gradient", "fake_quant_with_min_max_vars",
    "fake_quant_with_min_max_vars_gradient", "fake_quant_with_min_max_vars_per_channel",
    "fake_quant_with_min_max_vars_per_channel_gradient",
]

_explain(__name__)
