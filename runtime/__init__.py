"""agc.runtime: tensors, graphs and `function`, with TensorFlow's names.

>>> import agc.runtime as tf
>>> @tf.function
... def collatz(n):
...     steps = 0
...     while n != 1:
...         n = n // 2 if n % 2 == 0 else 3 * n + 1
...         steps += 1
...     return steps
>>> collatz(tf.constant(27))
<tf.Tensor: shape=(), dtype=int32, numpy=111>
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from agc.autograph import api

from . import autograph, config, dtypes, errors, ir, nest
from ._top_level_names import *  # noqa: F403
from ._top_level_names import __all__ as _numeric
from .control_flow.control_dependencies import control_dependencies, executing_eagerly, group, no_op
from .core.conversion import convert_to_tensor, is_tensor, register_tensor_conversion_function
from .core.devices import device
from .core.missing_names import missing_name
from .core.module import Module
from .core.shapes import TensorShape
from .core.tensor import Tensor
from .core.tensor_array import TensorArray
from .core.tensor_spec import TensorSpec
from .core.type_spec import TypeSpec, type_spec_from_value
from .core.variable import Variable
from .dtypes import (
    DType,
    as_dtype,
    bfloat16,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    qint8,
    qint16,
    qint32,
    quint8,
    quint16,
    resource,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)  # fmt: skip
from .dtypes import bool_ as bool
from .ir.graph import Graph, Operation
from .ops.arrays.concat_split import concat, split, stack, unstack
from .ops.arrays.creation import constant, eye, fill, ones, ones_like, zeros, zeros_like
from .ops.arrays.gather_where import boolean_mask, gather, gather_nd, where
from .ops.arrays.getitem import install as _install_getitem
from .ops.arrays.ranges import linspace, one_hot, range
from .ops.arrays.reshape import broadcast_to, ensure_shape, expand_dims, reshape, squeeze, transpose
from .ops.arrays.shape_ops import rank, shape, size
from .ops.assertions.assert_op import Assert
from .ops.framework.operator_overloads import install as _install_operators
from .ops.state.print_op import print

_install_operators(Tensor)
_install_operators(Variable)
_install_getitem()

if TYPE_CHECKING:
    from . import autodiff as autodiff
    from . import bitwise as bitwise
    from . import compat as compat
    from . import data as data
    from . import debugging as debugging
    from . import experimental as experimental
    from . import image as image
    from . import io as io
    from . import keras as keras
    from . import linalg as linalg
    from . import math as math
    from . import nn as nn
    from . import ragged as ragged
    from . import random as random
    from . import saved_model as saved_model
    from . import sets as sets
    from . import signal as signal
    from . import sparse as sparse
    from . import strings as strings
    from . import summary as summary
    from . import sysconfig as sysconfig
    from . import test as test
    from . import train as train
    from . import types as types
    from . import version as version
    from .autodiff import GradientTape as GradientTape
    from .autodiff import UnconnectedGradients as UnconnectedGradients
    from .autodiff import custom_gradient as custom_gradient
    from .autodiff import grad_pass_through as grad_pass_through
    from .autodiff import gradients as gradients
    from .autodiff import hessians as hessians
    from .autodiff import recompute_grad as recompute_grad
    from .autograph_backend import BACKEND as BACKEND
    from .composite.indexed_slices import IndexedSlices as IndexedSlices
    from .composite.indexed_slices import IndexedSlicesSpec as IndexedSlicesSpec
    from .control_flow.control_dependencies import identity_n as identity_n
    from .control_flow.control_dependencies import tuple as tuple
    from .control_flow.functional_api import cond as cond
    from .control_flow.functional_api import while_loop as while_loop
    from .control_flow.switch_case import case as case
    from .control_flow.switch_case import switch_case as switch_case
    from .control_flow.tracing_context import get_logger as get_logger
    from .control_flow.tracing_context import get_static_value as get_static_value
    from .control_flow.tracing_context import init_scope as init_scope
    from .control_flow.tracing_context import inside_function as inside_function
    from .control_flow.tracing_context import is_symbolic_tensor as is_symbolic_tensor
    from .core.variable_enums import VariableAggregation as VariableAggregation
    from .core.variable_enums import VariableSynchronization as VariableSynchronization
    from .debugging import assert_equal as assert_equal
    from .debugging import assert_greater as assert_greater
    from .debugging import assert_less as assert_less
    from .debugging import assert_rank as assert_rank
    from .higher_order.map_fn import map_fn as map_fn
    from .higher_order.scan import foldl as foldl
    from .higher_order.scan import foldr as foldr
    from .higher_order.scan import scan as scan
    from .higher_order.vectorized_map import vectorized_map as vectorized_map
    from .interop.py_function import numpy_function as numpy_function
    from .interop.py_function import py_function as py_function
    from .ir.name_scopes import get_current_name_scope as get_current_name_scope
    from .ir.name_scopes import name_scope as name_scope
    from .keras import initializers as initializers
    from .keras import losses as losses
    from .keras import metrics as metrics
    from .keras import optimizers as optimizers
    from .ops.arrays.dynamic_partition import dynamic_partition as dynamic_partition
    from .ops.arrays.dynamic_partition import dynamic_stitch as dynamic_stitch
    from .ops.arrays.permutation import unique_with_counts as unique_with_counts
    from .ops.arrays.permutation import unravel_index as unravel_index
    from .ops.arrays.scatter import scatter_nd as scatter_nd
    from .ops.arrays.scatter import tensor_scatter_nd_add as tensor_scatter_nd_add
    from .ops.arrays.scatter import tensor_scatter_nd_max as tensor_scatter_nd_max
    from .ops.arrays.scatter import tensor_scatter_nd_min as tensor_scatter_nd_min
    from .ops.arrays.scatter import tensor_scatter_nd_sub as tensor_scatter_nd_sub
    from .ops.arrays.scatter import tensor_scatter_nd_update as tensor_scatter_nd_update
    from .ops.arrays.shape_arithmetic import broadcast_dynamic_shape as broadcast_dynamic_shape
    from .ops.arrays.shape_arithmetic import broadcast_static_shape as broadcast_static_shape
    from .ops.arrays.shape_arithmetic import guarantee_const as guarantee_const
    from .ops.arrays.shape_arithmetic import parallel_stack as parallel_stack
    from .ops.arrays.shape_arithmetic import (
        required_space_to_batch_paddings as required_space_to_batch_paddings,
    )
    from .ops.arrays.shape_arithmetic import shape_n as shape_n
    from .ops.arrays.sort import argsort as argsort
    from .ops.arrays.sort import reverse_sequence as reverse_sequence
    from .ops.arrays.sort import searchsorted as searchsorted
    from .ops.arrays.sort import sequence_mask as sequence_mask
    from .ops.arrays.sort import sort as sort
    from .ops.arrays.sort import unique as unique
    from .ops.arrays.strided_slice import slice as slice
    from .ops.arrays.strided_slice import strided_slice as strided_slice
    from .ops.arrays.tile_and_pad import meshgrid as meshgrid
    from .ops.arrays.tile_and_pad import pad as pad
    from .ops.arrays.tile_and_pad import repeat as repeat
    from .ops.arrays.tile_and_pad import reverse as reverse
    from .ops.arrays.tile_and_pad import roll as roll
    from .ops.arrays.tile_and_pad import tile as tile
    from .ops.linalg.matrix_functions import eig as eig
    from .ops.linalg.matrix_functions import eigvals as eigvals
    from .ops.linalg.matrix_functions import matrix_square_root as matrix_square_root
    from .ops.math.cast import stop_gradient as stop_gradient
    from .ops.math.clip import clip_by_global_norm as clip_by_global_norm
    from .ops.math.clip import clip_by_norm as clip_by_norm
    from .ops.math.derived_math import scalar_mul as scalar_mul
    from .ops.nn.confusion_and_topk import approx_top_k as approx_top_k
    from .ops.nn.extract_volume_patches import extract_volume_patches as extract_volume_patches
    from .ops.nn.space_to_depth import batch_to_space as batch_to_space
    from .ops.nn.space_to_depth import space_to_batch as space_to_batch
    from .ops.nn.space_to_depth import space_to_batch_nd as space_to_batch_nd
    from .ops.random.initializers import constant_initializer as constant_initializer
    from .ops.random.initializers import ones_initializer as ones_initializer
    from .ops.random.initializers import random_normal_initializer as random_normal_initializer
    from .ops.random.initializers import random_uniform_initializer as random_uniform_initializer
    from .ops.random.initializers import zeros_initializer as zeros_initializer
    from .ops.random.stateless_distributions import random_index_shuffle as random_index_shuffle
    from .ops.reduce.histogram import histogram_fixed_width as histogram_fixed_width
    from .ops.reduce.histogram import histogram_fixed_width_bins as histogram_fixed_width_bins
    from .ops.reduce.norms import norm as norm
    from .ops.signal.fftnd import fftnd as fftnd
    from .ops.signal.fftnd import ifftnd as ifftnd
    from .ops.signal.fftnd import irfftnd as irfftnd
    from .ops.signal.fftnd import rfftnd as rfftnd
    from .ops.state.timestamp import timestamp as timestamp
    from .ops.strings.farmhash import fingerprint as fingerprint
    from .ops.strings.strings import as_string as as_string
    from .ragged.spec import RaggedTensorSpec as RaggedTensorSpec
    from .ragged.tensor import RaggedTensor as RaggedTensor
    from .sparse.edit_distance import edit_distance as edit_distance
    from .sparse.tensor import SparseTensor as SparseTensor
    from .sparse.tensor import SparseTensorSpec as SparseTensorSpec
    from .tracing.concrete_function import ConcreteFunction as ConcreteFunction
    from .tracing.function import Function as Function
    from .tracing.function import function as function

newaxis = None
__version__ = "2.21.0"
"""The TensorFlow version that this runtime is compatible with; see version.py."""

NAMESPACES = (
    "autodiff",
    "bitwise",
    "compat",
    "debugging",
    "experimental",
    "keras",
    "data",
    "image",
    "io",
    "linalg",
    "math",
    "nn",
    "profiler",
    "ragged",
    "random",
    "sets",
    "signal",
    "sparse",
    "saved_model",
    "strings",
    "summary",
    "sysconfig",
    "test",
    "train",
    "types",
    "version",
)
"""Modules that are imported at the first access, so that `import agc.runtime` is fast."""

_BY_MODULE = {
    ".autodiff": (
        "GradientTape UnconnectedGradients custom_gradient grad_pass_through gradients hessians "
        "recompute_grad"
    ),
    ".ops.random.initializers": (
        "constant_initializer ones_initializer random_normal_initializer random_uniform_initializer "
        "zeros_initializer"
    ),
    ".composite.indexed_slices": "IndexedSlices IndexedSlicesSpec",
    ".control_flow.switch_case": "case switch_case",
    ".control_flow.tracing_context": "get_logger get_static_value init_scope inside_function is_symbolic_tensor",
    ".control_flow.functional_api": "cond while_loop",
    ".control_flow.control_dependencies": "identity_n tuple",
    ".debugging": "assert_equal assert_greater assert_less assert_rank",
    ".interop.py_function": "numpy_function py_function",
    ".keras": "initializers losses metrics optimizers",
    ".ir.name_scopes": "get_current_name_scope name_scope",
    ".ops.nn.space_to_depth": "batch_to_space space_to_batch space_to_batch_nd",
    ".ops.math.cast": "stop_gradient",
    ".ops.math.clip": "clip_by_global_norm clip_by_norm",
    ".ops.state.timestamp": "timestamp",
    ".ops.strings.farmhash": "fingerprint",
    ".ops.math.derived_math": "scalar_mul",
    ".ops.reduce.histogram": "histogram_fixed_width histogram_fixed_width_bins",
    ".ops.nn.confusion_and_topk": "approx_top_k",
    ".ops.signal.fftnd": "fftnd ifftnd irfftnd rfftnd",
    ".ops.linalg.matrix_functions": "eig eigvals matrix_square_root",
    ".ops.reduce.norms": "norm",
    ".ops.arrays.sort": "argsort reverse_sequence searchsorted sequence_mask sort unique",
    ".ops.arrays.shape_arithmetic": (
        "broadcast_dynamic_shape broadcast_static_shape guarantee_const parallel_stack "
        "required_space_to_batch_paddings shape_n"
    ),
    ".ops.arrays.dynamic_partition": "dynamic_partition dynamic_stitch",
    ".ops.arrays.permutation": "unique_with_counts unravel_index",
    ".ops.arrays.scatter": (
        "scatter_nd tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min "
        "tensor_scatter_nd_sub tensor_scatter_nd_update"
    ),
    ".ops.arrays.strided_slice": "slice strided_slice",
    ".ops.strings.strings": "as_string",
    ".ops.arrays.tile_and_pad": "meshgrid pad repeat reverse roll tile",
    ".ops.random.stateless_distributions": "random_index_shuffle",
    ".ops.nn.extract_volume_patches": "extract_volume_patches",
    ".ragged.spec": "RaggedTensorSpec",
    ".ragged.tensor": "RaggedTensor",
    ".higher_order.scan": "foldl foldr scan",
    ".higher_order.map_fn": "map_fn",
    ".higher_order.vectorized_map": "vectorized_map",
    ".sparse.edit_distance": "edit_distance",
    ".sparse.tensor": "SparseTensor SparseTensorSpec",
    ".autograph_backend": "BACKEND",
    ".tracing.concrete_function": "ConcreteFunction",
    ".tracing.function": "Function function",
    ".core.variable_enums": "VariableAggregation VariableSynchronization",
}
MEMBERS = {name: module for module, names in _BY_MODULE.items() for name in names.split()}
"""Names of this module that are imported at the first access, and the modules that define them."""


def __getattr__(name: str) -> Any:
    if name in NAMESPACES:
        module = importlib.import_module(f"{__name__}.{name}")
        api.filter_tracebacks(__name__)
        return module
    if name in MEMBERS:
        value = globals()[name] = getattr(importlib.import_module(MEMBERS[name], __name__), name)
        api.filter_tracebacks(__name__)
        return value
    raise missing_name(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "autograph", "config", "dtypes", "errors", "ir", "nest",
    *NAMESPACES,
    "Tensor", "Variable", "Module", "TensorArray", "TensorShape", "TensorSpec",
    "TypeSpec", "type_spec_from_value", "convert_to_tensor", "is_tensor",
    "register_tensor_conversion_function",
    "Graph", "Operation", "device", "Assert", "print",
    "control_dependencies", "executing_eagerly", "group", "no_op", "as_string",
    "DType", "as_dtype", "bfloat16", "bool", "complex64", "complex128", "double", "float16", "float32", "float64",
    "half", "int8", "int16", "int32", "int64", "qint8", "qint16", "qint32", "quint8", "quint16", "resource", "string",
    "uint8", "uint16", "uint32", "uint64", "variant",
    "constant", "eye", "fill", "ones", "ones_like", "zeros", "zeros_like", "linspace", "one_hot", "range",
    "rank", "shape", "size", "broadcast_to", "ensure_shape", "expand_dims", "reshape", "squeeze", "transpose",
    "concat", "split", "stack", "unstack", "boolean_mask", "gather", "gather_nd", "where", "newaxis",
    *_numeric, *MEMBERS,
]  # fmt: skip
api.filter_tracebacks(__name__)
