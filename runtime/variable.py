"""`Variable`: a tensor that can be assigned, shared by reference between eager code and graphs.

    v = Variable(1.0)          v.assign_add(2.0)          v + 1  → reads the present value

Inside a function, reads and assignments are operations that run each time, in the order of the program.
A variable may be made in a function only while it is traced for the first time (`Builder.make_variable`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import dtypes, shapes
from .convert import convert_to_tensor, register_tensor_conversion_function
from .devices import CPU
from .ir.builder import Builder, current
from .ir.specs import RefSpec, Spec
from .ops import overloads, scattering, state
from .ops.assigning import setitem
from .ops.selecting import gather_nd
from .tensor import EagerTensor, Reference, Tensor, value_text


class Variable:
    """A value that changes, of one dtype and a shape that is fixed unless `shape` says otherwise.

    Args:
        initial_value: a tensor or what converts into one, or a function without arguments that returns it.
        trainable: whether training should change it (default True).
        name: for people; two variables may have the same one.
        dtype: converts `initial_value`.
        shape: a TensorShape that later values fit, with None for dimensions that vary. Default: the initial one.

    Raises ValueError without an initial value, or when it does not fit `shape`.

    >>> v = Variable([1.0, 2.0])
    >>> v.assign_add([1.0, 1.0]).numpy()
    array([2., 3.], dtype=float32)
    >>> v.assign_sub([1.0, 1.0]).numpy(), v.assign([5.0, 6.0]).numpy()
    (array([1., 2.], dtype=float32), array([5., 6.], dtype=float32))
    """

    def __hash__(self) -> int:  # == compares values, as in TensorFlow 2
        raise TypeError("Variable is unhashable. Instead, use variable.ref() as the key.")

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
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
    ) -> None:
        if initial_value is None:
            raise ValueError("The `initial_value` arg to `tf.Variable` must be specified.")
        value = initial_value() if callable(initial_value) else initial_value
        builder = current()
        tensor = _initial(value, dtype) if builder is None else _make_in_graph(builder, value, dtype)
        declared = shapes.as_dims(tensor.shape if shape is None else shape)
        if validate_shape and not shapes.compatible(declared, tensor._array.shape):
            raise ValueError(
                f"The initial value's shape {shapes.show(tensor._array.shape)} is not compatible with the shape "
                f"{shapes.show(declared)} of the variable"
            )
        self._array: np.ndarray[Any, Any] = tensor._array
        self.content_spec = Spec(tensor.dtype, declared)
        self.spec = RefSpec(self.content_spec)
        self.trainable = trainable is None or trainable
        self.constraint = constraint
        self.short_name = name or "Variable"

    @property
    def name(self) -> str:
        return f"{self.short_name}:0"

    @property
    def dtype(self) -> dtypes.DType:
        return self.content_spec.dtype

    @property
    def shape(self) -> shapes.TensorShape:
        return shapes.TensorShape(self.content_spec.shape)

    @property
    def device(self) -> str:
        """The device that holds the value."""
        return CPU

    def get_shape(self) -> shapes.TensorShape:
        return self.shape

    @property
    def ndim(self) -> int | None:
        return self.shape.rank

    def value(self) -> Tensor:
        """The present value, as a tensor."""
        tensor: Tensor = state.read_variable(self, name=self.short_name)
        return tensor

    def read_value(self) -> Tensor:
        return self.value()

    def numpy(self) -> Any:
        """The present value, as NumPy has it; not in a graph, where it is known only when the graph runs."""
        return self.value().numpy()  # type: ignore[attr-defined]

    def assign(
        self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Replace the value. Returns the variable, None without `read_value`.

        Raises ValueError when the shape does not fit, TypeError or ValueError when the dtype does not.
        """
        state.assign_variable(self, self._operand(value))
        return self if read_value else None

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Add `delta`. Returns and raises as `assign`."""
        state.assign_add_variable(self, self._operand(delta))
        return self if read_value else None

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Subtract `delta`. Returns and raises as `assign`."""
        state.assign_sub_variable(self, self._operand(delta))
        return self if read_value else None

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements or slices of the value at `indices`, as `tf.gather_nd` takes them."""
        return gather_nd(self.value(), indices, name=name)  # type: ignore[no-any-return]

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Replace the elements or slices at `indices`, as `tf.tensor_scatter_nd_update` does.

        >>> Variable([1, 2, 3]).scatter_nd_update([[0], [2]], [7, 9]).numpy()
        array([7, 2, 9], dtype=int32)
        """
        return self.assign(scattering.tensor_scatter_nd_update(self.value(), indices, updates, name=name))

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Add to the elements or slices at `indices`."""
        return self.assign(scattering.tensor_scatter_nd_add(self.value(), indices, updates, name=name))

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Subtract from the elements or slices at `indices`."""
        return self.assign(scattering.tensor_scatter_nd_sub(self.value(), indices, updates, name=name))

    def _operand(self, value: Any) -> Tensor:
        tensor = convert_to_tensor(value, self.dtype)
        if not shapes.compatible(self.content_spec.shape, tensor.shape.dims):
            raise ValueError(
                f"Cannot assign value to variable '{self.name}': Shape mismatch.The variable shape {self.shape}, and "
                f"the assigned value shape {tensor.shape} are incompatible."
            )
        return tensor

    def ref(self) -> Reference:
        """A hashable stand-in for this variable, for dicts and sets."""
        return Reference(self)

    def __bool__(self) -> bool:
        return bool(self.value())

    def __int__(self) -> int:
        return int(self.numpy())

    def __float__(self) -> float:
        return float(self.value())  # type: ignore[arg-type]

    def __index__(self) -> int:
        return self.value().__index__()  # type: ignore[attr-defined, no-any-return]

    def __len__(self) -> int:
        return len(self.value())  # type: ignore[arg-type]

    def __getitem__(self, key: Any) -> Tensor:
        """Part of the present value; its `assign` changes that part of the variable.

        >>> v = Variable([1, 2, 3])
        >>> v[1:].assign([7, 8]).numpy(), v[0].assign_add(9).numpy()
        (array([1, 7, 8], dtype=int32), array([10,  7,  8], dtype=int32))
        """
        part = self.value()[key]
        part._part_of = self, key
        return part

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign part of the value, as `v.assign` assigns the whole.

        >>> v = Variable([1, 2, 3])
        >>> v[1:] = 0
        >>> v.numpy()
        array([1, 0, 0], dtype=int32)
        """
        self.assign(setitem(self.value(), key, value))

    def _assign_part(self, change: str, key: Any, value: Any, name: str | None = None) -> Variable:
        """`v[key].assign(value)`, and likewise `assign_add` and `assign_sub`."""
        if change != "assign":
            before = self.value()[key]
            value = before + value if change == "assign_add" else before - value
        self[key] = value
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.value(), dtype=dtype)

    def __deepcopy__(self, memo: Any) -> Variable:
        return Variable(
            EagerTensor(self._array.copy()), self.trainable, name=self.short_name, shape=self.shape
        )

    def __repr__(self) -> str:
        known = f" shape={self.shape} dtype={self.dtype.name}"
        if current() is not None:
            return f"<tf.Variable '{self.name}'{known}>"
        return f"<tf.Variable '{self.name}'{known}, numpy={value_text(self._array)}>"


def _initial(value: Any, dtype: Any) -> EagerTensor:
    if isinstance(value, Tensor) and dtype is not None:
        value = value.numpy()  # type: ignore[attr-defined]
    tensor = convert_to_tensor(value, dtype)
    assert isinstance(tensor, EagerTensor)
    return tensor


def _make_in_graph(builder: Builder, value: Any, dtype: Any) -> EagerTensor:
    function = builder
    while not function.is_function:
        assert function.parent is not None
        function = function.parent
    if function.make_variable is None:
        raise ValueError(
            "tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable "
            "is only created once or created outside tf.function: keep it in an attribute or a global and test "
            "`if self.v is None` before making it."
        )
    return function.make_variable(value, dtype)  # type: ignore[no-any-return]


def _as_tensor(variable: Variable, dtype: dtypes.DType | None) -> Tensor:
    return convert_to_tensor(variable.value(), dtype)


register_tensor_conversion_function(Variable, _as_tensor)
overloads.install(Variable)
