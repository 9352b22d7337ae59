"""The namespace `tf.math.special`: Bessel functions and integrals, with TensorFlow's names."""
# Namespace math.special: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from .core.missing_names import explain as _explain
from .ops.math.special import (
    bessel_i0, bessel_i0e, bessel_i1, bessel_i1e, bessel_j0, bessel_j1, bessel_k0, bessel_k0e, bessel_k1,
    bessel_k1e, bessel_y0, bessel_y1, dawsn, expint, fresnel_cos, fresnel_sin, spence,
)

__all__ = [
    "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_j0", "bessel_j1", "bessel_k0", "bessel_k0e",
    "bessel_k1", "bessel_k1e", "bessel_y0", "bessel_y1", "dawsn", "expint", "fresnel_cos", "fresnel_sin",
    "spence",
]

_explain(__name__, "math.special")
