"""The module `tf.experimental.extension_type`: functions on extension types."""
# Namespace experimental.extension_type: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from ..core.missing_names import explain as _explain
from ..composite.extension_type import as_dict

__all__ = [
    "as_dict",
]

_explain(__name__)
