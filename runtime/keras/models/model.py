"""`Model`: a layer that can be trained. Made of inputs and outputs, or a subclass with a `call`.

>>> x = Input((3,))
>>> model = Model(x, Dense(2)(x))
>>> model(tf.zeros([4, 3])).shape, len(model.trainable_weights)
(TensorShape([4, 2]), 2)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agc import runtime as tf

from ..layers.base import Layer, as_keras_tensors
from ..layers.core import Dense as Dense
from ..layers.core import Input as Input
from ..layers.core import InputLayer
from ..layers.tracking import Kept
from ..registry import ROOMS, serialized
from ..symbolic import KerasTensor, inferred
from .network import Network
from .summary import summarized
from .training import Trainer


class Model(Trainer, Layer):
    """A model. `Model(inputs, outputs)` runs the layers between KerasTensors; a subclass has a `call`.

    Args:
        inputs, outputs: KerasTensors, or nests of them.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        is_functional = len(args) >= 2 or "outputs" in kwargs or (len(args) == 1 and "inputs" in kwargs)
        return super().__new__(Functional if cls is Model and is_functional else cls, *args, **kwargs)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if len(args) == 1 and args[0] is self:  # super().__init__(self), as older programs have it
            args = ()
        inputs = args[0] if args else kwargs.pop("inputs", None)
        outputs = args[1] if len(args) > 1 else kwargs.pop("outputs", None)
        if len(args) > 2 and "name" not in kwargs:
            kwargs["name"] = args[2]
        super().__init__(**kwargs)
        self._network: Kept = Kept()
        self.supports_masking = True
        if inputs is not None or outputs is not None:
            if inputs is None or outputs is None:
                raise ValueError("a functional Model needs both `inputs` and `outputs`")
            self._network.items = [Network(inputs, outputs)]
            self.built = True
        self._init_steps()

    @property
    def network(self) -> Network | None:
        """The calls between inputs and outputs, if the model is made of them."""
        return self._network.items[0] if self._network.items else None

    @property
    def inputs(self) -> list[KerasTensor]:
        """The KerasTensors that come in."""
        return tf.nest.flatten(self._known_network().inputs)

    @property
    def outputs(self) -> list[KerasTensor]:
        """The KerasTensors that go out."""
        return tf.nest.flatten(self._known_network().outputs)

    @property
    def input(self) -> Any:
        return self._known_network().inputs

    @property
    def output(self) -> Any:
        return self._known_network().outputs

    def _known_network(self) -> Network:
        if self.network is None:
            raise AttributeError(
                f"The model {self.name} is not made of inputs and outputs: it has never been built so"
            )
        return self.network

    @property
    def input_names(self) -> list[str]:
        return [tensor.name for tensor in self.inputs]

    @property
    def output_names(self) -> list[str] | None:
        """The names of the layers that give the outputs; those of a dict are its keys, in order."""
        if self.network is None:
            return None
        names: list[str] = []
        for tensor in self.outputs:
            name = tensor.node.layer.name if tensor.node is not None else tensor.name
            names.append(name)
        return names

    def __functions__(self) -> dict[str, Any]:
        """What a saved model can do without its code: be called, as in prediction, on inputs like those it has seen."""
        specs = self._input_specs()
        if specs is None:
            return {}

        def serve(inputs: Any) -> Any:
            return self(inputs, training=False)

        return {"__call__": tf.function(serve, input_signature=[specs])}

    def _input_specs(self) -> Any:
        """The specs of the inputs; None for a model that was never called and has no Input."""
        if self.network is None:
            return self._seen_inputs
        return tf.nest.map_structure(
            lambda tensor: tf.TensorSpec(tensor.shape, tensor.dtype, tensor.name), self.network.inputs
        )

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Run the layers between inputs and outputs; a subclass has a `call` of its own."""
        if self.network is None:
            raise NotImplementedError(
                f"Model {type(self).__name__} does not have a `call()` method implemented."
            )
        outputs = self.network.run(inputs)
        is_alone = isinstance(outputs, (list, tuple)) and len(outputs) == 1
        return outputs[0] if is_alone else outputs

    def build(self, input_shape: Any) -> None:
        """Make the weights for inputs of this shape, by tracing the model."""
        if self.network is None:
            inferred(self.call, (as_keras_tensors(input_shape, self._dtype),), {})
        self.built = True

    def _build_for_call(self, shape: Any) -> None:
        if type(self).build is Model.build:
            self._build_shape, self.built = shape, True  # each layer is built when it is called
        else:
            super()._build_for_call(shape)

    @property
    def layers(self) -> list[Layer]:
        """The layers, without those inside of layers."""
        return self._own_layers()

    def _own_layers(self) -> list[Layer]:
        found = super()._own_layers()
        known = {id(layer) for layer in found}
        inner = [] if self.network is None else [one for one in self.network.layers if id(one) not in known]
        return [*inner, *found]

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        return None  # the layers have given their outputs masks already

    def get_layer(self, name: str | None = None, index: int | None = None) -> Layer:
        """The layer with this name, or at this place of `layers`."""
        if (name is None) == (index is None):
            raise ValueError("Provide either a layer name or layer index at `get_layer`.")
        layers = self.layers
        if index is not None:
            if index >= len(layers):
                raise ValueError(
                    f"Was asked to retrieve layer at index {index} but model only has {len(layers)} layers."
                )
            return layers[index]
        found = next((layer for layer in layers if layer.name == name), None)
        if found is None:
            raise ValueError(
                f"No such layer: {name}. Existing layers are: {[layer.name for layer in layers]}."
            )
        return found

    def summary(
        self,
        line_length: int | None = None,
        positions: Any = None,
        print_fn: Any = None,
        expand_nested: bool = False,
        show_trainable: bool = False,
        layer_range: Any = None,
    ) -> None:
        """Print a table of the layers, the shapes of their outputs and the numbers of their weights."""
        text = summarized(self, expand_nested=expand_nested, show_trainable=show_trainable)
        print(text) if print_fn is None else print_fn(text)

    def get_config(self) -> dict[str, Any]:
        if type(self) is Functional:
            return functional_config(self)
        return Layer.get_config(self)

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Any = None) -> Any:
        if "layers" in config and "input_layers" in config:
            return functional_from_config(config)
        return cls(**config)

    def save_weights(self, filepath: Any, overwrite: bool = True) -> None:
        """Write the weights as a checkpoint with this prefix, as TensorFlow 2.3 does."""
        from . import saving

        saving.save_weights(self, filepath, overwrite)

    def load_weights(self, filepath: Any) -> Any:
        """Read the weights that `save_weights` wrote."""
        from . import saving

        return saving.load_weights(self, filepath)

    def save(self, filepath: Any, overwrite: bool = True) -> None:
        """Write the model as a folder, which `keras.models.load_model` reads."""
        from . import saving

        saving.save_model(self, filepath, overwrite)

    def to_json(self, **kwargs: Any) -> str:
        """The model's classes and configs as JSON, without weights: `model_from_json` makes it again."""
        return json.dumps(serialized(self), default=_plain, **kwargs)


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)


