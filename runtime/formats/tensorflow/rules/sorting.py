"""Sorting, and searching in sorted rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..body import Body
from ..nodes import NodeResult
from ..rule_registry import writes
from .shapes import axis_back, axis_last, cast, coordinates_along, joined, part, shape_of, with_shape


def descending(to: Body, x: NodeResult) -> tuple[NodeResult, NodeResult]:
    """Return the elements of the last axis in descending order, equal ones in their order, and their indices."""
    size = part(to, to.Shape(x), -1)
    values, indices = to.TopKV2(x, size)
    return values, indices


def turned(to: Body, x: NodeResult) -> Any:
    """Return elements in the opposite order of size."""
    return to.Neg(x) if x.kind == "f" else to.Invert(x)


def _ordered(to: Body, x: NodeResult, direction: str) -> tuple[NodeResult, NodeResult]:
    """Return the sorted elements of the last axis, none of which is NaN, and their indices."""
    if direction == "DESCENDING":
        return descending(to, x)
    values, indices = descending(to, turned(to, x))
    return turned(to, values), indices


def _without_nan(to: Body, x: NodeResult, is_nan: NodeResult) -> Any:
    return to.SelectV2(is_nan, to.const(np.inf, x.dtype), x)


@writes("sort")
def _(to: Body, values: NodeResult, axis: int, direction: str) -> Any:
    """Sort; NaN is the largest number, and gets its places after that: TensorFlow's order of NaN is not defined."""
    x, order = axis_last(to, values, axis)
    if x.kind != "f":
        return axis_back(to, _ordered(to, x, direction)[0], order)
    is_nan = to.IsNan(x)
    found, _ = _ordered(to, _without_nan(to, x, is_nan), direction)
    count = to.Sum(cast(to, is_nan, "int32"), [-1], keep_dims=True)
    size = part(to, to.Shape(x), -1)
    places = to.Range(0, size, 1)
    is_number = (
        to.GreaterEqual(places, count) if direction == "DESCENDING" else to.Less(places, to.Sub(size, count))
    )
    return axis_back(to, to.SelectV2(is_number, found, to.const(np.nan, x.dtype)), order)


@writes("argsort")
def _(to: Body, values: NodeResult, axis: int, direction: str, stable: bool) -> Any:
    """Sort as `sort`: infinity and NaN are equal at first, and then all elements are sorted by whether they are NaN."""
    x, order = axis_last(to, values, axis)
    if x.kind != "f":
        return axis_back(to, _ordered(to, x, direction)[1], order)
    is_nan = to.IsNan(x)
    _, first = _ordered(to, _without_nan(to, x, is_nan), direction)
    kinds = cast(to, to.GatherNd(is_nan, coordinates_along(to, _like(first, x), -1)), "int32")
    _, then = _ordered(to, kinds, direction)
    return axis_back(to, to.GatherNd(first, coordinates_along(to, _like(then, x), -1)), order)


def _like(indices: NodeResult, x: NodeResult) -> NodeResult:
    return with_shape(indices, x.shape)


@writes("top_k")
def _(to: Body, input: NodeResult, k: NodeResult, index_type: Any) -> Any:
    return to.TopKV2(input, to.Reshape(k, []), index_type=index_type)


@writes("searchsorted")
def _(to: Body, sequence: NodeResult, values: NodeResult, side: str, out_type: Any) -> Any:
    """Search in rows: TensorFlow's operations take matrices."""
    rows = to.Reshape(sequence, joined(to, [-1], to.Reshape(part(to, to.Shape(sequence), -1), [1])))
    wanted = to.Reshape(values, joined(to, to.Reshape(part(to, to.Shape(rows), 0), [1]), [-1]))
    found = (to.LowerBound if side == "left" else to.UpperBound)(rows, wanted, out_type=out_type)
    return to.Reshape(found, shape_of(to, values))
