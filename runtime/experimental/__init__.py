"""The module `tf.experimental`: TensorFlow's experimental functions."""
# Namespace experimental: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from ..core.missing_names import explain as _explain
from ..composite.batchable_type import BatchableExtensionType
from ..composite.extension_dispatch import (
    dispatch_for_api, dispatch_for_binary_elementwise_apis, dispatch_for_unary_elementwise_apis,
    unregister_dispatch_for,
)
from ..composite.extension_type import ExtensionType, ExtensionTypeSpec
from ..data.optional import Optional
from ..ragged.dynamic_shape import DynamicRaggedShape
from ..ragged.row_partition import RowPartition
from . import dlpack, extension_type, numpy
from .eager_execution import async_clear_error, async_scope, function_executor_type

__all__ = [
    "BatchableExtensionType", "DynamicRaggedShape", "ExtensionType", "ExtensionTypeSpec", "Optional",
    "RowPartition", "async_clear_error", "async_scope", "dispatch_for_api",
    "dispatch_for_binary_elementwise_apis", "dispatch_for_unary_elementwise_apis", "dlpack", "extension_type",
    "function_executor_type", "numpy", "unregister_dispatch_for",
]

_explain(__name__)
