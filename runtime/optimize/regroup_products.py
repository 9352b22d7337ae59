"""The passes of plans and native code that compute matrix products in other pieces, after all other passes.

    products in a loop         →   one product before the loop         batch_loop_matmul
    sums of products in loops  →   one product after the loop          delay_loop_matmul
    products of large tensors  →   a loop over tiles of rows           tile_rows

The sums of products may be rounded in another order.
"""

from __future__ import annotations

from ..ir.graph import Graph
from ..ops.framework.region_ops import WHILE
from ..ops.linalg.matmul import matmul_op


def run(graph: Graph) -> Graph:
    """Return the graph with its products regrouped."""
    if matmul_op not in graph.ops:
        return graph
    from . import tile_rows  # imported for graphs with products only

    if WHILE in graph.ops:
        from . import batch_loop_matmul, delay_loop_matmul

        graph = delay_loop_matmul.run(batch_loop_matmul.run(graph))
    return tile_rows.run(graph)
