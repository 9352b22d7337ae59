"""Products of matrices and of tensors in general.

>>> matmul([[1, 2]], [[3], [4]]).numpy().tolist()
[[11]]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors, shapes
from ..convert import TensorLike, convert_to_tensor
from ..ir.specs import Spec
from ..tensor import Tensor
from .attributes import Axes
from .declare import Inputs, Name, Same, op
from .families import NUMERIC, Array, demand


def _turned(shape: shapes.Dims, turn: bool) -> shapes.Dims:
    return (*shape[:-2], shape[-1], shape[-2]) if turn and shape is not None else shape


def matrix_product(a: shapes.Dims, b: shapes.Dims) -> shapes.Dims:
    """The shape of the product of (batches of) matrices; ValueError when they do not fit.

    >>> matrix_product((7, 2, 3), (3, None))
    (7, 2, None)
    """
    if a is None or b is None:
        return None
    if len(a) < 2 or len(b) < 2:
        raise ValueError(f"matmul takes matrices, not shapes {shapes.show(a)} and {shapes.show(b)}")
    if a[-1] != b[-2] and None not in (a[-1], b[-2]):
        raise ValueError(f"Matrix size-incompatible: In[0]: {shapes.show(a)}, In[1]: {shapes.show(b)}")
    batch = shapes.broadcast(a[:-2], b[:-2])
    assert batch is not None
    return (*batch, a[-2], b[-1])


@op
def matmul(
    a: Same,
    b: Same,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: Name = None,
) -> Spec:
    """The product of matrices: the last two axes; those before are batches, which broadcast.

    >>> matmul([[1, 2]], [[3, 4]], transpose_b=True).numpy().tolist()
    [[11]]
    """
    demand(a, NUMERIC, "matmul")
    for turned, conjugated, which in ((transpose_a, adjoint_a, "a"), (transpose_b, adjoint_b, "b")):
        if turned and conjugated:
            raise ValueError(f"Only one of `transpose_{which}` and `adjoint_{which}` can be True.")
    if any(shape is not None and len(shape) < 2 for shape in (a.shape, b.shape)):
        matrix_product(a.shape, b.shape)  # refuses
    left, right = _turned(a.shape, transpose_a or adjoint_a), _turned(b.shape, transpose_b or adjoint_b)
    return Spec(a.dtype, matrix_product(left, right))


@matmul.kernel
def _(a: Array, b: Array, transpose_a: bool, transpose_b: bool, adjoint_a: bool, adjoint_b: bool) -> Array:
    if a.ndim < 2 or b.ndim < 2:
        raise errors.InvalidArgumentError(f"matmul takes matrices, not shapes {a.shape} and {b.shape}")
    if transpose_a or adjoint_a:
        a = np.swapaxes(a, -1, -2)
    if transpose_b or adjoint_b:
        b = np.swapaxes(b, -1, -2)
    return (np.conj(a) if adjoint_a else a) @ (np.conj(b) if adjoint_b else b)


@op
def matvec(
    a: Same,
    b: Same,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    name: Name = None,
) -> Spec:
    """The product of matrices and vectors; the axes before are batches, which broadcast.

    >>> matvec([[1, 2], [3, 4]], [10, 1]).numpy().tolist()
    [12, 34]
    """
    demand(a, NUMERIC, "matvec")
    left = _turned(a.shape, transpose_a or adjoint_a)
    product = matrix_product(left, None if b.shape is None else (*b.shape, 1))
    return Spec(a.dtype, product and product[:-1])


@matvec.kernel
def _(a: Array, b: Array, transpose_a: bool, adjoint_a: bool) -> Array:
    if a.ndim < 2 or b.ndim < 1:
        raise errors.InvalidArgumentError(
            f"matvec takes a matrix and a vector, not shapes {a.shape} and {b.shape}"
        )
    if transpose_a or adjoint_a:
        a = np.swapaxes(a, -1, -2)
    return ((np.conj(a) if adjoint_a else a) @ b[..., np.newaxis])[..., 0]


def tensordot(a: TensorLike, b: TensorLike, axes: Any, name: Name = None) -> Tensor:
    """The sum of products over pairs of axes: the last of `a` with the first of `b`, or two lists of axes.

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
    return _tensordot(a, b, axes[0], axes[1], name)  # type: ignore[no-any-return]


