"""The dtypes for which ONNX Runtime has kernels, and wider dtypes, in which the results are the same.

Relu of uint16     ==>     Cast to int32, Relu, Cast to uint16
"""

from __future__ import annotations

from .onnx_types import InexpressibleError

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


def wider(op: str, name: str) -> str:
    """Return the narrowest dtype with a kernel that has all numbers of another one. InexpressibleError if none has."""
    wide = _WIDER.get(name)
    while wide is not None and wide not in KERNELS[op]:
        wide = _WIDER.get(wide)
    if wide is None or (name == "uint64" and op in _ORDERING):
        raise InexpressibleError(f"ONNX Runtime has no kernel of {op} for {name}")
    return wide
