"""Pad tensors with a constant or with their mirror images.

x = [1 2 3]     pad(x, [[1, 2]])                   0 1 2 3 0 0
                pad(x, [[1, 2]], "REFLECT")        2 1 2 3 2 1
                pad(x, [[1, 2]], "SYMMETRIC")      1 1 2 3 3 2
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import dtypes
from ...core.conversion import convert_to_tensor
from ...core.export import export
from ...ir.batching import Batch
from ...ir.value_types import TensorType
from ...kernels.rows import combine_along
from ..framework.cached_dispatch import cached_dispatch
from ..framework.op import Input, Ints, Name, Same, op
from ..framework.static_values import (
    checked_dims,
    dims,
    listed,
)
from .reshape import sum_to
from .shape_ops import shape as shape_of
from .strided_slice import part

Array = Any


@export("pad")
@cached_dispatch
def pad(
    tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0, name: str | None = None
) -> Any:
    """Pad `tensor` with `paddings[i] = [before, after]` elements along each axis i.

    The modes: "CONSTANT" adds `constant_values`, "REFLECT" mirrors without repeating the edge, "SYMMETRIC"
    mirrors with it.

    >>> pad([1, 2, 3], [[2, 0]], "REFLECT")
    <tf.Tensor: shape=(5,), dtype=int32, numpy=array([3, 2, 1, 2, 3], dtype=int32)>
    >>> pad([True], [[1, 0]]).numpy().tolist()
    [False, True]
    """
    kind = mode.upper()
    if kind not in _NUMPY_MODES:
        raise ValueError(
            'Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or "SYMMETRIC". '
            f"Received `mode` = {kind}"
        )
    whole = convert_to_tensor(tensor)
    if type(constant_values) is int and constant_values == 0 and whole.dtype.kind in "Sb":
        constant_values = "" if whole.dtype.kind == "S" else False
    return surround(whole, paddings, constant_values, kind, name)


_NUMPY_MODES = {"CONSTANT": "constant", "REFLECT": "reflect", "SYMMETRIC": "symmetric"}


@op(name="pad")
def surround(
    tensor: Same, paddings: Ints, constant_values: Same, mode: str = "CONSTANT", name: Name = None
) -> TensorType:
    """Pad `tensor` on both sides along each axis.

    >>> surround([1, 2], [[1, 1]], 0)
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([0, 1, 2, 0], dtype=int32)>
    """
    _check_mode(mode)
    sizes, old = paddings.shape, tensor.shape
    if sizes is not None and (len(sizes) != 2 or sizes[1] not in (2, None)):
        raise ValueError(f"paddings must be a matrix with 2 columns: {listed(sizes)}")
    if old is not None and sizes is not None and sizes[0] not in (len(old), None):
        raise ValueError(
            f"The first dimension of paddings must be the rank of inputs{listed(sizes)} {listed(old)}"
        )
    if old is None:
        return TensorType(tensor.dtype, None if sizes is None or sizes[0] is None else (None,) * sizes[0])
    known: Iterator[int | None]
    if paddings.value is not None:
        known = itertools.chain.from_iterable(_pairs(paddings.value))
    else:
        known = iter(paddings.elements or (None,) * (2 * len(old)))
    return TensorType(tensor.dtype, tuple(_known_sum(size, next(known), next(known)) for size in old))


def _known_sum(*sizes: int | None) -> int | None:
    """Return a static sum, None if a size is unknown, or negative: then only the kernel raises."""
    known = [size for size in sizes if size is not None and size >= 0]
    return sum(known) if len(known) == len(sizes) else None


def _check_mode(mode: str) -> None:
    if mode not in _NUMPY_MODES:
        raise ValueError(f"Argument `mode` = {mode!r} is not one of {', '.join(_NUMPY_MODES)}")


def _pairs(paddings: Array) -> list[tuple[int, int]]:
    if paddings.ndim != 2 or paddings.shape[1] != 2:
        raise ValueError(f"paddings must be a matrix with 2 columns: {listed(paddings.shape)}")
    pairs: list[tuple[int, int]] = paddings.tolist()
    for before, after in pairs:
        if before < 0 or after < 0:
            raise ValueError(f"Paddings must be non-negative: {before} {after}")
    return pairs


def _check_mirrored(pairs: list[tuple[int, int]], shape: tuple[int, ...], mode: str) -> None:
    """Check that the padding is not larger than the mirrored elements."""
    for (before, after), size in zip(pairs, shape, strict=True):
        if max(before, after) > size - (mode == "REFLECT"):
            relation = "less than" if mode == "REFLECT" else "no greater than"
            raise ValueError(
                f"paddings must be {relation} the dimension size: {before}, {after} not {relation} {size}"
            )


@surround.kernel
def _(tensor: Array, paddings: Array, constant_values: Array, mode: str) -> Array:
    pairs = _pairs(paddings)
    grown = [size + before + after for size, (before, after) in zip(tensor.shape, pairs, strict=True)]
    padded = np.empty(grown, tensor.dtype)
    if mode == "CONSTANT":
        padded[...] = constant_values
    else:
        _check_mirrored(pairs, tensor.shape, mode)
    inner = [slice(before, before + size) for size, (before, _) in zip(tensor.shape, pairs, strict=True)]
    padded[tuple(inner)] = tensor
    if mode != "CONSTANT":
        for axis, pair in enumerate(pairs):
            _mirror(padded.swapaxes(0, axis), *pair, 1 if mode == "REFLECT" else 0)
    return padded


def _mirror(rows: Array, before: int, after: int, offset: int) -> None:
    """Copy mirrored rows into the padding.

    `offset` is 1 if the mirror is on a row, and 0 if it is between rows.
    """
    end = len(rows) - after
    if before:
        rows[:before] = rows[before + offset : 2 * before + offset][::-1]
    if after:
        rows[end:] = rows[end - offset - after : end - offset][::-1]


@surround.gradient
def _(dy: Any, y: Any, tensor: Any, paddings: Any, constant_values: Any, mode: str) -> Any:
    if mode != "CONSTANT":
        return sum_mirrored(dy, paddings, shape_of(tensor), mode), None, None
    inner = part(dy, paddings[:, 0], shape_of(tensor))
    return inner, None, lambda: sum_to(dy, ()) - sum_to(inner, ())


@surround.batching
def _(batch: Batch) -> Any:
    tensor, paddings, value = batch.arguments
    if paddings.has_rows or value.has_rows:
        return None
    return batch.call(tensor.tensor, batch.prepend([0, 0], paddings.tensor), value.tensor)


@op
def sum_mirrored(tensor: Input, paddings: Ints, shape: Ints, mode: str, name: Name = None) -> TensorType:
    """Add mirror images to each element, for a tensor of this shape: the transpose of `pad` with a mirror.

    >>> sum_mirrored([1, 10, 100], [[1, 0]], [2], "SYMMETRIC")
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 11, 100], dtype=int32)>
    """
    if tensor.dtype in (dtypes.string, dtypes.bool_):
        raise TypeError(f"sum_mirrored adds numbers, not {tensor.dtype.name}")
    _check_mode(mode)
    return TensorType(tensor.dtype, dims(shape))


@sum_mirrored.kernel
def _(tensor: Array, paddings: Array, shape: Array, mode: str) -> Array:
    for axis, (pair, size) in enumerate(zip(_pairs(paddings), checked_dims(shape), strict=True)):
        positions = np.pad(np.arange(size), pair, _NUMPY_MODES[mode])  # type: ignore[call-overload]
        sizes = (*tensor.shape[:axis], size, *tensor.shape[axis + 1 :])
        folded = np.zeros(sizes, tensor.dtype)
        combine_along(np.add, folded, axis, positions, tensor)
        tensor = folded
    return tensor


@sum_mirrored.gradient
def _(dy: Any, y: Any, tensor: Any, paddings: Any, shape: Any, mode: str) -> Any:
    return surround(dy, paddings, 0, mode), None, None
