"""Operators that make, join and reshape tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..... import dtypes
from .....core.conversion import convert_to_tensor
from .....core.shapes import normal_axis
from .....ops.arrays import concat_split, creation, pad_ops, ranges, reshape, shape_ops, tile_and_repeat
from .....ops.arrays.gather_ops import gather
from .....ops.arrays.sequence_lengths import reverse_rows
from .....ops.arrays.shape_arithmetic import broadcast_dynamic_shape
from .....ops.arrays.where_ops import choose
from .....ops.math.cast import bitcast, cast
from .....ops.math.clip import clip_by_value
from .....ops.random.stateful import normal, uniform
from ..protos import dtype_of
from .registry import OperatorCall, axes_of, numbers, operator, plain, rank_of

plain({"Expand": lambda x, shape: reshape.broadcast_to(
    x, broadcast_dynamic_shape(shape_ops.shape(x, dtypes.int64), shape)
)})  # fmt: skip


@operator("Constant")
def _(call: OperatorCall) -> Any:
    (kind,) = call.node.attrs
    value = call.get(kind)
    if kind == "value":
        return convert_to_tensor(value)
    own = {
        "value_float": np.float32,
        "value_floats": np.float32,
        "value_int": np.int64,
        "value_ints": np.int64,
    }
    return convert_to_tensor(np.array(value, own[kind]) if kind in own else np.array(value, object))


@operator("ConstantOfShape")
def _(call: OperatorCall, shape: Any) -> Any:
    value = call.get("value")
    return creation.fill(shape, convert_to_tensor(np.float32(0) if value is None else value.reshape(())))


@operator("Shape")
def _(call: OperatorCall, x: Any) -> Any:
    found = shape_ops.shape(x, dtypes.int64)
    start, end = call.get("start", 0), call.get("end")
    if start == 0 and end is None:
        return found
    rank = rank_of(x)
    known = slice(start, end).indices(rank)
    return found[known[0] : max(known[1], known[0])]


@operator("Size")
def _(call: OperatorCall, x: Any) -> Any:
    return shape_ops.size(x, dtypes.int64)


@operator("Reshape")
def _(call: OperatorCall, x: Any, shape: Any = None) -> Any:
    shape = call.get("shape") if shape is None else shape
    try:
        wanted = list(shape) if isinstance(shape, tuple) else numbers(shape, "the shape")
    except ValueError:  # it follows from sizes that are not known; it has no zeros then, in practice
        return reshape.reshape(x, shape)
    if call.get("allowzero", 0) or 0 not in wanted:
        return reshape.reshape(x, np.array(wanted, np.int64))
    own = shape_ops.shape(x, dtypes.int64)
    parts = [own[i] if size == 0 else convert_to_tensor(np.int64(size)) for i, size in enumerate(wanted)]
    return reshape.reshape(x, concat_split.stack(parts))


@operator("Squeeze")
def _(call: OperatorCall, x: Any, axes: Any = None) -> Any:
    return reshape.squeeze(x, axes_of(call, axes))


@operator("Unsqueeze")
def _(call: OperatorCall, x: Any, axes: Any = None) -> Any:
    chosen = axes_of(call, axes)
    rank = rank_of(x) + len(chosen)
    for axis in sorted(normal_axis(axis, rank) for axis in chosen):
        x = reshape.expand_dims(x, axis)
    return x


@operator("Flatten")
def _(call: OperatorCall, x: Any) -> Any:
    axis, rank = call.get("axis", 1), rank_of(x)
    axis = axis if axis >= 0 else axis + rank
    own = shape_ops.shape(x, dtypes.int64)
    rows = np.int64(1)
    for i in range(axis):
        rows = own[i] * rows
    columns = np.int64(1)
    for i in range(axis, rank):
        columns = own[i] * columns
    return reshape.reshape(x, concat_split.stack([convert_to_tensor(rows), convert_to_tensor(columns)]))


@operator("Transpose")
def _(call: OperatorCall, x: Any) -> Any:
    return reshape.transpose(x, call.get("perm"))


@operator("Concat")
def _(call: OperatorCall, *values: Any) -> Any:
    return concat_split.concat(list(values), call.get("axis", 1))


@operator("Split")
def _(call: OperatorCall, x: Any, sizes: Any = None) -> Any:
    axis = call.get("axis", 0)
    given = call.get("split") if sizes is None else numbers(sizes, "the sizes")
    if given is None:
        count = call.get("num_outputs", call.results)
        size = x.shape[axis]
        if size is None or size % count == 0:
            return concat_split.split(x, count, axis)
        part = -(-size // count)
        given = [part] * (size // part) + [size % part] * bool(size % part)
    return concat_split.split(x, list(given), axis)


@operator("Tile")
def _(call: OperatorCall, x: Any, repeats: Any) -> Any:
    return tile_and_repeat.tile(x, repeats)


@operator("Pad")
def _(call: OperatorCall, x: Any, pads: Any = None, filler: Any = None, axes: Any = None) -> Any:
    mode = call.choice("mode", "constant", "reflect", "edge", "wrap")
    rank = rank_of(x)
    if pads is None:
        pads = convert_to_tensor(np.array(call.get("pads", call.get("paddings")), np.int64))
    if axes is not None:
        chosen = [normal_axis(axis, rank) for axis in numbers(axes, "an axis")]
        given, whole = numbers(pads, "the padding"), [0] * 2 * rank
        for i, axis in enumerate(chosen):
            whole[axis], whole[rank + axis] = given[i], given[len(chosen) + i]
        pads = convert_to_tensor(np.array(whole, np.int64))
    pairs = reshape.transpose(reshape.reshape(pads, [2, rank]))
    if mode == "constant":
        return _padded(x, pairs, call.get("value", 0.0) if filler is None else filler)
    if mode == "reflect":
        return pad_ops.pad(x, pairs, "REFLECT")
    return _extended(x, pairs, mode)


def _extended(x: Any, pairs: Any, mode: str) -> Any:
    """Pad with the elements at the edge, or with those of the other end."""
    own = shape_ops.shape(x)
    for axis in range(rank_of(x)):
        before, after = cast(pairs[axis][0], own.dtype), cast(pairs[axis][1], own.dtype)
        places = ranges.range(-before, own[axis] + after)
        inside = places % own[axis] if mode == "wrap" else clip_by_value(places, 0, own[axis] - 1)
        x = gather(x, inside, axis=axis)
    return x


def _padded(x: Any, pairs: Any, filler: Any) -> Any:
    """Pad, or cut where the padding is negative."""
    filler = cast(convert_to_tensor(filler), x.dtype)
    filler = reshape.reshape(filler, [])
    try:
        known = numbers(pairs, "the padding")
    except ValueError:
        return pad_ops.pad(x, pairs, "CONSTANT", filler)
    if min(known, default=0) < 0:
        cuts = np.minimum(np.array(known).reshape(-1, 2), 0)
        x = x[tuple(slice(-int(a), int(b) or None) for a, b in cuts)]
        pairs = np.maximum(np.array(known).reshape(-1, 2), 0)
    return pad_ops.pad(x, pairs, "CONSTANT", filler)


@operator("Range")
def _(call: OperatorCall, start: Any, limit: Any, delta: Any) -> Any:
    return ranges.range(*[reshape.reshape(each, []) for each in (start, limit, delta)])


@operator("OneHot")
def _(call: OperatorCall, indices: Any, depth: Any, values: Any) -> Any:
    size = reshape.reshape(cast(depth, dtypes.int32), [])
    places = cast(indices, dtypes.int32)
    places = places + cast(places < 0, dtypes.int32) * size
    return ranges.one_hot(places, size, values[1], values[0], call.get("axis", -1))


@operator("EyeLike")
def _(call: OperatorCall, x: Any) -> Any:
    dtype = dtype_of(call.get("dtype")) if call.get("dtype") else x.dtype
    if call.get("k", 0):
        raise ValueError("other diagonals than the main one are not supported")
    sizes = shape_ops.shape(x)
    return creation.eye(sizes[0], sizes[1], dtype=dtype)


@operator("Trilu")
def _(call: OperatorCall, x: Any, k: Any = None) -> Any:
    by = numbers(k, "the diagonal")[0] if k is not None else 0
    first = np.arange(x.shape[-2] or 0)[:, None]
    if x.shape[-2] is None or x.shape[-1] is None:
        rows, columns = (ranges.range(size) for size in (shape_ops.shape(x)[-2], shape_ops.shape(x)[-1]))
        difference = columns - reshape.expand_dims(rows, 1)
    else:
        difference = convert_to_tensor(np.arange(x.shape[-1]) - first)
    kept = difference >= by if call.get("upper", 1) else difference <= by
    return choose(kept, x, creation.zeros_like(x))


@operator("ReverseSequence")
def _(call: OperatorCall, x: Any, lengths: Any) -> Any:
    return reverse_rows(x, lengths, call.get("time_axis", 0), call.get("batch_axis", 1))


@operator("BitCast")
def _(call: OperatorCall, x: Any) -> Any:
    return bitcast(x, dtype_of(call.get("to")))


@operator("DepthToSpace", "SpaceToDepth")
def _(call: OperatorCall, x: Any) -> Any:
    block = call.get("blocksize")
    batch, channels, height, width = x.shape.as_list()
    if None in (channels, height, width):
        raise ValueError("the sizes of the image are not known")
    n = -1 if batch is None else batch
    if call.node.op == "SpaceToDepth":
        split = reshape.reshape(x, [n, channels, height // block, block, width // block, block])
        turned = reshape.transpose(split, [0, 3, 5, 1, 2, 4])
        return reshape.reshape(turned, [n, channels * block**2, height // block, width // block])
    depth = channels // block**2
    if call.choice("mode", "DCR", "CRD") == "DCR":
        split = reshape.reshape(x, [n, block, block, depth, height, width])
        turned = reshape.transpose(split, [0, 3, 4, 1, 5, 2])
    else:
        split = reshape.reshape(x, [n, depth, block, block, height, width])
        turned = reshape.transpose(split, [0, 1, 4, 2, 5, 3])
    return reshape.reshape(turned, [n, depth, height * block, width * block])


@operator("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike")
def _(call: OperatorCall, *like: Any) -> Any:
    shape = shape_ops.shape(like[0]) if like else call.get("shape")
    dtype = dtype_of(call.get("dtype")) if call.get("dtype") else (like[0].dtype if like else dtypes.float32)
    if call.node.op.startswith("RandomNormal"):
        return normal(shape, call.get("mean", 0.0), call.get("scale", 1.0), dtype)
    return uniform(shape, call.get("low", 0.0), call.get("high", 1.0), dtype)


@operator("ml.ArrayFeatureExtractor")
def _(call: OperatorCall, x: Any, places: Any) -> Any:
    return gather(x, reshape.reshape(places, [-1]), axis=-1)
