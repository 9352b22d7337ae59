"""The module `tf.experimental`: TensorFlow's experimental functions."""

from __future__ import annotations

from ..composite.extension_dispatch import (
    dispatch_for_api,
    dispatch_for_binary_elementwise_apis,
    dispatch_for_unary_elementwise_apis,
    unregister_dispatch_for,
)
from ..composite.extension_type import ExtensionType, ExtensionTypeSpec
from ..core.missing_names import explain as _explain
from ..ragged.dynamic_shape import DynamicRaggedShape
from ..ragged.row_partition import RowPartition
from . import dlpack

__all__ = [
    "DynamicRaggedShape", "ExtensionType", "ExtensionTypeSpec", "RowPartition",
    "dispatch_for_api", "dispatch_for_binary_elementwise_apis",
    "dispatch_for_unary_elementwise_apis", "dlpack", "unregister_dispatch_for",
]  # fmt: skip

_explain(__name__)
