"""Tensors: `Tensor`, the class that users see, and `EagerTensor`, which has a value.

`operator_overloads.install` adds the operators; this module depends on no operation.

>>> EagerTensor(np.array([1, 2], np.int32))
<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from .. import dtypes
from . import late_binding
from .abstract_value import AbstractValue, abstract_value_of
from .devices import CPU
from .export import export
from .missing_attributes import INSTEAD, declare_missing
from .shapes import TensorShape


class Operators:
    """The operators of tensors and variables, for type checkers; `operator_overloads.install` adds the functions."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __add__(self, other: Any) -> Tensor: ...
        def __eq__(self, other: Any) -> Tensor: ...  # type: ignore[override]
        def __ne__(self, other: Any) -> Tensor: ...  # type: ignore[override]
        def __neg__(self) -> Tensor: ...

        __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = __matmul__ = __add__
        __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __add__
        __rfloordiv__ = __rmod__ = __rpow__ = __rmatmul__ = __add__
        __lt__ = __le__ = __gt__ = __ge__ = __add__
        __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __add__
        __pos__ = __abs__ = __invert__ = __neg__


@export("Tensor")
class Tensor(Operators):
    """An immutable array of one dtype; in a traced function, a value that the graph computes.

    Attributes: `shape` (TensorShape, dimensions may be None), `dtype`, `name` (None for eager tensors).
    Arithmetic, comparison and indexing follow NumPy's rules for broadcasting. Two tensors of different
    dtypes are never promoted; Python numbers take the tensor's dtype.

    >>> import agc.runtime as tf
    >>> x = tf.constant([[1, 2], [3, 4]])
    >>> isinstance(x, tf.Tensor), x.shape, x.dtype, x[0].numpy().tolist()
    (True, TensorShape([2, 2]), tf.int32, [1, 2])
    """

    __slots__ = ("__dict__", "__weakref__", "_part_of")

    _part_of: Any  # for the result of `v[key]`: the variable and the key

    __array_priority__ = 100.0

    OVERLOADABLE_OPERATORS: ClassVar[frozenset[str]]
    """The names of the operators, for classes that forward them to a tensor."""

    def __hash__(self) -> int:  # == compares elements, as in TensorFlow 2
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the elements."""
        raise NotImplementedError

    @property
    def shape(self) -> TensorShape:
        """The static shape; dimensions that are unknown while tracing are None."""
        raise NotImplementedError

    @property
    def name(self) -> str | None:
        """The name in a graph, such as "add:0". An eager tensor has none: AttributeError."""
        return None

    @property
    def ndim(self) -> int | None:
        """The number of dimensions; None if it is unknown while tracing."""
        return self.shape.rank

    @property
    def device(self) -> str:
        """The device that holds the value; in a graph, the device requested with `tf.device`."""
        return CPU

    def get_shape(self) -> TensorShape:
        """Return `shape`."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Check that the shape is compatible with `shape`; ValueError otherwise. A traced tensor merges both shapes."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(
                f"Tensor's shape {self.shape} is not compatible with supplied shape {TensorShape(shape)}."
            )

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise TypeError(
            "'Tensor' object does not support item assignment: a tensor never changes. In converted code, "
            "`x[i] = value` gives a local variable or an attribute a new tensor (a function that does so to its "
            "parameter must return it); elsewhere make one with tf.tensor_scatter_nd_update, keep the values in a "
            "tf.Variable, or collect them in a tf.TensorArray"
        )

    def __delitem__(self, key: Any) -> NoReturn:
        raise TypeError(
            "'Tensor' object doesn't support item deletion: a tensor never changes. Put together what stays, for "
            "instance `x = tf.concat([x[:i], x[i + 1:]], axis=0)`"
        )

    @property
    def assign(self) -> Callable[..., Any]:
        """For a slice of a variable, `v[1:3].assign(value)`: assign the slice and return the variable."""
        return self._of_variable("assign")

    @property
    def assign_add(self) -> Callable[..., Any]:
        """For a slice of a variable, `v[1:3].assign_add(value)`: add to the slice and return the variable."""
        return self._of_variable("assign_add")

    @property
    def assign_sub(self) -> Callable[..., Any]:
        """For a slice of a variable, `v[1:3].assign_sub(value)`: subtract from the slice and return the variable."""
        return self._of_variable("assign_sub")

    def _of_variable(self, method: str) -> Callable[..., Any]:
        part = getattr(self, "_part_of", None)
        if part is None:
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {method!r}: tensors never change; a tf.Variable "
                "and its parts `v[i]` have it"
            )
        variable, key = part
        return functools.partial(variable._assign_part, method, key)

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        """Return the array API namespace of tensors, the module `array_api`."""
        return late_binding.array_api.of_version(api_version)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__()} - INSTEAD.keys())

    def __bool__(self) -> bool:  # for classes of libraries that take the methods of tensors
        return bool(late_binding.convert_to_tensor(self))

    __nonzero__ = __bool__
    """Python 2's name, which TensorFlow Probability takes as well."""

    def ref(self) -> Reference:
        """Return a hashable reference to this tensor, for dicts and sets. It is equal only for the same tensor."""
        return Reference(self)

    if TYPE_CHECKING:  # installed by operator_overloads

        def __getitem__(self, key: Any) -> Tensor: ...
        def _item(self, key: Any) -> Tensor:
            """Index as `__getitem__` does, also where NumPy's behavior replaces that."""
            ...

        # For tensors with a value; others raise an error.
        def numpy(self) -> Any: ...
        def __iter__(self) -> Iterator[Tensor]: ...
        def __len__(self) -> int: ...
        def __int__(self) -> int: ...
        def __float__(self) -> float: ...
        def __index__(self) -> int: ...


