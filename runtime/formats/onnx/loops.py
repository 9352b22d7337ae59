"""Loops: `while` as `Loop`, and lists that grow by one element in each iteration as its scan outputs.

s = while s0, c             Loop("", test(s0), s0) { body(s, c) → s';  test(s', c) → condition }
xs = list_append xs, x      a scan output: x of each iteration, stacked; joined to the first list after the loop

A list in ONNX is the stack of its elements. Appending to it in a loop would copy it in each iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ... import dtypes
from ...ir.graph import Constant, Graph, Operation, Value
from ...ir.value_types import ListType
from ...ops.framework.region_ops import WHILE
from ...ops.lists.tensor_array import array_write
from ...ops.lists.tensor_list import list_append
from ...ops.math.arithmetic import add
from .graph_writer import STRUCTURED, GraphWriter, dtype_of, info, shape_of
from .onnx_types import helper, value_info
from .rules.lists import appended
from .values import Ref


class GrowingList(NamedTuple):
    """A list of the loop state that only grows: the operation of the body that adds `element`."""

    position: int
    operation: Operation
    element: Any


def write_loop(writer: GraphWriter, operation: Operation, inputs: list[Ref]) -> Sequence[Ref]:
    """Write a `while` operation; return its results."""
    e = writer.e
    test, body = operation.regions
    count = len(operation.outputs)
    growing = {each.position: each for each in _growing(operation, inputs)}
    carried = [i for i in range(count) if i not in growing]
    (going,) = writer.region(test, inputs)
    most = operation.attrs.get("maximum_iterations")
    limit = e.const(int(most), dtypes.int64).name if most is not None else ""
    outer = e.begin()
    counter, condition = e.fresh("iteration"), e.fresh("condition")
    state = [_parameter(writer, operation.outputs[i], body.inputs[i]) for i in range(count)]
    given = [state[i] if i in carried else inputs[i] for i in range(count)] + list(inputs[count:])
    results, elements = _body(writer, body, given, growing)
    again = [results[i] if i in carried else inputs[i] for i in range(count)] + list(inputs[count:])
    (more,) = writer.region(test, again)
    names = [writer.renamed(ref) for ref in (more, *[results[i] for i in carried], *elements)]
    graph = helper.make_graph(
        e.end(outer),
        e.fresh("loop_body"),
        [
            value_info(counter, dtypes.int64, ()),
            value_info(condition, dtypes.bool_, ()),
            *[info(state[i].name, operation.outputs[i].spec) for i in carried],
        ],
        [
            value_info(names[0], dtypes.bool_, ()),
            *[info(n, operation.outputs[i].spec) for n, i in zip(names[1:], carried, strict=False)],
            *[
                value_info(n, ref.dtype, ref.shape)
                for n, ref in zip(names[1 + len(carried) :], elements, strict=True)
            ],
        ],
    )
    made = [_result(writer, operation.outputs[i]) for i in [*carried, *growing]]
    start = [inputs[i].name for i in carried]
    if made:  # a loop without results has only effects, which are left out
        e.add("Loop", [limit, going.name, *start], [ref.name for ref in made], {"body": graph})
    return _in_order(writer, operation, inputs, made, carried, growing)


def _parameter(writer: GraphWriter, result: Value, parameter: Value) -> Ref:
    name = writer.e.fresh(f"{parameter.name}_in")
    return Ref(writer.e, name, dtype_of(result.spec), shape_of(result.spec))


def _result(writer: GraphWriter, value: Value) -> Ref:
    return Ref(writer.e, writer.e.fresh(value.name), dtype_of(value.spec), shape_of(value.spec))


def _body(
    writer: GraphWriter, body: Graph, given: Sequence[Ref], growing: dict[int, GrowingList]
) -> tuple[list[Ref], list[Ref]]:
    """Write the body; return its results, and the elements that it adds to growing lists."""
    known: dict[Any, Ref] = dict(zip(body.inputs, given, strict=True))
    writer.find_elements(body)
    left_out = {each.operation for each in growing.values()}
    for operation in body.live_operations():
        if operation in left_out:
            known[operation.outputs[0]] = known[operation.inputs[0]]
        else:
            writer.operation(operation, known)
    results = [writer.ref(operand, known) for operand in body.outputs]
    return results, [writer.ref(each.element, known) for each in growing.values()]


def _in_order(
    writer: GraphWriter,
    operation: Operation,
    inputs: Sequence[Ref],
    made: Sequence[Ref],
    carried: Sequence[int],
    growing: dict[int, GrowingList],
) -> list[Ref]:
    """Return the results of the loop in their order, with the lists from the scan outputs."""
    found = dict(zip([*carried, *growing], made, strict=True))
    for i, each in growing.items():
        is_append = each.operation.op is list_append
        found[i] = appended(writer.e, inputs[i], found[i], keeps_size=not is_append)
    return [found[i] for i in range(len(operation.outputs))]


def _growing(operation: Operation, inputs: Sequence[Ref]) -> list[GrowingList]:
    """Return the lists of the loop state that the body only appends to, or writes at the number of the iteration."""
    test, body = operation.regions
    found = []
    for i, (value, result) in enumerate(zip(body.inputs, body.outputs, strict=False)):
        if not isinstance(value.spec, ListType) or _uses(test, test.inputs[i]) or _uses(body, value) != 1:
            continue
        maker = next((each for each in body.operations if value in each.inputs), None)
        if maker is None or maker.outputs[:1] != (result,) or list(body.outputs).count(result) != 1:
            continue
        if _users(body, result):
            continue
        if maker.op is list_append:
            found.append(GrowingList(i, maker, maker.inputs[1]))
        elif maker.op is array_write and _is_counter(operation, maker.inputs[1]) and inputs[i].is_unwritten:
            found.append(GrowingList(i, maker, maker.inputs[2]))
    return found


def _uses(graph: Graph, value: Any) -> int:
    return sum(list(each.inputs).count(value) for each in graph.operations) + list(graph.outputs).count(value)


def _users(graph: Graph, value: Any) -> bool:
    return any(value in each.inputs for each in graph.operations)


def _is_counter(operation: Operation, index: Any) -> bool:
    """Return whether an operand of the body is a number that begins at 0 and grows by 1 in each iteration."""
    _, body = operation.regions
    for i, value in enumerate(body.inputs[: len(operation.outputs)]):
        if value is index:
            start, after = operation.inputs[i], body.outputs[i]
            steps = [each for each in body.operations if each.outputs[:1] == (after,)]
            return (
                isinstance(start, Constant)
                and int(start.value) == 0
                and bool(steps)
                and steps[0].op is add
                and steps[0].inputs[0] is value
                and isinstance(steps[0].inputs[1], Constant)
                and int(steps[0].inputs[1].value) == 1
            )
    return False


STRUCTURED[WHILE] = write_loop
