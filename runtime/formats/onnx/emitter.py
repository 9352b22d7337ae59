"""The emitter of ONNX nodes: rules call it like functions, and compute with its values like with numbers.

    e("Relu", x)              a node, and its result
    x * 2.0 + y               Mul, Add; Python numbers have the dtype of the other operand
    e.where(x < 0, a, b)      Less, Where

ONNX Runtime has no kernels for some dtypes. The emitter then casts to a wider dtype, in which the result is the same,
and back (`KERNELS`).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import dtypes
from ...core.shapes import broadcast
from ..missing import library

onnx: Any = library("onnx", "onnx", "the format ONNX")
T, helper = onnx.TensorProto, onnx.helper

DTYPES = {
    "float32": T.FLOAT, "float64": T.DOUBLE, "float16": T.FLOAT16, "bfloat16": T.BFLOAT16, "bool": T.BOOL,
    "int8": T.INT8, "int16": T.INT16, "int32": T.INT32, "int64": T.INT64, "string": T.STRING,
    "uint8": T.UINT8, "uint16": T.UINT16, "uint32": T.UINT32, "uint64": T.UINT64,
}  # fmt: skip

_WIDER = {
    "bool": "uint8", "bfloat16": "float32", "float16": "float32", "uint8": "int32", "int8": "int32", "int16": "int32",
    "uint16": "int32", "uint32": "int64", "uint64": "int64", "int32": "int64",
}  # fmt: skip
_CODES = {
    "f": "float32", "d": "float64", "i": "int32", "l": "int64", "b": "bool", "B": "uint8", "c": "int8", "h": "int16",
    "H": "uint16", "I": "uint32", "L": "uint64", "e": "float16", "s": "string",
}  # fmt: skip
_ROWS = {
    "fdilBchHILe": "Add Sub Mul Div Mod Abs Less LessOrEqual Greater GreaterOrEqual",
    "fdilBcILe": "Max Min",
    "fdilbBchHILes": "Equal Concat Expand Tile ReverseSequence",
    "fdilchHe": "Neg",
    "fdilBcILes": "Where",
    "fde": "Sqrt Exp Log Sin Cos Tanh Floor Ceil Round Sigmoid Softmax LogSoftmax Reciprocal",
    "fe": "Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh Erf Softplus Elu Selu Softsign LeakyRelu Det Conv "
    "ConvTranspose AveragePool",
    "fdile": "CumSum MatMul Einsum ReduceSum ReduceProd ReduceMean ReduceL2 ReduceLogSumExp Pow",
    "fdilBce": "ReduceMax ReduceMin ArgMax ArgMin",
    "fdilBche": "TopK",
    "fdBce": "MaxPool",
    "fdilbBcIL": "Pad",
    "fdlcs": "Unique",
    "fdilbB": "NonZero",
    "fdilbe": "Trilu",
    "ilBchHIL": "BitwiseAnd BitwiseOr BitwiseXor BitwiseNot",
    "fdilcBe": "Relu",
}
_ORDERING = {"ReduceMax", "ReduceMin", "ArgMax", "ArgMin", "TopK"}  # int64 orders large uint64 in another way
KERNELS = {op: {_CODES[code] for code in row} for row, ops in _ROWS.items() for op in ops.split()}
"""The dtypes for which ONNX Runtime has a kernel, for operators that lack some."""


_SAME_SHAPE = (
    "Add Sub Mul Div Mod Abs Less LessOrEqual Greater GreaterOrEqual Max Min Equal Neg Where Sqrt Exp Log Sin Cos Tanh "
    "Floor Ceil Round Sigmoid Reciprocal Erf And Or Xor Not IsNaN IsInf BitwiseAnd BitwiseOr BitwiseXor BitwiseNot "
    "Sign Pow Identity Softmax LogSoftmax CumSum"
)
_ELEMENTWISE = frozenset(_SAME_SHAPE.split())
"""Operators whose result has the shape of the operands, broadcast."""


class InexpressibleError(Exception):
    """Error of a rule that cannot express an operation; the message is the reason."""


class Ref:
    """A value of the ONNX graph: its name and dtype, its shape as far as it is known, and that of a constant."""

    __slots__ = ("dtype", "e", "is_unwritten", "name", "shape", "value")

    def __init__(
        self, e: NodeEmitter, name: str, dtype: dtypes.DType, shape: Any = None, value: Any = None
    ) -> None:
        self.e = e
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.value = value
        self.is_unwritten = False  # a TensorArray that has no elements yet

    @property
    def rank(self) -> int:
        """The number of axes. Raises InexpressibleError if it is unknown."""
        if self.shape is None:
            raise InexpressibleError("the rank of an operand is not known")
        return len(self.shape)

    def _with(self, op: str, other: Any, flip: bool = False, dtype: Any = None) -> Ref:
        pair = (self, self.e.like(other, self))
        made: Ref = self.e(op, *(pair[::-1] if flip else pair), dtype=dtype)
        return made

    def __add__(self, other: Any) -> Ref:
        return self._with("Add", other)

    def __radd__(self, other: Any) -> Ref:
        return self._with("Add", other, flip=True)

    def __sub__(self, other: Any) -> Ref:
        return self._with("Sub", other)

    def __rsub__(self, other: Any) -> Ref:
        return self._with("Sub", other, flip=True)

    def __mul__(self, other: Any) -> Ref:
        return self._with("Mul", other)

    def __rmul__(self, other: Any) -> Ref:
        return self._with("Mul", other, flip=True)

    def __truediv__(self, other: Any) -> Ref:
        return self._with("Div", other)

    def __rtruediv__(self, other: Any) -> Ref:
        return self._with("Div", other, flip=True)

    def __neg__(self) -> Ref:
        made: Ref = self.e("Neg", self)
        return made

    def __lt__(self, other: Any) -> Ref:
        return self._with("Less", other, dtype=dtypes.bool_)

    def __le__(self, other: Any) -> Ref:
        return self._with("LessOrEqual", other, dtype=dtypes.bool_)

    def __gt__(self, other: Any) -> Ref:
        return self._with("Greater", other, dtype=dtypes.bool_)

    def __ge__(self, other: Any) -> Ref:
        return self._with("GreaterOrEqual", other, dtype=dtypes.bool_)

    def equals(self, other: Any) -> Ref:
        return self._with("Equal", other, dtype=dtypes.bool_)

    def __and__(self, other: Any) -> Ref:
        return self._with("And" if self.dtype.is_bool else "BitwiseAnd", other)

    def __or__(self, other: Any) -> Ref:
        return self._with("Or" if self.dtype.is_bool else "BitwiseOr", other)

    def __xor__(self, other: Any) -> Ref:
        return self._with("Xor" if self.dtype.is_bool else "BitwiseXor", other)

    def __invert__(self) -> Ref:
        made: Ref = self.e("Not" if self.dtype.is_bool else "BitwiseNot", self)
        return made

    __hash__ = object.__hash__


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
        """Add a node and return its results. `dtype` is that of the first operand if it is None."""
        first = next(ref for ref in inputs if ref is not None) if inputs else None
        kernels = KERNELS.get(op)
        if kernels is not None:
            main = (
                next((ref.dtype for ref in inputs[::-1] if ref is not None), None)
                if op == "Where"
                else (first.dtype if first is not None else None)
            )
            if main is not None and main.name not in kernels:
                return self._widened(op, inputs, main, dtype, shape, outputs, attrs)
        result = dtype or (inputs[1].dtype if op == "Where" else first.dtype)  # type: ignore[union-attr]
        if shape is None and op in _ELEMENTWISE:
            shape = functools.reduce(broadcast, [ref.shape for ref in inputs if ref is not None])
        refs = [Ref(self, self.fresh(), result, shape) for _ in range(outputs)]
        self.add(
            op, [ref.name if ref is not None else "" for ref in inputs], [ref.name for ref in refs], attrs
        )
        return refs[0] if outputs == 1 else refs

    def _widened(
        self,
        op: str,
        inputs: Sequence[Ref | None],
        own: Any,
        dtype: Any,
        shape: Any,
        outputs: int,
        attrs: Any,
    ) -> Any:
        wide = _WIDER.get(own.name)
        while wide is not None and wide not in KERNELS[op]:
            wide = _WIDER.get(wide)
        if wide is None or (own.name == "uint64" and op in _ORDERING):
            raise InexpressibleError(f"ONNX Runtime has no kernel of {op} for {own.name}")
        to = dtypes.as_dtype(wide)
        given = [self.cast(ref, to) if ref is not None and ref.dtype is own else ref for ref in inputs]
        if op == "Where":
            given[0] = inputs[0]  # the condition stays Boolean
        result = None if dtype is own else dtype
        found = self(op, *given, dtype=result, shape=shape, outputs=outputs, **attrs)
        if outputs > 1:
            return [self.cast(found[0], own), *found[1:]]
        return found if dtype not in (None, own) else self.cast(found, own)

    def add(self, op: str, inputs: list[str], outputs: list[str], attrs: dict[str, Any]) -> None:
        """Add a node by the names of its operands and results."""
        self.nodes.append(helper.make_node(op, inputs, outputs, **attrs))

    def const(self, value: Any, dtype: Any = None) -> Ref:
        """Return a constant: a NumPy array, or Python numbers of a dtype."""
        array = np.asarray(value, None if dtype is None else dtype.numpy)
        kind = dtype or dtypes.of_array(array)
        key = (kind, array.shape, array.tobytes() if array.dtype != object else tuple(array.ravel().tolist()))
        found = self._constants.get(key)
        if found is None:
            name = self.fresh("const")
            self.initializers.append(_tensor(name, array, kind))
            found = self._constants[key] = Ref(self, name, kind, array.shape, array)
        return found

    def initialize(self, name: str, array: Any, dtype: dtypes.DType) -> None:
        """Add an initializer with a name of its own."""
        self.initializers.append(_tensor(name, array, dtype))

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
            return self.const(x.value.astype(dtype.numpy), dtype)
        made: Ref = self("Cast", x, dtype=dtype, shape=x.shape, to=DTYPES[dtype.name])
        return made

    def where(self, test: Ref, x: Any, y: Any) -> Ref:
        """Return elements of `x` where `test` is true, else of `y`."""
        own = x if isinstance(x, Ref) else y
        made: Ref = self("Where", test, self.like(x, own), self.like(y, own))
        return made

    def index(self, x: Ref) -> Ref:
        """Return integers as int64, the dtype of ONNX' shapes and indices."""
        return self.cast(x, dtypes.int64)

    def shape_of(self, x: Ref) -> Ref:
        """Return the shape as a vector of int64: a constant if it is known."""
        if x.shape is not None and None not in x.shape:
            return self.ints(*x.shape)
        made: Ref = self("Shape", x, dtype=dtypes.int64, shape=None if x.shape is None else (len(x.shape),))
        return made

    def size_of(self, x: Ref, axis: int) -> Ref:
        """Return the size of an axis as a vector of one int64."""
        axis %= x.rank
        if x.shape[axis] is not None:
            return self.ints(x.shape[axis])
        made: Ref = self("Shape", x, dtype=dtypes.int64, shape=(1,), start=axis, end=axis + 1)
        return made

    def concat(self, parts: Sequence[Ref], axis: int = 0) -> Ref:
        """Concatenate; vectors of constants are joined now."""
        if len(parts) == 1:
            return parts[0]
        if axis == 0 and all(part.value is not None and part.dtype.kind in "iu" for part in parts):
            return self.const(np.concatenate([part.value for part in parts]))
        made: Ref = self("Concat", *parts, axis=axis)
        return made

    def reshape(self, x: Ref, shape: Any) -> Ref:
        """Reshape to a shape in numbers (-1 for one that follows) or a vector; zeros are sizes."""
        if isinstance(shape, Ref):
            return self("Reshape", x, self.index(shape), allowzero=1)  # type: ignore[no-any-return]
        known = tuple(None if size == -1 else size for size in shape)
        return self("Reshape", x, self.ints(*shape), shape=known, allowzero=1)  # type: ignore[no-any-return]

    def unsqueeze(self, x: Ref, *axes: int) -> Ref:
        made: Ref = self("Unsqueeze", x, self.ints(*axes))
        if x.shape is not None:
            shape, total = list(x.shape), len(x.shape) + len(axes)
            for axis in sorted(axis % total for axis in axes):
                shape.insert(axis, 1)
            made.shape = tuple(shape)
        return made

    def squeeze(self, x: Ref, *axes: int) -> Ref:
        made: Ref = self("Squeeze", x, self.ints(*axes))
        if x.shape is not None:
            gone = {axis % len(x.shape) for axis in axes}
            made.shape = tuple(size for axis, size in enumerate(x.shape) if axis not in gone)
        return made

    def transpose(self, x: Ref, perm: Sequence[int]) -> Ref:
        if list(perm) == list(range(len(perm))):
            return x
        made: Ref = self("Transpose", x, perm=list(perm))
        if x.shape is not None:
            made.shape = tuple(x.shape[axis] for axis in perm)
        return made

    def slice(self, x: Ref, start: int, end: int, axis: int = 0, step: int = 1) -> Ref:
        """Return a part of one axis."""
        made: Ref = self("Slice", x, self.ints(start), self.ints(end), self.ints(axis), self.ints(step))
        if x.shape is not None:
            shape = list(x.shape)
            shape[axis] = len(range(shape[axis])[start:end:step]) if shape[axis] is not None else None
            made.shape = tuple(shape)
        return made

    def expand(self, x: Ref, shape: Ref) -> Ref:
        """Broadcast to a shape."""
        made: Ref = self("Expand", x, self.index(shape))
        return made

    def zeros(self, shape: Ref, dtype: dtypes.DType, value: Any = 0) -> Ref:
        """Return a tensor of a shape filled with a number."""
        if dtype.kind == "S":
            return self.expand(self.const(np.array(value or b"", object), dtype), shape)
        filler = np.array([value], dtype.numpy)
        if dtype.name == "bfloat16":
            return self.cast(self.zeros(shape, dtypes.float32, value), dtype)
        made: Ref = self("ConstantOfShape", self.index(shape), dtype=dtype, value=_tensor("", filler, dtype))
        return made

    def begin(self) -> list[Any]:
        """Begin a subgraph; return the nodes outside of it for `end`."""
        outer, self.nodes = self.nodes, []
        return outer

    def end(self, outer: list[Any]) -> list[Any]:
        """End a subgraph and return its nodes."""
        inner, self.nodes = self.nodes, outer
        return inner


def _tensor(name: str, array: Any, dtype: dtypes.DType) -> Any:
    if dtype.name not in DTYPES:
        raise InexpressibleError(f"ONNX has no {dtype.name} numbers that its operators compute with")
    if dtype.kind == "S":
        texts = [text if isinstance(text, bytes) else str(text).encode() for text in np.ravel(array).tolist()]
        if not all(map(_is_text, texts)):
            raise InexpressibleError("its strings are bytes that are not UTF-8")
        return helper.make_tensor(name, T.STRING, np.shape(array), texts)
    content = np.ascontiguousarray(array)
    return helper.make_tensor(name, DTYPES[dtype.name], np.shape(array), content.tobytes(), raw=True)


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def value_info(name: str, dtype: dtypes.DType, shape: Any) -> Any:
    """Return the declaration of a value; unknown sizes may be None or names."""
    return helper.make_tensor_value_info(name, DTYPES[dtype.name], shape)
