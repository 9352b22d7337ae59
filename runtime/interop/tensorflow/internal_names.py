"""Internal names of TensorFlow that Keras and TensorFlow Probability use, and what they are here.

tensorflow.__internal__.tracking.Trackable    ==>    interop.tensorflow.tracking.Trackable
"""

from __future__ import annotations

_HERE = "interop.tensorflow"

INTERNAL_NAMES = {
    "__internal__": {
        "CompositeTensor": "core.type_spec:CompositeTensor",
        "EagerTensor": "core.tensor:EagerTensor",
        "FuncGraph": f"{_HERE}.func_graph:FuncGraph",
        "SymbolicTensor": "core.symbolic_tensor:SymbolicTensor",
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
    "python.data.ops.iterator_ops": {"OwnedIterator": "data.iterator:Iterator"},
    "python.eager.context": {
        "async_wait": f"{_HERE}.internals:async_wait",
        "context": f"{_HERE}.internals:EagerContext",
        "_reset_context": f"{_HERE}.internals:reset_context",
    },
    "python.framework.composite_tensor": {"CompositeTensor": "core.type_spec:CompositeTensor"},
    "python.framework.config": {"is_op_determinism_enabled": f"{_HERE}.internals:is_op_determinism_enabled"},
    "python.framework.indexed_slices": {"IndexedSlices": "composite.indexed_slices:IndexedSlices"},
    "python.framework.ops": {
        "EagerTensor": "core.tensor:EagerTensor",
        "KnownTensor": "core.symbolic_tensor:KnownTensor",
        "SymbolicTensor": "core.symbolic_tensor:SymbolicTensor",
        "get_default_graph": "compat.v1:get_default_graph",
    },
    "python.framework.sparse_tensor": {"SparseTensor": "sparse.tensor:SparseTensor"},
    "python.framework.tensor": {"Tensor": "core.tensor:Tensor"},
    "python.framework.tensor_shape": {"as_shape": "core.shapes:TensorShape"},
    "python.framework.tensor_spec": {"DenseSpec": f"{_HERE}.specs:DenseSpec"},
    "python.framework.tensor_util": {
        "constant_value_as_shape": f"{_HERE}.internals:constant_value_as_shape",
        "try_evaluate_constant": "control_flow.tracing_context:get_static_value",
    },
    "python.framework.type_spec": {
        "BatchableTypeSpec": f"{_HERE}.specs:BatchableTypeSpec",
        "type_spec_from_value": f"{_HERE}.specs:type_spec_from_value",
    },
    "python.framework.type_spec_registry": {
        name: f"{_HERE}.type_spec_registry:{name}"
        for name in ("_NAME_TO_TYPE_SPEC", "_TYPE_SPEC_TO_NAME", "get_name", "lookup", "register")
    },
    "python.ops.array_ops": {"prevent_gradient": f"{_HERE}.internals:prevent_gradient"},
    "python.ops.control_flow_case": {"_case_helper": f"{_HERE}.internals:case_by"},
    "python.ops.control_flow_util": {
        "ENABLE_CONTROL_FLOW_V2": f"{_HERE}.internals:ENABLE_CONTROL_FLOW_V2",
        "GraphOrParentsInXlaContext": f"{_HERE}.internals:is_in_xla_context",
    },
    "python.ops.linalg.linear_operator": {
        "make_composite_tensor": f"{_HERE}.internals:make_composite_tensor"
    },
    "python.ops.linalg.sparse.sparse_csr_matrix_ops": {
        "csr_sparse_matrix_to_sparse_tensor": f"{_HERE}.internals:csr_sparse_matrix_to_sparse_tensor",
        "sparse_matrix_sparse_mat_mul": f"{_HERE}.internals:sparse_matrix_sparse_mat_mul",
        "sparse_tensor_to_csr_sparse_matrix": "sparse.tensor:SparseTensor",
    },
    "python.ops.linalg.linear_operator_addition": {},
    "python.ops.math_ops": {"is_nan": "ops.math.elementwise:is_nan"},
    "python.ops.nn_ops": {},
    "python.ops.parallel_for.control_flow_ops": {"pfor": f"{_HERE}.internals:pfor"},
    "python.ops.ragged.ragged_tensor": {"RaggedTensor": "ragged.tensor:RaggedTensor"},
    "python.ops.random_ops": {
        "parameterized_truncated_normal": f"{_HERE}.internals:parameterized_truncated_normal"
    },
    "python.ops.resource_variable_ops": {"VariableSpec": "core.variable_spec:VariableSpec"},
    "python.ops.variables": {"Variable": "core.variable:Variable"},
    "python.trackable.data_structures": {
        "ListWrapper": f"{_HERE}.tracking:ListWrapper",
        "_DictWrapper": f"{_HERE}.tracking:_DictWrapper",
    },
    "python.util.deprecation": {
        "deprecated": f"{_HERE}.decorators:deprecated",
        "deprecated_alias": f"{_HERE}.decorators:deprecated_alias",
        "deprecated_arg_values": f"{_HERE}.decorators:deprecated",
        "deprecated_args": f"{_HERE}.decorators:deprecated",
        "silence": f"{_HERE}.decorators:silence",
    },
    "python.util.nest": {
        **{
            name: f"nest:{name}"
            for name in ("assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as")
        },
        **{
            name: f"{_HERE}.nested_paths:{name}"
            for name in (
                "assert_shallow_structure",
                "flatten_up_to",
                "flatten_with_joined_string_paths",
                "flatten_with_tuple_paths",
                "flatten_with_tuple_paths_up_to",
                "get_traverse_shallow_structure",
                "is_nested_or_composite",
                "map_structure_up_to",
                "map_structure_with_tuple_paths",
                "map_structure_with_tuple_paths_up_to",
                "yield_flat_paths",
            )
        },
        "_is_namedtuple": f"{_HERE}.nested_paths:is_namedtuple",
        "_sequence_like": "nest:rebuilt",
        "_yield_sorted_items": f"{_HERE}.nested_paths:yield_sorted_items",
        "_yield_value": f"{_HERE}.nested_paths:yield_value",
    },
    "python.util.object_identity": {"Reference": "core.tensor:Reference"},
    "python.util.tf_inspect": {
        **{name: f"inspect:{name}" for name in ("Parameter", "getdoc", "getmro", "isclass", "signature")},
        "getfullargspec": f"{_HERE}.decorators:getfullargspec",
    },
    "python.util.variable_utils": {
        "convert_variables_to_tensors": f"{_HERE}.internals:convert_variables_to_tensors"
    },
}
"""The content of internal modules: a name, and the module below `agc.runtime` and the name that define it."""

CLASS_MODULES = (
    "python.framework.indexed_slices", "python.framework.ops", "python.framework.sparse_tensor",
    "python.framework.tensor", "python.ops.ragged.ragged_tensor", "python.ops.variables",
)  # fmt: skip
"""Modules whose classes get TensorFlow's name of the module while the runtime has TensorFlow's name."""
