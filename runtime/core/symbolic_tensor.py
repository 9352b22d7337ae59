"""Symbolic tensors: each names a value of a graph under construction, which has no value before the graph runs.

def f(x):                      x    Tensor("x:0", shape=(), dtype=int32)
    return int(x)       ==>    an error that names `x`, the line, and the fix
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from agc.autograph import api

from .. import dtypes, errors
from ..ir.graph import Value
from . import late_binding
from .shapes import TensorShape, of_dims
from .tensor import Tensor
from .user_lines import index_advice

if TYPE_CHECKING:
    from ..ir.graph import Graph, Operation


class SymbolicTensor(Tensor):
    """A tensor that a graph under construction will compute."""

    __slots__ = ("_builder", "_numbers", "_value", "_weak_from")

    def __init__(self, value: Value, builder: late_binding.Builder) -> None:
        self._value = value
        self._builder = builder
        # The loop variable with a Python number as its start, if this is that variable or computed from it; see
        # WeakDtypeError.
        self._weak_from: Value | None = None
        self._numbers: tuple[Any, ...] = ()  # the Python numbers of which this is one; see weak_types.py

    def __hash__(self) -> int:
        """Hash by identity in graphs for sessions, where tensors are dict keys (feed_dict) and `==` is identity."""
        if self._builder.root.keeps_constants:
            return hash(self._value)
        raise TypeError(
            f"Tensor is unhashable. Instead, use tensor.ref() as the key. Or, as `{self._value.name}` "
            f"({self._value.spec}) gets its value only when the graph runs, keep the values of a dict in a tensor and "
            "write tf.gather(values, index), or use a table of tf.lookup; in place of a set, use tf.unique."
        )

    def __eq__(self, other: Any) -> Any:
        return self._is(other) if self._builder.root.keeps_constants else super().__eq__(other)

    def __ne__(self, other: Any) -> Any:
        return not self._is(other) if self._builder.root.keeps_constants else super().__ne__(other)

    def _is(self, other: object) -> bool:
        return isinstance(other, SymbolicTensor) and other._value is self._value

    @property
    def dtype(self) -> dtypes.DType:
        return self._value.spec.dtype  # type: ignore[union-attr]

    @property
    def shape(self) -> TensorShape:
        return of_dims(self._value.shape)

    @property
    def name(self) -> str:
        """The name of the operation and the index of its result: `add_1:0`."""
        return self.graph.naming().values[self._value]

    @property
    def graph(self) -> Graph:
        """The graph that the tensor belongs to; during tracing, the part built so far."""
        return self._builder.graph

    @property
    def op(self) -> Operation:
        """The operation that computes the tensor."""
        return self.graph.made_by(self._value)

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Return the value in a session, by default the one whose block is active."""
        return late_binding.session_for(session, "evaluate tensor using `eval()`").run(self, feed_dict)

    def consumers(self) -> list[Operation]:
        """Return the operations that take this tensor as an input."""
        return [operation for operation in self.graph.get_operations() if self._value in operation.inputs]

    @property
    def value_index(self) -> int:
        """The index among the results of `op`."""
        return self.op.outputs.index(self._value)

    @property
    def device(self) -> str:
        return self.op.device

    def set_shape(self, shape: Any) -> None:
        """Merge `shape` into the known shape; ValueError when they contradict each other."""
        merged = self.shape.merge_with(shape)
        self._value.spec = self._value.spec.with_shape(merged.sizes)  # type: ignore[union-attr]

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"a traced tensor cannot be pickled: `{self._value.name}` has no value until the graph that is being "
            "built runs"
        )

    def __copy__(self) -> SymbolicTensor:
        return self

    def __deepcopy__(self, memo: Any) -> SymbolicTensor:
        return self

    @property
    def numpy(self) -> NoReturn:
        """Raise AttributeError, so that `hasattr(x, "numpy")` distinguishes eager tensors from traced ones."""
        made = self._builder.origin_of(self._value)
        place = "" if made is None else f" at {made.filename}:{made.line}, in {made.function}"
        reason = (
            f"the graph of `{self._builder.name}` computes it{place}. Return it, and use the returned tensor."
            if self._builder.is_over()
            else "it gets its value when the graph runs. Use functions of tf, or tf.numpy_function for what only "
            "NumPy has."
        )
        raise AttributeError(
            f"'SymbolicTensor' object `{self._value.name}` ({self._value.spec}) has no attribute 'numpy': {reason}"
        )

    def unreachable(self, use: str) -> errors.InaccessibleTensorError:
        """Return the error for eager code that needs the value; `use` is a verb phrase before "a traced tensor"."""
        return self._builder.out_of_reach(self._value, use)

    def _refuse(self, use: str, remedy: str, name: str = "") -> NoReturn:
        if self._builder.is_over():
            raise self.unreachable(f"{use.removeprefix('Using a traced tensor as ')} needs the value of")
        diagnostic = api.unconverted(
            f"`{self._value.name}` ({self._value.spec}) has a value only when the graph runs"
        )
        if diagnostic is not None:
            raise errors.NotConvertedError(diagnostic)
        message = (
            f"{use} needs the value of `{name or self._value.name}` ({self._value.spec}), which it gets only when "
            f"the graph runs. {remedy}"
        )
        raise errors.OperatorNotAllowedInGraphError(message)

    def __bool__(self) -> NoReturn:
        self._refuse(
            "Using a traced tensor as a Python `bool`",
            "An `if`, `while`, `and`, `or` or `not` in converted code may depend on it (AutoGraph took this "
            'for plain Python, as it does with `case "text":`, use bytes there); elsewhere use tf.cond, '
            "tf.while_loop or tf.logical_and; in place of `xs.sort()`, xs = sorted(xs).",
        )

    def __int__(self) -> int:
        """Return the number if it is statically known; libraries call `int` to find that out."""
        known = self._value.elements if self.shape.rank == 0 else None
        if known is None or known[0] is None:
            self._refuse("int()", "Use tf.cast(x, tf.int32).")
        return int(known[0])

    def __float__(self) -> NoReturn:
        self._refuse(
            "float()", "Use tf.cast(x, tf.float32); in place of a function of `math`, that of tf.math."
        )

    def __index__(self) -> NoReturn:
        self._refuse(*index_advice(self._value.name))

    def __contains__(self, item: Any) -> NoReturn:
        name = self._value.name
        sought = item._value.name if isinstance(item, SymbolicTensor) else repr(item)
        self._refuse(
            f"`in {name}`",
            f"Write tf.reduce_any({name} == {sought}), and for `not in` tf.reduce_all({name} != {sought}).",
        )

    def __iter__(self) -> Iterator[Tensor]:
        """Return the rows if their number is known: for `a, b = x`, `f(*x)`, `list(x)`."""
        if self.shape.rank == 0:
            raise TypeError("Cannot iterate over a scalar tensor.")
        rows = None if self.shape.rank is None else self.shape[0]
        if rows is None:
            self._refuse(
                "Iterating over a traced tensor with an unknown number of rows",
                "A `for` in converted code may do it. To unpack the rows, set their number, as in "
                f"tf.ensure_shape({self._value.name}, [3]); elsewhere use tf.TensorArray or tf.while_loop.",
            )
        return map(self.__getitem__, range(rows))

    def __len__(self) -> int:
        rows = self.shape.rank and self.shape[0]
        if rows is None:
            self._refuse("len()", "Use tf.shape(x)[0].")
        if self.shape.rank == 0:
            raise TypeError("Scalar tensor has no `len()`")
        return int(rows)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return late_binding.on_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return late_binding.on_function(function, args, kwargs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise NotImplementedError(
            f"Cannot convert a symbolic tf.Tensor ({self.name}) to a numpy array. This error may indicate that "
            "you're trying to pass a Tensor to a NumPy call, which is not supported. Use functions of tf, or "
            "tf.numpy_function for what only NumPy has."
        )

    def __repr__(self) -> str:
        shown = self._builder.shown
        text = f"<tf.Tensor '{shown.name(self._value)}' shape={self.shape} dtype={self.dtype.name}>"
        return shown.text(text, self, "!r")

    def __str__(self) -> str:
        return format(self, "")

    def __format__(self, spec: str) -> str:
        """Return a placeholder text for the value; it includes a format such as `:.3f`."""
        shown = self._builder.shown
        shape = "" if self.shape.rank is None else f"shape={self.shape}, "
        text = f'Tensor("{shown.name(self._value)}", {shape}dtype={self.dtype.name})'
        if not spec:
            return shown.text(text, self, "")
        user = sys._getframe(1)
        return shown.text(f"{text}:{spec}", self, f":{spec}", f"{user.f_code.co_filename}:{user.f_lineno}")


class KnownTensor(SymbolicTensor):
    """A constant of a graph for sessions: a symbolic tensor whose value is known during construction."""

    __slots__ = ("_array",)

    def __init__(self, value: Value, builder: late_binding.Builder, array: np.ndarray[Any, Any]) -> None:
        super().__init__(value, builder)
        self._array = array


class SymbolicArray:
    """The state of a TensorArray in a graph under construction, as operations take and return it."""

    __slots__ = ("_builder", "_value")

    def __init__(self, value: Value, builder: late_binding.Builder) -> None:
        self._value = value
        self._builder = builder

    @property
    def spec(self) -> Any:
        return self._value.spec


class WeakDtypeError(TypeError):
    """Error: a loop variable starts as a Python number and meets another dtype, which it should start with.

    step = 1.0
    while v > 1:
        step /= 2
        v = v * step        `v` is a float64: so `step` becomes one
    """

    def __init__(self, message: str, origin: Value | None, dtype: dtypes.DType) -> None:
        super().__init__(message)
        self.origin = origin
        self.dtype = dtype


def adapting(
    values: Iterable[Any], others: Iterable[dtypes.DType | None]
) -> tuple[SymbolicTensor, dtypes.DType] | None:
    """Return the weak tensor among the values and the single other dtype that it meets, if it can take that dtype.

    An unmodified loop variable can take any dtype. A value computed from it keeps its kind, integer or float:
    `k // 2` differs between integers and floats.
    """
    weak = next((v for v in values if isinstance(v, SymbolicTensor) and v._weak_from is not None), None)
    if weak is None:
        return None
    met = set(others) - {weak.dtype, None}
    if len(met) != 1:
        return None
    dtype = met.pop()
    assert dtype is not None
    is_itself = weak._weak_from is weak._value
    return (weak, dtype) if is_itself or dtype.is_floating == weak.dtype.is_floating else None


def weak_origin(values: Iterable[Any]) -> Value | None:
    """Return the weak loop variable that a result is computed from, if all its other operands are Python numbers."""
    origin = None
    for value in values:
        if isinstance(value, SymbolicTensor) and value._weak_from is not None:
            origin = origin or value._weak_from
        elif type(value) not in (int, float):
            return None
    return origin
