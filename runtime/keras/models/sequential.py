"""`Sequential`: layers one after the other.

>>> model = Sequential([Input((3,)), Dense(4, activation="relu"), Dense(1)])
>>> model.output_shape, model.count_params()
((None, 1), 21)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..layers.base import Layer
from ..layers.core import Dense as Dense
from ..layers.core import Input as Input
from ..layers.core import InputLayer, Lambda
from ..registry import ROOMS, serialized
from ..symbolic import KerasTensor
from .model import Model
from .network import Network


class Sequential(Model):
    """A model of layers, of which each takes what the one before gives.

    The weights are made at once when the first layer is an `Input` (or has an `input_shape`), else at the first call.
    """

    def __init__(
        self, layers: Sequence[Any] | None = None, trainable: bool = True, name: str | None = None
    ) -> None:
        super().__init__(trainable=trainable, name=name)
        self._stack: list[Layer] = []
        for layer in layers or ():
            self._put(layer)
        self._connect()

    def add(self, layer: Any) -> None:
        """Put a layer at the end."""
        self._put(layer)
        self._connect()

    def pop(self) -> Layer:
        """Take the last layer away."""
        if not self._stack:
            raise ValueError("There are no layers in the model")
        last = self._stack.pop()
        self._disconnect()
        self._connect()
        return last

    def _put(self, layer: Any) -> None:
        if isinstance(layer, KerasTensor):
            layer = layer.node.layer if layer.node is not None else layer
        if not isinstance(layer, Layer):
            if not callable(layer):
                raise ValueError(
                    "Only instances of `keras.Layer` can be added to a Sequential model. "
                    f"Received: {layer} (of type {type(layer)})"
                )
            layer = Lambda(layer)
        if any(other.name == layer.name for other in self._stack):
            raise ValueError(
                "All layers added to a Sequential model should have unique names. Name "
                f"'{layer.name}' is already the name of a layer in this model. Update the `name` argument to pass a "
                "unique name."
            )
        if isinstance(layer, InputLayer) and self._stack:
            raise ValueError(
                f"Sequential model '{self.name}' has already been configured to use input shape. You cannot add a "
                "different Input layer to it."
            )
        if not self._stack and not isinstance(layer, InputLayer) and layer._input_shape is not None:
            dtype = "int32" if type(layer).__name__ == "Embedding" else None
            self._stack.append(InputLayer(batch_shape=layer._input_shape, dtype=dtype))
        self._stack.append(layer)
        self._disconnect()

    def _disconnect(self) -> None:
        self._network.items = []
        self.built = False

    def _connect(self) -> None:
        """Call the layers on the input, where there is one."""
        if self._stack and isinstance(self._stack[0], InputLayer):
            self._call_on(self._stack[0].output)

    def _call_on(self, inputs: Any) -> None:
        outputs = inputs
        for layer in self.layers:
            outputs = layer(outputs)
        self._network.items = [Network(inputs, outputs)]
        self.built = True

    def build(self, input_shape: Any = None) -> None:
        """Make the weights for inputs of this shape, batch and all."""
        if self.network is None:
            if input_shape is None:
                raise ValueError(
                    "You must provide an `input_shape` argument: no layer says what the inputs are like."
                )
            dtype = "int32" if type(self.layers[0]).__name__ == "Embedding" else self.dtype
            self._call_on(Input(batch_shape=tuple(input_shape), dtype=dtype))
            self._build_shape = tuple(input_shape)

    def _build_for_call(self, shape: Any) -> None:
        self._build_shape, self.built = shape, True  # each layer is built when it is called

    @property
    def layers(self) -> list[Layer]:
        """The layers, without the input."""
        return [layer for layer in self._stack if not isinstance(layer, InputLayer)]

    def _own_layers(self) -> list[Layer]:
        return self.layers

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Call one layer after the other."""
        if self.network is not None:
            return self.network.run(inputs)
        for layer in self.layers:
            inputs = layer(inputs)
        return inputs

    def get_config(self) -> dict[str, Any]:
        layers = [serialized(layer) for layer in self._stack]
        own = {"name": self.name, "trainable": self.trainable, "layers": layers}
        shape = self._build_shape or (self.network.inputs.shape if self.network is not None else None)
        return own if shape is None else {**own, "build_input_shape": tuple(shape)}

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Any = None) -> Any:
        room = ROOMS["keras.layers"]
        layers = [room.deserialize(one, custom_objects) for one in config["layers"]]
        model = cls(layers, name=config.get("name"))
        if config.get("build_input_shape") and not model.built:
            model.build(tuple(config["build_input_shape"]))
        return model

    def get_build_config(self) -> None:
        return None
