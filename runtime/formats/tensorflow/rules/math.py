"""Elementwise operations: arithmetic, comparisons, functions of numbers, casts."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import dtypes
from ....ops.math.cast import limits
from ..body import Body
from ..nodes import NodeResult
from ..rule_registry import direct, writes

direct(
    """
    abs=Abs acos=Acos acosh=Acosh add_n=AddN asin=Asin asinh=Asinh atan=Atan atan2=Atan2 atanh=Atanh
    bessel_i0=BesselI0 bessel_i0e=BesselI0e bessel_i1=BesselI1 bessel_i1e=BesselI1e bessel_j0=BesselJ0
    bessel_j1=BesselJ1 bessel_k0=BesselK0 bessel_k0e=BesselK0e bessel_k1=BesselK1 bessel_k1e=BesselK1e
    bessel_y0=BesselY0 betainc=Betainc bitcast=Bitcast bitwise_and=BitwiseAnd bitwise_or=BitwiseOr
    bitwise_xor=BitwiseXor cast=Cast(x,DstT=dtype) ceil=Ceil check_numerics=CheckNumericsV2 const=Identity cos=Cos
    cosh=Cosh cumulative_logsumexp=CumulativeLogsumexp(x,axis) dawsn=Dawsn digamma=Digamma divide_no_nan=DivNoNan
    equal=Equal erf=Erf erfc=Erfc erfinv=Erfinv exp=Exp expint=Expint expm1=Expm1 floor=Floor floordiv=FloorDiv
    floormod=FloorMod fresnel_cos=FresnelCos fresnel_sin=FresnelSin greater=Greater greater_equal=GreaterEqual
    identity=Identity igamma=Igamma igamma_slope=IgammaGradA igammac=Igammac invert=Invert is_finite=IsFinite
    is_inf=IsInf is_nan=IsNan left_shift=LeftShift less=Less less_equal=LessEqual lgamma=Lgamma log=Log log1p=Log1p
    logical_and=LogicalAnd logical_not=LogicalNot logical_or=LogicalOr logical_xor=NotEqual maximum=Maximum
    minimum=Minimum multiply=Mul multiply_no_nan=MulNoNan ndtri=Ndtri negative=Neg nextafter=NextAfter
    not_equal=NotEqual polygamma=Polygamma pow=Pow realdiv=RealDiv reciprocal=Reciprocal right_shift=RightShift
    rint=Rint round=Round rsqrt=Rsqrt sigmoid=Sigmoid sign=Sign sin=Sin sinh=Sinh softplus=Softplus spence=Spence
    sqrt=Sqrt square=Square squared_difference=SquaredDifference stop_gradient=StopGradient subtract=Sub tan=Tan
    tanh=Tanh truncatediv=TruncateDiv truncatemod=TruncateMod xdivy=Xdivy xlog1py=Xlog1py xlogy=Xlogy zeta=Zeta
    """
)


@writes("add")
def _(to: Body, x: NodeResult, y: NodeResult) -> Any:
    return to.Add(x, y) if x.dtype == "string" else to.AddV2(x, y)


@writes("bessel_y1")
def _(to: Body, x: NodeResult) -> Any:
    """Select the limit at 0, where TensorFlow's operation returns NaN."""
    return to.SelectV2(to.Equal(x, 0), to.const(-np.inf, x.dtype), to.BesselY1(x))


@writes("log_sigmoid")
def _(to: Body, x: NodeResult) -> Any:
    return to.Neg(to.Softplus(to.Neg(x)))


@writes("erfcinv")
def _(to: Body, x: NodeResult) -> Any:
    """Write `-ndtri(x / 2) / sqrt(2)`."""
    return to.Mul(to.Neg(to.Ndtri(to.Mul(x, 0.5))), float(np.sqrt(0.5)))


@writes("equal_or_false")
def _(to: Body, x: NodeResult, y: NodeResult) -> Any:
    return to.Equal(x, y, incompatible_shape_error=False)


@writes("not_equal_or_true")
def _(to: Body, x: NodeResult, y: NodeResult) -> Any:
    return to.NotEqual(x, y, incompatible_shape_error=False)


@writes("_clip")
def _(to: Body, t: NodeResult, low: NodeResult, high: NodeResult) -> Any:
    return to.Maximum(to.Minimum(t, high), low)


@writes("complex")
def _(to: Body, real: NodeResult, imag: NodeResult) -> Any:
    return to.Complex(real, imag, Tout=to.outputs[0].dtype)


@writes("real")
def _(to: Body, x: NodeResult) -> Any:
    return to.Real(x, Tout=to.outputs[0].dtype) if x.kind == "c" else to.Identity(x)


@writes("imag")
def _(to: Body, x: NodeResult) -> Any:
    return to.Imag(x, Tout=to.outputs[0].dtype) if x.kind == "c" else to.ZerosLike(x)


@writes("angle")
def _(to: Body, x: NodeResult) -> Any:
    if x.kind == "c":
        return to.Angle(x, Tout=to.outputs[0].dtype)
    return to.SelectV2(to.Less(x, 0), to.const(np.pi, x.dtype), to.ZerosLike(x))


@writes("conj")
def _(to: Body, x: NodeResult) -> Any:
    return to.Conj(x) if x.kind == "c" else to.Identity(x)


@writes("saturate_cast")
def _(to: Body, value: NodeResult, dtype: dtypes.DType) -> Any:
    """Clip to the numbers that both dtypes have, then cast."""
    if value.kind == "c" and not dtype.is_complex:
        value = to.Real(value, Tout="float32" if value.dtype == "complex64" else "float64")
    if value.kind != "c" and not dtype.is_complex and dtype.name != value.dtype:
        low, high = limits(dtypes.as_dtype(value.dtype), dtype)
        value = to.Minimum(to.Maximum(value, low), high)
    return to.Cast(value, DstT=dtype)


@writes("optimization_barrier")
def _(to: Body, input: NodeResult, after: list[NodeResult]) -> Any:
    return to.Identity(input)
