"""The only place where a lower layer names a higher one: names that are imported when they are first used.

    late_binding.session_for(session, …)     imports runtime.compat.sessions.session, at the first use

`Tensor.eval` runs a session, `Graph.as_default` a builder of TensorFlow 1, `tensor + array` NumPy's dispatch. A class
such as `RaggedTensor` has methods whose implementation is built on the class. Programs that use none of these names do
not load their modules. A type checker reads the imports below; at run time the two tables count.
"""
# ruff: noqa: F401

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .. import raw_ops
    from ..autodiff import explain as gradient_explanation
    from ..autodiff import region_gradients
    from ..autodiff.tape import GradientTape
    from ..compat.sessions.graph_builder import as_default, builder_of
    from ..compat.sessions.session import session_for
    from ..compat.sessions.variables import declare
    from ..composite import components
    from ..control_flow import cyclic_nests
    from ..control_flow.control_dependencies import control_dependencies
    from ..data import bucket_by_length, rejection_resample, sample_from_datasets, save_load
    from ..data import dataset as data_dataset
    from ..data import iterator as data_iterator
    from ..data import optional as data_optional
    from ..distribute import strategy as strategies
    from ..executors.eager_kernels import compiled_kernel
    from ..executors.llvm.lowering import strip_mining
    from ..executors.xla.library import accelerators
    from ..higher_order.map_fn import map_fn
    from ..interop import array_api
    from ..interop.dlpack import CPU, exported
    from ..interop.numpy_dispatch import on_ufunc
    from ..interop.numpy_dispatch.functions import on_function
    from ..ir.builder import Builder, current
    from ..ir.graph_def import GraphDef, NodeDef
    from ..ir.printer import print_graph
    from ..ir.tensorflow_names import Naming
    from ..ops.arrays import concat_split, creation, gather_ops, ranges, reshape, shape_ops, tile_and_repeat
    from ..ops.arrays.getitem import getitem
    from ..ops.arrays.placeholder import placeholder_of
    from ..ops.arrays.setitem import setitem
    from ..ops.framework import conformance, dynamic_axes
    from ..ops.framework import op as op_registry
    from ..ops.lists import tensor_array as tensor_array_ops
    from ..ops.math import cast as cast_ops
    from ..ops.math import special
    from ..ops.math.cast import cast
    from ..ops.random import stateless_distributions
    from ..ops.reduce import reductions
    from ..ops.state import variable_ops
    from ..ops.state.variable_scatter import scatter_variable
    from ..profiler import flame_graph, trace_events
    from ..ragged import conversion as ragged_conversion
    from ..ragged import feature_cross as ragged_feature_cross
    from ..ragged import indexing as ragged_indexing
    from ..ragged import op_dispatch as ragged_dispatch
    from ..ragged import spec as ragged_spec
    from ..raw_ops import table_reader as raw_tables
    from ..sparse import elementwise as sparse_elementwise
    from .conversion import convert_to_tensor, is_tensor_like
    from .symbolic_tensor import SymbolicTensor
    from .tensor_spec import TensorSpec

OBJECTS = {
    "autodiff.tape": "GradientTape",
    "compat.sessions.graph_builder": "as_default builder_of",
    "compat.sessions.session": "session_for",
    "compat.sessions.variables": "declare",
    "control_flow.control_dependencies": "control_dependencies",
    "core.conversion": "convert_to_tensor is_tensor_like",
    "core.symbolic_tensor": "SymbolicTensor",
    "core.tensor_spec": "TensorSpec",
    "executors.eager_kernels": "compiled_kernel",
    "executors.xla.library": "accelerators",
    "higher_order.map_fn": "map_fn",
    "interop.dlpack": "CPU exported",
    "interop.numpy_dispatch": "on_ufunc",
    "interop.numpy_dispatch.functions": "on_function",
    "ir.builder": "Builder current",
    "ir.graph_def": "GraphDef NodeDef",
    "ir.printer": "print_graph",
    "ir.tensorflow_names": "Naming",
    "ops.arrays.getitem": "getitem",
    "ops.arrays.placeholder": "placeholder_of",
    "ops.arrays.setitem": "setitem",
    "ops.math.cast": "cast",
    "ops.state.variable_scatter": "scatter_variable",
}
"""Functions and classes, by the module below `agc.runtime` that defines them."""

MODULES = {
    "array_api": "interop.array_api",
    "bucket_by_length": "data.bucket_by_length",
    "cast_ops": "ops.math.cast",
    "components": "composite.components",
    "concat_split": "ops.arrays.concat_split",
    "conformance": "ops.framework.conformance",
    "creation": "ops.arrays.creation",
    "cyclic_nests": "control_flow.cyclic_nests",
    "data_dataset": "data.dataset",
    "data_iterator": "data.iterator",
    "data_optional": "data.optional",
    "dynamic_axes": "ops.framework.dynamic_axes",
    "flame_graph": "profiler.flame_graph",
    "gather_ops": "ops.arrays.gather_ops",
    "gradient_explanation": "autodiff.explain",
    "op_registry": "ops.framework.op",
    "ragged_conversion": "ragged.conversion",
    "ragged_dispatch": "ragged.op_dispatch",
    "ragged_feature_cross": "ragged.feature_cross",
    "ragged_indexing": "ragged.indexing",
    "ragged_spec": "ragged.spec",
    "ranges": "ops.arrays.ranges",
    "raw_ops": "raw_ops",
    "raw_tables": "raw_ops.table_reader",
    "reductions": "ops.reduce.reductions",
    "region_gradients": "autodiff.region_gradients",
    "rejection_resample": "data.rejection_resample",
    "reshape": "ops.arrays.reshape",
    "sample_from_datasets": "data.sample_from_datasets",
    "save_load": "data.save_load",
    "shape_ops": "ops.arrays.shape_ops",
    "sparse_elementwise": "sparse.elementwise",
    "special": "ops.math.special",
    "stateless_distributions": "ops.random.stateless_distributions",
    "strategies": "distribute.strategy",
    "strip_mining": "executors.llvm.lowering.strip_mining",
    "tensor_array_ops": "ops.lists.tensor_array",
    "tile_and_repeat": "ops.arrays.tile_and_repeat",
    "trace_events": "profiler.trace_events",
    "variable_ops": "ops.state.variable_ops",
}
"""Modules below `agc.runtime`, by the name that callers use."""

_PROVIDERS = {name: module for module, names in OBJECTS.items() for name in names.split()}
_ROOT = __package__.rpartition(".")[0]


def __getattr__(name: str) -> Any:
    """Import `name` and keep it, so that later uses are plain look-ups of an attribute."""
    if name in MODULES:
        found: Any = importlib.import_module(f"{_ROOT}.{MODULES[name]}")
    elif name in _PROVIDERS:
        found = getattr(importlib.import_module(f"{_ROOT}.{_PROVIDERS[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


__all__ = [*MODULES, *_PROVIDERS]
