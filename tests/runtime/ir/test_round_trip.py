"""Text and graph are two forms of the same thing."""

from __future__ import annotations

from agc.runtime.ir.graph import Graph
from agc.runtime.ir.parser import parse
from agc.runtime.ir.printer import print_graph
from hypothesis import given, settings
from support.random_graphs import graphs, many
from support.verifier import verify


@settings(max_examples=many(40))
@given(graphs())
def test_a_printed_graph_parses_back(graph: Graph) -> None:
    again = parse(print_graph(graph))
    assert print_graph(again) == print_graph(graph)
    assert again == graph
    verify(again)
