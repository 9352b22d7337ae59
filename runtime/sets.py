"""The namespace `tf.sets`: the rows of tensors as sets, with TensorFlow's names."""
# Namespace sets: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from .core.missing_names import explain as _explain
from .sparse.set_algebra import difference, intersection, size, union

__all__ = [
    "difference", "intersection", "size", "union",
]

_explain(__name__)
