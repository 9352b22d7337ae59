"""Operators on elements: arithmetic, comparisons, functions, activations."""

from __future__ import annotations

import functools
import math
import operator as python
from typing import Any

import numpy as np

from ..... import dtypes
from .....ops.arrays.creation import zeros_like
from .....ops.arrays.where_ops import choose
from .....ops.math import arithmetic, bitwise, comparison, elementwise, error_and_gamma
from .....ops.math.cast import cast
from .....ops.math.clip import clip_by_value
from .....ops.nn import activations, rectifiers
from .....ops.strings.regex import regex_full_match
from .....ops.strings.strings import as_string, lower, string_join, upper
from .....ops.strings.to_number import to_number
from ..protos import dtype_of
from .registry import OperatorCall, operator, plain

_ALPHA, _GAMMA = 1.67326319217681884765625, 1.05070102214813232421875

plain({
    "Add": python.add, "Sub": python.sub, "Mul": python.mul, "Neg": elementwise.negative, "Abs": elementwise.abs,
    "Reciprocal": elementwise.reciprocal, "Sqrt": elementwise.sqrt, "Exp": elementwise.exp, "Log": elementwise.log,
    "Sin": elementwise.sin, "Cos": elementwise.cos, "Tan": elementwise.tan, "Asin": elementwise.asin,
    "Acos": elementwise.acos, "Atan": elementwise.atan, "Sinh": elementwise.sinh, "Cosh": elementwise.cosh,
    "Tanh": elementwise.tanh, "Asinh": elementwise.asinh, "Acosh": elementwise.acosh, "Atanh": elementwise.atanh,
    "Erf": error_and_gamma.erf, "Floor": elementwise.floor, "Ceil": elementwise.ceil, "Round": elementwise.round,
    "Sign": elementwise.sign, "Sigmoid": elementwise.sigmoid, "Softplus": elementwise.softplus,
    "Softsign": rectifiers.softsign, "Relu": activations.relu, "IsNaN": elementwise.is_nan,
    "And": comparison.logical_and, "Or": comparison.logical_or, "Xor": comparison.logical_xor,
    "Not": comparison.logical_not, "Less": comparison.less, "LessOrEqual": comparison.less_equal,
    "Greater": comparison.greater, "GreaterOrEqual": comparison.greater_equal, "Where": choose,
    "BitwiseAnd": bitwise.bitwise_and, "BitwiseOr": bitwise.bitwise_or, "BitwiseXor": bitwise.bitwise_xor,
    "BitwiseNot": bitwise.invert, "Identity": lambda x: x,
    "Max": lambda *xs: functools.reduce(arithmetic.maximum, xs),
    "Min": lambda *xs: functools.reduce(arithmetic.minimum, xs),
    "Sum": lambda *xs: functools.reduce(python.add, xs),
    "Mean": lambda *xs: functools.reduce(python.add, xs) / len(xs),
    "Mish": lambda x: x * elementwise.tanh(elementwise.softplus(x)),
    "HardSwish": lambda x: x * clip_by_value(x / 6.0 + 0.5, 0.0, 1.0),
    "PRelu": lambda x, slope: choose(x < 0, x * slope, x),
})  # fmt: skip


@operator("Equal")
def _(call: OperatorCall, x: Any, y: Any) -> Any:
    return comparison.equal(x, y)


@operator("Div")
def _(call: OperatorCall, x: Any, y: Any) -> Any:
    return x / y if x.dtype.is_floating else arithmetic.truncatediv(x, y)


@operator("Mod")
def _(call: OperatorCall, x: Any, y: Any) -> Any:
    return arithmetic.truncatemod(x, y) if call.get("fmod", 0) else arithmetic.floormod(x, y)


@operator("Pow")
def _(call: OperatorCall, x: Any, y: Any) -> Any:
    if y.dtype is x.dtype:
        return arithmetic.pow(x, y)
    if x.dtype.is_floating:
        return arithmetic.pow(x, cast(y, x.dtype))
    return cast(arithmetic.pow(cast(x, dtypes.float64), cast(y, dtypes.float64)), x.dtype)