class Functional(Model):
    """What `Model(inputs, outputs)` is."""


def functional_config(model: Model) -> dict[str, Any]:
    """The layers, and the calls between them: KerasTensors as the layer, the call and the output that they are of."""
    network = model._known_network()
    places: dict[int, list[Any]] = {}
    layers: dict[int, dict[str, Any]] = {}
    sources = [tensor.node for tensor in tf.nest.flatten(network.inputs)]
    for node in [*sources, *network.nodes]:
        entry = layers.setdefault(
            id(node.layer), {**serialized(node.layer), "name": node.layer.name, "inbound_nodes": []}
        )
        number = len(entry["inbound_nodes"])
        for i, tensor in enumerate(tf.nest.flatten(node.outputs)):
            places[id(tensor)] = [node.layer.name, number, i]
        entry["inbound_nodes"].append(
            {"args": _noted(node.args, places), "kwargs": _noted(node.kwargs, places)}
        )
    return {
        "name": model.name,
        "trainable": model.trainable,
        "layers": list(layers.values()),
        "input_layers": tf.nest.map_structure(lambda tensor: _Place(places[id(tensor)]), network.inputs),
        "output_layers": tf.nest.map_structure(lambda tensor: _Place(places[id(tensor)]), network.outputs),
    }


class _Place(str):
    """Where a KerasTensor comes from, as `layer:call:output`."""

    def __new__(cls, place: list[Any]) -> _Place:
        return super().__new__(cls, ":".join(map(str, place)))


def _noted(nest: Any, places: dict[int, list[Any]]) -> Any:
    """Arguments of a call, with a note for each KerasTensor."""
    return tf.nest.map_structure(
        lambda leaf: f"__keras_tensor__{_Place(places[id(leaf)])}" if isinstance(leaf, KerasTensor) else leaf,
        nest,
    )


def functional_from_config(config: Mapping[str, Any]) -> Any:
    """The model of such a config: layers are made, and called again."""
    room = ROOMS["keras.layers"]
    made: dict[str, Any] = {}
    results: dict[str, KerasTensor] = {}
    calls: list[tuple[str, int, Mapping[str, Any]]] = []
    for entry in config["layers"]:
        layer = room.deserialize({**entry, "build_config": None})
        made[entry["name"]] = layer
        if isinstance(layer, InputLayer):
            results[f"{layer.name}:0:0"] = layer.output
        else:
            calls += [(entry["name"], i, call) for i, call in enumerate(entry["inbound_nodes"])]
    while calls:
        ready = [
            call
            for call in calls
            if all(note in results for note in _notes((call[2]["args"], call[2]["kwargs"])))
        ]
        if not ready:
            raise ValueError("the config's calls need each other")
        for call in ready:
            name, number, arguments = call
            args, kwargs = _resolved((arguments["args"], arguments["kwargs"]), results)
            outputs = made[name](*args, **kwargs)
            for i, tensor in enumerate(tf.nest.flatten(outputs)):
                results[f"{name}:{number}:{i}"] = tensor
            calls.remove(call)
    ends = (
        tf.nest.map_structure(lambda place: results[place], config[key])
        for key in ("input_layers", "output_layers")
    )
    return Functional(*ends, name=config.get("name"))


_NOTE = "__keras_tensor__"


def _notes(nest: Any) -> list[str]:
    return [
        leaf.removeprefix(_NOTE)
        for leaf in tf.nest.flatten(nest)
        if isinstance(leaf, str) and leaf.startswith(_NOTE)
    ]


def _resolved(nest: Any, results: Mapping[str, KerasTensor]) -> Any:
    return tf.nest.map_structure(
        lambda leaf: (
            results[leaf.removeprefix(_NOTE)] if isinstance(leaf, str) and leaf.startswith(_NOTE) else leaf
        ),
        nest,
    )
