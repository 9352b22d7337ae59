"""Compute tensors that are larger than a cache in tiles of rows, as flash attention does.

    s = matmul q, k [transpose_b=True]  : float32[8, 4096, 4096]
    p = softmax s                       : float32[8, 4096, 4096]        i, o = while 0, array, q', k', v
    o = matmul p, v                     : float32[8, 4096, 64]   ==>      body i, o, q', k', v
                                                                            …the same on 512 rows of one matrix

Memory then holds a tile, not the tensors. Operations of the backward pass that read them compute their tiles again.
Plans and native code use this pass. Products of fewer rows and sums over tiles may be rounded in another order, as with
another number of threads. The pass runs after all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..ir.graph import Graph, Operand
from ..ops.linalg.matmul import matmul_op
from .options import OptimizerOptions, may_change_loops
from .rewriter import Rewriter
from .row_groups import RowGroup, large_shapes, row_groups

if TYPE_CHECKING:
    from .tile_loop import TiledGroup

LARGE = 1 << 26
"""The bytes from which on a tensor is computed in tiles."""

TILE = 1 << 21
"""The most elements of a tile."""


def run(graph: Graph, options: OptimizerOptions | None = None) -> Graph:
    return _tiled(graph) if may_change_loops(options) else graph


def _tiled(graph: Graph) -> Graph:
    if next(graph.regions(), None) is not None:
        graph = Rewriter(graph).run({}, _tiled)
    for shape in large_shapes(graph, LARGE):
        from .tile_loop import TiledGroup  # imported for such graphs only
        from .tile_sizes import tilings

        tiles = tilings(shape, TILE)
        for group in row_groups(graph, shape) if tiles else ():
            loops = [TiledGroup(group, each) for each in tiles]
            products = [each.op is matmul_op for each in group.operations if each not in group.exits]
            if any(products) and all(each.fits() for each in loops):
                graph = _with_loops(graph, group, loops)
    return graph


def _with_loops(graph: Graph, group: RowGroup, loops: Sequence[TiledGroup]) -> Graph:
    """Return the graph with the loops instead of the group's exits, at the place of the last of these.

    Operations between exits that read their results follow the loops.
    """
    last = max(position for position, each in enumerate(graph.operations) if each in group.exits)
    early, late = [], []
    waiting: set[Operand] = set()
    for operation in graph.operations[: last + 1]:
        if operation in group.exits:
            waiting.update(operation.outputs)
        elif waiting.isdisjoint(operation.inputs):
            early.append(operation)
        elif operation.stateful:
            return graph
        else:
            waiting.update(operation.outputs)
            late.append(operation)
    from .tile_loop import LoopBody, add_loops

    body = LoopBody(graph.operations[last].origin)
    add_loops(body, group, loops)
    operations = (*early, *body.operations, *late, *graph.operations[last + 1 :])
    found = Graph(graph.name, graph.inputs, operations, graph.outputs)
    return Graph(graph.name, graph.inputs, found.live_operations(), graph.outputs)
