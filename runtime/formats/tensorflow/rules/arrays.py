"""Operations that make, join, split and move tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..body import Body
from ..nodes import NodeResult
from ..rule_registry import direct, writes
from .shapes import cast, inverse, joined, number, part, permuted, rank_of, scalar, shape_of, sliced

direct(
    """
    broadcast_dynamic_shape=BroadcastArgs broadcast_to=BroadcastTo ensure_shape=EnsureShape
    expand_dims=ExpandDims(input,axis) fill=Fill invert_permutation=InvertPermutation no_op=NoOp rank=Rank
    reshape=Reshape reverse=ReverseV2 roll=Roll shape=Shape size=Size split=Split(axis,value,num_split=num)
    split_sizes=SplitV(value,size_splits,axis,num_split=num) stack=Pack tile=Tile true_indices=Where unstack=Unpack
    where=SelectV2
    """
)


@writes("concat")
def _(to: Body, values: list[NodeResult], axis: int) -> Any:
    return to.ConcatV2(values, axis) if len(values) > 1 else to.Identity(values[0])


@writes("identity_matrix")
def _(to: Body, rows: NodeResult, columns: NodeResult, batch_shape: NodeResult, dtype: Any) -> Any:
    size = to.Minimum(cast(to, rows, "int32"), cast(to, columns, "int32"))
    shape = to.ConcatV2([cast(to, batch_shape, "int32"), to.Reshape(size, [1])], 0)
    ones = to.Fill(shape, number(to, 1, dtype.name))
    rows, columns = cast(to, rows, "int32"), cast(to, columns, "int32")
    return to.MatrixDiagV3(ones, 0, rows, columns, number(to, 0, dtype.name))


@writes("ones")
def _(to: Body, shape: NodeResult, dtype: Any) -> Any:
    return to.Fill(shape, number(to, 1, dtype.name))


@writes("zeros")
def _(to: Body, shape: NodeResult, dtype: Any) -> Any:
    return to.Fill(shape, number(to, 0, dtype.name))


@writes("ones_like")
def _(to: Body, input: NodeResult, dtype: Any) -> Any:
    return to.Fill(shape_of(to, input), number(to, 1, to.outputs[0].dtype.name))


@writes("zeros_like")
def _(to: Body, input: NodeResult, dtype: Any) -> Any:
    if to.outputs[0].dtype.name == input.dtype:
        return to.ZerosLike(input)
    return to.Fill(shape_of(to, input), number(to, 0, to.outputs[0].dtype.name))


@writes("blank")
def _(to: Body, dtype: Any, like: Any) -> Any:
    return to.Fill([size or 0 for size in like or ()], number(to, 0, dtype.name))


@writes("dynamic_partition")
def _(to: Body, data: NodeResult, partitions: NodeResult, num_partitions: int) -> Any:
    return to.DynamicPartition(data, cast(to, partitions, "int32"), num_partitions=num_partitions)


@writes("dynamic_stitch")
def _(to: Body, parts: list[NodeResult]) -> Any:
    half = len(parts) // 2
    return to.DynamicStitch([cast(to, each, "int32") for each in parts[:half]], parts[half:])


@writes("linspace")
def _(to: Body, start: NodeResult, stop: NodeResult, num: NodeResult, axis: int) -> Any:
    """Interpolate between the ends, of which the last number is `stop` itself."""
    if start.rank == stop.rank == 0:
        return to.LinSpace(start, stop, cast(to, num, "int32"))
    rank = rank_of(start)
    axis %= rank + 1
    start, stop = to.ExpandDims(start, axis), to.ExpandDims(stop, axis)
    num = cast(to, num, "int32")
    steps = to.Range(0, num, 1)
    column = to.Reshape(steps, [-1 if i == axis else 1 for i in range(rank + 1)])
    gaps = cast(to, to.Maximum(to.Sub(num, 1), 1), start.dtype)
    inner = to.AddV2(start, to.Mul(to.RealDiv(to.Sub(stop, start), gaps), cast(to, column, start.dtype)))
    is_last = to.LogicalAnd(to.Equal(column, to.Sub(num, 1)), to.Greater(num, 1))
    return to.SelectV2(is_last, stop, inner)


@writes("one_hot")
def _(to: Body, indices: NodeResult, depth: NodeResult, on: NodeResult, off: NodeResult, axis: int) -> Any:
    return to.OneHot(indices, cast(to, depth, "int32"), on, off, axis=axis)


@writes("range")
def _(to: Body, start: NodeResult, limit: NodeResult, delta: NodeResult, dtype: Any) -> Any:
    return to.Range(*[cast(to, each, dtype) for each in (start, limit, delta)])


@writes("squeeze")
def _(to: Body, input: NodeResult, axis: Any) -> Any:
    return to.Squeeze(input, squeeze_dims=list(axis or ())) if axis != () else to.Identity(input)


@writes("inverse_permutation")
def _(to: Body, perm: NodeResult) -> Any:
    return to.InvertPermutation(to.FloorMod(perm, to.Size(perm, out_type=perm.dtype)))


@writes("sum_to")
def _(to: Body, tensor: NodeResult, shape: NodeResult) -> Any:
    """Sum along the axes that are broadcast."""
    wanted = cast(to, shape, "int32")
    _, axes = to.BroadcastGradientArgs(to.Shape(tensor), wanted)
    return to.Reshape(to.Sum(tensor, axes), wanted)


@writes("transpose")
def _(to: Body, a: NodeResult, perm: NodeResult, conjugate: bool) -> Any:
    order = to.FloorMod(perm, to.Size(perm, out_type=perm.dtype))
    return to.ConjugateTranspose(a, order) if conjugate and a.kind == "c" else to.Transpose(a, order)


@writes("placeholder_with_default")
def _(to: Body, input: NodeResult, shape: Any) -> Any:
    return to.Identity(input)


@writes("slice")
def _(to: Body, input: NodeResult, begin: NodeResult, size: NodeResult) -> Any:
    return to.Slice(input, begin, cast(to, size, begin.dtype))


@writes("put_back_part")
def _(to: Body, value: NodeResult, begin: NodeResult, shape: NodeResult) -> Any:
    begin, shape = cast(to, begin, "int32"), cast(to, shape, "int32")
    after = to.Sub(to.Sub(shape, begin), to.Shape(value))
    return to.Pad(value, to.Pack([begin, after], axis=1))


@writes("meshgrid")
def _(to: Body, args: list[NodeResult], indexing: str) -> Any:
    """Broadcast each vector along the axes of the others; `xy` exchanges the first two axes."""
    count = len(args)
    places = list(range(count))
    if indexing == "xy" and count > 1:
        places[:2] = [1, 0]
    flat = [to.Reshape(arg, [-1]) for arg in args]
    sizes = [to.Size(each) for each in flat]
    shape = to.Pack([sizes[places.index(i)] for i in range(count)], axis=0)
    columns = [
        to.Reshape(each, [-1 if i == place else 1 for i in range(count)])
        for each, place in zip(flat, places, strict=True)
    ]
    return [to.BroadcastTo(column, shape) for column in columns]


@writes("pad")
def _(to: Body, tensor: NodeResult, paddings: NodeResult, constant: NodeResult, mode: str) -> Any:
    if mode.upper() == "CONSTANT":
        return to.PadV2(tensor, paddings, constant)
    return to.MirrorPad(tensor, paddings, mode=mode.upper())


@writes("sum_mirrored")
def _(to: Body, tensor: NodeResult, paddings: NodeResult, shape: NodeResult, mode: str) -> Any:
    return to.MirrorPadGrad(tensor, paddings, mode=mode.upper())


def repeated_rows(to: Body, repeats: NodeResult, count: NodeResult) -> Any:
    """Return the index of the repeated row for each row of the result of `repeat`."""
    each = to.BroadcastTo(cast(to, repeats, "int32"), to.Reshape(count, [1]))
    ends = to.Cumsum(each, 0)
    places = to.Range(0, to.Sum(each, [0]), 1)
    found = to.UpperBound(to.ExpandDims(ends, 0), to.ExpandDims(places, 0))
    return to.Reshape(found, [-1])


@writes("repeat")
def _(to: Body, input: NodeResult, repeats: NodeResult, axis: int | None) -> Any:
    if axis is None:
        input, axis = to.Reshape(input, [-1]), 0
    count = part(to, to.Shape(input), axis)
    return to.GatherV2(input, repeated_rows(to, repeats, count), axis)


@writes("sum_repeated")
def _(to: Body, input: NodeResult, repeats: NodeResult, shape: NodeResult, axis: int | None) -> Any:
    shape = cast(to, shape, "int32")
    if axis is None:
        count = to.Prod(shape, [0])
        ids = repeated_rows(to, repeats, count)
        return to.Reshape(to.UnsortedSegmentSum(input, ids, count), shape)
    order = [axis % rank_of(input), *[i for i in range(rank_of(input)) if i != axis % rank_of(input)]]
    count = part(to, shape, axis)
    summed = to.UnsortedSegmentSum(permuted(to, input, order), repeated_rows(to, repeats, count), count)
    return to.Transpose(summed, inverse(order))


@writes("sum_tiles")
def _(to: Body, input: NodeResult, multiples: NodeResult) -> Any:
    """Sum along an axis for the tiles, next to each axis."""
    multiples = cast(to, multiples, "int32")
    sizes = to.FloorDiv(to.Shape(input), to.Maximum(multiples, 1))
    whole = to.Reshape(input, to.Reshape(to.Pack([multiples, sizes], axis=1), [-1]))
    return to.Sum(whole, [2 * i for i in range(rank_of(input))])


@writes("boolean_mask")
def _(to: Body, tensor: NodeResult, mask: NodeResult, axis: int) -> Any:
    covered = rank_of(mask)
    axis = axis % rank_of(tensor) if axis < 0 else axis
    if covered != 1:
        shape = to.Shape(tensor)
        merged = to.Reshape(to.Size(mask), [1])
        tensor = to.Reshape(
            tensor,
            joined(
                to,
                sliced(to, shape, 0, axis) if axis else [],
                merged,
                sliced(to, shape, axis + covered, None),
            ),
        )
    rows = to.Reshape(to.Where(to.Reshape(mask, [-1])), [-1])
    return to.GatherV2(tensor, rows, axis)


@writes("put_back_masked")
def _(to: Body, rows: NodeResult, mask: NodeResult, shape: NodeResult, axis: int) -> Any:
    covered = rank_of(mask)
    rank = rank_of(rows) + covered - 1
    axis %= rank
    shape = cast(to, shape, "int64")
    if not axis:
        return to.ScatterNd(to.Where(mask), rows, shape)
    order = [axis, *[i for i in range(rank_of(rows)) if i != axis]]
    whole = [*range(axis, axis + covered), *[i for i in range(rank) if not axis <= i < axis + covered]]
    made = to.ScatterNd(to.Where(mask), permuted(to, rows, order), to.GatherV2(shape, whole, 0))
    return to.Transpose(made, inverse(whole))


@writes("replace_masked")
def _(to: Body, tensor: NodeResult, value: NodeResult, mask: NodeResult) -> Any:
    places = to.Where(mask)
    count = to.Reshape(part(to, to.Shape(places), 0), [1])
    shape = joined(to, count, sliced(to, to.Shape(tensor), rank_of(mask), None))
    return to.TensorScatterUpdate(tensor, places, to.BroadcastTo(value, shape))


def axes_order(to: Body, x: NodeResult, axes: NodeResult) -> tuple[NodeResult, NodeResult]:
    """Return the axes that are not in `axes`, and all of them with those in `axes` at the end."""
    axes = to.Reshape(to.FloorMod(cast(to, axes, "int32"), to.Rank(x)), [-1])
    others, _ = to.ListDiff(to.Range(0, to.Rank(x), 1), axes)
    return others, to.ConcatV2([others, axes], 0)


@writes("axes_last")
def _(to: Body, x: NodeResult, axes: NodeResult) -> Any:
    others, order = axes_order(to, x, axes)
    kept = to.GatherV2(to.Shape(x), others, 0)
    merged = to.Prod(
        to.GatherV2(to.Shape(x), to.FloorMod(to.Reshape(cast(to, axes, "int32"), [-1]), to.Rank(x)), 0),
        [0],
        keep_dims=True,
    )
    return to.Reshape(to.Transpose(x, order), to.ConcatV2([kept, merged], 0))


@writes("axes_back")
def _(to: Body, flat: NodeResult, axes: NodeResult, shape: NodeResult) -> Any:
    shape = cast(to, shape, "int32")
    count = to.Size(shape)
    axes = to.Reshape(to.FloorMod(cast(to, axes, "int32"), count), [-1])
    others, _ = to.ListDiff(to.Range(0, count, 1), axes)
    order = to.ConcatV2([others, axes], 0)
    return to.Transpose(to.Reshape(flat, to.GatherV2(shape, order, 0)), to.InvertPermutation(order))


@writes("sequence_mask")
def _(to: Body, lengths: NodeResult, maxlen: NodeResult, dtype: Any) -> Any:
    longest = to.Max(to.ConcatV2([to.Reshape(lengths, [-1]), np.zeros(1, lengths.dtype)], 0), [0])
    limit = scalar(to, maxlen, lengths.dtype)
    size = to.SelectV2(to.Less(limit, 0), longest, limit)
    columns = to.Range(to.const(0, lengths.dtype), size, to.const(1, lengths.dtype))
    return cast(to, to.Less(columns, to.ExpandDims(lengths, -1)), dtype)
