"""`tf.compat.v1`: graphs, sessions and logging. Other names come from the runtime.

>>> with Graph().as_default():
...     x = placeholder("float32", [None])
...     with Session() as session:
...         print(session.run(x * 2, feed_dict={x: [1.0, 2.0]}))
[2. 4.]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import agc.runtime as runtime

from .. import dtypes as _dtypes
from ..control_flow.control_dependencies import executing_eagerly, group, no_op
from ..core import shapes as _shapes
from ..core.conversion import convert_to_tensor as _convert
from ..core.dimension import Dimension
from ..core.missing_names import missing_name
from ..core.variable import Variable as _Variable
from ..ir.builder import current
from ..ir.graph import Graph, Operation
from ..ir.name_scopes import name_scope as _name_scope
from ..ops.arrays import placeholder as placeholders
from ..sparse.tensor import SparseTensor as _SparseTensor
from ..summary.events import SummaryMetadata as SummaryMetadata
from . import logging as logging
from .namespaces import member
from .sessions.graph_builder import (
    GLOBAL_VARIABLES,
    LOCAL_VARIABLES,
    TRAINABLE_VARIABLES,
    disable_eager_execution,
    enable_eager_execution,
    get_default_graph,
    reset_default_graph,
)
from .sessions.session import InteractiveSession, Session, get_default_session
from .sessions.variable_scope import (
    AUTO_REUSE,
    VariableScope,
    get_variable,
    get_variable_scope,
    variable_scope,
)
from .sessions.variables import (
    global_variables,
    global_variables_initializer,
    is_variable_initialized,
    local_variables,
    local_variables_initializer,
    trainable_variables,
    variables_initializer,
)

all_variables = global_variables
initialize_all_variables = global_variables_initializer
initialize_local_variables = local_variables_initializer
initialize_variables = variables_initializer


class GraphKeys:
    """The names of a graph's collections."""

    GLOBAL_VARIABLES = GLOBAL_VARIABLES
    LOCAL_VARIABLES = LOCAL_VARIABLES
    TRAINABLE_VARIABLES = TRAINABLE_VARIABLES
    LOSSES = "losses"
    SUMMARIES = "summaries"
    REGULARIZATION_LOSSES = "regularization_losses"
    UPDATE_OPS = "update_ops"
    GLOBAL_STEP = "global_step"


class Variable(_Variable):
    """`tf.Variable` with TensorFlow 1's parameter order, and its graph's collections."""

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: list[str] | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: Any = None,
        constraint: Callable[[Any], Any] | None = None,
        use_resource: bool | None = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
    ) -> None:
        super().__init__(
            initial_value, trainable, validate_shape, caching_device, name, variable_def, dtype, import_scope,
            constraint, synchronization, aggregation, shape,
        )  # fmt: skip
        if collections is not None and self._owner is not None:
            for kind in (GLOBAL_VARIABLES, TRAINABLE_VARIABLES):
                members = self._owner.collections.get(kind, [])
                self._owner.collections[kind] = [member for member in members if member is not self]
            for kind in collections:
                self._owner.collections.setdefault(kind, []).append(self)


class ConfigProto:
    """Settings of a session: kept, without effect."""

    def __init__(self, **settings: Any) -> None:
        self.__dict__.update(settings)
        self.gpu_options = settings.get("gpu_options") or GPUOptions()


class GPUOptions:
    """Settings of GPUs: kept, without effect."""

    def __init__(self, **settings: Any) -> None:
        self.__dict__.update(settings)


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """Return a tensor whose value is fed to `Session.run`. Raises RuntimeError in eager mode."""
    _demand_graph("placeholder")
    return placeholders.placeholder(
        _dtypes.as_dtype(dtype), _shapes.as_dims(shape), name=name or "Placeholder"
    )


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """Return a sparse tensor whose coordinates, values and shape are fed to `Session.run`.

    Raises RuntimeError in eager mode.
    """
    _demand_graph("sparse_placeholder")
    dims, name = _shapes.as_dims(shape), name or "SparsePlaceholder"
    rank = None if dims is None else len(dims)
    parts = (
        ("indices", _dtypes.int64, [None, rank]),
        ("values", dtype, [None]),
        ("shape", _dtypes.int64, [rank]),
    )
    sparse = _SparseTensor(*(placeholder(kind, sizes, f"{name}/{part}") for part, kind, sizes in parts))
    sparse.set_shape(shape)
    return sparse


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Any:
    """Return a tensor with the value of `input` unless another is fed; in eager code, `input` as a tensor."""
    if current() is None:
        return _convert(input)
    return placeholders.placeholder_with_default(
        input, _shapes.as_dims(shape), name=name or "PlaceholderWithDefault"
    )


def name_scope(name: str | None, default_name: str | None = None, values: Any = None) -> _name_scope:
    """Return a scope of names: of `name`, or of `default_name` if `name` is None. `values` changes nothing.

    >>> with name_scope(None, "layer", [1.0]) as scope:
    ...     scope
    'layer/'
    """
    if name is None and default_name is None and values is not None:
        raise ValueError("At least one of name (None) and default_name (None) must be a string")
    return _name_scope(name if name is not None else default_name or "")


def _demand_graph(what: str) -> None:
    if current() is None:
        raise RuntimeError(f"tf.{what}() is not compatible with eager execution.")


