"""The runtime as the module `tensorflow`, for Keras and for programs that cannot be edited.

    keras/src/backend/tensorflow/core.py:  import tensorflow as tf    ==>    tf is this runtime

`keras_import` loads the package Keras so that its modules, and no others, import this runtime as TensorFlow. `alias`
does the same for a whole process on request. `facade` builds the module `tensorflow`: the runtime with TensorFlow's
internal names that Keras uses, which the table in `internal_names` lists.
"""
