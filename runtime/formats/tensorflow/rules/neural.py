"""Neural networks: activations, losses, patches, quantization, decoders of sequences."""

from __future__ import annotations

from typing import Any

from ..body import Body
from ..nodes import NodeResult
from ..rule_registry import RefusedByRuleError, direct, refuse, writes
from .shapes import axis_back, axis_last, cast, joined, rank_of, sliced

direct(
    """
    batch_to_space_nd=BatchToSpaceND elu=Elu leaky_relu=LeakyRelu lrn=LRN relu=Relu relu6=Relu6 selu=Selu
    softsign=Softsign space_to_batch_nd=SpaceToBatchND
    """
)


refuse("pooled_violators pool_means", "TensorFlow has no such operation, and its gradient")
refuse(
    "ctc_loss_and_gradient ctc_collapse ctc_unique_labels",
    "TensorFlow's operation takes the labels as a sparse tensor, and the last class as the blank",
)
refuse("gcd lcm", "TensorFlow has no such operation")
refuse("replica_id", "it depends on the replica that runs it")
refuse("all_gather all_reduce broadcast_from reduce_scatter reduce_to", "a collective of several processes")
refuse("fused", "executors make it; no program has it")


@writes("bias_add")
def _(to: Body, value: NodeResult, bias: NodeResult, data_format: str | None) -> Any:
    if data_format is not None and data_format.startswith("NC"):
        return to.AddV2(value, to.Reshape(bias, [-1, *[1] * (rank_of(value) - 2)]))
    return to.BiasAdd(value, bias)


@writes("softmax")
def _(to: Body, logits: NodeResult, axis: int) -> Any:
    x, order = _rows(to, logits, axis)
    return axis_back(to, to.Softmax(x), order)


@writes("log_softmax")
def _(to: Body, logits: NodeResult, axis: int) -> Any:
    x, order = _rows(to, logits, axis)
    return axis_back(to, to.LogSoftmax(x), order)


def _rows(to: Body, x: NodeResult, axis: int) -> tuple[NodeResult, Any]:
    return (x, None) if axis == -1 else axis_last(to, x, axis)


@writes("softmax_cross_entropy")
def _(to: Body, labels: NodeResult, logits: NodeResult) -> Any:
    """Merge the axes before the last: TensorFlow's operation takes matrices."""
    shape = to.BroadcastArgs(to.Shape(labels), to.Shape(logits))
    size = sliced(to, shape, -1, None)
    flat = [to.Reshape(to.BroadcastTo(each, shape), joined(to, [-1], size)) for each in (logits, labels)]
    return to.Reshape(to.SoftmaxCrossEntropyWithLogits(*flat)[0], sliced(to, shape, None, -1))


@writes("sparse_softmax_cross_entropy")
def _(to: Body, labels: NodeResult, logits: NodeResult) -> Any:
    rows = to.Reshape(logits, joined(to, [-1], sliced(to, to.Shape(logits), -1, None)))
    if labels.dtype not in ("int32", "int64"):
        labels = cast(to, labels, "int32")
    found = to.SparseSoftmaxCrossEntropyWithLogits(rows, to.Reshape(labels, [-1]))[0]
    return to.Reshape(found, to.Shape(labels))


@writes("in_top_k")
def _(to: Body, targets: NodeResult, predictions: NodeResult, k: NodeResult) -> Any:
    return to.InTopKV2(predictions, targets, cast(to, to.Reshape(k, []), targets.dtype))


@writes("neighborhood")
def _(to: Body, input: NodeResult, depth_radius: int) -> Any:
    """Sum over windows of channels, as differences of running sums would lose digits: one slice for each offset."""
    rank = rank_of(input)
    pads = [[0, 0]] * (rank - 1) + [[depth_radius, depth_radius]]
    padded, shape = to.Pad(input, pads), to.Shape(input)
    return to.AddN([to.Slice(padded, [0] * (rank - 1) + [i], shape) for i in range(2 * depth_radius + 1)])


@writes("depth_to_space")
def _(to: Body, input: NodeResult, block_size: int, data_format: str) -> Any:
    return _channels_last(to, input, data_format, lambda x: to.DepthToSpace(x, block_size=block_size))


@writes("space_to_depth")
def _(to: Body, input: NodeResult, block_size: int, data_format: str) -> Any:
    return _channels_last(to, input, data_format, lambda x: to.SpaceToDepth(x, block_size=block_size))


def _channels_last(to: Body, x: NodeResult, data_format: str, compute: Any) -> Any:
    if data_format == "NHWC":
        return compute(x)
    if data_format != "NCHW":
        raise RefusedByRuleError(f"the data format {data_format}")
    return to.Transpose(compute(to.Transpose(x, [0, 2, 3, 1])), [0, 3, 1, 2])


