"""Rules of elementwise operations whose kernels check values, or differ from jax.numpy in a last case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .... import dtypes
from ....ops.math.cast import limits
from ..rule_registry import lowers

Array = Any


@lowers("floordiv")
def _(site: Any, x: Array, y: Array) -> Array:
    if x.dtype.kind in "iu":
        return jnp.floor_divide(x, nonzero(site, y))
    return jnp.floor(x / y)


@lowers("floormod")
def _(site: Any, x: Array, y: Array) -> Array:
    return jnp.remainder(x, nonzero(site, y) if x.dtype.kind in "iu" else y)


@lowers("truncatediv")
def _(site: Any, x: Array, y: Array) -> Array:
    if x.dtype.kind in "iu":
        x, y = jnp.broadcast_arrays(x, nonzero(site, y))
        return lax.div(x, y)
    return jnp.trunc(x / y)


@lowers("truncatemod")
def _(site: Any, x: Array, y: Array) -> Array:
    return jnp.fmod(x, nonzero(site, y) if x.dtype.kind in "iu" else y)


def nonzero(site: Any, y: Array) -> Array:
    """Demand that no divisor is zero; return divisors that are not."""
    site.demand(y != 0)
    return jnp.where(y == 0, np.ones((), y.dtype), y)


@lowers("sigmoid")
def _(site: Any, x: Array) -> Array:
    wide = x.astype(jnp.float32) if x.dtype == jnp.float16 else x  # as in the kernel
    return (1 / (1 + jnp.exp(-wide))).astype(x.dtype)


@lowers("pow")
def _(site: Any, x: Array, y: Array) -> Array:
    if x.dtype.kind == "i":
        site.demand(y >= 0)
        return _integer_power(*jnp.broadcast_arrays(x, y))
    return jnp.power(x, y)


def _integer_power(x: Array, y: Array) -> Array:
    """Return powers by squaring, which wrap around as NumPy's do."""
    result = jnp.ones_like(x)
    for _ in range(8 * x.dtype.itemsize - 1):
        result = jnp.where(y & 1 == 1, result * x, result)
        x, y = x * x, y >> 1
    return result


@lowers("gcd")
def _(site: Any, x: Array, y: Array) -> Array:
    return _gcd(*jnp.broadcast_arrays(x, y))


@lowers("lcm")
def _(site: Any, x: Array, y: Array) -> Array:
    x, y = jnp.broadcast_arrays(x, y)
    divisor = _gcd(x, y)
    found = x // jnp.where(divisor == 0, np.ones((), x.dtype), divisor) * y
    return jnp.abs(found) if x.dtype.kind == "i" else found


def _gcd(x: Array, y: Array) -> Array:
    """Return the greatest common divisors by Euclid's algorithm, on absolute values that may have wrapped around."""
    kind = np.dtype(f"u{x.dtype.itemsize}")
    start = [jnp.abs(each).astype(kind) for each in (x, y)]

    def step(pair: Sequence[Array]) -> list[Array]:
        a, b = pair
        rest = lax.rem(a, jnp.where(b == 0, np.ones((), kind), b))
        return [jnp.where(b == 0, a, b), jnp.where(b == 0, b, rest)]

    return lax.while_loop(lambda pair: (pair[1] != 0).any(), step, start)[0].astype(x.dtype)


@lowers("complex")
def _(site: Any, real: Array, imag: Array) -> Array:
    return lax.complex(*jnp.broadcast_arrays(real, imag))


@lowers("check_numerics")
def _(site: Any, tensor: Array) -> Array:
    site.demand(jnp.isfinite(tensor))
    return tensor


@lowers("counted")
def _(site: Any, value: Array) -> Array:
    site.demand(jnp.asarray(value) < site.attrs["limit"])
    return value


@lowers("cast")
def _(site: Any, x: Array) -> Array:
    return converted(x, site.dtype)


@lowers("linspace")
def _(site: Any, start: Array, stop: Array, num: Array) -> Array:
    axis = site.attrs["axis"]
    first, last = (jnp.asarray(x) for x in jnp.broadcast_arrays(start, stop))
    count = site.shape[axis]
    if first.dtype.kind == "b":
        raise ValueError("truth values are not subtracted")
    if count < 2:
        return jnp.repeat(jnp.expand_dims(first, axis), count, axis)
    step = (last - first) / first.dtype.type(count - 1)
    steps = jnp.arange(count - 1, dtype=first.dtype).reshape(-1, *(1,) * first.ndim)
    inner = first + step * steps
    whole = jnp.concatenate([inner, last[None].astype(inner.dtype)])
    found = converted(whole, first.dtype) if first.dtype.itemsize == 8 else whole.astype(first.dtype)
    return jnp.moveaxis(found, 0, axis)


def converted(x: Array, dtype: np.dtype[Any]) -> Array:
    """Return the elements in another dtype: floats that no integer represents become what they do on x86 CPUs."""
    x = jnp.asarray(x)
    if x.dtype.kind == "c" and dtype.kind not in "cb":
        x = x.real
    if dtype.kind not in "iu" or not jnp.issubdtype(x.dtype, jnp.floating):
        return x.astype(dtype)
    wide = x.astype(np.float64)
    bits = 64 if dtype.itemsize == 8 or (dtype.kind == "u" and dtype.itemsize == 4) else 32
    least = -(2.0 ** (bits - 1))
    fits = (wide >= least) & (wide < -least)
    number = jnp.where(fits, wide, least).astype(np.int64 if bits == 64 else np.int32)
    if dtype.kind == "u" and dtype.itemsize == 8:
        upper = jnp.where((wide >= -least) & (wide < -2 * least), wide + least, least).astype(np.int64)
        number = jnp.where(wide >= -least, upper ^ np.int64(-(2**63)), number)
    return number.astype(dtype)


@lowers("saturate_cast")
def _(site: Any, value: Array) -> Array:
    wanted = site.operation.outputs[0].dtype
    if value.dtype.kind == "c" and not wanted.is_complex:
        value = value.real
    if value.dtype.kind == "c" or wanted.is_complex:
        return converted(value, site.dtype)
    low, high = limits(dtypes.as_dtype(value.dtype), wanted)
    return converted(jnp.minimum(jnp.maximum(value, low), high), site.dtype)


@lowers("expint")
def _(site: Any, x: Array) -> Array:
    found = jax.scipy.special.expi(x.astype(np.float64)).astype(x.dtype)
    return jnp.where(x > 0, found, jnp.where(x == 0, x.dtype.type(-np.inf), x.dtype.type(np.nan)))


def _special(name: str, kind: Any) -> Any:
    def rule(site: Any, *operands: Array) -> Array:
        wide = np.float64 if operands[0].dtype == np.float64 else kind
        return getattr(jax.scipy.special, name)(*(jnp.asarray(x).astype(wide) for x in operands))

    return rule


for _name in ("erf", "erfc"):
    lowers(_name)(_special(_name, np.float32))

for _name, _function in {
    "lgamma": "gammaln", "digamma": "digamma", "erfinv": "erfinv", "ndtri": "ndtri", "bessel_i0": "i0",
    "bessel_i0e": "i0e", "bessel_i1": "i1", "bessel_i1e": "i1e", "spence": "spence",
}.items():  # fmt: skip
    lowers(_name)(_special(_function, np.float64))  # JAX's float32 functions have a few digits less
