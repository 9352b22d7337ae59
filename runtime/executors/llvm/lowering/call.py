"""Lower calls to calls of a native function: the graph is lowered once, however often it is called.

    b = call @repeated x, u, v               code ← repeated(x, u, v, b, scratch, thread state);  leave unless code is 0

    int32 repeated(inputs…, outputs…, scratch, thread state)         0: done; 1: a check failed; 2: interrupted

The caller provides the memory for results and large buffers, so that buffer assignment covers the whole program.
A result that is the new value of a variable is stored in the variable's memory if the call is the last reader of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ....ir.graph import Graph, Operation
from ....ir.value_types import TensorType
from ..codegen.early_outputs import Donation
from ..codegen.function_builder import Emitter, NestCost
from ..codegen.kernel_calls import leave_unless_done
from ..codegen.lazy_values import Buffer, LazyValue, Scalar
from ..codegen.llvm_types import STORED, Register, null
from ..codegen.outlining import new_function
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers


class NativeFunction(NamedTuple):
    """A graph as a native function, the results that overwrite operands, and the bytes of its scratch memory."""

    function: Any
    overwritten: frozenset[int]
    scratch: int
    may_fail: bool
    cost: NestCost


@lowers("call", moves=True)
def _(region: Region, operation: Operation, *nodes: LazyValue) -> list[LazyValue]:
    e, early = region.e, region.early
    (graph,) = operation.regions
    if not all(isinstance(each.spec, TensorType) for each in (*operation.inputs, *operation.outputs)):
        raise RefusedError("there is no native code for it")
    given = [region.stored(node) for node in nodes]
    donors = early.donated(operation, given)
    callee = _lowered(e, graph, donors)
    results: list[Buffer] = []
    for i, value in enumerate(operation.outputs):
        if i in callee.overwritten:
            results.append(Buffer(value.dtype, value.shape, given[donors[i]].address))  # type: ignore[arg-type]
        else:
            results.append(early.target(value) or Buffer.new(e, value.dtype, value.shape))  # type: ignore[arg-type]
    scratch = e.buffer(callee.scratch) if callee.scratch else null()
    addresses = [each.address for each in (*given, *results)]
    code = e.b.call(callee.function, [*addresses, scratch, e.function.args[-1]])
    if callee.may_fail:
        leave_unless_done(e, code)
    for i in callee.overwritten:
        early.overwrite(operation.outputs[i])
    e.spend(callee.cost)
    return [
        each if each.shape else Scalar(each.dtype, e.load(each.dtype, each.address, e.word(0)))
        for each in results
    ]


def _lowered(e: Emitter, graph: Graph, donors: Mapping[int, int]) -> NativeFunction:
    """Return the native function of a graph, some of whose results may overwrite operands."""
    is_committed = e.is_committed or bool(donors)
    key = graph, (*donors.items(),), is_committed
    functions: dict[Any, NativeFunction | None] = e.module.callees
    if key not in functions:
        functions[key] = None
        functions[key] = _emitted(e, graph, donors, is_committed)
    found = functions[key]
    if found is None:
        raise RefusedError("there is no native code for recursion")
    return found


def _emitted(outer: Emitter, graph: Graph, donors: Mapping[int, int], is_committed: bool) -> NativeFunction:
    module, known = outer.module, len(outer.module.globals)
    count = len(graph.inputs)
    function = new_function(module, module.get_unique_name(graph.name), count + len(graph.outputs) + 2)
    e = Emitter(module, function)
    e.scratch = function.args[-2]
    if is_committed:
        e.commit()
    inputs = [
        _argument(e, value.spec, address) for value, address in zip(graph.inputs, function.args, strict=False)
    ]
    targets = [
        Buffer(value.dtype, value.shape, address)  # type: ignore[arg-type]
        for value, address in zip(graph.outputs, function.args[count:], strict=False)
    ]
    region = Region(e, graph, inputs)
    nodes = region.run(
        [target if target.shape else None for target in targets],
        {i: inputs[position] for i, position in donors.items()},
        Donation.EARLY if donors else Donation.NEVER,
    )
    for node, target in zip(nodes, targets, strict=True):
        if not target.shape:
            e.store(target.dtype, target.address, e.word(0), region.scalar(node).value)
    outer.reasons += e.reasons
    e.finish()
    for each in [*module.globals.values()][known:]:
        if getattr(each, "blocks", ()):
            module.text.complete(each)
    return NativeFunction(function, frozenset(region.overwritten), e.scratch_size, e.may_fail, e.cost)


def _argument(e: Emitter, spec: Any, address: Register) -> LazyValue:
    if spec.shape or spec.dtype not in STORED:  # messages read strings, but the plan writes them
        return Buffer(spec.dtype, spec.shape, address)
    return Scalar(spec.dtype, e.load(spec.dtype, address, e.word(0)))
