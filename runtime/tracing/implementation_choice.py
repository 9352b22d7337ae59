"""Functions that implement the same thing: a graph on the CPU calls the one for the CPU, as in TensorFlow.

attributes = {"api_implements": "sample"}
general = tf.function(f, experimental_attributes=attributes)
on_cpu = tf.function(g, experimental_attributes={**attributes, "api_preferred_device": "CPU"})

y = call general x                                             ==>    y = call on_cpu x
on_cpu.get_concrete_function(x).add_to_graph()
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ..ir.builder import Builder
from ..ir.graph import Graph
from ..kernels.random.seeds import with_own_streams
from ..ops.framework.region_ops import CALL
from .options import IMPLEMENTS


class Implementation(Protocol):
    """The part of a concrete function that this module uses."""

    name: str
    graph: Graph
    captured: list[Any]
    attributes: Mapping[str, Any]


def prefer(concrete: Implementation, builder: Builder) -> None:
    """Let the recorded calls of functions that implement the same as `concrete` call it, if it is for the CPU.

    As in TensorFlow, calls with other types of arguments or results stay, and so do calls if there are captures.
    """
    implements = concrete.attributes.get(IMPLEMENTS)
    if implements is None or concrete.attributes.get("api_preferred_device") != "CPU" or concrete.captured:
        return
    for operation in builder.operations:
        is_same = operation.op is CALL and operation.attrs.get(IMPLEMENTS) == implements
        if is_same and _types(operation.regions[0]) == _types(concrete.graph):
            operation.regions = (with_own_streams(concrete.graph),)
            operation.attrs = {**operation.attrs, "name": concrete.name}
            operation.stateful = concrete.graph.stateful


def _types(graph: Graph) -> tuple[list[Any], list[Any]]:
    return [value.spec for value in graph.inputs], [value.spec for value in graph.outputs]
