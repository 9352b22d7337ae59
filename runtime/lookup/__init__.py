"""The namespace `tf.lookup`: tables from keys to values.

>>> from agc.runtime import constant
>>> table = StaticHashTable(KeyValueTensorInitializer(["a", "b"], [10, 20]), default_value=-1)
>>> table.lookup(constant(["b", "z"])).numpy().tolist()
[20, -1]
"""
# Namespace lookup: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from ..core.missing_names import explain as _explain
from . import experimental
from .initializers import KeyValueTensorInitializer, TextFileIndex, TextFileInitializer
from .static_hash_table import StaticHashTable
from .vocabulary_table import StaticVocabularyTable

__all__ = [
    "KeyValueTensorInitializer", "StaticHashTable", "StaticVocabularyTable", "TextFileIndex",
    "TextFileInitializer", "experimental",
]

_explain(__name__)
