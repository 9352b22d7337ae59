"""Special functions: the gamma and beta families, Bessel functions, and integrals such as Fresnel's.

>>> digamma([1.]).numpy().round(4).tolist(), bessel_i0([0.]).numpy().tolist()
([-0.5771999955177307], [1.0])

The formulas are in agc.runtime.kernels.special_functions. They are computed in float64, and rounded to the
dtype of the input. Functions of one float32 number are tables made from them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np

from ... import dtypes
from ...core import shapes
from ...core.export import export
from ...ir.facts import DeclaredFacts
from ...ir.graph import Operand
from ...ir.value_types import TensorType
from ...kernels.special_functions import (
    bessel,
    error_functions,
    exponential_integrals,
    gamma,
    incomplete_gamma_beta,
)
from ...kernels.special_functions.tables import tabulated
from ...kernels.tiles import in_tiles
from ..arrays.creation import ones_like
from ..arrays.reshape import fitted
from ..arrays.where_ops import where
from ..framework.op import Name, Op, Same, op
from ..framework.op_families import FLOATS, Array, DTypes, require_dtype, unary
from .arithmetic import multiply, xlogy
from .comparison import equal
from .derived_math import xlog1py
from .elementwise import cos, exp, log, sign, sin, square
from .error_and_gamma import lgamma

_WIDE: DTypes = frozenset({dtypes.float32, dtypes.float64})
_HALF_PI = np.pi / 2


def _kernel(formula: Callable[..., Array]) -> Callable[..., Array]:
    """Return a kernel that computes `formula` in float64, in tiles."""

    @in_tiles
    def compute(*arguments: Array) -> Array:
        wide = [np.asarray(argument, np.float64) for argument in arguments]
        return formula(*wide).astype(arguments[0].dtype)

    return compute


def _curve(
    name: str,
    compute: Callable[[Array], Array],
    manual: str,
    example: str,
    gives: str,
    **facts: Unpack[DeclaredFacts],
) -> Op:
    """Declare one operation of the tables below: a function of one number."""
    return unary(name, tabulated(compute), FLOATS, manual, example, gives, **facts)


def _special(name: str, compute: Callable[..., Any], manual: str, example: str, gives: str) -> Op:
    """Declare a function that only `math.special` has."""
    return _curve(name, compute, manual, example, gives, export=(f"math.special.{name}",))


def _bessel(kind: Callable[[int, Array], Array], order: int) -> Callable[[Array], Array]:
    return lambda x: kind(order, x)


def _grown(scaled: Callable[[int, Array], Array], order: int, sign: int) -> Callable[[Array], Array]:
    """Return a Bessel function from its exponentially scaled form.

    The exponential is applied in two halves, to avoid overflow.
    """

    def formula(x: Array) -> Array:
        half = np.exp(sign * np.abs(x) / 2)
        with np.errstate(invalid="ignore"):
            grown = scaled(order, x) * half * half
        return grown if sign > 0 else np.where(x <= 0, np.inf, grown)  # of the second kind

    return formula


digamma = _curve("digamma", gamma.digamma, "The derivative of `lgamma`; NaN at 0, -1, ….", "[1e10, 0.]",
                 "[23.025850296020508, nan]", cost=100, export=("math.digamma",))  # fmt: skip
erfinv = _curve("erfinv", error_functions.inverse_erf, "The inverse of `erf`.", "[0., 1.]", "[0.0, inf]",
                cost=60, export=("math.erfinv",))  # fmt: skip
erfcinv = _curve("erfcinv", error_functions.inverse_erfc, "The inverse of `erfc`.", "[0., 2.]", "[inf, -inf]",
                 cost=60, export=("math.erfcinv",))  # fmt: skip
ndtri = _curve("ndtri", error_functions.quantile, "The quantiles of the standard normal distribution.",
               "[0.5, 1.]", "[0.0, inf]", cost=60, export=("math.ndtri",))  # fmt: skip
dawsn = _special("dawsn", error_functions.dawson,
                 "Dawson's integral, `exp(-x * x)` times that of `exp(t * t)`.", "[0.]",
                 "[0.0]")  # fmt: skip
expint = _special("expint", exponential_integrals.exponential,
                  "The exponential integral, that of `exp(t) / t`.", "[0., -1.]", "[-inf, nan]")  # fmt: skip
fresnel_sin = _special("fresnel_sin", lambda x: exponential_integrals.fresnel(x)[0],
                       "The integral of `sin(pi / 2 * t * t)`.", "[0., float('inf')]",
                       "[0.0, 0.5]")  # fmt: skip
fresnel_cos = _special("fresnel_cos", lambda x: exponential_integrals.fresnel(x)[1],
                       "The integral of `cos(pi / 2 * t * t)`.", "[0., float('inf')]",
                       "[0.0, 0.5]")  # fmt: skip
spence = _special("spence", exponential_integrals.dilogarithm,
                  "Spence's integral, of `-log(t) / (t - 1)` from 1 on.", "[1., -1.]",
                  "[0.0, nan]")  # fmt: skip
bessel_i0 = _curve("bessel_i0", _grown(bessel.i, 0, 1),
                   "The modified function of the first kind, of order 0.", "[0., 200.]", "[1.0, inf]",
                   cost=150, export=("math.bessel_i0", "math.special.bessel_i0"))  # fmt: skip
bessel_i1 = _curve("bessel_i1", _grown(bessel.i, 1, 1),
                   "The modified function of the first kind, of order 1.", "[0., 200.]", "[0.0, inf]",
                   cost=150, export=("math.bessel_i1", "math.special.bessel_i1"))  # fmt: skip
bessel_i0e = _curve("bessel_i0e", _bessel(bessel.i, 0), "`bessel_i0(x) * exp(-abs(x))`.", "[0.]", "[1.0]",
                    cost=120, export=("math.bessel_i0e", "math.special.bessel_i0e"))  # fmt: skip
bessel_i1e = _curve("bessel_i1e", _bessel(bessel.i, 1), "`bessel_i1(x) * exp(-abs(x))`.", "[0.]", "[0.0]",
                    cost=120, export=("math.bessel_i1e", "math.special.bessel_i1e"))  # fmt: skip
bessel_j0 = _special(
    "bessel_j0", _bessel(bessel.j, 0), "The Bessel function of the first kind, of order 0.", "[0.]", "[1.0]"
)
bessel_j1 = _special(
    "bessel_j1", _bessel(bessel.j, 1), "The Bessel function of the first kind, of order 1.", "[0.]", "[0.0]"
)
bessel_k0 = _special("bessel_k0", _grown(bessel.k, 0, -1),
                     "The modified function of the second kind, of order 0.", "[0., 200.]",
                     "[inf, 0.0]")  # fmt: skip
bessel_k1 = _special("bessel_k1", _grown(bessel.k, 1, -1),
                     "The modified function of the second kind, of order 1.", "[0., 200.]",
                     "[inf, 0.0]")  # fmt: skip
bessel_k0e = _special("bessel_k0e", _bessel(bessel.k, 0), "`bessel_k0(x) * exp(x)`.", "[0.]", "[inf]")
bessel_k1e = _special("bessel_k1e", _bessel(bessel.k, 1), "`bessel_k1(x) * exp(x)`.", "[0.]", "[inf]")
bessel_y0 = _special(
    "bessel_y0", _bessel(bessel.y, 0), "The Bessel function of the second kind, of order 0.", "[0.]", "[-inf]"
)
bessel_y1 = _special(
    "bessel_y1", _bessel(bessel.y, 1), "The Bessel function of the second kind, of order 1.", "[0.]", "[-inf]"
)


def _pair(x: Operand, y: Operand, allowed: DTypes, what: str) -> TensorType:
    require_dtype(x, allowed, what)
    return TensorType(x.dtype, shapes.broadcast(x.shape, y.shape))


@export("math.igamma")
@op
def igamma(a: Same, x: Same, name: Name = None) -> TensorType:
    """Return the lower regularized incomplete gamma function: the share of `t ** (a - 1) * exp(-t)` below `x`.

    >>> igamma([1., 1.], [0., float("inf")]).numpy().tolist()
    [0.0, 1.0]
    """
    return _pair(a, x, FLOATS, "igamma")


@export("math.igammac")
@op
def igammac(a: Same, x: Same, name: Name = None) -> TensorType:
    """Return the upper regularized incomplete gamma function.

    It equals `1 - igamma(a, x)`, and is accurate where that is small.

    >>> igammac([1., 1.], [0., float("inf")]).numpy().tolist()
    [1.0, 0.0]
    """
    return _pair(a, x, FLOATS, "igammac")


@op
def igamma_slope(a: Same, x: Same, name: Name = None) -> TensorType:
    """Return the derivative of `igamma(a, x)` by `a`, with an absolute error of about 1e-15.

    >>> igamma_slope([1.], [1.]).numpy().round(4).tolist()
    [-0.4316999912261963]
    """
    return _pair(a, x, FLOATS, "igamma_slope")


@export("math.zeta")
@op
def zeta(x: Same, q: Same, name: Name = None) -> TensorType:
    """Return the Hurwitz zeta function, the sum of `(q + k) ** -x` for k = 0, 1, …; NaN for `x < 1`.

    >>> zeta([1., 0.], [2., 2.]).numpy().tolist()
    [inf, nan]
    """
    return _pair(x, q, _WIDE, "zeta")


@export("math.polygamma")
@op
def polygamma(a: Same, x: Same, name: Name = None) -> TensorType:
    """Return the derivative of order `a` of `digamma` at `x`; NaN where `a` is not 0, 1, 2, ….

    >>> polygamma([1., -1.], [0., 1.]).numpy().tolist()
    [inf, nan]
    """
    return _pair(a, x, _WIDE, "polygamma")


igamma.kernel(_kernel(incomplete_gamma_beta.lower_gamma))
igammac.kernel(_kernel(incomplete_gamma_beta.upper_gamma))
igamma_slope.kernel(_kernel(incomplete_gamma_beta.lower_gamma_slope))
zeta.kernel(_kernel(gamma.zeta))
polygamma.kernel(_kernel(gamma.polygamma))

_SLOPES: dict[Op, Callable[[Any, Any], Any]] = {
    digamma: lambda x, y: polygamma(ones_like(x), x),
    erfinv: lambda x, y: exp(square(y)) * (np.sqrt(np.pi) / 2),
    erfcinv: lambda x, y: exp(square(y)) * (-np.sqrt(np.pi) / 2),
    ndtri: lambda x, y: exp(square(y) / 2) * np.sqrt(2 * np.pi),
    dawsn: lambda x, y: 1 - 2 * x * y,
    expint: lambda x, y: exp(x) / x,
    fresnel_sin: lambda x, y: sin(square(x) * _HALF_PI),
    fresnel_cos: lambda x, y: cos(square(x) * _HALF_PI),
    spence: lambda x, y: where(equal(x, 1), -ones_like(x), log(x) / (1 - x)),
    bessel_i0: lambda x, y: bessel_i1(x),
    bessel_i1: lambda x, y: bessel_i0(x) - where(equal(x, 0), ones_like(x) / 2, y / x),
    bessel_i0e: lambda x, y: bessel_i1e(x) - sign(x) * y,
    bessel_i1e: lambda x, y: bessel_i0e(x) - sign(x) * y - where(equal(x, 0), ones_like(x) / 2, y / x),
    bessel_j0: lambda x, y: -bessel_j1(x),
    bessel_j1: lambda x, y: bessel_j0(x) - where(equal(x, 0), ones_like(x) / 2, y / x),
    bessel_k0: lambda x, y: -bessel_k1(x),
    bessel_k1: lambda x, y: -bessel_k0(x) - y / x,
    bessel_k0e: lambda x, y: y - bessel_k1e(x),
    bessel_k1e: lambda x, y: y * (1 - 1 / x) - bessel_k0e(x),
    bessel_y0: lambda x, y: -bessel_y1(x),
    bessel_y1: lambda x, y: bessel_y0(x) - y / x,
}
"""The derivatives of the unary functions, computed from `x` and the value `y`."""


def _with_slope(slope: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda dy, y, x: multiply(dy, slope(x, y))


for _function, _slope in _SLOPES.items():
    _function.gradient(_with_slope(_slope))


def _gamma_density(a: Any, x: Any) -> Any:
    """Return the derivative of `igamma` by its second argument."""
    return exp((a - 1) * log(x) - x - lgamma(a))


@igamma_slope.gradient
def _(dy: Any, y: Any, a: Any, x: Any) -> Any:
    def to_a() -> Any:
        raise LookupError("no second derivative of igamma by its first argument is defined")

    return to_a, lambda: fitted(dy * _gamma_density(a, x) * (log(x) - digamma(a)), x)


@igamma.gradient
def _(dy: Any, y: Any, a: Any, x: Any) -> Any:
    return fitted(dy * igamma_slope(a, x), a), fitted(dy * _gamma_density(a, x), x)


@igammac.gradient
def _(dy: Any, y: Any, a: Any, x: Any) -> Any:
    return fitted(-dy * igamma_slope(a, x), a), fitted(-dy * _gamma_density(a, x), x)


zeta.gradient(lambda dy, y, x, q: (None, fitted(dy * -x * zeta(x + 1, q), q)))


polygamma.gradient(lambda dy, y, n, x: (None, fitted(dy * polygamma(n + 1, x), x)))


@export("math.betainc")
@op
def betainc(a: Same, b: Same, x: Same, name: Name = None) -> TensorType:
    """Return the regularized incomplete beta function: the share of `t ** (a - 1) * (1 - t) ** (b - 1)` below `x`.

    Args:
        a, b: positive numbers, scalars or tensors of one shape.
        x: numbers from 0 to 1, a scalar or a tensor of that shape.

    NaN outside of these ranges. Only `x` has a gradient, as in TensorFlow.

    >>> betainc(2., 1., [0.5, 1.]).numpy().tolist()
    [0.25, 1.0]
    """
    require_dtype(a, _WIDE, "betainc")
    return TensorType(a.dtype, _one_shape(a.shape, b.shape, x.shape))


def _one_shape(*found: shapes.Dims) -> shapes.Dims:
    """Return the shape that all non-scalars have; None if one of the shapes is unknown."""
    merged: shapes.Dims = ()
    for dims in found:
        if dims != ():
            merged = dims if merged == () else shapes.merge(merged, dims)
    return merged


@betainc.kernel
def _(a: Array, b: Array, x: Array) -> Array:
    _one_shape(*map(np.shape, (a, b, x)))
    return _kernel(incomplete_gamma_beta.beta)(a, b, x)


@betainc.gradient
def _(dy: Any, y: Any, a: Any, b: Any, x: Any) -> Any:
    log_beta = lgamma(a) + lgamma(b) - lgamma(a + b)
    density = exp(xlog1py(b - 1, -x) + xlogy(a - 1, x) - log_beta)
    return None, None, fitted(dy * density, x)
