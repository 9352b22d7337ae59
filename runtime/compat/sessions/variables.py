"""Variables of graphs that sessions run: each has an initializer, and a value per session.

v = tf.Variable(1.0)             in a `Graph().as_default()` block
session.run(v.initializer)       or tf.compat.v1.global_variables_initializer()
session.run(v)                   1.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...control_flow.control_dependencies import group
from ...core import shapes
from ...core.conversion import convert_to_tensor
from ...ir.builder import current
from ...ir.name_scopes import name_scope
from ...ir.value_types import TensorType, VariableType
from ...ops.state import variable_ops
from .graph_builder import (
    GLOBAL_VARIABLES,
    LOCAL_VARIABLES,
    TRAINABLE_VARIABLES,
    GraphBuilder,
    get_default_graph,
)

if TYPE_CHECKING:
    from ...core.variable import Variable


def declare(variable: Variable, builder: GraphBuilder, value: Any, dtype: Any, shape: Any) -> None:
    """Make `variable` belong to the graph: it gets a type and an initializer, but no value."""
    if current() is not builder:
        raise ValueError("a variable of a graph cannot be made inside a `cond` or loop: make it before")
    value = value() if callable(value) else value
    tensor = convert_to_tensor(value, dtype)
    declared = shapes.as_dims(tensor.shape if shape is None else shape)
    if not shapes.compatible(declared, tensor.shape.sizes):
        raise ValueError(
            f"In this `tf.Variable` creation, the initial value's shape ({tensor.shape}) is not compatible with the "
            f"explicitly supplied `shape` argument ({shapes.show(declared)})."
        )
    variable.short_name = _unique(builder, variable.short_name)
    variable.content_spec = TensorType(tensor.dtype, declared)
    variable.spec = VariableType(variable.content_spec)
    variable._owner = builder
    variable._initial = tensor
    with builder.after(None), name_scope(""):
        variable_ops.assign_variable(variable, tensor, name=f"{variable.short_name}/Assign")
    variable._initializer = builder.operations[-1]
    builder.collections.setdefault(GLOBAL_VARIABLES, []).append(variable)
    if variable.trainable:
        builder.collections.setdefault(TRAINABLE_VARIABLES, []).append(variable)


def _unique(builder: GraphBuilder, requested_name: str) -> str:
    names = {
        variable.short_name
        for kind in builder.collections.values()
        for variable in kind
        if hasattr(variable, "short_name")
    }
    taken = names | {builder.graph.naming().operations[operation] for operation in builder.operations}
    name, number = requested_name, 0
    while name in taken:
        number += 1
        name = f"{requested_name}_{number}"
    return name


def global_variables(scope: str | None = None) -> list[Any]:
    """Return the variables of the default graph, in the order of their creation."""
    return get_default_graph().get_collection(GLOBAL_VARIABLES, scope)


def local_variables(scope: str | None = None) -> list[Any]:
    """Return the local variables of the default graph."""
    return get_default_graph().get_collection(LOCAL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Any]:
    """Return the trainable variables of the default graph."""
    return get_default_graph().get_collection(TRAINABLE_VARIABLES, scope)


def variables_initializer(var_list: Any, name: str = "init") -> Any:
    """Return an operation that assigns the variables their initial values; it does nothing in eager code."""
    return group(*[variable.initializer for variable in var_list], name=name)


def global_variables_initializer() -> Any:
    """Return an operation that assigns all variables of the default graph their initial values."""
    return variables_initializer([] if current() is None else global_variables())


def local_variables_initializer() -> Any:
    """Return an operation that assigns the local variables of the default graph their initial values."""
    return variables_initializer([] if current() is None else local_variables())


def is_variable_initialized(variable: Variable) -> Any:
    """Return whether a variable has a value."""
    return variable.is_initialized()
