"""Names at the top level of `tf`: `make generate` writes them from the `@export` declarations."""

from .core.missing_names import places

# fmt: off
MEMBERS = places({
    ".autodiff.custom_gradients": "custom_gradient grad_pass_through recompute_grad",
    ".autodiff.graph_gradients": "gradients hessians",
    ".autodiff.tape": "GradientTape",
    ".autodiff.targets": "UnconnectedGradients",
    ".autograph_backend": "BACKEND",
    ".composite.indexed_slices": "IndexedSlices IndexedSlicesSpec",
    ".control_flow.control_dependencies":
        "control_dependencies executing_eagerly group identity_n no_op tuple",
    ".control_flow.functional_api": "cond while_loop",
    ".control_flow.switch_case": "case switch_case",
    ".control_flow.tracing_context":
        "get_logger get_static_value init_scope inside_function is_symbolic_tensor",
    ".core.conversion": "convert_to_tensor is_tensor register_tensor_conversion_function",
    ".core.device_spec": "DeviceSpec",
    ".core.devices": "device",
    ".core.module": "Module",
    ".core.shapes": "TensorShape",
    ".core.tensor": "Tensor",
    ".core.tensor_array": "TensorArray",
    ".core.tensor_spec": "TensorSpec",
    ".core.type_spec": "TypeSpec type_spec_from_value",
    ".core.variable": "Variable",
    ".core.variable_creators": "variable_creator_scope",
    ".core.variable_enums": "VariableAggregation VariableSynchronization",
    ".data.dataset_spec": "OptionalSpec",
    ".dtypes":
        "DType as_dtype bfloat16 bool=bool_ complex128 complex64 double float16 float32 float64 half int16 "
        "int32 int64 int8 qint16 qint32 qint8 quint16 quint8 resource string uint16 uint32 uint64 uint8 "
        "variant",
    ".formats.tensorflow.import_graph_def": "import_graph_def",
    ".higher_order.map_fn": "map_fn",
    ".higher_order.scan": "foldl foldr scan",
    ".higher_order.vectorized_map": "vectorized_map",
    ".interop.py_function": "numpy_function py_function",
    ".interop.tensorflow.alias": "install_as_tensorflow",
    ".io.tensor_message": "make_ndarray make_tensor_proto",
    ".ir.graph": "Graph Operation",
    ".ir.name_scopes": "get_current_name_scope name_scope",
    ".ops.arrays.concat_split": "concat split stack unstack",
    ".ops.arrays.creation": "constant eye fill ones ones_like zeros zeros_like",
    ".ops.arrays.dynamic_partition": "dynamic_partition dynamic_stitch",
    ".ops.arrays.gather_ops": "gather gather_nd",
    ".ops.arrays.pad_ops": "pad",
    ".ops.arrays.permutation": "unique_with_counts unravel_index",
    ".ops.arrays.ranges": "linspace one_hot range",
    ".ops.arrays.reshape": "broadcast_to ensure_shape expand_dims reshape squeeze transpose",
    ".ops.arrays.reverse_and_roll": "reverse roll",
    ".ops.arrays.scatter":
        "scatter_nd tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub "
        "tensor_scatter_nd_update",
    ".ops.arrays.sequence_lengths": "reverse_sequence sequence_mask",
    ".ops.arrays.shape_arithmetic":
        "broadcast_dynamic_shape broadcast_static_shape guarantee_const parallel_stack "
        "required_space_to_batch_paddings shape_n",
    ".ops.arrays.shape_ops": "rank shape size",
    ".ops.arrays.sort": "argsort searchsorted sort",
    ".ops.arrays.strided_slice": "slice strided_slice",
    ".ops.arrays.tile_and_repeat": "meshgrid repeat tile",
    ".ops.arrays.unique": "unique",
    ".ops.arrays.where_ops": "boolean_mask where",
    ".ops.assertions.assert_op": "Assert",
    ".ops.assertions.static_assertions": "assert_rank",
    ".ops.assertions.value_assertions": "assert_equal assert_greater assert_less",
    ".ops.linalg.einsum": "einsum",
    ".ops.linalg.matmul": "matmul",
    ".ops.linalg.matrix_functions": "eig eigvals matrix_square_root=sqrtm",
    ".ops.linalg.tensordot": "tensordot",
    ".ops.math.arithmetic":
        "add add_n atan2 divide maximum minimum multiply pow realdiv subtract truediv=divide truncatediv "
        "truncatemod",
    ".ops.math.cast": "bitcast cast complex identity saturate_cast stop_gradient",
    ".ops.math.clip": "clip_by_global_norm clip_by_norm clip_by_value",
    ".ops.math.comparison":
        "equal greater greater_equal less less_equal logical_and logical_not logical_or not_equal",
    ".ops.math.elementwise":
        "abs acos acosh asin asinh atan atanh cos cosh exp floor negative round sigmoid sign sin sinh sqrt "
        "square tan tanh",
    ".ops.math.scalar_product": "scalar_mul",
    ".ops.nn.confusion_and_topk": "approx_top_k",
    ".ops.nn.extract_volume_patches": "extract_volume_patches",
    ".ops.nn.space_to_depth": "batch_to_space space_to_batch space_to_batch_nd",
    ".ops.random.initializers":
        "constant_initializer ones_initializer random_normal_initializer random_uniform_initializer "
        "zeros_initializer",
    ".ops.random.stateless_distributions": "random_index_shuffle",
    ".ops.reduce.argmax": "argmax argmin",
    ".ops.reduce.histogram": "histogram_fixed_width histogram_fixed_width_bins",
    ".ops.reduce.norms": "norm",
    ".ops.reduce.reductions":
        "reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_sum",
    ".ops.reduce.scans": "cumsum",
    ".ops.signal.fftnd": "fftnd ifftnd irfftnd rfftnd",
    ".ops.state.print_op": "print",
    ".ops.state.timestamp": "timestamp",
    ".ops.strings.farmhash": "fingerprint",
    ".ops.strings.strings": "as_string",
    ".ragged.spec": "RaggedTensorSpec",
    ".ragged.tensor": "RaggedTensor",
    ".sparse.edit_distance": "edit_distance",
    ".sparse.tensor": "SparseTensor SparseTensorSpec",
    ".tracing.concrete_function": "ConcreteFunction",
    ".tracing.function": "Function function",
})
