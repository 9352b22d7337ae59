"""Differences that are meant to be, each with its reason; `docs/differences.md` tells users of those that matter."""

from __future__ import annotations

import fnmatch

PARAMETERS_LEFT_OUT = {
    "layout": "DTensor's layouts of tensors on several machines",
    "bad_indices_policy": "indices out of range are errors",
    "a_is_sparse": "a hint for TensorFlow's kernels", "b_is_sparse": "a hint for TensorFlow's kernels",
    "grad_a": "for TensorFlow's own gradients", "grad_b": "for TensorFlow's own gradients",
    "output_type": "matmul gives the dtype of its arguments",
    "dim": "a deprecated name for `axis`",
    "input_axes": "axes of kernels of other orders", "output_axes": "axes of kernels of other orders",
    "from_sorted_ids": "predictions are numbers for all classes",
    "sliding_window": "a speciality of attention", "flash_attention": "a kernel for GPUs",
    "use_gate": "a speciality of attention",
    "stateless_metrics": "an older name for what is no stateful metric",
    "call_function": "models are cloned as they are", "recursive": "models are cloned as they are",
    "zipped": "models are folders",
    "free_memory": "Python frees memory", "raise_error": "training stops",
    "record_history": "KerasTensors keep their history",
    "from_version": "graphs are JSON", "add_shapes": "graphs are JSON", "use_pybind11_proto": "graphs are JSON",
    "experimental_skip_slot_variables": "checkpoints have all variables",
    "experimental_sharding_callback": "a checkpoint is one file",
    "module_objects": "objects are found by their own names",
}  # fmt: skip
"""Parameters of TensorFlow's that agc's functions do not take."""

MEANT = {
    # Names and parameters
    "tf.DType()": "dtypes are not made by programs",
    "tf.dtypes.DType()": "dtypes are not made by programs",
    "tf.data.Dataset()": "datasets are made by `from_tensor_slices` and its neighbours",
    "tf.data.Iterator()": "iterators are made by `iter`",
    "tf.data.experimental.Optional()": "made by `from_value` and `empty`",
    "tf.types.experimental.*()": "made by `tf.function`",
    "*.AutoShardPolicy.from_bytes()": "Python's own method of whole numbers",
    "tf.errors.*Error()": "there is no payload from a runtime in C++",
    "tf.keras.KerasTensor()": "made by `Input` and layers",
    "*.serialize()": "one function for all kinds of objects, whose argument is `value`",
    "*.serialize_keras_object()": "the same",
    "tf.*losses.deserialize()": "the argument is a config",
    "*pool*[23]d()": "a number of the window stands for all of its axes",
    "*Pool*[23]D()": "a number of the window stands for all of its axes",
    "*ZeroPadding3D()": "a number stands for both sides",
    "tf.*.softmax()": "-1 is what None stands for", "tf.*.log_softmax()": "-1 is what None stands for",
    "tf.math.count_nonzero()": "False is what None stands for",
    "tf.shape()": "int32 is what None stands for", "tf.size()": "int32 is what None stands for",
    "*stateless_dropout()": "auto_select is what None stands for",
    "tf.nn.sigmoid_cross_entropy_with_logits()": "both tensors are needed there, too",
    "tf.io.gfile.GFile.seek()": "`position` is deprecated",
}  # fmt: skip
"""By patterns for what is compared."""


def reason(what: str) -> str | None:
    """Why something differs, if that is on purpose."""
    return next((why for pattern, why in MEANT.items() if fnmatch.fnmatchcase(what, pattern)), None)
