"""The module `tf.saved_model`: models saved as folders, which run without the code that made them.

>>> import agc.runtime as tf, tempfile
>>> class Scale(tf.Module):
...     def __init__(self):
...         super().__init__()
...         self.factor = tf.Variable(2.0)
...     @tf.function(input_signature=[tf.TensorSpec([None])])
...     def __call__(self, x):
...         return self.factor * x
>>> with tempfile.TemporaryDirectory() as folder:
...     tf.saved_model.save(Scale(), folder)
...     loaded = tf.saved_model.load(folder)
>>> loaded([1.0, 2.0]).numpy()
array([2., 4.], dtype=float32)
>>> loaded.signatures["serving_default"](x=tf.constant([3.0]))["output_0"].numpy()
array([6.], dtype=float32)
"""

from __future__ import annotations

from ..core.missing_names import explain as _explain
from . import experimental
from .asset import Asset
from .constants import (
    ASSETS_DIRECTORY,
    ASSETS_KEY,
    CLASSIFY_INPUTS,
    CLASSIFY_METHOD_NAME,
    CLASSIFY_OUTPUT_CLASSES,
    CLASSIFY_OUTPUT_SCORES,
    DEBUG_DIRECTORY,
    DEBUG_INFO_FILENAME_PB,
    GPU,
    PREDICT_INPUTS,
    PREDICT_METHOD_NAME,
    PREDICT_OUTPUTS,
    REGRESS_INPUTS,
    REGRESS_METHOD_NAME,
    REGRESS_OUTPUTS,
    SAVED_MODEL_FILENAME_PB,
    SAVED_MODEL_FILENAME_PBTXT,
    SAVED_MODEL_SCHEMA_VERSION,
    TPU,
    TRAINING,
    VARIABLES_DIRECTORY,
    VARIABLES_FILENAME,
)
from .load import contains_saved_model, load
from .options import LoadOptions, SaveOptions
from .save import save
from .signatures import DEFAULT as DEFAULT_SERVING_SIGNATURE_DEF_KEY
from .tags import SERVING

__all__ = [
    "ASSETS_DIRECTORY", "ASSETS_KEY", "Asset", "CLASSIFY_INPUTS", "CLASSIFY_METHOD_NAME", "CLASSIFY_OUTPUT_CLASSES",
    "CLASSIFY_OUTPUT_SCORES", "DEBUG_DIRECTORY", "DEBUG_INFO_FILENAME_PB", "DEFAULT_SERVING_SIGNATURE_DEF_KEY",
    "GPU", "LoadOptions", "PREDICT_INPUTS", "PREDICT_METHOD_NAME", "PREDICT_OUTPUTS", "REGRESS_INPUTS",
    "REGRESS_METHOD_NAME", "REGRESS_OUTPUTS", "SAVED_MODEL_FILENAME_PB", "SAVED_MODEL_FILENAME_PBTXT",
    "SAVED_MODEL_SCHEMA_VERSION", "SERVING", "SaveOptions", "TPU", "TRAINING", "VARIABLES_DIRECTORY",
    "VARIABLES_FILENAME", "contains_saved_model", "experimental", "load", "save",
]  # fmt: skip

_explain(__name__)