def _whole(inner: Any) -> list[int]:
    """Return sizes for the axes of images, as sizes for all axes."""
    return [1, *inner, 1]


@writes("extract_image_patches")
def _(to: Body, images: NodeResult, ksizes: Any, strides: Any, rates: Any, padding: str) -> Any:
    return _patches(to, images, ksizes, strides, rates, padding)


def _patches(to: Body, images: NodeResult, ksizes: Any, strides: Any, rates: Any, padding: str) -> Any:
    sizes = {"ksizes": _whole(ksizes), "strides": _whole(strides), "rates": _whole(rates)}
    return to.ExtractImagePatches(images, **sizes, padding=padding)


@writes("extract_image_patches_grad")
def _(
    to: Body, grads: NodeResult, sizes: NodeResult, ksizes: Any, strides: Any, rates: Any, padding: str
) -> Any:
    """Add each element at the pixel that it was taken from, which the patches of an image of numbers tell."""
    shape = cast(to, sizes, "int32")
    batch, height, width, channels = to.Unpack(shape, num=4, axis=0)
    count = to.Mul(height, width)
    numbers = to.Reshape(
        to.Range(1, to.AddV2(count, 1), 1), to.Pack([to.const(1), height, width, to.const(1)])
    )
    places = to.Sub(to.Reshape(_patches(to, numbers, ksizes, strides, rates, padding), [-1]), 1)
    rows = to.Transpose(to.Reshape(grads, to.Pack([batch, to.Size(places), channels])), [1, 0, 2])
    summed = to.UnsortedSegmentSum(rows, places, count)
    return to.Reshape(to.Transpose(summed, [1, 0, 2]), shape)


@writes("extract_volume_patches")
def _(to: Body, input: NodeResult, ksizes: Any, strides: Any, padding: str) -> Any:
    ksizes, strides = (_whole(each) if len(each) == 3 else list(each) for each in (ksizes, strides))
    return to.ExtractVolumePatches(input, ksizes=ksizes, strides=strides, padding=padding)


_DILATIONS = {
    "dilation2d": "Dilation2D",
    "dilation2d_backprop_input": "Dilation2DBackpropInput",
    "dilation2d_backprop_filter": "Dilation2DBackpropFilter",
}


def _dilation(node: str) -> Any:
    def rule(to: Body, *operands: NodeResult, strides: Any, rates: Any, padding: str) -> Any:
        return to.add(node, *operands, strides=_whole(strides), rates=_whole(rates), padding=padding)

    return rule


for _name, _node in _DILATIONS.items():
    writes(_name)(_dilation(_node))


@writes("fake_quantize")
def _(
    to: Body, inputs: NodeResult, low: NodeResult, high: NodeResult, num_bits: int, narrow_range: bool
) -> Any:
    node = to.FakeQuantWithMinMaxVars if low.rank == 0 else to.FakeQuantWithMinMaxVarsPerChannel
    return node(inputs, low, high, num_bits=num_bits, narrow_range=narrow_range)


@writes("fake_quantize_gradient")
def _(to: Body, gradients: NodeResult, inputs: NodeResult, low: NodeResult, high: NodeResult, num_bits: int,
      narrow_range: bool) -> Any:  # fmt: skip
    single = low.rank == 0
    node = to.FakeQuantWithMinMaxVarsGradient if single else to.FakeQuantWithMinMaxVarsPerChannelGradient
    return node(gradients, inputs, low, high, num_bits=num_bits, narrow_range=narrow_range)


@writes("ctc_greedy")
def _(
    to: Body, inputs: NodeResult, sequence_length: NodeResult, merge_repeated: bool, blank_index: int
) -> Any:
    return to.CTCGreedyDecoder(
        inputs, cast(to, sequence_length, "int32"), merge_repeated=merge_repeated, blank_index=blank_index
    )


@writes("ctc_beam_search")
def _(to: Body, inputs: NodeResult, sequence_length: NodeResult, beam_width: int, top_paths: int) -> Any:
    """Reorder the results, which TensorFlow groups by kind."""
    found = to.CTCBeamSearchDecoder(
        inputs,
        cast(to, sequence_length, "int32"),
        beam_width=beam_width,
        top_paths=top_paths,
        merge_repeated=False,
    )
    kinds = [found[i * top_paths : (i + 1) * top_paths] for i in range(3)]
    return [part for path in zip(*kinds, strict=True) for part in path] + [found[-1]]
