"""`Variable`: a tensor that can be assigned, shared by reference between eager code and graphs.

    v = Variable(1.0)          v.assign_add(2.0)          v + 1  → reads the current value

Inside a function, reads and assignments are operations that run at each call, in program order.
A function may make a variable only while it is traced for the first time (`Builder.make_variable`).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..ir.builder import current, eagerly, stack
from ..ir.name_scopes import name_scope, scope_prefix
from ..ir.value_types import TensorType, VariableType
from . import late_binding, shapes
from .conversion import convert_to_tensor, register_conversion
from .devices import CPU, placement
from .export import export
from .held_values import value_of
from .initial_value import initial_tensor, known
from .tensor import EagerTensor, Operators, Reference, Tensor, value_text
from .variable_creators import CreatedByScope
from .variable_enums import (
    VariableAggregation,
    VariableSynchronization,
    chosen_aggregation,
    chosen_synchronization,
)
from .variable_operators import AsValue
from .variable_scatter import PartialUpdates
from .variable_sessions import InSession

_numbers = itertools.count()


class _Value:
    """Descriptor for a value that is no array of NumPy yet, or that is missing. Instances with a value shadow it."""

    def __get__(self, variable: Variable | None, owner: type) -> Any:
        found = None if variable is None else value_of(variable)
        if found is not None:
            return found
        if variable is not None and variable._owner is not None:
            raise NotImplementedError(
                f"{variable.name} belongs to a graph: it has a value in a session, `session.run(variable)`"
            )
        raise AttributeError(f"{owner.__name__!r} object has no attribute '_array'")


@export("Variable")
class Variable(PartialUpdates, InSession, AsValue, Operators, metaclass=CreatedByScope):
    """A mutable value of one dtype. Its shape is fixed unless `shape` says otherwise.

    Assignments return another handle to the same variable, shown as 'UnreadVariable'.

    Args:
        initial_value: a tensor, a value that converts to one, or a function without arguments that returns one.
        trainable: whether training should change it (default True).
        name: for display; two variables may have the same name.
        dtype: converts `initial_value`.
        shape: a TensorShape for later values, with None for dimensions that vary. Default: the initial shape.
        constraint: a function that optimizers apply to the value after each step.
        synchronization, aggregation: a `tf.VariableSynchronization` and a `tf.VariableAggregation`; kept, without
            effect. A variable that is synchronized ON_READ is not trainable unless `trainable` says so.
        validate_shape, caching_device, import_scope, experimental_enable_variable_lifting: accepted, no effect.

    Raises ValueError without an initial value, or when the initial value does not fit `dtype` or `shape`.

    >>> v = Variable([1.0, 2.0])
    >>> v.assign_add([1.0, 1.0]).numpy()
    array([2., 3.], dtype=float32)
    >>> v.assign_sub([1.0, 1.0]).numpy(), v.assign([5.0, 6.0]).numpy()
    (array([1., 2.], dtype=float32), array([5., 6.], dtype=float32))
    """

    _array: np.ndarray[Any, Any] = _Value()  # type: ignore[assignment]
    _is_made_by_creators = True  # of this class itself: subclasses are made as they say

    __array_priority__ = 100.0  # NumPy leaves `array + variable` to the variable

    def __hash__(self) -> int:  # == compares values, as in TensorFlow 2
        raise TypeError(
            f"Variable is unhashable. Instead, use variable.ref() as the key. (Variable: {self!r})"
        )

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: Any = None,
        constraint: Callable[[Any], Any] | None = None,
        synchronization: VariableSynchronization | None = VariableSynchronization.AUTO,
        aggregation: VariableAggregation | None = VariableAggregation.NONE,
        shape: Any = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> None:
        if initial_value is None:
            raise ValueError("The `initial_value` arg to `tf.Variable` must be specified.")
        if variable_def is not None:
            raise ValueError("`variable_def` is not supported: pass an `initial_value`")
        if name is not None and not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        if constraint is not None and not callable(constraint):
            raise ValueError(f"Argument `constraint` must be None or a callable, not {constraint!r}")
        self.synchronization = chosen_synchronization(synchronization, name)
        self.aggregation = chosen_aggregation(aggregation, name)
        if trainable is None:
            trainable = self.synchronization is not VariableSynchronization.ON_READ
        self.trainable = trainable
        self.constraint = constraint
        self.short_name = scope_prefix() + (name or "Variable")
        builder = current()
        if builder is not None and builder.root.keeps_constants and not builder.in_function():
            late_binding.declare(self, builder.root, initial_value, dtype, shape)  # type: ignore[arg-type]
            return
        tensor = initial_tensor(initial_value, dtype, builder)
        declared = shapes.as_dims(tensor.shape if shape is None else shape)
        if not shapes.compatible(declared, tensor._array.shape):
            raise ValueError(
                f"In this `tf.Variable` creation, the initial value's shape ({shapes.show(tensor._array.shape)}) is "
                f"not compatible with the explicitly supplied `shape` argument ({shapes.show(declared)})."
            )
        self._array = tensor._array
        self.content_spec = TensorType(tensor.dtype, declared)
        self.spec = VariableType(self.content_spec)

    @property
    def name(self) -> str:
        """The name, with ":0" at its end."""
        return f"{self.short_name}:0"

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the value."""
        return self.content_spec.dtype

    @property
    def _here(self) -> Variable:
        """The variable that is read in this replica of a strategy: itself, unless it has one for each replica."""
        return self

    @property
    def _bound(self) -> Variable:
        """The variable that a captured reference to this one means here: its component, in a replica."""
        return self

    @property
    def handle(self) -> VariableHandle:
        """The reference to the variable that TensorFlow's own operations take; one object for each variable."""
        return self._identity[0]

    @property
    def _unique_id(self) -> str:
        return self._identity[1]

    @property
    def _shared_name(self) -> str:
        return self.short_name

    @functools.cached_property
    def _identity(self) -> tuple[VariableHandle, str]:
        return VariableHandle(self), f"{self.short_name}_{next(_numbers)}"

    @property
    def shape(self) -> shapes.TensorShape:
        """The static shape, which all values fit."""
        return shapes.of_dims(self.content_spec.shape)

    @property
    def device(self) -> str:
        """The device that holds the value."""
        return CPU

    def get_shape(self) -> shapes.TensorShape:
        """Return the static shape."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Merge `shape` into the known shape; ValueError when they contradict each other."""
        merged = self.shape.merge_with(shape)
        self.content_spec = self.content_spec.with_shape(merged.sizes)
        self.spec = VariableType(self.content_spec)

    @property
    def ndim(self) -> int | None:
        """The number of dimensions; None if it is unknown."""
        return self.shape.rank

    def value(self) -> Tensor:
        """Return the current value as a tensor."""
        if stack.eager and self._owner is None and not placement.logged:
            if not stack.recorders:
                return EagerTensor(self._array)  # as the operation does
            return late_binding.variable_ops.read_fast(self, stack.recorders)
        return late_binding.variable_ops.read_variable(self, name=self.short_name)  # type: ignore[no-any-return]

    def read_value(self) -> Tensor:
        """Return the current value as a tensor."""
        return self.value()

    def read_value_no_copy(self) -> Tensor:
        """Return the current value; reads never copy."""
        return self.value()

    def fitting(self, value: Any) -> np.ndarray[Any, Any]:
        """Return `value` as an array of the variable's dtype and shape."""
        with eagerly():
            tensor = self._operand(value)
        return known(tensor)._array

    def changed(self, result: Any = None) -> Any:
        """Return the result of an assigning method: a handle to this variable.

        In a graph for sessions return the tensor `result`; running it in a session performs the change.
        """
        return _assigned(self) if self._owner is None or current() is not self._owner else result

    def numpy(self) -> Any:
        """Return the current value as a NumPy array; NotImplementedError in a graph, where it is unknown."""
        value = self.value()
        if isinstance(value, EagerTensor):
            return value.numpy()
        raise NotImplementedError(
            "numpy() is only available when eager execution is enabled: a graph reads the variable when it runs"
        )

    def assign(
        self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Replace the value. Return the variable, or None without `read_value`.

        Raises ValueError when the shape does not fit, TypeError or ValueError when the dtype does not.
        """
        result = late_binding.variable_ops.assign_variable(self, self._operand(value), name)
        return self._assigned(result, read_value)

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Add `delta`. Return as `assign` does; InvalidArgumentError when the shapes are not equal."""
        amount = convert_to_tensor(delta, self.dtype)
        return self._assigned(late_binding.variable_ops.assign_add_variable(self, amount, name), read_value)

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Subtract `delta`. Return and raise as `assign_add` does."""
        amount = convert_to_tensor(delta, self.dtype)
        return self._assigned(late_binding.variable_ops.assign_sub_variable(self, amount, name), read_value)

    def _assigned(self, result: Any, read_value: bool) -> Any:
        return self.changed(result) if read_value else result if self._owner is not None else None

    def count_up_to(self, limit: int) -> Tensor:
        """Return the current value, and then add 1 to it; for a scalar int32 or int64 variable.

        Raises OutOfRangeError when the value has reached `limit`.

        >>> n = Variable(3)
        >>> int(n.count_up_to(5)), int(n)
        (3, 4)
        """
        value: Tensor = late_binding.variable_ops.counted(self.value(), limit)
        self.assign(value + 1)
        return value

    def _operand(self, value: Any) -> Tensor:
        tensor = convert_to_tensor(value, self.dtype)
        if type(tensor) is EagerTensor and tensor._array.shape == self.content_spec.shape:
            return tensor
        if not shapes.compatible(self.content_spec.shape, tensor.shape.sizes):
            raise ValueError(
                f"Cannot assign value to variable '{self.name}': Shape mismatch.The variable shape {self.shape}, and "
                f"the assigned value shape {tensor.shape} are incompatible."
            )
        return tensor

    @property
    def _trainable(self) -> bool:  # TensorFlow's attribute, by which GPflow freezes parameters
        return self.trainable

    @_trainable.setter
    def _trainable(self, trainable: bool) -> None:
        self.trainable = trainable

    def ref(self) -> Reference:
        """Return a hashable reference to this variable, for dicts and sets."""
        return Reference(self)

    experimental_ref = ref

    def __getitem__(self, key: Any) -> Tensor:
        """Return part of the current value; the part's `assign` changes that part of the variable.

        >>> v = Variable([1, 2, 3])
        >>> v[1:].assign([7, 8]).numpy(), v[0].assign_add(9).numpy()
        (array([1, 7, 8], dtype=int32), array([10,  7,  8], dtype=int32))
        """
        part = self.value()._item(key)
        part._part_of = self, key
        return part

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign part of the value, as `v.assign` assigns the whole.

        >>> v = Variable([1, 2, 3])
        >>> v[1:] = 0
        >>> v.numpy()
        array([1, 0, 0], dtype=int32)
        """
        self.assign(late_binding.setitem(self.value(), key, value))

    def _assign_part(self, change: str, key: Any, value: Any, name: str | None = None) -> Any:
        """Run `v[key].assign(value)`, or `assign_add` or `assign_sub`."""
        if change != "assign":
            before = self.value()._item(key)
            value = before + value if change == "assign_add" else before - value
        result = self.assign(late_binding.setitem(self.value(), key, value))
        return self if result is None else result

    def __copy__(self) -> Variable:
        return self

    def __deepcopy__(self, memo: Any) -> Variable:
        make, (array, *rest) = Variable.__reduce__(self)
        memo[id(self)] = made = make(array.copy(), *rest)
        return made  # type: ignore[no-any-return]

    def __reduce__(self) -> Any:
        rules = self.constraint, self.synchronization, self.aggregation
        return _made_again, (self._array, self.trainable, self.short_name, self.shape, *rules)

    def _repr_html_(self) -> str:
        from .html_repr import tensor_html

        return tensor_html(self, f"tf.Variable {self.name!r}")

    def __repr__(self) -> str:
        known = f" shape={self.shape} dtype={self.dtype.name}"
        if current() is not None or self._owner is not None:
            return f"<tf.Variable '{self.name}'{known}>"
        return f"<tf.Variable '{self.name}'{known}, numpy={value_text(self._array)}>"


class VariableHandle:
    """A reference to a variable: a scalar of dtype `tf.resource`, without a value.

    >>> v = Variable(1.0)
    >>> v.handle.dtype, v.handle.variable is v
    (tf.resource, True)
    """

    dtype = dtypes.resource
    shape = shapes.TensorShape([])

    def __init__(self, variable: Variable) -> None:
        self.variable = variable


class Assigned(Variable):
    """Another handle to a variable, returned by assignments. Each use reads the current value."""

    def __init__(self, variable: Variable) -> None:
        self._variable = variable

    @property
    def _array(self) -> np.ndarray[Any, Any]:
        return self._variable._array

    @_array.setter
    def _array(self, array: np.ndarray[Any, Any]) -> None:
        self._variable._array = array

    def __getattr__(self, name: str) -> Any:
        if name == "_variable":
            raise AttributeError(name)  # not initialized yet: copied or unpickled
        return getattr(self._variable, name)

    @property
    def name(self) -> str:
        return "UnreadVariable"

    @property
    def _here(self) -> Variable:
        return self._variable._here

    @property
    def _identity(self) -> tuple[VariableHandle, str]:
        return self._variable._identity

    def value(self) -> Tensor:
        return self._variable.value()  # so that a gradient tape records the read

    def ref(self) -> Reference:
        return self._variable.ref()

    def changed(self, result: Any = None) -> Any:
        return self

    def set_shape(self, shape: Any) -> None:
        self._variable.set_shape(shape)


def _assigned(variable: Variable) -> Assigned:
    """Return `Assigned(variable)`, without the creators of variables."""
    handle = object.__new__(Assigned)
    handle._variable = variable
    return handle


def _made_again(
    array: np.ndarray[Any, Any],
    trainable: bool,
    name: str,
    shape: Any,
    constraint: Any,
    synchronization: Any,
    aggregation: Any,
) -> Variable:
    """Rebuild a variable from its pickled state."""
    with name_scope(""):
        return Variable(
            EagerTensor(array),
            trainable,
            name=name,
            constraint=constraint,
            synchronization=synchronization,
            aggregation=aggregation,
            shape=shape,
        )


def _as_tensor(variable: Variable, dtype: dtypes.DType | None) -> Tensor:
    return convert_to_tensor(variable.value(), dtype)


register_conversion(Variable, _as_tensor)
