"""Record the call of a concrete function in the graph that is being built.

y = double(x)     ==>     y = call x, with the graph of `double` as its region, or callee
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from .. import errors
from ..control_flow import state_leaves
from ..control_flow.exceptions import RegionNeverReturns
from ..core import shapes
from ..core.symbolic_tensor import SymbolicTensor
from ..core.tensor import EagerTensor, Reference
from ..core.variable import Variable
from ..core.variable_enums import VariableSynchronization
from ..ir.builder import Builder
from ..ir.captured_tensors import lift_captured
from ..ir.graph import Graph, Value
from ..ir.value_types import AnySpec, TensorType
from ..ops.framework.op import wrap
from ..ops.framework.region_ops import CALL
from .options import IMPLEMENTS
from .output_packing import filled


class Recordable(Protocol):
    """The part of a concrete function that a recorded call uses."""

    name: str
    graph: Graph
    captured: list[Any]
    owner: Builder | None
    ends: bool
    executor: str
    structure: Any
    attributes: Mapping[str, Any]

    @property
    def captured_tensors(self) -> list[EagerTensor]: ...

    def output_specs(self) -> list[AnySpec]: ...


def record_call(concrete: Recordable, builder: Builder, inputs: Sequence[Any]) -> Any:
    """Record a call of `concrete` with the leaves that are inputs of its graph; return the result of the call."""
    pairs = zip(inputs, concrete.graph.inputs, strict=False)  # captured values follow
    operands = [state_leaves.operand_in(builder, _as_traced(leaf, value)) for leaf, value in pairs]
    for item, value in zip(concrete.captured, concrete.graph.inputs[len(operands) :], strict=True):
        if isinstance(item, Reference):
            operands.append(builder.captured_variable(_component(concrete, item.deref(), value)))
        else:
            assert concrete.owner is not None
            operands.append(builder.captured(item, concrete.owner))
    specs = concrete.output_specs()
    watched = [x for x in concrete.captured_tensors if builder.stand_in(x) is not None]
    graph = lift_captured(concrete.graph, watched) if watched else concrete.graph
    operands += map(builder.operand, watched)
    from ..kernels.random.seeds import with_own_streams  # imported for calls in graphs

    callee = with_own_streams(graph)
    attrs: dict[str, Any] = {"name": concrete.name}
    if concrete.executor == "native":
        attrs["jit_compile"] = True
    if IMPLEMENTS in concrete.attributes:
        attrs[IMPLEMENTS] = concrete.attributes[IMPLEMENTS]
    values = builder.add(CALL, operands, attrs, specs, (callee,), [concrete.name] * len(specs))
    if concrete.ends:
        raise RegionNeverReturns  # and so do the operations after the call
    return filled(concrete.structure, [wrap(value, builder) for value in values])


def _component(concrete: Recordable, variable: Variable, reference: Value) -> Variable:
    """Return the variable, or its component in this replica if the function was loaded for several replicas."""
    if variable._bound is not variable or variable._here is variable:
        return variable._here
    from ..autodiff.loop_invariants import only_read

    is_on_read = variable.synchronization is VariableSynchronization.ON_READ
    if is_on_read or reference not in only_read((concrete.graph,)):
        raise errors.UnimplementedError(
            f"The function {concrete.name} was loaded for several replicas, and uses {variable.name} in a graph across "
            "the replicas. Call it in `Strategy.run` or in eager code, or load it outside of the strategy's scope."
        )
    return variable._here


def _as_traced(leaf: Any, traced: Value) -> Any:
    """Return an input of a recorded call, whose shape is checked in each run if the trace inferred more of it."""
    carried = state_leaves.carried(leaf)
    spec = traced.spec
    if not isinstance(carried, SymbolicTensor) or not isinstance(spec, TensorType):
        return carried
    if shapes.covers(spec.shape, carried.shape.sizes):
        return carried
    from ..ops.arrays.reshape import ensure_shape  # rarely needed, so imported late

    return ensure_shape(carried, spec.shape)
