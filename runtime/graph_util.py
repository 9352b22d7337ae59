"""The module `tf.graph_util`: frozen graphs of TensorFlow.

>>> import agc.runtime as tf
>>> tf.graph_util.import_graph_def(b"", {}, [])
[]
"""
# Namespace graph_util: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from .core.missing_names import explain as _explain
from .formats.tensorflow.import_graph_def import import_graph_def

__all__ = [
    "import_graph_def",
]

_explain(__name__)
