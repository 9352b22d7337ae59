"""The namespace `tf.saved_model.experimental`: resources and variables of saved models."""
# Namespace saved_model.experimental: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from ..core.missing_names import explain as _explain
from ..core.tracked_object import TrackableResource
from .options import VariablePolicy

__all__ = [
    "TrackableResource", "VariablePolicy",
]

_explain(__name__)
