"""The module `tf.linalg.experimental`: iterative solvers."""
# Namespace linalg.experimental: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from ..core.missing_names import explain as _explain
from .conjugate_gradient import conjugate_gradient

__all__ = [
    "conjugate_gradient",
]

_explain(__name__, "linalg.experimental")
