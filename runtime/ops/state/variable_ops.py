"""Operations that read and assign variables, in program order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...core.tensor import EagerTensor
from ...core.variable import Assigned, Variable
from ...ir.builder import Recorder
from ...ir.traits import KEEPS_VARIABLES
from ...ir.value_types import TensorType
from ..framework import op_families
from ..framework.eager_calls import KeptAttributes, native
from ..framework.op import Input, Name, Ref, op
from .compare_and_swap import update, update_own


@op(stateful=True, traits=KEEPS_VARIABLES)
def read_variable(variable: Ref, name: Name = None) -> TensorType:
    """Return the present value of a variable.

    >>> from agc.runtime import Variable
    >>> read_variable(Variable(3.0))
    <tf.Tensor: shape=(), dtype=float32, numpy=3.0>
    """
    content: TensorType = variable.spec.content
    return content


read_variable.kernel(lambda variable: variable._array)
read_variable.gradient(lambda dy, y, variable: dy)


def read(variable: Any, recorders: Sequence[Recorder]) -> EagerTensor:
    """Return the present value of a variable, and record the read."""
    tensor = EagerTensor(variable._array)
    for recorder in recorders:
        recorder.computed(read_variable, (variable,), {}, (tensor,))
    return tensor


if native is not None:
    native.register(read_variable=read_variable)
read_fast = native.read if native else read


@op(stateful=True)
def assign_variable(variable: Ref, value: Input, name: Name = None) -> TensorType:
    """Give a variable a new value, and return it."""
    return _assigned(variable, value)


def _assigned(variable: Any, value: Any) -> TensorType:
    content: TensorType = variable.spec.content
    if value.dtype is not content.dtype:
        raise TypeError(f"Cannot assign {value.dtype.name} to a variable of dtype {content.dtype.name}")
    if not shapes.compatible(content.shape, value.shape):
        raise ValueError(
            f"Cannot assign value to variable: Shape mismatch. The variable shape {shapes.show(content.shape)}, and "
            f"the assigned value shape {shapes.show(value.shape)} are incompatible."
        )
    return TensorType(content.dtype, shapes.merge(content.shape, value.shape))


@assign_variable.kernel
def _(variable: Any, value: Any) -> Any:
    variable._array = np.asarray(value)
    return value


assign_variable.no_gradient("an assignment has no gradient: the variable's new value counts as a source")


def _summed(variable: Any, value: Any, what: str) -> TensorType:
    op_families.require_dtype(variable.spec.content, op_families.NUMERIC, what)
    content: TensorType = variable.spec.content
    if not shapes.compatible(content.shape, value.shape):
        raise ValueError(_unequal(shapes.show(content.shape), shapes.show(value.shape)))
    return _assigned(variable, value)


def _unequal(variable: str, value: str) -> str:
    return f"Cannot update variable with shape {variable} using a Tensor with shape {value}, shapes must be equal."


def _combining(ufunc: Any) -> Callable[[Any, Any], Any]:
    """Return the kernel that sets a variable to its sum or difference with an array of its shape."""

    def combined(before: Any, value: Any) -> Any:
        if before.shape != value.shape:  # a variable of varying shape does not broadcast
            raise ValueError(_unequal(shapes.show(before.shape), shapes.show(value.shape)))
        return np.asarray(ufunc(before, value), before.dtype)

    return lambda variable, value: update(variable, combined, value)


def _of_fixed_shape(ufunc: Any) -> Callable[[list[Any]], Any]:
    """Return the function that specializes the kernel for variables of one shape; NumPy's scalars are no arrays."""

    def combined(before: Any, value: Any) -> Any:
        return np.asarray(ufunc(before, value))

    def specialized(specs: list[Any]) -> Any:
        variable, value = specs
        new = ufunc if value.shape else combined
        is_fixed = shapes.is_static(value.shape) and variable.content.shape == value.shape
        return (lambda variable, value: update_own(variable, new, value)) if is_fixed else None

    return specialized


@op(stateful=True)
def assign_add_variable(variable: Ref, value: Input, name: Name = None) -> TensorType:
    """Add to a variable, and return its new value."""
    return _summed(variable, value, "assign_add")


assign_add_variable.kernel(_combining(np.add))
assign_add_variable.specialize(_of_fixed_shape(np.add))
assign_add_variable.no_gradient("an assignment has no gradient: the variable's new value counts as a source")


@op(stateful=True)
def assign_sub_variable(variable: Ref, value: Input, name: Name = None) -> TensorType:
    """Subtract from a variable, and return its new value."""
    return _summed(variable, value, "assign_sub")


assign_sub_variable.kernel(_combining(np.subtract))
assign_sub_variable.specialize(_of_fixed_shape(np.subtract))
assign_sub_variable.no_gradient("an assignment has no gradient: the variable's new value counts as a source")


if native is not None:
    native.register(assigned=Assigned)
    for _name, _operation, _ufunc in (
        ("assign", assign_variable, ()),
        ("assign_add", assign_add_variable, (np.add,)),
        ("assign_sub", assign_sub_variable, (np.subtract,)),
    ):
        _facts = _operation.__call__, KeptAttributes({}, (None, None))
        setattr(Variable, _name, native.assignment(getattr(Variable, _name), *_facts, *_ufunc))


@op(stateful=True, traits=KEEPS_VARIABLES)
def is_initialized(variable: Ref, name: Name = None) -> TensorType:
    """Return whether a variable has a value; in a session it has none before its initializer ran.

    >>> from agc.runtime import Variable
    >>> is_initialized(Variable(3.0)).numpy()
    np.True_
    """
    return TensorType(dtypes.bool_, ())


@is_initialized.kernel
def _(variable: Any) -> Any:
    try:
        return np.array(variable._array is not None)
    except errors.FailedPreconditionError:
        return np.array(False)


@op
def counted(value: Input, limit: int, name: Name = None) -> TensorType:
    """Return an integer that is smaller than `limit` unchanged; OutOfRangeError otherwise.

    >>> int(counted(3, 5))
    3
    """
    if value.dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"only int32 and int64 variables count up, not one of {value.dtype.name}")
    if value.shape not in (None, ()):
        raise ValueError(f"only scalar variables count up, not one of shape {shapes.show(value.shape)}")
    return TensorType(value.dtype, ())


@counted.kernel
def _(value: Any, limit: int) -> Any:
    if value >= limit:
        raise errors.OutOfRangeError(f"Reached limit of {limit}")
    return value
