"""Operations that move or weigh elements in a way that follows from the shapes alone.

The kernel itself gives the places: it runs on the numbers of the elements. The node is a Gather with constant indices.
So the shapes must be known. Resizing is a product with a constant matrix for each axis.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import dtypes
from ....ops.image.resize import nearest, taps
from ..onnx_types import InexpressibleError
from ..registry import exports

_MOVING = (
    "diag", "diag_part", "set_diag", "band_part", "space_to_batch_nd", "batch_to_space_nd", "extract_image_patches",
    "extract_volume_patches", "diagonals_of_matrix", "matrix_of_diagonals", "matrix_with_diagonals", "band_within",
    "rows_in_order",
)  # fmt: skip
_LINEAR = ("extract_image_patches_grad", "sum_mirrored", "neighborhood", "resize_nearest_neighbor_grad")
_MOST = 1 << 22


@exports(*_MOVING)
def moved(e: Any, operation: Any, *inputs: Any) -> Any:
    """Gather the elements of the operands by the places that the kernel gives; 0 is where it puts a zero."""
    numbered, flat, first = [], [], 1
    dtype = operation.outputs[0].dtype
    kinds = [kind for _, kind in operation.op.operand_parameters]
    for kind, ref in zip(kinds, inputs, strict=True):
        if kind != "Ints":
            if ref.shape is None or None in ref.shape:
                raise InexpressibleError(
                    "it moves elements by places that follow from sizes that are not known"
                )
            count = int(np.prod(ref.shape, dtype=np.int64))
            numbered.append(np.arange(first, first + count).reshape(ref.shape))
            flat.append(e.reshape(ref, [-1]))
            first += count
        elif ref.value is None:
            raise InexpressibleError("where it moves elements to is computed by the program")
        else:
            numbered.append(ref.value)
    places = np.asarray(operation.op.compute(*operation.op.grouped(numbered), **operation.attrs))
    elements = e("Concat", e.const([0], dtype), *flat, axis=0)
    return e("Gather", elements, e.const(places.astype(np.int64)))


@exports(*_LINEAR)
def _(e: Any, operation: Any, x: Any, *rest: Any) -> Any:
    """Multiply by the matrix of a linear operation, which the kernel gives for each unit vector."""
    if x.shape is None or None in x.shape or any(ref.value is None for ref in rest):
        raise InexpressibleError("its matrix follows from sizes that are not known")
    size = int(np.prod(x.shape, dtype=np.int64))
    out = operation.outputs[0].shape
    if out is None or None in out or size * int(np.prod(out, dtype=np.int64)) > _MOST:
        raise InexpressibleError("its matrix is too large")
    rows = [
        np.asarray(
            operation.op.compute(row.reshape(x.shape), *[ref.value for ref in rest], **operation.attrs)
        ).ravel()
        for row in np.eye(size, dtype=x.dtype.numpy_dtype)
    ]
    product = e("MatMul", e.reshape(x, [1, size]), e.const(np.array(rows), x.dtype))
    return e.reshape(product, list(out))


def _sizes(x: Any, size: Any) -> Any:
    if size.value is None or None in x.shape[1:3]:
        raise InexpressibleError("the weights follow from sizes that are not known")
    return zip((1, 2), np.ravel(size.value).tolist(), strict=True)


def _matrix(old: int, new: int, attrs: Any) -> Any:
    sources, weights = taps(old, new, attrs["method"], attrs["antialias"])
    matrix = np.zeros((new, old), np.float32)
    np.add.at(matrix, (np.arange(new)[:, None], sources), weights)
    return matrix


def _along(e: Any, x: Any, axis: int, matrix: Any) -> Any:
    """Multiply the slices of an axis of images by a matrix."""
    order = [0, 3, 2, 1] if axis == 1 else [0, 3, 1, 2]
    turned = e("MatMul", e.transpose(x, order), e.const(matrix.T, dtypes.float32))
    turned.shape = (None,) * 4
    return e.transpose(turned, np.argsort(order).tolist())


@exports("resize")
def _(e: Any, operation: Any, x: Any, size: Any) -> Any:
    sizes = list(_sizes(x, size))
    shape, x = x.shape, e.cast(x, dtypes.float32)
    for axis, new in sizes:
        x = _along(e, x, axis, _matrix(shape[axis], new, operation.attrs))
    return x


@exports("resize_grad")
def _(e: Any, operation: Any, x: Any, size: Any) -> Any:
    sizes = list(_sizes(x, size))
    shape, x = x.shape, e.cast(x, dtypes.float32)
    for axis, old in sizes:
        x = _along(e, x, axis, _matrix(old, shape[axis], operation.attrs).T)
    return x


@exports("resize_nearest_neighbor")
def _(e: Any, operation: Any, x: Any, size: Any) -> Any:
    for axis, new in list(_sizes(x, size)):
        shape = x.shape
        x = e("Gather", x, e.const(nearest(shape[axis], new)), axis=axis)
        x.shape = shape
    return x
