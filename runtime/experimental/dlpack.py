"""The module `tf.experimental.dlpack`: exchange of tensors with other libraries."""
# Namespace experimental.dlpack: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from ..core.missing_names import explain as _explain
from ..interop.dlpack import from_dlpack, to_dlpack

__all__ = [
    "from_dlpack", "to_dlpack",
]

_explain(__name__)
