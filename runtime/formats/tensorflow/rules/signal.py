"""Fourier transforms, frames of signals, audio."""

from __future__ import annotations

from typing import Any

from ..body import Body
from ..nodes import NodeResult
from ..rule_registry import RefusedByRuleError, direct, writes
from .shapes import axis_back, axis_last, cast, part, rank_of, scalar, with_shape

direct("samples_of_wav=DecodeWav")


def _fitted(to: Body, x: NodeResult, axis: int, size: NodeResult) -> NodeResult:
    """Truncate an axis to a size, or pad it with zeros."""
    rank = rank_of(x)
    own = part(to, to.Shape(x), axis)
    missing = to.Maximum(to.Sub(size, own), 0)
    pads = to.Pack([to.Pack([to.const(0), missing if i == axis else to.const(0)]) for i in range(rank)])
    sizes = [size if i == axis else to.const(-1) for i in range(rank)]
    return with_rank(to.Slice(to.Pad(x, pads), [0] * rank, to.Pack(sizes)), rank)


def with_rank(x: NodeResult, rank: int) -> NodeResult:
    """Note the rank of a result."""
    return with_shape(x, (None,) * rank)


def _transform(node: str) -> Any:
    """Return the rule of a transform: over one axis after the other, the real one over the last first or at the end."""
    is_real, is_inverse = "RFFT" in node, node.startswith("I")

    def rule(to: Body, input: NodeResult, fft_length: NodeResult, axes: Any) -> Any:
        rank = rank_of(input)
        places = [i % rank for i in axes]
        has_lengths = fft_length.shape != (0,)
        lengths = [
            part(to, cast(to, fft_length, "int32"), i) if has_lengths else None for i in range(len(places))
        ]
        if (
            not has_lengths
            and not is_real
            and places == list(range(rank - len(places), rank))
            and len(places) <= 3
        ):
            return to.add(f"{node}{('', '2D', '3D')[len(places) - 1]}", input)
        pairs = list(zip(places, lengths, strict=True))
        found = input
        if is_real and not is_inverse:
            found = _real(to, found, *pairs.pop())
        for place, length in pairs[: -1 if is_real and is_inverse else None]:
            found = _complex(to, found, place, length, is_inverse)
        return _real_inverse(to, found, *pairs[-1]) if is_real and is_inverse else found

    return rule


def _complex(to: Body, x: NodeResult, axis: int, length: NodeResult | None, is_inverse: bool) -> NodeResult:
    if length is not None:
        x = _fitted(to, x, axis, length)
    moved, order = axis_last(to, x, axis)
    return with_rank(axis_back(to, (to.IFFT if is_inverse else to.FFT)(moved), order), rank_of(x))


def _real(to: Body, x: NodeResult, axis: int, length: NodeResult | None) -> NodeResult:
    if length is not None:
        x = _fitted(to, x, axis, length)
    moved, order = axis_last(to, x, axis)
    size = to.Reshape(part(to, to.Shape(moved), -1), [1])
    found = to.RFFT(moved, size, Tcomplex="complex128" if x.dtype == "float64" else "complex64")
    return with_rank(axis_back(to, found, order), rank_of(x))


def _real_inverse(to: Body, x: NodeResult, axis: int, length: NodeResult | None) -> NodeResult:
    if length is None:
        length = to.Mul(to.Sub(part(to, to.Shape(x), axis), 1), 2)
    x = _fitted(to, x, axis, to.AddV2(to.FloorDiv(length, 2), 1))
    moved, order = axis_last(to, x, axis)
    kind = "float64" if x.dtype == "complex128" else "float32"
    return axis_back(to, to.IRFFT(moved, to.Reshape(length, [1]), Treal=kind), order)


for _name, _node in {
    "complex_transform": "FFT", "complex_inverse": "IFFT", "real_transform": "RFFT", "real_inverse": "IRFFT",
}.items():  # fmt: skip
    writes(_name)(_transform(_node))


@writes("frame")
def _(
    to: Body,
    signal: NodeResult,
    length: NodeResult,
    step: NodeResult,
    pad_value: NodeResult,
    pad_end: bool,
    axis: int,
) -> Any:
    """Gather the elements of each frame."""
    axis %= rank_of(signal)
    length, step = (scalar(to, each) for each in (length, step))
    size = part(to, to.Shape(signal), axis)
    if pad_end:
        count = to.FloorDiv(to.Sub(to.AddV2(size, step), 1), step)
        missing = to.Maximum(to.Sub(to.AddV2(to.Mul(to.Sub(count, 1), step), length), size), 0)
        rows = [[0, 0] for _ in range(rank_of(signal))]
        pads = to.Pack(
            [to.Pack([to.const(0), missing if i == axis else to.const(0)]) for i in range(len(rows))]
        )
        signal = to.PadV2(signal, pads, pad_value)
    else:
        count = to.Maximum(to.AddV2(to.FloorDiv(to.Sub(size, length), step), 1), 0)
    starts = to.ExpandDims(to.Mul(to.Range(0, count, 1), step), 1)
    return to.GatherV2(signal, to.AddV2(starts, to.Range(0, length, 1)), axis)


@writes("overlap_and_add")
def _(to: Body, signal: NodeResult, frame_step: NodeResult) -> Any:
    """Sum the elements of all frames at their places, with the batch axes last."""
    rank = rank_of(signal)
    step = scalar(to, frame_step)
    shape = to.Shape(signal)
    count, length = part(to, shape, -2), part(to, shape, -1)
    starts = to.ExpandDims(to.Mul(to.Range(0, count, 1), step), 1)
    places = to.AddV2(starts, to.Range(0, length, 1))
    total = to.AddV2(to.Mul(to.Sub(count, 1), step), length)
    moved = to.Transpose(signal, [rank - 2, rank - 1, *range(rank - 2)])
    summed = to.UnsortedSegmentSum(moved, places, total)
    return to.Transpose(summed, [*range(1, rank - 1), 0])


@writes("encode_wav")
def _(to: Body, audio: NodeResult, sample_rate: NodeResult) -> Any:
    return to.EncodeWav(audio, cast(to, sample_rate, "int32"))


@writes("recurrence")
def _(to: Body, x: NodeResult, factors: NodeResult, axis: int, reverse: bool) -> Any:
    """Combine pairs `(factor, value)` of elements 1, 2, 4 … apart."""
    x, order = axis_last(to, x, axis)
    factors, _ = axis_last(to, factors, axis)
    size = None if x.shape is None else x.shape[-1]
    if size is None or size > 1 << 12:
        raise RefusedByRuleError("the length of the sequence is unknown")
    distance, rank = 1, rank_of(x)
    while distance < size:
        x_before = _moved(to, x, distance, rank, reverse, 0)
        factors_before = _moved(to, factors, distance, rank, reverse, 1)
        x = to.AddV2(x, to.Mul(factors, x_before))
        factors = to.Mul(factors, factors_before)
        distance *= 2
    return axis_back(to, x, order)


def _moved(to: Body, x: NodeResult, distance: int, rank: int, reverse: bool, fill: int) -> Any:
    """Move the elements of the last axis, and fill the places that become free."""
    pads = [[0, 0]] * (rank - 1) + [[0, distance] if reverse else [distance, 0]]
    begin = [0] * (rank - 1) + [distance if reverse else 0]
    return to.Slice(to.PadV2(x, pads, to.const(fill, x.dtype)), begin, to.Shape(x))
