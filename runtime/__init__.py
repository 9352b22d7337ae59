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
from .asserts.running import Assert
from .control.ordering import control_dependencies, executing_eagerly, group, no_op
from .convert import convert_to_tensor, is_tensor, register_tensor_conversion_function
from .devices import device
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
from .missing_names import missing_name
from .module import Module
from .ops.creation import constant, eye, fill, ones, ones_like, zeros, zeros_like
from .ops.extents import rank, shape, size
from .ops.joining import concat, split, stack, unstack
from .ops.ranges import linspace, one_hot, range
from .ops.selecting import boolean_mask, gather, gather_nd, where
from .ops.shaping import broadcast_to, ensure_shape, expand_dims, reshape, squeeze, transpose
from .printing import print
from .shapes import TensorShape
from .tensor import Tensor
from .tensor_array import TensorArray
from .tensor_spec import TensorSpec
from .top_level import *  # noqa: F403
from .top_level import __all__ as _numeric
from .type_spec import TypeSpec, type_spec_from_value
from .variable import Variable

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
    from .chance.initial_values import constant_initializer as constant_initializer
    from .chance.initial_values import ones_initializer as ones_initializer
    from .chance.initial_values import random_normal_initializer as random_normal_initializer
    from .chance.initial_values import random_uniform_initializer as random_uniform_initializer
    from .chance.initial_values import zeros_initializer as zeros_initializer
    from .composite.indexed_slices import IndexedSlices as IndexedSlices
    from .composite.indexed_slices import IndexedSlicesSpec as IndexedSlicesSpec
    from .control.cases import case as case
    from .control.cases import switch_case as switch_case
    from .control.contexts import get_logger as get_logger
    from .control.contexts import get_static_value as get_static_value
    from .control.contexts import init_scope as init_scope
    from .control.contexts import inside_function as inside_function
    from .control.contexts import is_symbolic_tensor as is_symbolic_tensor
    from .control.control_flow import cond as cond
    from .control.control_flow import while_loop as while_loop
    from .control.ordering import identity_n as identity_n
    from .control.ordering import tuple as tuple
    from .debugging import assert_equal as assert_equal
    from .debugging import assert_greater as assert_greater
    from .debugging import assert_less as assert_less
    from .debugging import assert_rank as assert_rank
    from .host import numpy_function as numpy_function
    from .host import py_function as py_function
    from .keras import initializers as initializers
    from .keras import losses as losses
    from .keras import metrics as metrics
    from .keras import optimizers as optimizers
    from .name_scopes import get_current_name_scope as get_current_name_scope
    from .name_scopes import name_scope as name_scope
    from .ops.blocks import batch_to_space as batch_to_space
    from .ops.blocks import space_to_batch as space_to_batch
    from .ops.blocks import space_to_batch_nd as space_to_batch_nd
    from .ops.casting import stop_gradient as stop_gradient
    from .ops.clipping import clip_by_global_norm as clip_by_global_norm
    from .ops.clipping import clip_by_norm as clip_by_norm
    from .ops.clock import timestamp as timestamp
    from .ops.fingerprints import fingerprint as fingerprint
    from .ops.formulas import scalar_mul as scalar_mul
    from .ops.histograms import histogram_fixed_width as histogram_fixed_width
    from .ops.histograms import histogram_fixed_width_bins as histogram_fixed_width_bins
    from .ops.labels import approx_top_k as approx_top_k
    from .ops.many_axes import fftnd as fftnd
    from .ops.many_axes import ifftnd as ifftnd
    from .ops.many_axes import irfftnd as irfftnd
    from .ops.many_axes import rfftnd as rfftnd
    from .ops.matrix_functions import eig as eig
    from .ops.matrix_functions import eigvals as eigvals
    from .ops.matrix_functions import matrix_square_root as matrix_square_root
    from .ops.norms import norm as norm
    from .ops.ordering import argsort as argsort
    from .ops.ordering import reverse_sequence as reverse_sequence
    from .ops.ordering import searchsorted as searchsorted
    from .ops.ordering import sequence_mask as sequence_mask
    from .ops.ordering import sort as sort
    from .ops.ordering import unique as unique
    from .ops.outlines import broadcast_dynamic_shape as broadcast_dynamic_shape
    from .ops.outlines import broadcast_static_shape as broadcast_static_shape
    from .ops.outlines import guarantee_const as guarantee_const
    from .ops.outlines import parallel_stack as parallel_stack
    from .ops.outlines import required_space_to_batch_paddings as required_space_to_batch_paddings
    from .ops.outlines import shape_n as shape_n
    from .ops.partitioning import dynamic_partition as dynamic_partition
    from .ops.partitioning import dynamic_stitch as dynamic_stitch
    from .ops.permuting import unique_with_counts as unique_with_counts
    from .ops.permuting import unravel_index as unravel_index
    from .ops.scattering import scatter_nd as scatter_nd
    from .ops.scattering import tensor_scatter_nd_add as tensor_scatter_nd_add
    from .ops.scattering import tensor_scatter_nd_max as tensor_scatter_nd_max
    from .ops.scattering import tensor_scatter_nd_min as tensor_scatter_nd_min
    from .ops.scattering import tensor_scatter_nd_sub as tensor_scatter_nd_sub
    from .ops.scattering import tensor_scatter_nd_update as tensor_scatter_nd_update
    from .ops.slicing import slice as slice
    from .ops.slicing import strided_slice as strided_slice
    from .ops.strings import as_string as as_string
    from .ops.tiling import meshgrid as meshgrid
    from .ops.tiling import pad as pad
    from .ops.tiling import repeat as repeat
    from .ops.tiling import reverse as reverse
    from .ops.tiling import roll as roll
    from .ops.tiling import tile as tile
    from .ops.variates import random_index_shuffle as random_index_shuffle
    from .ops.volumes import extract_volume_patches as extract_volume_patches
    from .ragged.spec import RaggedTensorSpec as RaggedTensorSpec
    from .ragged.tensor import RaggedTensor as RaggedTensor
    from .rowwise.folding import foldl as foldl
    from .rowwise.folding import foldr as foldr
    from .rowwise.folding import scan as scan
    from .rowwise.functional import map_fn as map_fn
    from .rowwise.vectorized import vectorized_map as vectorized_map
    from .sparse.distances import edit_distance as edit_distance
    from .sparse.tensor import SparseTensor as SparseTensor
    from .sparse.tensor import SparseTensorSpec as SparseTensorSpec
    from .staging import BACKEND as BACKEND
    from .tracing.concrete import ConcreteFunction as ConcreteFunction
    from .tracing.function import Function as Function
    from .tracing.function import function as function
    from .variable_options import VariableAggregation as VariableAggregation
    from .variable_options import VariableSynchronization as VariableSynchronization

