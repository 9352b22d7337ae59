"""Lower stateless shuffles and categorical draws, from the bits of philox.py.

shuffle x        for i: j ← i + word[i] mod (n - i); order[i], order[j] ← order[j], order[i]
categorical x    the cumulative sum of e^(x - max x), and a search for a random share of the total

An order is identical to the interpreter's. So is a class, unless a share is within some ulp of a cumulative sum.
"""

from __future__ import annotations

from .... import dtypes
from ....ir.graph import Operation
from ..codegen.element_formulas import call_function
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, IndexMap, LazyValue
from ..codegen.llvm_types import Element, constant, integer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers
from .casts import as_dtype, converted, each
from .fill import shape_of
from .philox import stream_of, words_of
from .reduction_codegen import reduced
from .reduction_kinds import maxima
from .scans import running
from .sort import insertion_point
from .stateless_random import uniform_of

WIDE = dtypes.float64


@lowers("seeded_shuffle")
def _(region: Region, operation: Operation, node: LazyValue, seed: LazyValue) -> LazyValue:
    e, count = region.e, node.shape[0]
    if count < 2:
        return node
    words = words_of(region, stream_of(region, seed), count - 1)
    order = Buffer.new(e, dtypes.int64, (count,))
    with e.nest([count]) as (number,):
        e.store(dtypes.int64, order.address, number, number)
    with e.nest([count - 1], parallel=False) as (i,):
        word = e.b.zext(e.load(dtypes.uint32, words.address, i), integer(64))
        j = e.plus(i, e.b.urem(word, e.b.sub(e.word(count), i)))
        one, other = (e.load(dtypes.int64, order.address, position) for position in (i, j))
        e.store(dtypes.int64, order.address, i, other)
        e.store(dtypes.int64, order.address, j, one)
    rows = region.readable(node)

    def find(e: Emitter, index: Index) -> Element:
        position, *rest = index.coordinates(e)
        return rows.at(e, Index.of(rows.shape, [order.at(e, Index.of((count,), [position])), *rest]))

    return IndexMap(node.dtype, node.shape, [rows, order], find, once=False)


@lowers("seeded_categorical")
def _(
    region: Region, operation: Operation, logits: LazyValue, count: LazyValue, seed: LazyValue
) -> LazyValue:
    (value,) = operation.outputs
    rows, classes = logits.shape
    shape = shape_of(operation)
    if not rows * classes:
        raise RefusedError("choices between no classes are not compiled")
    memory = words_of(region, stream_of(region, seed), 2 * rows * shape[1])
    largest = reduced(region, logits, maxima(logits.dtype), [1], (rows, 1), logits.dtype)
    weights = each(
        region, _weight, WIDE, logits.shape, *(as_dtype(region, x, WIDE) for x in (logits, largest))
    )
    heights = _heights(region, region.settled(weights))

    def find(e: Emitter, index: Index) -> Element:
        row = index.along(e, 0)
        first = e.times(index.flat(e), 2)
        words = [e.load(dtypes.uint32, memory.address, e.plus(first, e.word(i))) for i in range(2)]
        whole = heights.at(e, Index.of(heights.shape, [row, e.word(classes - 1)]))
        share = e.b.fmul(uniform_of(e.b, WIDE, *words), whole)
        is_before = lambda other: e.b.fcmp_unordered("<=", other, share)  # noqa: E731  # also NaN
        return converted(e, insertion_point(e, heights, [row], is_before), dtypes.int64, value.dtype)

    return IndexMap(value.dtype, shape, [heights, memory], find, cost=40, once=False)


def _weight(e: Emitter, x: Element, most: Element) -> Element:
    """Return e^(x - most), and 0 if x is not finite."""
    weight = call_function(e, "exp", e.b.fsub(x, most))
    finite = e.b.fcmp_ordered("<", e.intrinsic("fabs", x), constant(WIDE, float("inf")))
    return e.b.select(finite, weight, constant(WIDE, 0))


def _heights(region: Region, weights: LazyValue) -> LazyValue:
    def step(e: Emitter, index: Index, before: Element) -> tuple[Element, Element]:
        after = e.b.fadd(before, weights.at(e, index))
        return after, after

    return running(region, weights, 1, False, constant(WIDE, 0), step)
