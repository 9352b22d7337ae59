"""The text of TensorFlow's graphs, one node a line: name = Op(inputs) attributes."""

from __future__ import annotations

from typing import Any

from agc.runtime.formats.tensorflow.graph_messages import GraphDef
from agc.runtime.storage.tensor_protos import TYPE_LABELS, parsed


def lines(graph: GraphDef) -> str:
    """Return the text of a graph and its functions."""
    found = [node_line(node) for node in graph.node]
    for function in graph.library.function:
        taken = ", ".join(arg.name for arg in function.signature.input_arg)
        found += [
            "",
            f"{function.signature.name}({taken})",
            *(f"  {node_line(node)}" for node in function.node_def),
        ]
        found += [f"  return {', '.join(f'{name}={text}' for name, text in function.ret.items())}"]
        found += [f"  after {', '.join(function.control_ret)}"] if function.control_ret else []
    return "\n".join(found) + "\n"


def node_line(node: Any) -> str:
    attributes = [
        f"{name}={_value(value)}" for name, value in sorted(node.attr.items()) if not name.startswith("_")
    ]
    return " ".join([f"{node.name} = {node.op}({', '.join(node.input)})", *attributes])


def _value(value: Any) -> str:
    match value.WhichOneof("value"):
        case "tensor":
            return str(parsed(value.tensor).tolist()).replace(" ", "")
        case "type":
            return TYPE_LABELS[value.type].removeprefix("DT_").lower()
        case "func":
            return str(value.func.name)
        case "shape":
            return _shape(value.shape)
        case "list":
            types = [TYPE_LABELS[number].removeprefix("DT_").lower() for number in value.list.type]
            shapes = [_shape(shape) for shape in value.list.shape]
            return f"[{','.join(map(str, [*types, *shapes, *value.list.i, *value.list.s]))}]"
        case kind:
            return str(getattr(value, kind))


def _shape(shape: Any) -> str:
    return "?" if shape.unknown_rank else "x".join(str(dim.size) for dim in shape.dim) or "()"
