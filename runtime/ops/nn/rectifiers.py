"""Piecewise activations: relu6, leaky_relu, selu, softsign, crelu.

>>> relu6([-1., 8.]).numpy().tolist(), leaky_relu([-4., 4.], alpha=0.25).numpy().tolist()
([0.0, 6.0], [-1.0, 4.0])
"""

from __future__ import annotations

import numpy as np

from ... import dtypes
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.traits import ELEMENTWISE
from ...ir.value_types import TensorType
from ...kernels.tiles import in_tiles
from ..arrays.concat_split import concat
from ..arrays.creation import zeros_like
from ..arrays.select_kernel import selected
from ..arrays.where_ops import where
from ..framework.cached_dispatch import cached_dispatch
from ..framework.composite_dispatch import dispatching_composites
from ..framework.op import Input, Name, op
from ..framework.op_families import FLOATS, REAL, Array, require_dtype
from ..math.arithmetic import divide, multiply
from ..math.cast import cast
from ..math.elementwise import abs, square
from .activations import relu

_SCALE = 1.0507009873554804934193349852946
_SCALE_ALPHA = 1.7580993408473768599402175208123
"""Constants with which `selu` keeps mean 0 and variance 1 (Klambauer et al., 2017)."""


@export("nn.relu6")
@op(
    traits=ELEMENTWISE,
    out={"f": ("np.maximum({0}, {zero}, out={o})", "np.minimum({o}, {six}, out={o})")},
    element_operands=1,
)
def relu6(features: Input, name: Name = None) -> TensorType:
    """Clip `features` to the range from 0 to 6.

    >>> relu6([-3., 3., 9.]).numpy().tolist()
    [0.0, 3.0, 6.0]
    """
    require_dtype(features, REAL, "relu6")
    return features.spec  # type: ignore[no-any-return]


@relu6.kernel
def _(features: Array) -> Array:
    kind = features.dtype.type
    return np.minimum(np.maximum(features, kind(0)), kind(6))


relu6.gradient(lambda dy, y, features: where((features > 0) & (features < 6), dy, zeros_like(dy)))


@export("nn.leaky_relu")
@cached_dispatch
@dispatching_composites("leaky_relu", element_operands=1)
def leaky_relu(features: TensorLike, alpha: float = 0.2, name: Name = None) -> Tensor:
    """Return `features`, with `alpha * x` in place of negative elements; integers become float32.

    >>> leaky_relu([-4., 4.], alpha=0.25).numpy().tolist()
    [-1.0, 4.0]
    """
    x = convert_to_tensor(features)
    require_dtype(x, REAL, "leaky_relu")
    return leaky(cast(x, dtypes.float32) if x.dtype.is_integer else x, alpha, name)  # type: ignore[no-any-return]


@op(
    name="leaky_relu",
    traits=ELEMENTWISE,
    formula=lambda m, x, alpha: m.where(x > 0, x, x * alpha),
    element_operands=1,
)
def leaky(features: Input, alpha: float, name: Name = None) -> TensorType:
    """Return `features`, with `alpha * x` in place of negative elements.

    >>> leaky([-4., 4.], 2.0).numpy().tolist()
    [-8.0, 4.0]
    """
    require_dtype(features, FLOATS, "leaky_relu")
    return features.spec  # type: ignore[no-any-return]


_by_maximum = in_tiles(lambda x, slope: np.maximum(x, x * slope))
_by_selection = in_tiles(lambda x, slope: selected(x > 0, x, x * slope))


@leaky.kernel
def _(features: Array, alpha: float) -> Array:
    slope = features.dtype.type(alpha)
    return (_by_maximum if 0 < slope <= 1 else _by_selection)(features, slope)


leaky.gradient(lambda dy, y, features, alpha: where(features > 0, dy, multiply(dy, alpha)))


@export("nn.selu")
@op(
    traits=ELEMENTWISE,
    cost=16,
    formula=lambda m, x: m.where(x < 0, _SCALE_ALPHA * m.expm1(x), _SCALE * x),
    element_operands=1,
)
def selu(features: Input, name: Name = None) -> TensorType:
    """Return `scale * x`, or `scale * alpha * (exp(x) - 1)` for negative elements: mean 0 and variance 1 are kept.

    >>> selu([-100., 0., 1.]).numpy().round(3).tolist()
    [-1.7580000162124634, 0.0, 1.0509999990463257]
    """
    require_dtype(features, FLOATS, "selu")
    return features.spec  # type: ignore[no-any-return]


@selu.kernel
@in_tiles
def _(features: Array) -> Array:
    kind = features.dtype.type
    return selected(features < 0, kind(_SCALE_ALPHA) * np.expm1(features), kind(_SCALE) * features)


selu.gradient(lambda dy, y, features: where(y < 0, dy * (y + _SCALE_ALPHA), dy * _SCALE))


@export("math.softsign", "nn.softsign")
@op(traits=ELEMENTWISE, cost=6, formula=lambda m, x: x / (1 + m.abs(x)), element_operands=1)
def softsign(features: Input, name: Name = None) -> TensorType:
    """Return `x / (1 + |x|)`.

    >>> softsign([-1., 0., 3.]).numpy().tolist()
    [-0.5, 0.0, 0.75]
    """
    require_dtype(features, FLOATS, "softsign")
    return features.spec  # type: ignore[no-any-return]


softsign.kernel(in_tiles(lambda features: features / (features.dtype.type(1) + np.abs(features))))
softsign.gradient(lambda dy, y, features: divide(dy, square(abs(features) + 1)))


@export("nn.crelu")
@cached_dispatch
def crelu(features: TensorLike, axis: int = -1, name: Name = None) -> Tensor:
    """Concatenate `relu` of `features` and of their negatives along `axis`.

    >>> crelu([-1., 2.]).numpy().tolist()
    [0.0, 2.0, 1.0, 0.0]
    """
    x = convert_to_tensor(features)
    return relu(concat([x, -x], axis), name)  # type: ignore[no-any-return]
