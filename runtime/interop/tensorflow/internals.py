"""Functions and classes for TensorFlow's internal names; see the table in `internal_names`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import agc.runtime as runtime
import numpy as np

from ... import nest, random
from ...config import optimizer
from ...control_flow.functional_api import cond
from ...control_flow.switch_case import case
from ...control_flow.tracing_context import get_static_value
from ...core.conversion import convert_to_tensor, is_tensor
from ...core.device_spec import DeviceSpec
from ...core.devices import wanted
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ...core.variable import Variable
from ...distribute.strategy import get_replica_context, get_strategy
from ...higher_order.vectorized_map import vectorized_map
from ...ir.builder import current, eagerly
from ...ops.arrays.concat_split import stack
from ...ops.arrays.creation import constant
from ...ops.arrays.ranges import range
from ...ops.arrays.scatter import tensor_scatter_nd_update
from ...ops.arrays.shape_ops import shape
from ...ops.arrays.tile_and_repeat import meshgrid
from ...ops.linalg.matmul import matmul
from ...ops.math.cast import cast
from ...ops.math.clip import clip_by_value
from ...sparse.dense_conversion import from_dense, to_dense
from ...sparse.tensor import SparseTensor


class _TensorMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        is_ours = cls is VariableBase and isinstance(instance, (Tensor, Variable))
        return is_ours or super().__instancecheck__(instance)


class VariableBase(metaclass=_TensorMeta):
    """The base class of Keras's variables; tensors and variables of the runtime are instances too."""


class EagerContext:
    """The state of eager execution, of which Keras clears a cache that does not exist here."""

    def executing_eagerly(self) -> bool:
        """Return whether operations are executed at once."""
        return current() is None

    @property
    def device_spec(self) -> DeviceSpec:
        """The device that the enclosing `tf.device` blocks request."""
        return DeviceSpec.from_string(wanted())

    def clear_kernel_cache(self) -> None:
        """Do nothing: the caches of the runtime belong to functions and are freed with them."""


def async_wait() -> None:
    """Do nothing: eager operations are finished when they return."""


def reset_context() -> None:
    """Do nothing: there is no state of devices."""


def enabled() -> bool:
    """Return True: the runtime behaves as TensorFlow 2."""
    return True


def is_op_determinism_enabled() -> bool:
    """Return whether `tf.config.experimental.enable_op_determinism` was called."""
    return optimizer.is_deterministic()


def strategy_supports_no_merge_call() -> bool:
    """Return whether the current strategy has one replica, so that an update needs no merged call."""
    return get_strategy().num_replicas_in_sync == 1


def maybe_merge_call(fn: Callable[..., Any], strategy: Any, *args: Any, **kwargs: Any) -> Any:
    """Return `fn(strategy, *args, **kwargs)`, called across the replicas if there are several."""
    replica = get_replica_context()
    if strategy.num_replicas_in_sync == 1 or replica is None:
        return fn(strategy, *args, **kwargs)
    return replica.merge_call(fn, args, kwargs)