@operator("BitShift")
def _(call: OperatorCall, x: Any, y: Any) -> Any:
    return (bitwise.left_shift if call.get("direction") == "LEFT" else bitwise.right_shift)(x, y)


@operator("IsInf")
def _(call: OperatorCall, x: Any) -> Any:
    found = elementwise.is_inf(x)
    if not call.get("detect_negative", 1):
        found = comparison.logical_and(found, x > 0)
    return found if call.get("detect_positive", 1) else comparison.logical_and(found, x < 0)


@operator("Cast")
def _(call: OperatorCall, x: Any) -> Any:
    return converted(x, dtype_of(call.get("to")))


@operator("CastLike")
def _(call: OperatorCall, x: Any, like: Any) -> Any:
    return converted(x, like.dtype)


def converted(x: Any, dtype: Any) -> Any:
    """Convert the dtype, also from and to strings."""
    if x.dtype is dtype:
        return x
    if x.dtype is dtypes.string:
        return to_number(x, dtype) if dtype.size >= 4 else cast(to_number(x, dtypes.float32), dtype)
    if dtype is dtypes.string:
        if not x.dtype.is_integer:
            raise ValueError("only integers are written as strings")
        return as_string(x)
    return cast(x, dtype)


@operator("Clip")
def _(call: OperatorCall, x: Any, low: Any = None, high: Any = None) -> Any:
    low = call.get("min") if low is None else low
    high = call.get("max") if high is None else high
    x = x if high is None else arithmetic.minimum(x, high)
    return x if low is None else arithmetic.maximum(x, low)


@operator("Elu", "Celu", "Selu")
def _(call: OperatorCall, x: Any) -> Any:
    below = arithmetic.minimum(x, 0)  # no power of a large number, whose gradient would be infinite
    if call.node.op == "Selu":
        alpha, gamma = call.get("alpha", _ALPHA), call.get("gamma", _GAMMA)
        return choose(x < 0, elementwise.expm1(below) * (alpha * gamma), x * gamma)
    alpha = call.get("alpha", 1.0)
    return choose(x < 0, elementwise.expm1(below / alpha if call.node.op == "Celu" else below) * alpha, x)


@operator("LeakyRelu")
def _(call: OperatorCall, x: Any) -> Any:
    return choose(x < 0, x * call.get("alpha", 0.01), x)


@operator("ThresholdedRelu")
def _(call: OperatorCall, x: Any) -> Any:
    return choose(x > call.get("alpha", 1.0), x, zeros_like(x))


@operator("HardSigmoid")
def _(call: OperatorCall, x: Any) -> Any:
    return clip_by_value(x * call.get("alpha", 0.2) + call.get("beta", 0.5), 0.0, 1.0)


@operator("Swish")
def _(call: OperatorCall, x: Any) -> Any:
    return x * elementwise.sigmoid(x * call.get("alpha", 1.0))


@operator("Gelu")
def _(call: OperatorCall, x: Any) -> Any:
    if call.choice("approximate", "none", "tanh") == "tanh":
        return 0.5 * x * (1.0 + elementwise.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1.0 + error_and_gamma.erf(x / math.sqrt(2.0)))


@operator("Shrink")
def _(call: OperatorCall, x: Any) -> Any:
    limit, bias = call.get("lambd", 0.5), call.get("bias", 0.0)
    return choose(x < -limit, x + bias, choose(x > limit, x - bias, zeros_like(x)))


@operator("StringConcat")
def _(call: OperatorCall, x: Any, y: Any) -> Any:
    return string_join([x, y])


@operator("StringNormalizer")
def _(call: OperatorCall, x: Any) -> Any:
    if call.get("stopwords"):
        raise ValueError("stop words are not supported")
    change: dict[str, Any] = {"LOWER": lower, "UPPER": upper, "NONE": lambda text: text}
    return change[call.get("case_change_action", "NONE")](x)


@operator("RegexFullMatch")
def _(call: OperatorCall, x: Any) -> Any:
    return regex_full_match(x, call.get("pattern", ""))


@operator("ml.Scaler")
def _(call: OperatorCall, x: Any) -> Any:
    offset, scale = (np.array(call.get(name, (0.0,)), np.float32) for name in ("offset", "scale"))
    return (cast(x, dtypes.float32) - offset) * scale
