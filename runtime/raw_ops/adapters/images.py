"""Adapters of raw operations on images: projective transforms, and resizing with any centers of pixels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf

from .arrays import list_of


def box_colors() -> Any:
    """Return the colors that TensorFlow draws boxes in."""
    return [
        [1.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0], [1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0], [0.5, 0.0, 0.5, 1.0],
        [0.5, 0.5, 0.0, 1.0], [0.5, 0.0, 0.0, 1.0], [0.0, 0.0, 0.5, 1.0], [0.0, 1.0, 1.0, 1.0], [1.0, 0.0, 1.0, 1.0],
    ]  # fmt: skip


def resized(images: Any, size: Any, method: str, align_corners: bool, half_pixel_centers: bool) -> Any:
    """Return images of another size. Raises UnimplementedError for bicubic and area without half pixel centers."""
    images = tf.convert_to_tensor(images)
    if half_pixel_centers and not align_corners:
        result = tf.image.resize(images, size, method)
        return tf.cast(result, images.dtype) if method == "nearest" else result
    if method not in ("bilinear", "nearest"):
        raise tf.errors.UnimplementedError(
            None, None, f"{method} with align_corners or without half_pixel_centers: use tf.image.resize"
        )
    for axis in (1, 2):
        images = _along(images, axis, tf.gather(size, axis - 1), method, align_corners)
    return images


def _along(images: Any, axis: int, new: Any, method: str, align_corners: bool) -> Any:
    old = tf.shape(images)[axis]
    ratio = tf.cast(old, tf.float32) / tf.cast(new, tf.float32)
    if align_corners:
        inner = tf.cast(old - 1, tf.float32) / tf.cast(tf.maximum(new - 1, 1), tf.float32)
        ratio = tf.where(new > 1, inner, ratio)
    places = tf.range(tf.cast(new, tf.float32)) * ratio
    if method == "nearest":
        rounded = tf.floor(places + 0.5) if align_corners else tf.floor(places)
        return tf.gather(images, tf.minimum(tf.cast(rounded, tf.int32), old - 1), axis=axis)
    low = tf.floor(places)
    first = tf.cast(low, tf.int32)
    share = tf.reshape(places - low, [-1] + [1] * (images.shape.rank - 1 - axis))
    start, end = (
        tf.cast(tf.gather(images, tf.minimum(index, old - 1), axis=axis), tf.float32)
        for index in (first, first + 1)
    )
    return start + (end - start) * share


def soft_suppression(
    boxes: Any, scores: Any, count: Any, iou_threshold: Any, score_threshold: Any, sigma: Any, pad: bool
) -> tuple[Any, Any, Any]:
    """Return the selected indices, their scores, and how many they are; with `pad`, zeros up to `count` follow."""
    kept, found = tf.image.non_max_suppression_with_scores(
        boxes, scores, count, iou_threshold, score_threshold, sigma
    )
    valid = tf.size(kept)
    if pad:
        rest = [[0, tf.cast(count, tf.int32) - valid]]
        kept, found = tf.pad(kept, rest), tf.pad(found, rest)
    return kept, found, valid


def projective_transform(
    images: Any, transforms: Any, output_shape: Any, fill_value: Any, interpolation: str, fill_mode: str
) -> Any:
    """Return images whose pixel (x, y) is that of the input at (ax + by + c, dx + ey + f) / (gx + hy + 1).

    Args:
        images: a batch of images.
        transforms: rows (a, b, c, d, e, f, g, h), one for each image or one for all.
        output_shape: height and width of the results.
        fill_value: of pixels outside, in the mode "CONSTANT".
        interpolation: "NEAREST" or "BILINEAR".
        fill_mode: "CONSTANT", "REFLECT", "WRAP" or "NEAREST".

    Raises ValueError for another interpolation or mode.
    """
    if interpolation.upper() not in ("NEAREST", "BILINEAR"):
        raise ValueError(f"Value for attr 'interpolation' of {interpolation!r}: it is NEAREST or BILINEAR")
    if fill_mode.upper() not in _BORDERS:
        raise ValueError(f"Value for attr 'fill_mode' of {fill_mode!r}: it is one of {', '.join(_BORDERS)}")
    images = tf.convert_to_tensor(images)
    x, y = _sources(tf.cast(transforms, tf.float32), output_shape)
    sizes = tf.shape(images)
    height, width = (tf.cast(size, tf.float32) for size in (sizes[1], sizes[2]))
    border = _BORDERS[fill_mode.upper()]
    x, y = border(x, width), border(y, height)
    pixel = _Pixels(images, fill_value)
    if interpolation.upper() == "NEAREST":
        result = pixel(_rounded(y), _rounded(x))
    else:
        top, left = tf.floor(y), tf.floor(x)
        down, right = tf.expand_dims(y - top, -1), tf.expand_dims(x - left, -1)
        upper = (1 - right) * pixel(top, left) + right * pixel(top, left + 1)
        lower = (1 - right) * pixel(top + 1, left) + right * pixel(top + 1, left + 1)
        result = (1 - down) * upper + down * lower
    result = tf.cast(result, images.dtype)
    known = tf.get_static_value(output_shape)
    if known is not None:
        result = tf.ensure_shape(result, [images.shape[0], *list_of(output_shape), images.shape[-1]])
    return result


def _sources(transforms: Any, output_shape: Any) -> tuple[Any, Any]:
    """Return the coordinates x and y in the input of each pixel of the results: [images, height, width]."""
    a, b, c, d, e, f, g, h = (tf.reshape(part, [-1, 1, 1]) for part in tf.unstack(transforms, 8, axis=1))
    size = tf.cast(output_shape, tf.float32)
    x = tf.reshape(tf.range(size[1]), [1, 1, -1])
    y = tf.reshape(tf.range(size[0]), [1, -1, 1])
    scale = g * x + h * y + 1
    is_finite = tf.not_equal(scale, 0)
    divisor = tf.where(is_finite, scale, tf.ones_like(scale))
    outside = tf.fill(tf.shape(scale), -1e6)
    return (
        tf.where(is_finite, (a * x + b * y + c) / divisor, outside),
        tf.where(is_finite, (d * x + e * y + f) / divisor, outside),
    )


def _rounded(place: Any) -> Any:
    """Return the nearest integer; the one away from zero if two are."""
    return tf.sign(place) * tf.floor(tf.abs(place) + 0.5)


class _Pixels:
    """The values of images at integral coordinates; `fill_value` outside."""

    def __init__(self, images: Any, fill_value: Any) -> None:
        self.images = tf.cast(images, tf.float32)
        self.fill_value = tf.cast(fill_value, tf.float32)
        self.sizes = tf.shape(images)

    def __call__(self, y: Any, x: Any) -> Any:
        last_y, last_x = self.sizes[1] - 1, self.sizes[2] - 1
        whole_y, whole_x = tf.cast(y, tf.int32), tf.cast(x, tf.int32)
        inside = (whole_y >= 0) & (whole_y <= last_y) & (whole_x >= 0) & (whole_x <= last_x)
        rows = tf.clip_by_value(whole_y, 0, last_y) * self.sizes[2] + tf.clip_by_value(whole_x, 0, last_x)
        count = self.sizes[0]
        flat = tf.reshape(self.images, tf.stack([count, -1, self.sizes[3]]))
        rows = tf.broadcast_to(rows, tf.concat([[count], tf.shape(rows)[1:]], 0))
        found = tf.gather(flat, rows, batch_dims=1)
        return tf.where(tf.expand_dims(inside, -1), found, self.fill_value)


def _reflected(place: Any, size: Any) -> Any:
    """Return the place in the image of a place outside, by reflection at the outer edges of the pixels."""
    period = 2 * size
    below = tf.where(place < -size, period * tf.floor(-place / period) + place, place)
    below = tf.where(below < -size, below + period, -below - 1)
    above = place - period * tf.floor(place / period)
    above = tf.where(above >= size, period - above - 1, above)
    inside = tf.where(place < 0, below, tf.where(place > size - 1, above, place))
    folded = tf.where(size <= 1, tf.zeros_like(place), inside)
    return tf.clip_by_value(folded, 0.0, size - 1)


def _wrapped(place: Any, size: Any) -> Any:
    """Return the place in the image of a place outside, in an image that repeats."""
    last = size - 1
    below = place + size * (tf.floor(-place / last) + 1)
    above = place - size * tf.floor(place / last)
    inside = tf.where(place < 0, below, tf.where(place > last, above, place))
    folded = tf.where(size <= 1, tf.zeros_like(place), inside)
    return tf.clip_by_value(folded, 0.0, last)


_BORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "CONSTANT": lambda place, size: place,
    "NEAREST": lambda place, size: tf.clip_by_value(place, 0.0, size - 1),
    "REFLECT": _reflected,
    "WRAP": _wrapped,
}
