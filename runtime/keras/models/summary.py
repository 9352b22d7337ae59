"""The table that `model.summary()` prints."""

from __future__ import annotations

import math
from typing import Any

from ..layers.base import Layer
from ..layers.core import InputLayer


def summarized(model: Any, expand_nested: bool = False, show_trainable: bool = False) -> str:
    """The layers of a model, the shapes of their outputs, the numbers of their weights, and sums."""
    network = getattr(model, "network", None)
    is_branched = network is not None and not _is_chain(network) and not hasattr(model, "_stack")
    heads = ["Layer (type)", "Output Shape", "Param #"]
    widths = [33, 24, 15]
    if is_branched:
        heads, widths = [*heads, "Connected to"], [21, 19, 12, 19]
    if show_trainable:
        heads, widths = [*heads, "Trai…"], [*widths, 7]
    rows = [
        row
        for layer in model.layers
        for row in _rows(layer, network, is_branched, show_trainable, expand_nested, 0)
    ]
    return "\n".join([f'Model: "{model.name}"', *_table(heads, rows, widths), *_sums(model)])


def _is_chain(network: Any) -> bool:
    """Whether every layer has one input, and gives it to one layer: then nobody asks what is connected."""
    parents = [tensor for node in network.nodes for tensor in node.parents]
    layers = [node.layer for node in network.nodes]
    return (
        len(network._flat_inputs) == 1
        and all(len(node.parents) == 1 for node in network.nodes)
        and len({id(t) for t in parents}) == len(parents)
        and len({id(layer) for layer in layers}) == len(layers)
    )


def _rows(
    layer: Layer, network: Any, is_branched: bool, show_trainable: bool, expand: bool, depth: int
) -> list[list[str]]:
    name = "    " * depth + ("└ " if depth else "") + f"{layer.name} ({type(layer).__name__})"
    is_built = layer.built or bool(layer.weights)
    row = [name, _output_shape(layer), f"{layer.count_params():,}" if is_built else "0 (unbuilt)"]
    if is_branched:
        row.append(_connections(layer, network))
    if show_trainable:
        row.append("Y" if layer.trainable and layer.trainable_weights else "N" if layer.weights else "-")
    rows = [row]
    if expand and hasattr(layer, "layers"):
        for inner in layer.layers:
            rows += _rows(inner, network, is_branched, show_trainable, expand, depth + 1)
    return rows


def _output_shape(layer: Layer) -> str:
    if isinstance(layer, InputLayer):
        return str(layer.batch_shape)
    if layer._nodes.items:
        outputs = layer._nodes.items[-1].outputs
        shapes = (
            [tensor.shape for tensor in outputs] if isinstance(outputs, (list, tuple)) else [outputs.shape]
        )
        return ", ".join(map(str, shapes)) if len(shapes) == 1 else f"[{', '.join(map(str, shapes))}]"
    seen = layer._seen_output
    return "?" if seen is None else str(seen)


def _connections(layer: Layer, network: Any) -> str:
    nodes = [node for node in network.nodes if node.layer is layer]
    found = [
        f"{t.node.layer.name}[{_number(t)}][0]" for node in nodes for t in node.parents if t.node is not None
    ]
    return ", ".join(found) or "-"


def _number(tensor: Any) -> int:
    nodes = tensor.node.layer._nodes.items
    return next((i for i, node in enumerate(nodes) if node is tensor.node), 0)


def _table(heads: list[str], rows: list[list[str]], widths: list[int]) -> list[str]:
    lines = [
        "┏" + "┳".join("━" * width for width in widths) + "┓",
        *_cells(heads, widths, "┃"),
        "┡" + "╇".join("━" * width for width in widths) + "┩",
    ]
    between = "├" + "┼".join("─" * width for width in widths) + "┤"
    for i, row in enumerate(rows):
        lines += [*([between] if i else []), *_cells(row, widths, "│")]
    return [*lines, "└" + "┴".join("─" * width for width in widths) + "┘"]


def _cells(texts: list[str], widths: list[int], wall: str) -> list[str]:
    """A row: texts that are too long go on in the next line; numbers stand on the right."""
    wrapped = [_wrapped(text, width - 2) for text, width in zip(texts, widths, strict=True)]
    height = max(map(len, wrapped))
    lines = []
    for i in range(height):
        parts = []
        for column, (text, width) in enumerate(zip(wrapped, widths, strict=True)):
            piece = text[i] if i < len(text) else ""
            parts.append(f" {piece:>{width - 2}} " if column == 2 else f" {piece:<{width - 2}} ")
        lines.append(wall + wall.join(parts) + wall)
    return lines


def _wrapped(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if len(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(word) if lines[-1] else lines.__setitem__(-1, word)
    return [line if len(line) <= width else line[: width - 1] + "…" for line in lines]


def _sums(model: Any) -> list[str]:
    def counted(weights: Any) -> tuple[int, int]:
        sizes = [(math.prod(weight.shape), weight.dtype.size) for weight in weights]
        return sum(size for size, _ in sizes), sum(size * each for size, each in sizes)

    optimizer = getattr(model, "optimizer", None)
    own = list(optimizer.variables) if optimizer is not None and optimizer.built else []
    total, trained, kept = (
        counted([*model.weights, *own]), counted(model.trainable_weights), counted(model.non_trainable_weights),
    )  # fmt: skip
    rows = [("Total", total), ("Trainable", trained), ("Non-trainable", kept)]
    if own:
        rows.append(("Optimizer", counted(own)))
    return [f" {name} params: {count:,} ({_readable(size)})" for name, (count, size) in rows]


def _readable(size: float) -> str:
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if size < 1024 or unit == "TB":
            return f"{size:.2f} {unit}"
        size /= 1024
    raise AssertionError
