"""The optimiser: all passes over a graph, twice where the first round has changed something.

What the last of them leaves behind is pruned at the end.
"""

from __future__ import annotations

from ..config import optimizer
from ..ir.graph import Graph
from . import dce
from .options import Options
from .pass_table import PASSES
from .ssa_rename import rename_values

ROUNDS = 2


def optimise(graph: Graph, options: Options | None = None, after: str | None = None) -> Graph:
    """A graph that does the same in less time.

    `options` are those of `tf.config.optimizer` by default. With `after`, the name of a pass, the graph is
    given as it is after this pass of the first round.
    """
    chosen = Options.chosen(optimizer.get_experimental_options()) if options is None else options
    if chosen.disable_meta_optimizer or len(graph.operations) < chosen.min_graph_nodes:
        return graph
    traced = graph = rename_values(graph)
    settled: dict[str, Graph] = {}  # by pass, the graph that it has nothing to do in
    for _ in range(ROUNDS):
        before = graph
        graph = _round(graph, chosen, after, settled)
        if after is not None:
            return graph
        if graph is before:
            break
    return graph if graph is traced else _pruned(graph, chosen, settled)


def _round(graph: Graph, options: Options, after: str | None, settled: dict[str, Graph]) -> Graph:
    for each in PASSES:
        has_work = each.needs is None or not each.needs.isdisjoint(graph.types)
        if has_work and each.may_run(options) and settled.get(each.name) is not graph:
            if each.counts_readers:
                graph = _pruned(graph, options, settled)
            before = graph
            graph = each.run(graph, options)
            if graph is before or each.run is dce.run:  # which leaves nothing for another time
                settled[each.name] = graph
        if each.name == after:
            break
    return graph


def _pruned(graph: Graph, options: Options, settled: dict[str, Graph]) -> Graph:
    """The graph without what the passes so far have left behind."""
    if options.disable_model_pruning or settled.get("prune") is graph:
        return graph
    graph = settled["prune"] = dce.run(graph, options)
    return graph