@op(name="tensordot")
def _tensordot(a: Same, b: Same, axes_a: Axes, axes_b: Axes, name: Name = None) -> Spec:
    """`tensordot` over pairs of axes.

    >>> _tensordot([1, 2], [3, 4], 0, 0).numpy().tolist()
    11
    """
    demand(a, NUMERIC, "tensordot")
    assert axes_a is not None and axes_b is not None
    if len(axes_a) != len(axes_b):
        raise ValueError(f"Different number of contraction axes `a` and `b`, {len(axes_a)} != {len(axes_b)}.")
    if a.shape is None or b.shape is None:
        return Spec(a.dtype, None)
    gone_a = [shapes.normal_axis(axis, len(a.shape)) for axis in axes_a]
    gone_b = [shapes.normal_axis(axis, len(b.shape)) for axis in axes_b]
    for i, j in zip(gone_a, gone_b, strict=True):
        if a.shape[i] != b.shape[j] and None not in (a.shape[i], b.shape[j]):
            raise ValueError(
                f"Matrix size-incompatible: {shapes.show(a.shape)}[{i}] and {shapes.show(b.shape)}[{j}]"
            )
    left = [size for i, size in enumerate(a.shape) if i not in gone_a]
    return Spec(a.dtype, (*left, *(size for j, size in enumerate(b.shape) if j not in gone_b)))


@_tensordot.kernel
def _(a: Array, b: Array, axes_a: tuple[int, ...], axes_b: tuple[int, ...]) -> Array:
    return np.tensordot(a, b, (axes_a, axes_b))


def einsum(equation: str, *inputs: TensorLike, name: Name = None) -> Tensor:
    """A sum of products by Einstein's notation: what `->` does not name is summed over.

    >>> einsum("ij,jk->ik", [[1, 2]], [[3], [4]]).numpy().tolist()
    [[11]]
    """
    return _einsum(list(inputs), equation, name)  # type: ignore[no-any-return]


@op(name="einsum")
def _einsum(inputs: Inputs, equation: str, name: Name = None) -> Spec:
    """`einsum`.

    >>> _einsum([[1, 2], [3, 4]], "i,i->").numpy().tolist()
    11
    """
    for operand in inputs:
        demand(operand, NUMERIC, "einsum")
    return Spec(inputs[0].dtype, einsum_shape(equation, [operand.shape for operand in inputs]))


@_einsum.kernel
def _(inputs: list[Array], equation: str) -> Array:
    return np.einsum(equation, *inputs, optimize=len(inputs) > 2)


def einsum_shape(equation: str, operands: list[shapes.Dims]) -> shapes.Dims:
    """The shape of the result; ValueError for an equation that is none, or does not fit.

    >>> einsum_shape("...ij,jk->...ik", [(7, 2, 3), (3, None)])
    (7, 2, None)
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise ValueError(f"einsum equation {equation!r} takes {len(terms)} inputs, not {len(operands)}")
    sizes: dict[str, int | None] = {}
    batch: shapes.Dims = ()
    for term, shape in zip(terms, operands, strict=True):
        head, dots, tail = term.partition("...")
        if shape is None:
            batch = None if dots else batch
            sizes |= {label: sizes.get(label) for label in head + tail}
            continue
        extra = len(shape) - len(head) - len(tail)
        if extra < 0 or (extra and not dots):
            raise ValueError(
                f"einsum: the term {term!r} of {equation!r} does not fit the shape {shapes.show(shape)}"
            )
        if dots:
            batch = shapes.broadcast(batch, shape[len(head) : len(head) + extra])
        for label, size in zip(head + tail, (*shape[: len(head)], *shape[len(head) + extra :]), strict=True):
            known = sizes.get(label)
            if None not in (known, size) and known != size:
                raise ValueError(f"einsum: {label!r} of {equation!r} has sizes {known} and {size}")
            sizes[label] = size if known is None else known
    if not arrow:
        labels = left.replace(",", "").replace(".", "")
        right = ("..." if "..." in left else "") + "".join(
            sorted(c for c in set(labels) if labels.count(c) == 1)
        )
    head, dots, tail = right.partition("...")
    if set(head + tail) - set(sizes):
        raise ValueError(f"einsum: the output of {equation!r} has a label that no input has")
    if dots and batch is None:
        return None
    return (*(sizes[c] for c in head), *(batch if dots and batch else ()), *(sizes[c] for c in tail))
