"""Runs of a plan with inputs, or constants, that differ by their last bits: they show how much rounding decides.

x [1.0, 3.0]                              x [1.0000001, 2.9999998]
y = multiply x, 0.1           ==>         y = multiply x, 0.1               or multiply x, 0.100000024
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...ir.clone import with_parts
from ...ir.graph import Constant, Graph, Operand

LAST_BIT = {2: 2.0**-10, 4: 2.0**-23, 8: 2.0**-52}
"""The last bit of 1, by the size in bytes of a float, or of a part of a complex number."""

Shares = Mapping[int, float]
"""The share of a number that changes, by its size in bytes."""


def moved_array(array: Any, shares: Shares) -> Any:
    """Return floats with changed last bits, except zeros, infinities and NaN; other arrays unchanged."""
    result = np.array(array, order="C")
    if result.dtype.kind in "fc" and result.dtype.num < 256:  # dtypes of NumPy only, not of extensions
        flat = result.reshape(-1).view(result.real.dtype)
        changes = np.abs(flat) * flat.dtype.type(shares[flat.dtype.itemsize])
        changes[1::2] *= -1
        changes[~np.isfinite(changes)] = 0
        flat += changes
    return result


def moved_if_array(argument: Any, shares: Shares) -> Any:
    """Return an argument of a plan with changed last bits if it is an array."""
    return moved_array(argument, shares) if isinstance(argument, (np.ndarray, np.generic)) else argument


def with_moved_constants(graph: Graph, shares: Shares) -> Graph:
    """Return the graph with other last bits of its constants, except integers, such as exponents, which are exact."""
    return _moved(graph, shares, {})


def _moved(graph: Graph, shares: Shares, done: dict[int, Graph]) -> Graph:
    """Return the changed graph, once for each graph: calls share those of functions."""

    def operand(given: Operand) -> Operand:
        if not isinstance(given, Constant) or given.value.dtype.kind != "f":
            return given
        with np.errstate(invalid="ignore"):
            is_integer = given.value == np.round(given.value)
        return Constant(np.where(is_integer, given.value, moved_array(given.value, shares)))

    if id(graph) not in done:
        operations = [
            with_parts(
                operation,
                inputs=[operand(each) for each in operation.inputs],
                regions=[_moved(region, shares, done) for region in operation.regions],
            )
            for operation in graph.operations
        ]
        outputs = [operand(each) for each in graph.outputs]
        done[id(graph)] = Graph(graph.name, graph.inputs, operations, outputs)
    return done[id(graph)]
