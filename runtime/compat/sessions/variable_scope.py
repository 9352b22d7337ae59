"""`variable_scope` and `get_variable`: variables shared by name.

with variable_scope("layer"):
    w = get_variable("w", [2, 3])            # layer/w
with variable_scope("layer", reuse=True):
    get_variable("w") is w
"""

from __future__ import annotations

import contextlib
import math
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ... import dtypes
from ...core import shapes
from ...core.variable import Variable
from ...ir.graph import Graph
from ...ir.name_scopes import name_scope, scope_prefix
from .graph_builder import get_default_graph


class _AutoReuse:
    def __repr__(self) -> str:
        return "<_ReuseMode.AUTO_REUSE: 1>"


AUTO_REUSE = _AutoReuse()
"""Reuse the variable with the name if it exists, else make it."""


class VariableScope(NamedTuple):
    """The settings of a scope for the variables in it."""

    name: str = ""
    reuse: Any = False
    initializer: Any = None
    dtype: dtypes.DType = dtypes.float32
    original_name_scope: str = ""

    @property
    def caching_device(self) -> None:
        """The device that keeps copies of read variables: none, since there is one device."""

    def set_caching_device(self, caching_device: Any) -> None:
        """Do nothing: reading a variable copies nothing."""


class _Store:
    def __init__(self) -> None:
        self.scopes = [VariableScope()]
        self.variables: dict[str, Variable] = {}


_stores: weakref.WeakKeyDictionary[Graph, _Store] = weakref.WeakKeyDictionary()


def _store() -> _Store:
    return _stores.setdefault(get_default_graph(), _Store())


def get_variable_scope() -> VariableScope:
    """Return the innermost active scope."""
    return _store().scopes[-1]


@contextlib.contextmanager
def variable_scope(
    name_or_scope: str | VariableScope | None,
    default_name: str | None = None,
    values: Any = None,
    initializer: Any = None,
    reuse: Any = None,
    dtype: Any = None,
    use_resource: bool | None = None,
    auxiliary_name_scope: bool = True,
) -> Iterator[VariableScope]:
    """Begin names of variables made in this block with the scope's name, and those of operations with a name scope.

    Args:
        name_or_scope: the scope's name, or an earlier scope to enter again; None for `default_name`, made unique.
        initializer: the default initializer, as in `get_variable`.
        reuse: True to find existing variables, AUTO_REUSE to make missing ones; None to inherit.
        dtype: the default dtype of variables.
        use_resource: no effect: all variables are resources.
        auxiliary_name_scope: False to leave the names of operations as they are.

    Raises TypeError without a name.
    """
    store = _store()
    around = store.scopes[-1]
    requested = default_name if name_or_scope is None else name_or_scope
    if requested is None:
        raise TypeError("If default_name is None then name_or_scope is required")
    if isinstance(requested, VariableScope):
        scope, own = requested, requested.name.rpartition("/")[2]
    else:
        own = requested
        name = _unused(store, around, own) if name_or_scope is None else own
        scope = around._replace(name=f"{around.name}/{name}" if around.name else name)
    scope = scope._replace(
        reuse=around.reuse if reuse is None else reuse,
        initializer=scope.initializer if initializer is None else initializer,
        dtype=scope.dtype if dtype is None else dtypes.as_dtype(dtype),
    )
    opened = name_scope(own) if own and auxiliary_name_scope else contextlib.nullcontext(scope_prefix())
    with opened as name_prefix:
        if not isinstance(name_or_scope, VariableScope):
            scope = scope._replace(original_name_scope=name_prefix)
        store.scopes.append(scope)
        try:
            yield scope
        finally:
            store.scopes.pop()