newaxis = None
__version__ = "2.21.0"
"""The TensorFlow whose names and behaviour this is, for programs that compare it; see version.py."""

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
"""Modules that are imported when they are first asked for: `import agc.runtime` has to be quick."""

_BY_MODULE = {
    ".autodiff": (
        "GradientTape UnconnectedGradients custom_gradient grad_pass_through gradients hessians "
        "recompute_grad"
    ),
    ".chance.initial_values": (
        "constant_initializer ones_initializer random_normal_initializer random_uniform_initializer "
        "zeros_initializer"
    ),
    ".composite.indexed_slices": "IndexedSlices IndexedSlicesSpec",
    ".control.cases": "case switch_case",
    ".control.contexts": "get_logger get_static_value init_scope inside_function is_symbolic_tensor",
    ".control.control_flow": "cond while_loop",
    ".control.ordering": "identity_n tuple",
    ".debugging": "assert_equal assert_greater assert_less assert_rank",
    ".host": "numpy_function py_function",
    ".keras": "initializers losses metrics optimizers",
    ".name_scopes": "get_current_name_scope name_scope",
    ".ops.blocks": "batch_to_space space_to_batch space_to_batch_nd",
    ".ops.casting": "stop_gradient",
    ".ops.clipping": "clip_by_global_norm clip_by_norm",
    ".ops.clock": "timestamp",
    ".ops.fingerprints": "fingerprint",
    ".ops.formulas": "scalar_mul",
    ".ops.histograms": "histogram_fixed_width histogram_fixed_width_bins",
    ".ops.labels": "approx_top_k",
    ".ops.many_axes": "fftnd ifftnd irfftnd rfftnd",
    ".ops.matrix_functions": "eig eigvals matrix_square_root",
    ".ops.norms": "norm",
    ".ops.ordering": "argsort reverse_sequence searchsorted sequence_mask sort unique",
    ".ops.outlines": (
        "broadcast_dynamic_shape broadcast_static_shape guarantee_const parallel_stack "
        "required_space_to_batch_paddings shape_n"
    ),
    ".ops.partitioning": "dynamic_partition dynamic_stitch",
    ".ops.permuting": "unique_with_counts unravel_index",
    ".ops.scattering": (
        "scatter_nd tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min "
        "tensor_scatter_nd_sub tensor_scatter_nd_update"
    ),
    ".ops.slicing": "slice strided_slice",
    ".ops.strings": "as_string",
    ".ops.tiling": "meshgrid pad repeat reverse roll tile",
    ".ops.variates": "random_index_shuffle",
    ".ops.volumes": "extract_volume_patches",
    ".ragged.spec": "RaggedTensorSpec",
    ".ragged.tensor": "RaggedTensor",
    ".rowwise.folding": "foldl foldr scan",
    ".rowwise.functional": "map_fn",
    ".rowwise.vectorized": "vectorized_map",
    ".sparse.distances": "edit_distance",
    ".sparse.tensor": "SparseTensor SparseTensorSpec",
    ".staging": "BACKEND",
    ".tracing.concrete": "ConcreteFunction",
    ".tracing.function": "Function function",
    ".variable_options": "VariableAggregation VariableSynchronization",
}
MEMBERS = {name: module for module, names in _BY_MODULE.items() for name in names.split()}
"""Names of this module that are imported when they are first asked for, and the modules that define them."""


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
