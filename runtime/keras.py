"""`tf.keras`: the package Keras, with this runtime in the place of its TensorFlow.

The import of this module gives Keras's own module. It needs the extra `keras`; without it, an ImportError says so.
"""

import sys

from .interop.tensorflow.keras_import import import_keras

sys.modules[__name__] = import_keras()
