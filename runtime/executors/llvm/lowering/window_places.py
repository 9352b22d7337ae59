"""Indices of the elements of a sliding window along an axis, and of the windows with an element.

element_place     window 2, number 1  ──→  whether there is such an element, and its index
window_place      element 5, number 0 ──→  whether there is such a window, its index, and the number of 5 in it
"""

from __future__ import annotations

from ....ops.nn.window_geometry import Sliding
from ..codegen.function_builder import Emitter
from ..codegen.llvm_types import Register, integer


def element_place(
    e: Emitter, slide: Sliding, axis: int, window: Register, number: Register
) -> tuple[Register, Register]:
    """Return whether an element of a window is inside the operand, and its index, or 0."""
    reach = (slide.window[axis] - 1) * slide.dilations[axis] + 1
    position = e.plus(e.times(window, slide.strides[axis]), e.times(number, slide.dilations[axis]))
    if (
        not slide.before[axis]
        and (slide.outputs[axis] - 1) * slide.strides[axis] + reach <= slide.sizes[axis]
    ):
        return integer(1)(1), position
    return _checked(e, e.minus(position, e.word(slide.before[axis])), slide.sizes[axis])


def window_place(
    e: Emitter, slide: Sliding, axis: int, element: Register, number: Register
) -> tuple[Register, Register, Register]:
    """Return whether a window has an element, the window's index, or 0, and the number of the element in the window.

    The windows with an element are counted from the last of them. Dilated windows have the stride 1.
    """
    assert 1 in (slide.dilations[axis], slide.strides[axis])
    position = e.plus(element, e.word(slide.before[axis]))
    last, within = e.over(position, slide.strides[axis])
    inside, window = _checked(e, e.minus(last, e.times(number, slide.dilations[axis])), slide.outputs[axis])
    at = e.plus(within, e.times(number, slide.strides[axis]))
    return e.b.and_(inside, e.b.icmp_unsigned("<", at, e.word(slide.window[axis]))), window, at


def _checked(e: Emitter, position: Register, size: int) -> tuple[Register, Register]:
    inside = e.b.icmp_unsigned("<", position, e.word(size))
    return inside, e.choose(inside, position, e.word(0))