def assign(
    ref: Any, value: Any, validate_shape: Any = None, use_locking: Any = None, name: str | None = None
) -> Any:
    """Call `ref.assign(value)`."""
    return ref.assign(value, name=name)


def assign_add(ref: Any, value: Any, use_locking: Any = None, name: str | None = None) -> Any:
    """Call `ref.assign_add(value)`."""
    return ref.assign_add(value, name=name)


def assign_sub(ref: Any, value: Any, use_locking: Any = None, name: str | None = None) -> Any:
    """Call `ref.assign_sub(value)`."""
    return ref.assign_sub(value, name=name)


def get_collection(key: str, scope: str | None = None) -> list[Any]:
    """Return a collection of the default graph as a copy."""
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: str) -> list[Any]:
    """Return a collection of the default graph itself."""
    return get_default_graph().get_collection_ref(key)


class SparseTensorValue(NamedTuple):
    """The NumPy arrays of a sparse tensor, as sessions of TensorFlow 1 return them."""

    indices: Any
    values: Any
    dense_shape: Any


def add_to_collection(name: str, value: Any) -> None:
    """Add a value to a collection of the default graph."""
    get_default_graph().add_to_collection(name, value)


def tables_initializer(name: str = "init_all_tables") -> Any:
    """Return an operation that does nothing: tables are initialized when they are made."""
    return no_op(name)


def executing_eagerly_outside_functions() -> bool:
    """Return whether operations outside of functions run eagerly."""
    builder = current()
    return builder is None or not builder.root.keeps_constants


def disable_v2_behavior() -> None:
    """Call `disable_eager_execution`; other behavior of TensorFlow 2 stays."""
    disable_eager_execution()


def enable_v2_behavior() -> None:
    """Call `enable_eager_execution`."""
    enable_eager_execution()


def enable_resource_variables() -> None:
    """Do nothing: all variables are resource variables."""


def disable_resource_variables() -> None:
    """Raise ValueError: there are no other variables."""
    raise ValueError("all variables are resource variables")


def control_flow_v2_enabled() -> bool:
    """Return True: `cond` and `while_loop` are functional."""
    return True


def enable_control_flow_v2() -> None:
    """Do nothing: control flow is always functional."""


@contextmanager
def colocate_with(op: Any, ignore_existing: bool = False) -> Iterator[None]:
    """Run the block as it is: all operations are on one device."""
    yield


def set_random_seed(seed: int | None) -> None:
    """Call `tf.random.set_seed`."""
    runtime.random.set_seed(seed)


def to_float(x: Any, name: str = "ToFloat") -> Any:
    """Return `tf.cast(x, tf.float32)`."""
    return runtime.cast(x, _dtypes.float32, name=name)


def to_double(x: Any, name: str = "ToDouble") -> Any:
    """Return `tf.cast(x, tf.float64)`."""
    return runtime.cast(x, _dtypes.float64, name=name)


def to_int32(x: Any, name: str = "ToInt32") -> Any:
    """Return `tf.cast(x, tf.int32)`."""
    return runtime.cast(x, _dtypes.int32, name=name)


def to_int64(x: Any, name: str = "ToInt64") -> Any:
    """Return `tf.cast(x, tf.int64)`."""
    return runtime.cast(x, _dtypes.int64, name=name)


def convert_to_tensor_or_sparse_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Return a sparse tensor unchanged, and anything else as a tensor.

    Raises RuntimeError for a sparse tensor of another dtype than `dtype`.

    >>> convert_to_tensor_or_sparse_tensor([1, 2]).shape
    TensorShape([2])
    """
    if not isinstance(value, _SparseTensor):
        return _convert(value, dtype)
    if dtype is not None and _dtypes.as_dtype(dtype) is not value.dtype:
        raise RuntimeError(f"the sparse tensor is {value.dtype.name}, not {_dtypes.as_dtype(dtype).name}")
    return value


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        return member(runtime, name)
    except AttributeError:
        pass  # raise this module's error instead
    raise missing_name(__name__, name)


__all__ = [
    "AUTO_REUSE", "ConfigProto", "Dimension", "GPUOptions", "Graph", "GraphKeys", "InteractiveSession",
    "Operation", "Session", "SparseTensorValue", "Variable", "VariableScope", "add_to_collection", "all_variables",
    "assign", "assign_add", "assign_sub", "colocate_with", "control_flow_v2_enabled",
    "convert_to_tensor_or_sparse_tensor", "disable_eager_execution", "disable_resource_variables",
    "disable_v2_behavior", "enable_control_flow_v2", "enable_eager_execution", "enable_resource_variables",
    "enable_v2_behavior", "executing_eagerly", "executing_eagerly_outside_functions", "get_collection",
    "get_collection_ref", "get_default_graph", "get_default_session", "get_variable", "get_variable_scope",
    "global_variables", "global_variables_initializer", "group", "initialize_all_variables",
    "initialize_local_variables", "initialize_variables", "is_variable_initialized", "local_variables",
    "local_variables_initializer", "logging", "name_scope", "no_op", "placeholder", "placeholder_with_default",
    "reset_default_graph", "set_random_seed", "sparse_placeholder", "tables_initializer", "to_double", "to_float",
    "to_int32", "to_int64", "trainable_variables", "variable_scope", "variables_initializer",
]  # fmt: skip
