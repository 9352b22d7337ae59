"""Images: codecs, resizing, boxes."""

from __future__ import annotations

from typing import Any

from ..body import Body
from ..nodes import NodeResult
from ..rule_registry import RefusedByRuleError, direct, refuse, writes
from .shapes import cast, scalar

direct("encode_png=EncodePng jpeg_shape=ExtractJpegShape")

refuse("suppress_padded", "TensorFlow composes it of other operations, in a loop over boxes")

_KERNELS = {"lanczos3": "lanczos3", "lanczos5": "lanczos5", "gaussian": "gaussian", "mitchellcubic": "mitchellcubic",
            "bilinear": "triangle", "bicubic": "keyscubic", "box": "box"}  # fmt: skip


@writes("decode_image")
def _(
    to: Body, contents: NodeResult, channels: int, dtype: Any, source: str, ratio: int, lenient: bool
) -> Any:
    name = dtype.name
    match source:
        case "jpeg" | "jpg":
            found = to.DecodeJpeg(contents, channels=channels, ratio=ratio, try_recover_truncated=lenient)
        case "png":
            return to.DecodePng(contents, channels=channels, dtype=name)
        case "bmp":
            found = to.DecodeBmp(contents, channels=channels)
        case "gif":
            found = to.DecodeGif(contents)
        case _:
            return to.DecodeImage(
                contents, channels=channels, dtype=name, expand_animations=source != "still"
            )
    if name != "uint8":
        raise RefusedByRuleError(f"an image of {name}")
    return found


@writes("encode_jpeg")
def _(
    to: Body,
    image: NodeResult,
    quality: int,
    progressive: bool,
    optimize: bool,
    subsampling: int,
    density: Any,
) -> Any:
    return to.EncodeJpeg(
        image, quality=quality, progressive=progressive, optimize_size=optimize, chroma_downsampling=subsampling != 0,
        x_density=density[0], y_density=density[1],
    )  # fmt: skip


@writes("draw_bounding_boxes")
def _(to: Body, images: NodeResult, boxes: NodeResult, colors: NodeResult) -> Any:
    if images.shape is not None and images.shape[-1] == 1:
        colors = to.const([[1.0] * 4])
    return to.DrawBoundingBoxesV2(images, boxes, colors)


@writes("suppress")
def _(to: Body, boxes: NodeResult, scores: NodeResult, most: NodeResult, *limits: NodeResult) -> Any:
    limits = tuple(cast(to, each, boxes.dtype) for each in limits)
    return to.NonMaxSuppressionV5(boxes, scores, scalar(to, most), *limits)[:2]


@writes("suppress_overlaps")
def _(to: Body, overlaps: NodeResult, scores: NodeResult, most: NodeResult, *limits: NodeResult) -> Any:
    return to.NonMaxSuppressionWithOverlaps(overlaps, scores, scalar(to, most), *limits)


@writes("suppress_classes")
def _(
    to: Body,
    boxes: NodeResult,
    scores: NodeResult,
    *limits: NodeResult,
    pad_per_class: bool,
    clip_boxes: bool,
) -> Any:
    counts = [scalar(to, each) for each in limits[:2]]
    return to.CombinedNonMaxSuppression(
        boxes, scores, *counts, *limits[2:], pad_per_class=pad_per_class, clip_boxes=clip_boxes
    )


@writes("resize")
def _(to: Body, images: NodeResult, size: NodeResult, method: str, antialias: bool) -> Any:
    size = cast(to, size, "int32")
    if method == "area":
        return to.ResizeArea(images, size)
    if not antialias and method in ("bilinear", "bicubic"):
        node = to.ResizeBilinear if method == "bilinear" else to.ResizeBicubic
        return node(images, size, half_pixel_centers=True)
    kernel, scale, shift = _scaled(to, to.Shape(images), size, method)
    return to.ScaleAndTranslate(images, size, scale, shift, kernel_type=kernel, antialias=antialias)


def _scaled(to: Body, shape: NodeResult, size: NodeResult, method: str) -> tuple[str, NodeResult, NodeResult]:
    """Return the kernel and the scale of an image of this shape for a size, and no translation."""
    if method not in _KERNELS:
        raise RefusedByRuleError(f"the method {method}")
    own = to.StridedSlice(shape, [1], [3], [1])
    scale = to.RealDiv(cast(to, size, "float32"), cast(to, own, "float32"))
    return _KERNELS[method], scale, to.const([0.0, 0.0])


@writes("resize_grad")
def _(to: Body, grads: NodeResult, size: NodeResult, method: str, antialias: bool) -> Any:
    shape = to.Shape(grads)
    ends = [
        to.StridedSlice(shape, [0], [1], [1]),
        cast(to, size, "int32"),
        to.StridedSlice(shape, [3], [4], [1]),
    ]
    image = to.Fill(to.ConcatV2(ends, 0), to.const(0, grads.dtype))
    if not antialias and method in ("bilinear", "bicubic"):
        node = to.ResizeBilinearGrad if method == "bilinear" else to.ResizeBicubicGrad
        return node(grads, image, half_pixel_centers=True)
    wanted = to.StridedSlice(shape, [1], [3], [1])
    kernel, scale, shift = _scaled(to, to.Shape(image), wanted, method)
    return to.ScaleAndTranslateGrad(grads, image, scale, shift, kernel_type=kernel, antialias=antialias)


@writes("resize_nearest_neighbor")
def _(to: Body, images: NodeResult, size: NodeResult) -> Any:
    return to.ResizeNearestNeighbor(images, cast(to, size, "int32"), half_pixel_centers=True)


@writes("resize_nearest_neighbor_grad")
def _(to: Body, grads: NodeResult, size: NodeResult) -> Any:
    return to.ResizeNearestNeighborGrad(grads, cast(to, size, "int32"), half_pixel_centers=True)
