"""`tf.keras`: the package Keras, with this runtime in the place of its TensorFlow.

The import of this module gives Keras's own module. It needs the extra `keras`; without it, an ImportError says so.
"""

import sys

from .interop.tensorflow.keras_import import import_keras, prepare

try:
    prepare()
except ImportError as error:
    raise error.with_traceback(None)  # noqa: B904  (the same error, without frames of agc)
sys.modules[__name__] = import_keras()
