"""Check that a loaded graph matches its call: the arguments and variables that the index states.

Graph and index are different files. Native code trusts the graph about the memory that it reads and writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from .. import nest
from ..core.tensor_spec import TensorSpec
from ..core.type_spec import TypeSpec
from ..core.variable import Variable
from ..ir.graph import Graph
from ..ir.value_types import AnySpec
from ..tracing.trace import Composite, Output


def check_binding(
    graph: Graph, arguments: Mapping[str, Any], variables: Sequence[Variable], structure: Any
) -> None:
    """Raise ValueError unless the graph takes these arguments and variables, and has the outputs of the structure."""
    given = [*_specs_of(arguments), *[variable.spec for variable in variables]]
    taken = [value.spec for value in graph.inputs]
    if len(given) != len(taken) or not all(
        one.covers(other) for one, other in zip(taken, given, strict=True)
    ):
        raise ValueError(
            f"the graph takes ({', '.join(map(str, taken))}), but its arguments and variables are "
            f"({', '.join(map(str, given))})"
        )
    for number in _outputs_in(structure):
        if not 0 <= number < len(graph.outputs):
            raise ValueError(f"the graph has no result number {number}")


def _specs_of(arguments: Mapping[str, Any]) -> Iterator[AnySpec]:
    """Yield the specs of the graph's inputs for arguments in their order; Python values have none."""
    for leaf in chain.from_iterable(map(nest.flatten, arguments.values())):
        if isinstance(leaf, TensorSpec):
            yield leaf.spec
        elif isinstance(leaf, TypeSpec):
            for part in leaf.flatten():
                yield part.spec


def _outputs_in(structure: Any) -> Iterator[int]:
    for leaf in nest.flatten(structure):
        if isinstance(leaf, Output):
            yield leaf.number
        elif isinstance(leaf, Composite):
            for part in leaf.parts:
                yield from _outputs_in(part)
