"""Lower `extract_image_patches`: the windows of images as channels, in memory.

y[b, i, j, (k, l, c)]  ←  x[b, i · stride + k · rate - before, j · stride + l · rate - before, c], or 0 outside of x
"""

from __future__ import annotations

from ....ir.graph import Operation
from ....ops.nn.window_geometry import sliding
from ..codegen.dynamic_shapes import regrouped
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Index, IndexMap, LazyValue
from ..codegen.llvm_types import Element, constant
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import lowers
from .fill import shape_of
from .window_places import element_place


@lowers("extract_image_patches", moves=True)
def _(region: Region, operation: Operation, images: LazyValue) -> LazyValue:
    attrs, wanted = operation.attrs, shape_of(operation)
    slide = sliding(images.shape[1:3], attrs["ksizes"], attrs["strides"], attrs["rates"], attrs["padding"])
    source, outside = region.readable(images), constant(images.dtype, 0)

    def find(e: Emitter, index: Index) -> Element:
        image, *windows, row, column, channel = index.coordinates(e)
        (above, i), (left, j) = (
            element_place(e, slide, axis, windows[axis], number) for axis, number in enumerate((row, column))
        )
        place = Index.of(source.shape, [image, i, j, channel])
        return e.guarded(e.b.and_(above, left), lambda: source.at(e, place), outside)

    shape = (*wanted[:3], *slide.window, images.shape[3])
    windows = IndexMap(images.dtype, shape, [source], find, cost=4, once=False)
    return regrouped(region.stored(windows), wanted)
