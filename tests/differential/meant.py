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
    # The sweep: values
    "tf.sort float*": "NaN comes last", "tf.argsort float*": "NaN comes last",
    "tf.searchsorted * vector": "numbers that are not sorted have no places",
    "tf.unique* float16*": "NaN and zeros of both signs are one each",
    "tf.divide complex*": "complex numbers divided by 0 are infinite, not NaN", "tf.realdiv complex*": "the same",
    "tf.math.xdivy complex*": "the same", "tf.math.log1p complex*": "log1p(-1) has an undefined angle",
    "tf.image.adjust_* image": "TensorFlow computes float64 and whole numbers with float32 in parts",
    "tf.image.*_to_* image": "the same", "tf.image.* no image": "images without pixels are images",
    "tf.math.cumulative_logsumexp float*": "NaN stays NaN", "tf.math.erf float64*": "erf of infinity is 1, not NaN",
    "tf.math.polygamma float*": "TensorFlow's factorials of 40 are infinite",
    "tf.math.special.bessel_y1 float*": "-inf at 0, where TensorFlow has NaN",
    "tf.nn.gelu float64*": "TensorFlow rounds constants to float32",
    "tf.nn.leaky_relu float64*": "TensorFlow rounds alpha to float32",
    "tf.reduce_mean complex*": "the mean of no complex numbers is NaN as that of floats",
    # The sweep: what one refuses
    "tf.nn.ctc_unique_labels *": "labels are whole numbers, in rows",
    "tf.concat int32 scalar": "scalars are not concatenated",
    "tf.linalg.eigh_tridiagonal *": "a dtype is refused for an empty matrix, too", "tf.linalg.expm *": "the same",
    "tf.linalg.inv float16*": "NumPy has no linear algebra on float16", "tf.linalg.qr float16*": "the same",
    "tf.math.imag string*": "strings have no imaginary parts",
    "tf.math.is_non_decreasing complex*": "complex numbers have no order",
    "tf.math.is_strictly_increasing complex*": "the same",
    "tf.nn.isotonic_regression * scalar": "a number is no sequence",
    "tf.ragged.row_splits_to_segment_ids *": "splits do not decrease",
    "tf.required_space_to_batch_paddings *": "blocks have a size, and one axis",
    "tf.sequence_mask float*": "lengths are whole numbers",
    "tf.signal.overlap_and_add * no rows": "a dtype is refused for empty frames, too",
    "tf.strings.ngrams string no rows": "no rows have no number of runs",
    "tf.boolean_mask * axis=-1": "an axis may be negative",
    "tf.linalg.matrix_rank complex*": "complex matrices have a rank", "tf.linalg.pinv complex*": "and an inverse",
    "tf.math.confusion_matrix * scalar": "one label will do",
    # Examples: agc takes lists, Python's types and what is its own
    "*.measuring.image_gradients: *": "takes lists", "*.core: Dense(1*": "takes lists",
    "*.pointwise: ReLU()(*": "takes lists", "*.losses.base: Distance()*": "takes lists",
    "*.tridiagonal_matmul: *": "takes lists", "*general_dropout(*": "takes lists",
    "* zeros([[]2], int)": "takes Python's types as dtypes", "*dtype=int)": "the same",
    "*.dispatch_for_api: *": "a handler need not take all arguments",
    "*.GraphDef: *": "graphs have agc's operations",
    "*.deciding: stopping.is_better*": "a method of agc's", "*.module: *_flatten(*": "a method of agc's",
    "*.GradientTape.explain: *": "a method of agc's",
    "*.apply_gradients(*": "gives None, not the number of steps",
    "*bessel_y1(*": "-inf at 0, where TensorFlow has NaN",
    "*.printing: *output_stream=sys.stdout*": "TensorFlow writes past a replaced `sys.stdout`",
    "*.CheckpointReader: *": "checkpoints are written in agc's format",
    "*.Variable.__getitem__: *": "parts of variables can be added to",
    "*.Variable.__setitem__: *": "items can be assigned",
    "*.Dataset: ds": "the class of a dataset is Dataset",
}  # fmt: skip
"""By patterns for what is compared."""


def reason(what: str) -> str | None:
    """Why something differs, if that is on purpose."""
    return next((why for pattern, why in MEANT.items() if fnmatch.fnmatchcase(what, pattern)), None)
