"""The product of a tensor and a scalar, which has a rule of its own for rows of a larger tensor.

>>> scalar_mul(2, [1., 3.]).numpy().tolist()
[2.0, 6.0]
"""

from __future__ import annotations

from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ..framework.cached_dispatch import cached_dispatch
from ..framework.composite_dispatch import dispatching_composites, meet_rows
from ..framework.op import Name
from .arithmetic import multiply


@export("math.scalar_mul", "scalar_mul")
@cached_dispatch
@dispatching_composites("scalar_mul")
def scalar_mul(scalar: TensorLike, x: TensorLike, name: Name = None) -> Tensor:
    """Multiply `x` by a scalar; ValueError if `scalar` is not a scalar.

    >>> scalar_mul(2, [1., 3.]).numpy().tolist()
    [2.0, 6.0]
    """
    meet_rows(x)
    x = convert_to_tensor(x)
    factor = convert_to_tensor(scalar, x.dtype)
    if factor.shape.rank not in (None, 0):
        raise ValueError(f"Only scalar multiply works, got shape {factor.shape}")
    return multiply(factor, x, name)  # type: ignore[no-any-return]
