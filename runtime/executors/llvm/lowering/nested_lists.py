"""Lower lists of lists, which loops in loops keep for gradients. They grow and shrink only at their end.

ss.1 = list_keep ss, s         all elements are stored consecutively; a second list holds the lengths
ss.2, s = list_take ss.1       the last list, as a view
"""

from __future__ import annotations

from typing import Any

from .... import dtypes
from ....ir.graph import Operation
from ....ir.value_types import TensorType
from ..codegen.lazy_values import LazyValue
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers
from .list_memory import Cells, List, Lists, UnallocatedArray, View, copied, made
from .list_ops import append_all
from .tensor_arrays import changed, shortened


@lowers("list_of_lists")
def _(region: Region, operation: Operation, like: LazyValue) -> LazyValue:
    return UnallocatedArray(like.dtype, region.e.word(0), None, False)


@lowers("list_keep")
def _(region: Region, operation: Operation, array: LazyValue, inner: LazyValue) -> LazyValue:
    e = region.e
    spec: Any = operation.outputs[0].spec
    lists = changed(region, operation, array, grows=True)
    more = made(e, inner, spec.element.element)
    if not isinstance(more, List):
        raise RefusedError("lists of lists of lists are not compiled")
    number = lists.counts.length(e)
    lists.counts.extend_to(e, e.plus(number, e.word(1)))
    e.store(dtypes.int64, lists.counts.address(e), number, more.cells.length(e))
    append_all(e, lists.cells, more.cells)
    return lists  # type: ignore[no-any-return]


@lowers("list_take")
def _(region: Region, operation: Operation, array: LazyValue) -> list[LazyValue]:
    e = region.e
    if not isinstance(array, Lists):
        raise RefusedError("the list of lists is empty")
    lists = shortened(region, operation, array)
    number = lists.counts.length(e)
    e.demand(e.b.icmp_signed(">", number, e.word(0)))
    last = e.minus(number, e.word(1))
    count = e.load(dtypes.int64, lists.counts.address(e), last)
    left = e.b.sub(lists.cells.length(e), count)
    lists.counts.resize(e, last)
    lists.cells.resize(e, left)
    cells = lists.cells
    taken: Cells = View(e, TensorType(cells.dtype, cells.shape), cells.at(e, left), count)
    escapes = operation.outputs[1] in region.graph.outputs
    if not isinstance(cells, View) and (escapes or _is_kept_again(region)):
        taken = copied(e, taken, None)
    return [lists, List(taken)]


def _is_kept_again(region: Region) -> bool:
    """Return whether a list may be appended where a view of a taken list is still in use."""
    return any(map(_keeps, region.graph.operations))


def _keeps(operation: Operation) -> bool:
    if operation.type == "list_keep":
        return True
    return any(_keeps(inner) for graph in operation.regions for inner in graph.operations)