def _unused(store: _Store, around: VariableScope, requested_name: str) -> str:
    """Return a name that no scope inside of `around` has: the requested one, or one with a number."""
    prefix = f"{around.name}/" if around.name else ""
    name, number = requested_name, 0
    while any(known.startswith(f"{prefix}{name}/") for known in store.variables):
        number += 1
        name = f"{requested_name}_{number}"
    return name


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Any = None,
    constraint: Callable[[Any], Any] | None = None,
    synchronization: Any = None,
    aggregation: Any = None,
) -> Variable:
    """Return the variable with this name in the scope: a new one, or an existing one if the scope sets `reuse`.

    Args:
        initializer: a function of `shape` and `dtype`, or the initial value itself. By default Glorot's uniform
            distribution for floats, zeros for others.

    Raises ValueError when the variable exists and is not reused, or is reused and does not exist or has another
    shape or dtype; and for `partitioner`, `regularizer` and `custom_getter`, which are not supported.
    """
    refused = {"regularizer": regularizer, "partitioner": partitioner, "custom_getter": custom_getter}
    for what, given in refused.items():
        if given is not None:
            raise ValueError(f"get_variable: `{what}` is not supported")
    store = _store()
    scope = store.scopes[-1]
    full = f"{scope.name}/{name}" if scope.name else name
    if (found := store.variables.get(full)) is not None:
        if not scope.reuse:
            raise ValueError(
                f"Variable {full} already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE "
                "in VarScope?"
            )
        return _fitting(found, full, shape, dtype)
    if scope.reuse and scope.reuse is not AUTO_REUSE:
        raise ValueError(
            f"Variable {full} does not exist, or was not created with tf.get_variable(). Did you mean to set "
            "reuse=tf.AUTO_REUSE in VarScope?"
        )
    wanted = scope.dtype if dtype is None else dtypes.as_dtype(dtype)
    chosen = scope.initializer if initializer is None else initializer
    value = _initial(chosen, full, shape, wanted)
    with name_scope(""):  # the variable has its own scope
        made = Variable(
            value, trainable=trainable, name=full, dtype=wanted if chosen is None or callable(chosen) else None,
            constraint=constraint, synchronization=synchronization, aggregation=aggregation,
        )  # fmt: skip
    store.variables[full] = made
    return made


def _fitting(found: Variable, name: str, shape: Any, dtype: Any) -> Variable:
    if shape is not None and not found.shape.is_compatible_with(shape):
        raise ValueError(
            f"Trying to share variable {name}, but specified shape {shapes.TensorShape(shape)} and found shape "
            f"{found.shape}."
        )
    if dtype is not None and dtypes.as_dtype(dtype) is not found.dtype:
        raise ValueError(
            f"Trying to share variable {name}, but specified dtype {dtypes.as_dtype(dtype).name} and found dtype "
            f"{found.dtype.name}."
        )
    return found


def _initial(initializer: Any, name: str, shape: Any, dtype: dtypes.DType) -> Any:
    if initializer is not None and not callable(initializer):
        return initializer
    if shape is None or not shapes.is_static(shapes.as_dims(shape)):
        raise ValueError(
            f"The shape of a new variable ({name}) must be fully defined, but instead was {shapes.TensorShape(shape)}."
        )
    sizes = [int(size or 0) for size in shapes.as_dims(shape) or ()]
    if isinstance(initializer, type):
        initializer = initializer()
    if initializer is not None:
        return initializer(sizes, dtype=dtype)
    from ...ops.arrays.creation import zeros

    return _glorot_uniform(sizes, dtype) if dtype.is_floating else zeros(sizes, dtype)


def _glorot_uniform(sizes: list[int], dtype: dtypes.DType) -> Any:
    """Return uniform random numbers whose limit is √(6 / (fan in + fan out)), after Glorot and Bengio (2010)."""
    from ...ops.random.stateful import uniform

    fans = [1, 1] if not sizes else [sizes[0]] * 2 if len(sizes) == 1 else sizes[-2:]
    limit = math.sqrt(6 / max(1, math.prod(sizes[:-2]) * sum(fans)))
    return uniform(sizes, -limit, limit, dtype)
