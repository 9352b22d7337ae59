"""Internal names of TensorFlow that Keras uses, and what they are here.

tensorflow.__internal__.tracking.Trackable    ==>    interop.tensorflow.tracking.Trackable
"""

from __future__ import annotations

_HERE = "interop.tensorflow"

INTERNAL_NAMES = {
    "__internal__": {
        "CompositeTensor": "core.type_spec:CompositeTensor",
        "EagerTensor": "core.tensor:EagerTensor",
        "FuncGraph": f"{_HERE}.func_graph:FuncGraph",
    },
    "__internal__.decorator": {"unwrap": f"{_HERE}.internals:unwrap"},
    "__internal__.distribute": {
        "strategy_supports_no_merge_call": f"{_HERE}.internals:strategy_supports_no_merge_call"
    },
    "__internal__.distribute.interim": {"maybe_merge_call": f"{_HERE}.internals:maybe_merge_call"},
    "__internal__.eager_context": {"eager_mode": f"{_HERE}.internals:eager_mode"},
    "__internal__.smart_cond": {"smart_cond": f"{_HERE}.internals:smart_cond"},
    "__internal__.tf2": {"enabled": f"{_HERE}.internals:enabled"},
    "__internal__.tracking": {
        "AutoTrackable": f"{_HERE}.tracking:AutoTrackable",
        "Trackable": "core.tracked_object:Trackable",
        "no_automatic_dependency_tracking": f"{_HERE}.tracking:no_automatic_dependency_tracking",
    },
    "__internal__.types": {"Tensor": f"{_HERE}.internals:VariableBase"},
    "compat": {},
    "compiler.tf2xla.python.xla": {"dynamic_update_slice": f"{_HERE}.internals:dynamic_update_slice"},
    "experimental.dtensor": {},
    "python.eager.context": {
        "async_wait": f"{_HERE}.internals:async_wait",
        "context": f"{_HERE}.internals:EagerContext",
        "_reset_context": f"{_HERE}.internals:reset_context",
    },
    "python.framework.config": {"is_op_determinism_enabled": f"{_HERE}.internals:is_op_determinism_enabled"},
    "python.framework.indexed_slices": {"IndexedSlices": "composite.indexed_slices:IndexedSlices"},
    "python.framework.ops": {
        "EagerTensor": "core.tensor:EagerTensor",
        "KnownTensor": "core.symbolic_tensor:KnownTensor",
        "SymbolicTensor": "core.symbolic_tensor:SymbolicTensor",
    },
    "python.framework.sparse_tensor": {"SparseTensor": "sparse.tensor:SparseTensor"},
    "python.framework.tensor": {"Tensor": "core.tensor:Tensor"},
    "python.framework.type_spec_registry": {
        "get_name": f"{_HERE}.type_spec_registry:get_name",
        "lookup": f"{_HERE}.type_spec_registry:lookup",
    },
    "python.ops.linalg.sparse.sparse_csr_matrix_ops": {
        "csr_sparse_matrix_to_sparse_tensor": f"{_HERE}.internals:csr_sparse_matrix_to_sparse_tensor",
        "sparse_matrix_sparse_mat_mul": f"{_HERE}.internals:sparse_matrix_sparse_mat_mul",
        "sparse_tensor_to_csr_sparse_matrix": "sparse.tensor:SparseTensor",
    },
    "python.ops.math_ops": {"is_nan": "ops.math.elementwise:is_nan"},
    "python.ops.ragged.ragged_tensor": {"RaggedTensor": "ragged.tensor:RaggedTensor"},
    "python.ops.variables": {"Variable": "core.variable:Variable"},
    "python.trackable.data_structures": {
        "ListWrapper": f"{_HERE}.tracking:ListWrapper",
        "_DictWrapper": f"{_HERE}.tracking:_DictWrapper",
    },
}
"""The content of internal modules: a name, and the module below `agc.runtime` and the name that define it."""

CLASS_MODULES = (
    "python.framework.indexed_slices", "python.framework.ops", "python.framework.sparse_tensor",
    "python.framework.tensor", "python.ops.ragged.ragged_tensor", "python.ops.variables",
)  # fmt: skip
"""Modules whose classes get TensorFlow's name of the module while the runtime has TensorFlow's name."""
