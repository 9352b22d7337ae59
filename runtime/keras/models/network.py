"""`Network`: the layers' calls between KerasTensors and others, in an order in which they can be run.

x = Input((3,));  y = Dense(2)(x) + 1
Network(x, y).run(tensor)        calls Dense, then adds
"""

from __future__ import annotations

from typing import Any

from agc import runtime as tf

from ..layers.core import InputLayer
from ..symbolic import KerasTensor, Node, filled


class Network:
    """The calls that lead from `inputs` to `outputs`, which are KerasTensors or nests of them.

    Attributes: `nodes` in the order of running, `layers` with those close to the inputs first.
    """

    def __init__(self, inputs: Any, outputs: Any) -> None:
        for what, nest in (("inputs", inputs), ("outputs", outputs)):
            for leaf in tf.nest.flatten(nest):
                if not isinstance(leaf, KerasTensor):
                    raise ValueError(
                        f"All `{what}` values must be KerasTensors. Received: {what}={nest} including invalid value "
                        f"{leaf} of type {type(leaf)}"
                    )
        self.inputs, self.outputs = inputs, outputs
        self._flat_inputs: list[KerasTensor] = tf.nest.flatten(inputs)
        self._given = {id(tensor) for tensor in self._flat_inputs}
        self.nodes = self._sorted()
        self.layers = self._by_depth()

    def _sorted(self) -> list[Node]:
        """All nodes that outputs need, those that a node needs before it."""
        done: dict[int, Node] = {}
        pending: list[tuple[KerasTensor, bool]] = [
            (t, False) for t in reversed(tf.nest.flatten(self.outputs))
        ]
        while pending:
            tensor, is_ready = pending.pop()
            node = tensor.node
            if id(tensor) in self._given:
                continue
            if node is None or isinstance(node.layer, InputLayer):
                raise ValueError(
                    "`inputs` not connected to `outputs`: the model needs the input "
                    f"'{tensor.name}', which is not among its inputs"
                )
            if id(node) in done:
                continue
            if is_ready:
                done[id(node)] = node
            else:
                pending.append((tensor, True))
                pending += [(parent, False) for parent in reversed(node.parents)]
        return list(done.values())

    def _by_depth(self) -> list[Any]:
        """The layers, each once: the further from the outputs, the earlier."""
        depths: dict[int, int] = {}
        for node in reversed(self.nodes):
            depth = depths.setdefault(id(node), 0)
            for parent in node.parents:
                if parent.node is not None:
                    depths[id(parent.node)] = max(depths.get(id(parent.node), 0), depth + 1)
        sources = [tensor.node for tensor in self._flat_inputs if tensor.node is not None]
        first = [node for node in sources if isinstance(node.layer, InputLayer)]
        ordered = [*first, *self.nodes]
        deepest: dict[int, int] = {}
        for node in ordered:
            deepest[id(node.layer)] = max(deepest.get(id(node.layer), 0), depths.get(id(node), 0))
        layers = list({id(node.layer): node.layer for node in ordered}.values())
        return sorted(layers, key=lambda layer: -deepest[id(layer)])

    def run(self, inputs: Any) -> Any:
        """The outputs for tensors in place of the inputs."""
        values: dict[int, Any] = {}
        for tensor, value in zip(self._flat_inputs, self._matched(inputs), strict=True):
            values[id(tensor)] = _fitted(value, tensor)
        for node in self.nodes:
            args, kwargs = filled((node.args, node.kwargs), lambda tensor: values[id(tensor)])
            results = node.layer(*args, **kwargs)
            for tensor, value in zip(tf.nest.flatten(node.outputs), tf.nest.flatten(results), strict=True):
                values[id(tensor)] = value
        return filled(self.outputs, lambda tensor: values[id(tensor)])

    def _matched(self, inputs: Any) -> list[Any]:
        """The tensors in the order of the inputs: by name where a dict is given."""
        if isinstance(inputs, dict) and not isinstance(self.inputs, dict):
            missing = [tensor.name for tensor in self._flat_inputs if tensor.name not in inputs]
            if missing:
                raise ValueError(f"The inputs have no value for {missing}; there are {sorted(inputs)}")
            return [inputs[tensor.name] for tensor in self._flat_inputs]
        if isinstance(inputs, dict) and isinstance(self.inputs, dict):
            return tf.nest.flatten({name: inputs[name] for name in self.inputs})
        found = tf.nest.flatten(inputs)
        if len(found) != len(self._flat_inputs):
            raise ValueError(
                f"Layer expects {len(self._flat_inputs)} input(s), but it received {len(found)} input tensors."
            )
        return found


def _fitted(value: Any, like: KerasTensor) -> Any:
    """A tensor of the input's dtype and rank: a last dimension of 1 may be missing, or too much."""
    tensor = tf.convert_to_tensor(value)
    if tensor.dtype != like.dtype:
        tensor = tf.cast(tensor, like.dtype)
    rank, wanted = tensor.shape.rank, len(like.shape)
    if rank == wanted + 1 and tensor.shape[-1] == 1:
        tensor = tf.squeeze(tensor, [-1])
    elif rank == wanted - 1 and like.shape[-1] == 1:
        tensor = tf.expand_dims(tensor, -1)
    if not tf.TensorShape(like.shape[1:]).is_compatible_with(tensor.shape[1:]):
        raise ValueError(
            f'Input with name "{like.name}" is incompatible with the model: expected shape={like.shape}, found '
            f"shape={tuple(tensor.shape)}"
        )
    return tensor
