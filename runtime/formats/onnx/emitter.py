"""The emitter of ONNX nodes: rules call it like functions, and compute with its values like with numbers.

e("Relu", x)              a node, and its result
x * 2.0 + y               Mul, Add; Python numbers have the dtype of the other operand
e.where(x < 0, a, b)      Less, Where
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import dtypes
from ...core.shapes import broadcast
from .onnx_types import DTYPES, helper, tensor_of
from .runtime_kernels import KERNELS, wider
from .values import Ref

_SAME_SHAPE = (
    "Add Sub Mul Div Mod Abs Less LessOrEqual Greater GreaterOrEqual Max Min Equal Neg Where Sqrt Exp Log Sin Cos Tanh "
    "Floor Ceil Round Sigmoid Reciprocal Erf And Or Xor Not IsNaN IsInf BitwiseAnd BitwiseOr BitwiseXor BitwiseNot "
    "Sign Pow Identity Softmax LogSoftmax CumSum"
)
_ELEMENTWISE = frozenset(_SAME_SHAPE.split())
"""Operators whose result has the shape of the operands, broadcast."""

_WITH_PLACES = frozenset({"MaxPool", "TopK", "Unique"})
"""Operators whose results after the first are indices or counts."""


class NodeEmitter:
    """Collects the nodes of a graph and of its subgraphs, and the constants that all share."""

    def __init__(self, opset: int) -> None:
        self.opset = opset
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.hint = "value"  # the name of the operation that is written
        self.lists_grow = False  # the program has TensorArrays that may be written after their end
        self.elements: dict[Any, Any] = {}  # the shapes of the elements of new lists
        self._constants: dict[tuple[Any, ...], Ref] = {}
        self._used: dict[str, int] = {}

    def fresh(self, hint: str | None = None) -> str:
        """Return a name that no other value has."""
        name = hint = hint or self.hint
        while name in self._used:
            self._used[hint] += 1
            name = f"{hint}_{self._used[hint]}"
        self._used[name] = 0
        return name

    def __call__(
        self,
        op: str,
        *inputs: Ref | None,
        dtype: Any = None,
        shape: Any = None,
        outputs: int = 1,
        **attrs: Any,
    ) -> Any:
        """Add a node and return its results. `dtype` is that of the first operand if it is None.

        ONNX Runtime has no kernels for some dtypes. The operands are then cast to a wider one, and the result back.
        """
        given = [ref for ref in inputs if ref is not None]
        own = None if not given else given[-1 if op == "Where" else 0].dtype
        if own is not None and own.name not in KERNELS.get(op, {own.name}):
            return self._widened(op, inputs, own, dtype, shape, outputs, attrs)
        if shape is None and op in _ELEMENTWISE:
            shape = functools.reduce(broadcast, [ref.shape for ref in given])
        result: Any = dtype or own
        kinds = [result] + [dtypes.int64 if op in _WITH_PLACES else result] * (outputs - 1)
        refs = [Ref(self, self.fresh(), kind, shape) for kind in kinds]
        self.add(
            op, [ref.name if ref is not None else "" for ref in inputs], [ref.name for ref in refs], attrs
        )
        return refs[0] if outputs == 1 else refs

    def _widened(
        self,
        op: str,
        inputs: Sequence[Ref | None],
        own: dtypes.DType,
        dtype: Any,
        shape: Any,
        outputs: int,
        attrs: Any,
    ) -> Any:
        to = dtypes.as_dtype(wider(op, own.name))
        given = [self.cast(ref, to) if ref is not None and ref.dtype is own else ref for ref in inputs]
        if op == "Where":
            given[0] = inputs[0]  # the condition stays Boolean
        result = None if dtype is own else dtype
        found = self(op, *given, dtype=result, shape=shape, outputs=outputs, **attrs)
        if outputs > 1:
            return [self.cast(found[0], own), *found[1:]]
        return found if dtype not in (None, own) else self.cast(found, own)

    def one(self, op: str, *inputs: Ref | None, **options: Any) -> Ref:
        """Add a node and return its only result."""
        made: Ref = self(op, *inputs, **options)
        return made

    def add(self, op: str, inputs: list[str], outputs: list[str], attrs: dict[str, Any]) -> None:
        """Add a node by the names of its operands and results."""
        self.nodes.append(helper.make_node(op, inputs, outputs, **attrs))

    def const(self, value: Any, dtype: Any = None) -> Ref:
        """Return a constant: a NumPy array, or Python numbers of a dtype."""
        array = np.asarray(value, None if dtype is None else dtype.numpy_dtype)
        kind = dtype or dtypes.of_array(array)
        key = (kind, array.shape, array.tobytes() if array.dtype != object else tuple(array.ravel().tolist()))
        found = self._constants.get(key)
        if found is None:
            name = self.fresh("const")
            self.initializers.append(tensor_of(name, array, kind))
            found = self._constants[key] = Ref(self, name, kind, array.shape, array)
        return found

    def initialize(self, name: str, array: Any, dtype: dtypes.DType) -> None:
        """Add an initializer with a name of its own."""
        self.initializers.append(tensor_of(name, array, dtype))

    def ints(self, *values: int) -> Ref:
        """Return a constant vector of int64."""
        return self.const(np.array(values, np.int64))

    def like(self, value: Any, other: Ref) -> Ref:
        """Return `value`, a constant of the dtype of `other` if it is a Python number."""
        return value if isinstance(value, Ref) else self.const(value, other.dtype)

    def cast(self, x: Ref, dtype: dtypes.DType) -> Ref:
        """Convert the dtype by ONNX' rule; a constant is converted now."""
        if x.dtype is dtype:
            return x
        if x.value is not None and x.value.dtype != object and x.value.size < 100 and x.dtype.kind in "biu":
            return self.const(x.value.astype(dtype.numpy_dtype), dtype)
        return self.one("Cast", x, dtype=dtype, shape=x.shape, to=DTYPES[dtype.name])

    def where(self, test: Ref, x: Any, y: Any) -> Ref:
        """Return elements of `x` where `test` is true, else of `y`."""
        own = x if isinstance(x, Ref) else y
        return self.one("Where", test, self.like(x, own), self.like(y, own))

    def index(self, x: Ref) -> Ref:
        """Return integers as int64, the dtype of ONNX' shapes and indices."""
        return self.cast(x, dtypes.int64)

    def shape_of(self, x: Ref) -> Ref:
        """Return the shape as a vector of int64: a constant if it is known."""
        if x.shape is not None and None not in x.shape:
            return self.ints(*x.shape)
        return self.one("Shape", x, dtype=dtypes.int64, shape=None if x.shape is None else (len(x.shape),))

    def size_of(self, x: Ref, axis: int) -> Ref:
        """Return the size of an axis as a vector of one int64."""
        axis %= x.rank
        if x.shape[axis] is not None:
            return self.ints(x.shape[axis])
        return self.one("Shape", x, dtype=dtypes.int64, shape=(1,), start=axis, end=axis + 1)

    def concat(self, parts: Sequence[Ref], axis: int = 0) -> Ref:
        """Concatenate; vectors of constants are joined now."""
        if len(parts) == 1:
            return parts[0]
        if axis == 0 and all(part.value is not None and part.dtype.kind in "iu" for part in parts):
            return self.const(np.concatenate([part.value for part in parts]))
        return self.one("Concat", *parts, axis=axis)

    def reshape(self, x: Ref, shape: Any) -> Ref:
        """Reshape to a shape in numbers (-1 for one that follows) or a vector; zeros are sizes."""
        if isinstance(shape, Ref):
            return self.one("Reshape", x, self.index(shape), allowzero=1)
        known = tuple(None if size == -1 else size for size in shape)
        return self.one("Reshape", x, self.ints(*shape), shape=known, allowzero=1)

    def unsqueeze(self, x: Ref, *axes: int) -> Ref:
        made = self.one("Unsqueeze", x, self.ints(*axes))
        if x.shape is not None:
            shape, total = list(x.shape), len(x.shape) + len(axes)
            for axis in sorted(axis % total for axis in axes):
                shape.insert(axis, 1)
            made.shape = tuple(shape)
        return made

    def squeeze(self, x: Ref, *axes: int) -> Ref:
        made = self.one("Squeeze", x, self.ints(*axes))
        if x.shape is not None:
            gone = {axis % len(x.shape) for axis in axes}
            made.shape = tuple(size for axis, size in enumerate(x.shape) if axis not in gone)
        return made

    def transpose(self, x: Ref, perm: Sequence[int]) -> Ref:
        if list(perm) == list(range(len(perm))):
            return x
        made = self.one("Transpose", x, perm=list(perm))
        if x.shape is not None:
            made.shape = tuple(x.shape[axis] for axis in perm)
        return made

    def slice(self, x: Ref, start: int, end: int, axis: int = 0, step: int = 1) -> Ref:
        """Return a part of one axis."""
        made = self.one("Slice", x, self.ints(start), self.ints(end), self.ints(axis), self.ints(step))
        if x.shape is not None:
            shape = list(x.shape)
            shape[axis] = len(range(shape[axis])[start:end:step]) if shape[axis] is not None else None
            made.shape = tuple(shape)
        return made

    def expand(self, x: Ref, shape: Ref) -> Ref:
        """Broadcast to a shape."""
        return self.one("Expand", x, self.index(shape))

    def zeros(self, shape: Ref, dtype: dtypes.DType, value: Any = 0) -> Ref:
        """Return a tensor of a shape filled with a number."""
        if dtype.kind == "S":
            return self.expand(self.const(np.array(value or b"", object), dtype), shape)
        filler = np.array([value], dtype.numpy_dtype)
        if dtype.name == "bfloat16":
            return self.cast(self.zeros(shape, dtypes.float32, value), dtype)
        return self.one("ConstantOfShape", self.index(shape), dtype=dtype, value=tensor_of("", filler, dtype))

    def begin(self) -> list[Any]:
        """Begin a subgraph; return the nodes outside of it for `end`."""
        outer, self.nodes = self.nodes, []
        return outer

    def end(self, outer: list[Any]) -> list[Any]:
        """End a subgraph and return its nodes."""
        inner, self.nodes = self.nodes, outer
        return inner