declare_missing(Tensor)


class Reference:
    """A reference to a tensor or variable, compared by identity; see `Tensor.ref`."""

    __slots__ = ("_target",)

    def __init__(self, target: Any) -> None:
        self._target = target

    def deref(self) -> Any:
        return self._target

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._target is other._target

    def __lt__(self, other: Reference) -> bool:
        return id(self._target) < id(other._target)

    def __hash__(self) -> int:
        return id(self._target)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._target!r}>"


class EagerTensor(Tensor):
    """A tensor with a known value: a wrapper of a NumPy array that is never written to again."""

    __slots__ = ("_array", "_kind")

    def __init__(self, array: Any, kind: AbstractValue | None = None) -> None:
        self._array: np.ndarray[Any, Any] = array
        self._kind = kind  # computed at first use

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError(
            f"{cls.__name__}: EagerTensor is not an acceptable base type. Make a `tf.experimental.ExtensionType` with "
            "a field of type `tf.Tensor` instead."
        )

    @property
    def dtype(self) -> dtypes.DType:
        return (self._kind or abstract_value_of(self)).dtype

    @property
    def shape(self) -> TensorShape:
        return (self._kind or abstract_value_of(self)).shape

    @property
    def name(self) -> NoReturn:
        self._is_of_graphs("name")

    @property
    def op(self) -> NoReturn:
        self._is_of_graphs("op")

    @property
    def graph(self) -> Any:
        """The graph that is being built, of which this is a constant; AttributeError outside of functions."""
        builder = late_binding.current()
        if builder is None:
            self._is_of_graphs("graph")
        return builder.graph

    @property
    def value_index(self) -> NoReturn:
        self._is_of_graphs("value_index")

    @property
    def backing_device(self) -> str:
        """The device that holds the elements; there is only one."""
        return self.device

    def cpu(self) -> EagerTensor:
        """Return the tensor itself, which is in the memory of the CPU."""
        return self

    def gpu(self, gpu_index: int = 0) -> NoReturn:
        """Raise RuntimeError: there is no such device."""
        raise RuntimeError(f"GPU:{gpu_index} unknown device.")

    def _is_of_graphs(self, name: str) -> NoReturn:
        raise AttributeError(f"Tensor.{name} is undefined when eager execution is enabled.")

    def numpy(self) -> Any:
        """Return the value: a copy as a NumPy array, or a NumPy scalar for a scalar tensor (bytes for a string)."""
        return self._array.copy() if self._array.ndim else self._array[()]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """Return the elements as an array: a read-only one without a copy, unless `copy` or `dtype` ask for one."""
        if dtype is None and not copy:
            return self._read_only()
        return np.array(self._read_only(), dtype=dtype, copy=copy)

    def __buffer__(self, flags: int) -> memoryview:
        """Return the elements as a read-only memoryview; used from Python 3.12 on."""
        return self._read_only().data

    def _read_only(self) -> np.ndarray[Any, Any]:
        view = np.asarray(self._array).view()  # operations may return NumPy scalars
        view.flags.writeable = False
        return view

    def __dlpack__(self, **options: Any) -> Any:
        return late_binding.exported(self, **options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return late_binding.CPU

    def _repr_html_(self) -> str:
        from .html_repr import tensor_html

        return tensor_html(self, "tf.Tensor")

    def __bool__(self) -> bool:
        return bool(self._array)

    def __int__(self) -> int:
        return int(self._scalar())

    def __float__(self) -> float:
        return float(self._scalar())

    def __complex__(self) -> complex:
        return complex(self._scalar())

    def _scalar(self) -> Any:
        if self._array.ndim:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return self._array.item()

    def __index__(self) -> int:
        if self._array.ndim or self._array.dtype.kind not in "iu":
            raise TypeError(f"only integer scalar tensors can be an index, not {self.dtype.name}{self.shape}")
        return int(self._array)

    def __len__(self) -> int:
        if not self._array.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return len(self._array)

    def __format__(self, spec: str) -> str:
        return format(self._array[()], spec)

    def __copy__(self) -> EagerTensor:
        return self

    def __deepcopy__(self, memo: Any) -> EagerTensor:
        return self

    def __reduce__(self) -> Any:
        return EagerTensor, (self._array,)

    def __repr__(self) -> str:
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={value_text(self._array)}>"

    def __str__(self) -> str:
        item = self._array[()]
        text = repr(item) if isinstance(item, bytes) else str(item)
        gap = "\n" if "\n" in text else ""
        return f"tf.Tensor({gap}{text}, shape={self.shape}, dtype={self.dtype.name})"


def value_text(array: np.ndarray[Any, Any]) -> str:
    """Return a value as the `repr` of tensors and variables shows it.

    A scalar is shown as a Python number, so a float32 has all digits of the equal float64. A text of several
    lines begins on a new line.

    >>> value_text(np.array(0.1, np.float32)), value_text(np.array([0.1], np.float32))
    ('0.10000000149011612', 'array([0.1], dtype=float32)')
    """
    if not array.ndim:
        return repr(array.item())
    text = repr(array)
    return f"\n{text}" if "\n" in text else text


class EagerArray:
    """The state of an eager TensorArray, as operations take and return it."""

    __slots__ = ("_array", "spec")

    def __init__(self, elements: Any, spec: Any) -> None:
        self._array = elements
        self.spec = spec
