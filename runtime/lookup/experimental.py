"""The namespace `tf.lookup.experimental`: tables that change."""
# Namespace lookup.experimental: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from ..core.missing_names import explain as _explain
from .mutable_hash_table import DenseHashTable, MutableHashTable

__all__ = [
    "DenseHashTable", "MutableHashTable",
]

_explain(__name__)
