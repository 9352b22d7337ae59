"""Layers around a layer: TimeDistributed, Bidirectional.

>>> TimeDistributed(Dense(2))(tf.zeros([3, 4, 5])).shape
TensorShape([3, 4, 2])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agc import runtime as tf

from ..registry import ROOMS, serialized
from .base import Layer
from .core import Dense as Dense


class Wrapper(Layer):
    """Base class: a layer around `layer`."""

    def __init__(self, layer: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not isinstance(layer, Layer):
            raise TypeError(
                f"Layer {layer} supplied to Wrapper isn't a supported layer type. Please ensure wrapped layer is "
                "a valid Keras layer."
            )
        self.layer = layer

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "layer": serialized(self.layer)}

    @classmethod
    def from_config(cls, config: Any) -> Any:
        config = dict(config)
        for name in ("layer", "backward_layer"):
            if isinstance(config.get(name), dict):
                config[name] = ROOMS["keras.layers"].deserialize(config[name])
        return cls(**config)


class TimeDistributed(Wrapper):
    """A layer on each step of a sequence."""

    def __init__(self, layer: Any, **kwargs: Any) -> None:
        super().__init__(layer, **kwargs)
        self.supports_masking = True

    def build(self, input_shape: Any) -> None:
        if not self.layer.built:
            self.layer.build((input_shape[0], *input_shape[2:]))

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        batch, steps = (
            tf.shape(inputs)[i] if size is None else size for i, size in enumerate(inputs.shape[:2])
        )
        rows = tf.reshape(inputs, [batch * steps, *inputs.shape[2:]])
        outputs = self.layer(rows, **({} if training is None else {"training": training}))
        return tf.reshape(outputs, [batch, steps, *outputs.shape[1:]])


class Bidirectional(Wrapper):
    """A recurrent layer from the first step to the last, and one from the last to the first.

    Args:
        weights: the arrays that its weights begin with: those of the forward layer, then those of the backward one.
        merge_mode: how outputs come together: "concat", "sum", "mul", "ave", or None for both.
        backward_layer: the second one; by default a copy of the first that goes backwards.
    """

    def __init__(
        self,
        layer: Any,
        merge_mode: str | None = "concat",
        weights: Any = None,
        backward_layer: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(layer, **kwargs)
        if merge_mode not in ("sum", "mul", "ave", "concat", None):
            raise ValueError(
                f"Invalid merge mode. Received: {merge_mode}. Merge mode should be one of "
                '{"sum", "mul", "ave", "concat", None}'
            )
        config = layer.get_config()
        self.layer = self.forward_layer = _renamed(layer, config, "forward_" + layer.name, layer.go_backwards)
        if backward_layer is None:
            self.backward_layer = _renamed(layer, config, "backward_" + layer.name, not layer.go_backwards)
        else:
            self.backward_layer = backward_layer
        self.merge_mode = merge_mode
        self.supports_masking = True
        self.return_sequences, self.return_state = layer.return_sequences, layer.return_state
        self._initial_weights = weights

    def build(self, input_shape: Any) -> None:
        for layer in (self.forward_layer, self.backward_layer):
            if not layer.built:
                layer.build(input_shape)
        if self._initial_weights is not None:
            weights, self._initial_weights = self._initial_weights, None
            self.set_weights(weights)

    def call(self, sequences: Any, initial_state: Any = None, mask: Any = None, training: Any = None) -> Any:
        options: dict[str, Any] = {} if training is None else {"training": training}
        if mask is not None:
            options["mask"] = mask
        starts: list[dict[str, Any]] = [{}, {}]
        if initial_state is not None:
            half = len(initial_state) // 2
            starts = [{"initial_state": initial_state[:half]}, {"initial_state": initial_state[half:]}]
        there = self.forward_layer(sequences, **starts[0], **options)
        back = self.backward_layer(sequences, **starts[1], **options)
        states: list[Any] = []
        if self.return_state:
            states = [*there[1:], *back[1:]]
            there, back = there[0], back[0]
        if self.return_sequences:
            back = tf.reverse(back, [1])
        if self.merge_mode is None:
            return [there, back, *states]
        choices: dict[str, Callable[[], Any]] = {
            "concat": lambda: tf.concat([there, back], axis=-1),
            "sum": lambda: there + back,
            "ave": lambda: (there + back) / 2,
            "mul": lambda: there * back,
        }
        merged = choices[self.merge_mode]()
        return [merged, *states] if states else merged

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        mask = previous_mask if self.return_sequences else None
        return [mask, mask] if self.merge_mode is None else [mask] if self.return_state else mask


def _renamed(layer: Any, config: dict[str, Any], name: str, backwards: bool) -> Any:
    return type(layer).from_config({**config, "name": name, "go_backwards": backwards})
