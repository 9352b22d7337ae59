"""Random boxes in an image that cover enough of one of its objects, as a way to crop it.

image of 20 x 20, object [0.1, 0.1, 0.6, 0.7], stream of seed (1, 2)      ⇒      y 1 to 18, x 2 to 19

Boxes are drawn until one fits. The words of the random stream are used in TensorFlow's order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..random.philox import Stream

Array = Any

_WORD = 1 << 32


class PixelBox(NamedTuple):
    """A box of pixels, without the row and column at its end."""

    y: int
    x: int
    y_end: int
    x_end: int

    @property
    def area(self) -> int:
        """The number of pixels; 0 if the box ends before it starts."""
        return max(self.y_end - self.y, 0) * max(self.x_end - self.x, 0)

    def within(self, other: PixelBox) -> PixelBox:
        """Return the part that lies in another box."""
        return PixelBox(
            max(self.y, other.y),
            max(self.x, other.x),
            min(self.y_end, other.y_end),
            min(self.x_end, other.x_end),
        )


class Limits(NamedTuple):
    """The range of ratios of width to height, and of areas as parts of the image: float32, as TensorFlow rounds."""

    least_ratio: Any
    largest_ratio: Any
    least_area: Any
    largest_area: Any


def objects(boxes: Array, height: int, width: int) -> list[PixelBox]:
    """Return boxes with coordinates from 0 to 1, [..., 4], as boxes of pixels."""
    sizes = np.array([height, width, height, width], np.float32)
    return [PixelBox(*map(int, row)) for row in (boxes.reshape(-1, 4) * sizes).tolist()]


def drawn(
    stream: Stream,
    height: int,
    width: int,
    found: list[PixelBox],
    covered: float,
    limits: Limits,
    attempts: int,
) -> PixelBox:
    """Return a random box that covers the part `covered` of an object; the whole image if no attempt gives one."""
    words = _words(stream, stream.reserve(attempts))
    limits = Limits(*map(np.float32, limits))
    for _ in range(attempts):
        ratio = _unit(words) * (limits.largest_ratio - limits.least_ratio) + limits.least_ratio
        box = _attempt(words, height, width, ratio, limits)
        if box is not None and _covers(box, found, covered):
            return box
    return PixelBox(0, 0, height, width)


def _words(stream: Stream, counter: int) -> Iterator[int]:
    while True:
        yield from stream.block(counter)
        counter += 1


def _unit(words: Iterator[int]) -> Any:
    """Return a number of float32 in [0, 1): 23 bits of a word."""
    return np.float32((next(words) & 0x7FFFFF) / 0x800000)


def _below(words: Iterator[int], count: int) -> int:
    """Return an integer in [0, count) without bias; words that would cause one are skipped."""
    if count & (count - 1) == 0:
        return next(words) & max(count - 1, 0)
    skipped = (_WORD - 1) % count + 1
    while (word := next(words)) < skipped:
        pass
    return word % count


def _attempt(words: Iterator[int], height: int, width: int, ratio: Any, limits: Limits) -> PixelBox | None:
    """Return a box with this ratio of width to height at a random place; None if it is too small or too large."""
    if limits.largest_area <= 0 or ratio <= 0 or height <= 0 or width <= 0:
        return None
    least = limits.least_area * np.float32(width) * np.float32(height)
    largest = limits.largest_area * np.float32(width) * np.float32(height)
    tall = round(math.sqrt(largest / ratio))
    if round(float(tall * ratio)) > width:
        tall = int((width + 0.5 - 1e-7) / float(ratio))
    tall = min(tall, height)
    rows = min(round(math.sqrt(least / ratio)), tall)
    if rows < tall:
        rows += _below(words, tall - rows + 1)
    columns = round(float(rows * ratio))
    if rows * columns < least:
        rows += 1
        columns = round(float(rows * ratio))
    if rows * columns > largest:
        rows -= 1
        columns = round(float(rows * ratio))
    if not (least <= rows * columns <= largest and 0 < rows <= height and 0 < columns <= width):
        return None
    y = _below(words, height - rows) if rows < height else 0
    x = _below(words, width - columns) if columns < width else 0
    return PixelBox(y, x, y + rows, x + columns)


def _covers(box: PixelBox, found: list[PixelBox], covered: float) -> bool:
    return any(one.area and box.within(one).area / one.area >= covered for one in found)
