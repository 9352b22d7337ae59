"""The constants of `tf.saved_model`: keys of signatures, tags of graphs, and names of files of TensorFlow's format.

The format of agc has other files; see `file_format`.
"""

from __future__ import annotations

CLASSIFY_INPUTS = PREDICT_INPUTS = REGRESS_INPUTS = "inputs"
PREDICT_OUTPUTS = REGRESS_OUTPUTS = "outputs"
CLASSIFY_OUTPUT_CLASSES, CLASSIFY_OUTPUT_SCORES = "classes", "scores"
CLASSIFY_METHOD_NAME = "tensorflow/serving/classify"
PREDICT_METHOD_NAME = "tensorflow/serving/predict"
REGRESS_METHOD_NAME = "tensorflow/serving/regress"

GPU, TPU, TRAINING = "gpu", "tpu", "train"

ASSETS_DIRECTORY, ASSETS_KEY = "assets", "saved_model_assets"
DEBUG_DIRECTORY, DEBUG_INFO_FILENAME_PB = "debug", "saved_model_debug_info.pb"
SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT = "saved_model.pb", "saved_model.pbtxt"
SAVED_MODEL_SCHEMA_VERSION = 1
VARIABLES_DIRECTORY = VARIABLES_FILENAME = "variables"
