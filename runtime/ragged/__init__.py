"""The module `tf.ragged`: tensors with rows of different lengths, by TensorFlow's names.

>>> constant([[1, 2], [3]]) + 10
<tf.RaggedTensor [[11, 12], [13]]>
"""
# Namespace ragged: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from ..core.missing_names import explain as _explain
from .concat_stack import stack
from .constants import constant
from .feature_cross import cross, cross_hashed
from .gather_and_mask import boolean_mask, stack_dynamic_partitions
from .mapping import map_flat_values
from .ranges import range, row_splits_to_segment_ids, segment_ids_to_row_splits

__all__ = [
    "boolean_mask", "constant", "cross", "cross_hashed", "map_flat_values", "range",
    "row_splits_to_segment_ids", "segment_ids_to_row_splits", "stack", "stack_dynamic_partitions",
]

_explain(__name__)
