"""The pass manager: run all passes over a graph, a second time if the first changed something.

Dead code that the last pass leaves is pruned at the end.
"""

from __future__ import annotations

from collections.abc import Callable

from ..config import optimizer
from ..ir.graph import Graph
from . import dce
from .options import OptimizerOptions
from .pass_table import PASSES
from .ssa_rename import rename_values

ROUNDS = 2

Observer = Callable[[str, Graph], object]


def optimize(
    graph: Graph,
    options: OptimizerOptions | None = None,
    after: str | None = None,
    observe: Observer | None = None,
) -> Graph:
    """Return an equivalent graph that runs faster.

    `options` are those of `tf.config.optimizer` by default. With `after`, the name of a pass, the result is
    the graph after this pass in the first run. `observe` is called with the name of each pass that runs, and
    with the graph after it.
    """
    chosen = OptimizerOptions.chosen(optimizer.get_experimental_options()) if options is None else options
    if chosen.disable_meta_optimizer or len(graph.operations) < chosen.min_graph_nodes:
        return graph
    traced = graph = rename_values(graph)
    settled: dict[str, Graph] = {}  # by pass, the graph in which it finds nothing to do
    for _ in range(ROUNDS):
        before = graph
        graph = _round(graph, chosen, after, settled, observe)
        if after is not None:
            return graph
        if graph is before:
            break
    graph = graph if graph is traced else _pruned(graph, chosen, settled, observe)
    if type(graph.operations) is tuple:  # it does not grow
        graph.optimized_with = chosen._replace(scoped_allocator_optimization=False)
    return graph


def optimize_for_shapes(graph: Graph) -> Graph:
    """Return `optimize(graph)` for a graph with the shapes of one call.

    It combines no reductions over processes: others may have other shapes, and must combine the same ones.
    """
    chosen = OptimizerOptions.chosen(optimizer.get_experimental_options())
    chosen = chosen._replace(scoped_allocator_optimization=False)
    return graph if graph.optimized_with == chosen else optimize(graph, chosen)


def _round(
    graph: Graph,
    options: OptimizerOptions,
    after: str | None,
    settled: dict[str, Graph],
    observe: Observer | None,
) -> Graph:
    for each in PASSES:
        has_work = each.needs is None or any(op.name in each.needs for op in graph.ops)
        if has_work and each.may_run(options) and settled.get(each.name) is not graph:
            if each.counts_readers:
                graph = _pruned(graph, options, settled, observe)
            before = graph
            graph = each.run(graph, options)
            if graph is before or each.run is dce.run:  # a second DCE would find nothing
                settled[each.name] = graph
            if observe is not None:
                observe(each.name, graph)
        if each.name == after:
            break
    return graph


def _pruned(
    graph: Graph, options: OptimizerOptions, settled: dict[str, Graph], observe: Observer | None
) -> Graph:
    """Return the graph without the dead code that the passes so far have left."""
    if options.disable_model_pruning or settled.get("dce") is graph:
        return graph
    graph = settled["dce"] = dce.run(graph, options)
    if observe is not None:
        observe("dce", graph)
    return graph
