"""Sums of products over pairs of axes, and their gradients.

>>> tensordot([[1, 2]], [[3], [4]], 1).numpy().tolist()
[[11]]
"""

from __future__ import annotations

import string
from typing import Any

from ...core import shapes
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.batching import Batch
from ...ir.value_types import TensorType
from ...kernels.matrix_products import contract
from ..arrays.shape_ops import shape as shape_of
from ..framework.attribute_parsers import Axes
from ..framework.cached_dispatch import cached_dispatch
from ..framework.op import Ints, Name, Same, op
from ..framework.op_families import NUMERIC, Array, require_dtype
from ..framework.static_values import checked_dims, dims
from ..math.elementwise import conj
from .einsum import einsum


@export("linalg.tensordot", "tensordot")
@cached_dispatch
def tensordot(a: TensorLike, b: TensorLike, axes: Any, name: Name = None) -> Tensor:
    """Contract pairs of axes: the last of `a` with the first of `b`, or two lists of axes.

    >>> tensordot([1, 2], [3, 4], axes=1).numpy().tolist(), tensordot([1, 2], [3, 4], axes=0).numpy().tolist()
    (11, [[3, 4], [6, 8]])
    >>> tensordot([[1, 2], [3, 4]], [10, 1], axes=[[0], [0]]).numpy().tolist()
    [13, 24]
    """
    if hasattr(axes, "numpy"):
        axes = axes.numpy().tolist()
    if isinstance(axes, int):
        if axes < 0:
            raise ValueError(f"`axes` must be at least 0, not {axes}")
        rank = convert_to_tensor(a).shape.rank
        if rank is not None and axes > rank:
            raise ValueError(f"`axes` must not be larger than the number of dimensions of {a}, not {axes}")
        axes = (range(-axes, 0), range(axes))
    if len(axes) != 2:
        raise ValueError(f"`axes` must be an integer or have length 2, not {axes}")
    return tensordot_op(a, b, axes[0], axes[1], name)  # type: ignore[no-any-return]


@op(name="tensordot")
def tensordot_op(a: Same, b: Same, axes_a: Axes, axes_b: Axes, name: Name = None) -> TensorType:
    """Compute `tensordot` over pairs of axes.

    >>> tensordot_op([1, 2], [3, 4], 0, 0).numpy().tolist()
    11
    """
    require_dtype(a, NUMERIC, "tensordot")
    if axes_a is None or axes_b is None:
        raise ValueError("`axes` must name the axes of `a` and `b` to contract, not None")
    if len(axes_a) != len(axes_b):
        raise ValueError(f"Different number of contraction axes `a` and `b`, {len(axes_a)} != {len(axes_b)}.")
    if a.shape is None or b.shape is None:
        return TensorType(a.dtype, None)
    gone_a = [shapes.normal_axis(axis, len(a.shape)) for axis in axes_a]
    gone_b = [shapes.normal_axis(axis, len(b.shape)) for axis in axes_b]
    for i, j in zip(gone_a, gone_b, strict=True):
        if a.shape[i] != b.shape[j] and None not in (a.shape[i], b.shape[j]):
            raise ValueError(
                f"Matrix size-incompatible: {shapes.show(a.shape)}[{i}] and {shapes.show(b.shape)}[{j}]"
            )
    left = [size for i, size in enumerate(a.shape) if i not in gone_a]
    return TensorType(a.dtype, (*left, *(size for j, size in enumerate(b.shape) if j not in gone_b)))


tensordot_op.kernel(lambda a, b, axes_a, axes_b: contract(a, b, axes_a, axes_b))


@tensordot_op.gradient
def _(dy: Any, y: Any, a: Any, b: Any, axes_a: tuple[int, ...], axes_b: tuple[int, ...]) -> Any:
    return (
        lambda: tensordot_back(dy, conj(b), shape_of(a), axes_a, axes_b, True),
        lambda: tensordot_back(dy, conj(a), shape_of(b), axes_b, axes_a, False),
    )


@tensordot_op.batching
def _(batch: Batch) -> Any:
    a, b = batch.arguments
    if a.rank is None or b.rank is None:
        return None
    letters = iter(string.ascii_letters)
    row = next(letters)
    left = [next(letters) for _ in range(a.rank)]
    right = [next(letters) for _ in range(b.rank)]
    axes_a, axes_b = batch.attrs["axes_a"], batch.attrs["axes_b"]
    for i, j in zip(axes_a, axes_b, strict=True):
        right[j] = left[i]
    summed = {left[i] for i in axes_a}
    result = "".join(letter for letter in [*left, *right] if letter not in summed)
    one, other = row * a.has_rows + "".join(left), row * b.has_rows + "".join(right)
    return einsum(f"{one},{other}->{row}{result}", a.tensor, b.tensor)


@op
def tensordot_back(
    dy: Same, other: Same, shape: Ints, axes: Axes, axes_other: Axes, is_left: bool, name: Name = None
) -> TensorType:
    """Return the cotangent of a factor of `tensordot`, from the cotangent `dy` and the other factor.

    >>> tensordot_back([[1, 2]], [10, 1], [1, 2, 2], [1], [0], True).numpy().tolist()
    [[[10, 20], [1, 2]]]
    """
    require_dtype(dy, NUMERIC, "tensordot_back")
    if axes is None or axes_other is None or len(axes) != len(axes_other):
        raise ValueError(f"tensordot_back: the axes {axes} and {axes_other} do not pair up")
    return TensorType(dy.dtype, dims(shape))


@tensordot_back.kernel
def _(
    dy: Array, other: Array, shape: Array, axes: tuple[int, ...], axes_other: tuple[int, ...], is_left: bool
) -> Array:
    rank = len(shape)
    summed = [axis % rank for axis in axes]
    gone = [axis % other.ndim for axis in axes_other]
    free = [i for i in range(rank) if i not in summed]
    rest = [i for i in range(other.ndim) if i not in gone]
    count = len(free)
    if is_left:
        # The free axes come first, then the remaining axes of `other`.
        product = contract(dy, other, range(count, dy.ndim), rest)
    else:
        product = contract(dy, other, range(len(rest)), rest)
    order = {axis: i for i, axis in enumerate(free)}
    for position, axis in enumerate(sorted(range(len(gone)), key=gone.__getitem__)):
        order[summed[axis]] = count + position
    found = product.transpose([order[i] for i in range(rank)])
    if found.shape != checked_dims(shape):
        raise ValueError(f"tensordot_back: the factor is of shape {found.shape}, not {checked_dims(shape)}")
    return found


@tensordot_back.gradient
def _(
    dz: Any,
    z: Any,
    dy: Any,
    other: Any,
    shape: Any,
    axes: tuple[int, ...],
    axes_other: tuple[int, ...],
    is_left: bool,
) -> Any:
    def to_other() -> Any:
        return tensordot_back(conj(dy), dz, shape_of(other), axes_other, axes, not is_left)

    if is_left:
        return lambda: tensordot_op(dz, conj(other), axes, axes_other), to_other, None
    return lambda: tensordot_op(conj(other), dz, axes_other, axes), to_other, None
