"""The nodes of a graph or function in an order in which they can run, with the places of their inputs.

node { name: "y" op: "Split" attr N: 2 }, node { input: "y:output:1" }
==>     NodeStep(y), NodeStep(…, inputs=[("y", 1)])

Functions name a result by its argument, graphs by its number. Nodes that no result needs are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from .graph_messages import FunctionDef, NodeDef
from .signatures import NodeArgument, NodeSignature, signature

Place = tuple[str, int]
"""A node, and the number of its result."""


class NodeStep(NamedTuple):
    """A node with its signature, None for an operation without one, and its inputs."""

    node: NodeDef
    signature: NodeSignature | None
    inputs: list[Place]


class NodeProgram(NamedTuple):
    """The steps that compute the outputs from the inputs, which are named like nodes."""

    inputs: list[str]
    steps: list[NodeStep]
    outputs: list[Place]


def function_program(function: FunctionDef) -> NodeProgram:
    """Return the program of a function. ValueError for inputs that do not exist, and a circle of nodes."""
    inputs = [argument.name for argument in function.signature.input_arg]
    returned = dict(function.ret)
    outputs = [returned[argument.name] for argument in function.signature.output_arg]
    return node_program(function.node_def, inputs, outputs, list(function.control_ret.values()))


def node_program(
    nodes: Iterable[NodeDef], inputs: Sequence[str], outputs: Sequence[str], effects: Iterable[str] = ()
) -> NodeProgram:
    """Return the program that computes references, such as "y:0", and runs the nodes `effects`."""
    by_name = _by_name(nodes)
    known = dict.fromkeys(inputs)
    signatures = {name: signature(node.op) for name, node in by_name.items()}

    def place(reference: str) -> Place:
        name, _, rest = reference.partition(":")
        if name in known and rest in ("", "0"):
            return name, 0
        if name not in by_name:
            raise ValueError(f"there is no node {name!r}")
        return name, _result_number(by_name[name], signatures[name], rest)

    places = [place(reference) for reference in outputs]
    steps = []
    for name in _ordered(by_name, known, [*(name for name, _ in places), *effects]):
        node = by_name[name]
        found = [place(reference) for reference in node.input if not reference.startswith("^")]
        steps.append(NodeStep(node, signatures[name], found))
        _check_inputs(steps[-1])
    return NodeProgram(list(inputs), steps, places)


def _check_inputs(step: NodeStep) -> None:
    """Raise ValueError for a node with more or fewer inputs than its operation takes."""
    if step.signature is not None:
        count = sum(tensor_count(step.node, argument) for argument in step.signature.inputs)
        if count != len(step.inputs):
            node = step.node
            raise ValueError(
                f"the node {node.name!r} of {node.op} has {len(step.inputs)} inputs, not {count}"
            )


def _by_name(nodes: Iterable[NodeDef]) -> dict[str, NodeDef]:
    """Return the nodes by name. ValueError for two with one name: references would be ambiguous."""
    found: dict[str, NodeDef] = {}
    for node in nodes:
        if found.setdefault(node.name, node) is not node:
            raise ValueError(f"two nodes have the name {node.name!r}")
    return found


def _ordered(nodes: Mapping[str, NodeDef], known: Mapping[str, None], wanted: Iterable[str]) -> list[str]:
    """Return the nodes that others need before these, by depth-first search."""
    done: dict[str, bool] = {}  # False while the inputs of a node are visited
    order = []
    for root in wanted:
        pending = [root]
        while pending:
            name = pending[-1]
            if name in known or done.get(name):
                pending.pop()
            elif name in done:
                pending.pop()
                done[name] = True
                order.append(name)
            else:
                if name not in nodes:
                    raise ValueError(f"there is no node {name!r}")
                done[name] = False
                for reference in reversed(nodes[name].input):
                    needed = reference.removeprefix("^").partition(":")[0]
                    if needed not in known and done.get(needed) is False:
                        raise ValueError(f"the node {name!r} needs itself, as in loops of TensorFlow 1")
                    if not done.get(needed):
                        pending.append(needed)
    return order


def _result_number(node: NodeDef, found: NodeSignature | None, rest: str) -> int:
    """Return the number of the result that a reference names after the node, such as "1" and "output:1"."""
    part, _, number = rest.rpartition(":")
    if number and not (number.isascii() and number.isdigit()):
        raise ValueError(f"{node.name}:{rest} ends with {number!r}, which is not the number of a result")
    result = (_offset(node, found, part) if part else 0) + int(number or 0)
    count = None if found is None else sum(tensor_count(node, argument) for argument in found.outputs)
    if count is not None and result >= count:
        raise ValueError(f"the node {node.name!r} of {node.op} has no result {result}: it has {count}")
    return result


def _offset(node: NodeDef, found: NodeSignature | None, part: str) -> int:
    """Return the number of the first result that belongs to an output argument."""
    offset = 0
    for argument in found.outputs if found is not None else ():
        if argument.name == part:
            return offset
        offset += tensor_count(node, argument)
    if found is None:
        return 0
    raise ValueError(f"{node.op} has no result {part!r}")


def tensor_count(node: NodeDef, argument: NodeArgument) -> int:
    """Return the number of tensors of an argument."""
    if argument.is_list:
        return len(node.attr[argument.kind].list.type)
    return max(0, int(node.attr[argument.number].i)) if argument.number else 1