def unwrap(function: Any) -> tuple[list[Any], Any]:
    """Return no decorators, and the function below them."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return [], function


@contextlib.contextmanager
def eager_mode() -> Iterator[None]:
    """Execute the operations of the block at once, also while a function is traced."""
    with eagerly():
        yield


def smart_cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: Any = None) -> Any:
    """Return the result of one of two functions: at once if `pred` is known, otherwise by `tf.cond`."""
    known = get_static_value(pred) if is_tensor(pred) else pred
    if known is None:
        return cond(pred, true_fn, false_fn)
    return true_fn() if known else false_fn()


def dynamic_update_slice(input: Any, updates: Any, start_indices: Any) -> Tensor:
    """Return `input` with the block `updates` written at `start_indices`, moved so that it fits.

    Raises ValueError if the rank of `input` is unknown.
    """
    target = convert_to_tensor(input)
    block: Tensor = cast(updates, target.dtype)
    rank = target.shape.rank
    if rank is None:
        raise ValueError("dynamic_update_slice needs a tensor of known rank")
    if rank == 0:
        return block
    start = _int_vector(start_indices)
    size = shape(block)
    start = clip_by_value(start, 0, shape(target) - size)
    axes = [range(size[axis]) + start[axis] for axis in np.arange(rank)]
    result: Tensor = tensor_scatter_nd_update(target, stack(meshgrid(*axes, indexing="ij"), -1), block)
    result.set_shape(target.shape)
    return result


def _int_vector(values: Any) -> Any:
    if isinstance(values, Sequence):
        return stack([cast(value, "int32") for value in values])
    return cast(values if is_tensor(values) else constant(values), "int32")


def sparse_matrix_sparse_mat_mul(a: SparseTensor, b: SparseTensor, type: Any) -> SparseTensor:
    """Return the product of two batches of sparse matrices; the result has only the elements that are not zero."""
    return from_dense(cast(matmul(to_dense(a), to_dense(b)), type))


def csr_sparse_matrix_to_sparse_tensor(sparse_matrix: SparseTensor, type: Any) -> SparseTensor:
    """Return the matrix: the runtime has one form of sparse tensors."""
    return sparse_matrix


ENABLE_CONTROL_FLOW_V2 = True
"""Whether `cond` and `while_loop` are functional, as they always are here."""


def is_in_xla_context(graph: Any) -> bool:
    """Return whether the function that is being traced, or one that calls it, has `jit_compile=True`."""
    builder = current()
    while builder is not None and builder.executor not in ("native", "xla"):
        builder = builder.parent
    return builder is not None


def case_by(cond_fn: Any, pred_fn_pairs: Any, default: Any, exclusive: bool, name: Any, **kwargs: Any) -> Any:
    """Return `tf.case`'s result; its `cond` runs Python if a predicate is known, so `cond_fn` is not needed."""
    return case(pred_fn_pairs, default, exclusive, name=name)


def constant_value_as_shape(tensor: Any) -> TensorShape:
    """Return the shape with the elements of an int vector, as far as they are known; -1 is an unknown dimension."""
    known = get_static_value(tensor, partial=True)
    if known is not None:
        return TensorShape([None if size is None or size < 0 else int(size) for size in known])
    rank = tensor.shape[0] if tensor.shape.rank == 1 else None
    return TensorShape(None if rank is None else [None] * rank)


def convert_variables_to_tensors(values: Any) -> Any:
    """Return a nest with the values of variables, and with composites whose variables are replaced by values."""

    def converted(value: Any) -> Any:
        if isinstance(value, Variable):
            return convert_to_tensor(value)
        of_composite = getattr(value, "_convert_variables_to_tensors", None)
        return value if of_composite is None else of_composite()

    return nest.map_structure(converted, values)


def make_composite_tensor(cls: type, module_name: str = "tf.linalg") -> type:
    """Return the class itself: each `LinearOperator` is a composite of its tensors."""
    return cls


def pfor(loop_fn: Callable[[Tensor], Any], iters: Any, **kwargs: Any) -> Any:
    """Return the stacked results of `loop_fn(i)` for i in 0 … iters - 1, computed together."""
    return vectorized_map(loop_fn, range(iters))


def prevent_gradient(input: Any, message: str = "", name: str | None = None) -> Any:
    """Return `input`, which has no derivative: LookupError with this message where one is taken."""
    return runtime.raw_ops.PreventGradient(input=input, message=message, name=name)


def parameterized_truncated_normal(
    shape: Any, means: Any = 0.0, stddevs: Any = 1.0, minvals: Any = -2.0, maxvals: Any = 2.0,
    dtype: Any = "float32", seed: int | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return `tf.random.stateless_parameterized_truncated_normal`'s numbers for a seed that changes with each call."""
    changing = random.uniform([2], maxval=np.iinfo(np.int32).max, dtype="int32", seed=seed)
    numbers = random.stateless_parameterized_truncated_normal(
        shape, changing, means, stddevs, minvals, maxvals
    )
    return cast(numbers, dtype)
