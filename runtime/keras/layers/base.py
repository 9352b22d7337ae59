"""`Layer`: a computation with weights, which are made when the shape of the first input is known.

>>> class Scaled(Layer):
...     def build(self, input_shape):
...         self.scale = self.add_weight(shape=(input_shape[-1],), initializer="ones", name="scale")
...     def call(self, x):
...         return x * self.scale
>>> layer = Scaled()
>>> layer(tf.constant([[1.0, 2.0]])).numpy().tolist(), [w.path for w in layer.weights]
([[1.0, 2.0]], ['scaled/scale'])
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from agc import runtime as tf

from ...core import trackable
from .. import constraints, initializers, regularizers, settings
from ..metrics.base import Metric
from ..naming import auto_name, snake_case
from ..registry import serialized
from ..symbolic import KerasTensor, Node, inferred, keras_tensors
from ..variables import Weight, made
from . import calling, specs
from .building import guarded
from .tracking import Kept, each_once, held, is_shape

_SHAPES = ("input_shape", "batch_input_shape", "input_dim", "batch_shape", "batch_size")
"""Arguments about the input, which older programs give to the first layer of a Sequential model."""


class Layer(tf.Module):
    """Base class: a subclass has `call`, and `build(input_shape)`, which makes its weights.

    Args:
        activity_regularizer: a function of the output, whose result is added to the losses.
        trainable: whether training should change the weights.
        dtype: of weights and computations (default: `keras.config.floatx()`).
        autocast: whether floating inputs are cast to it.
    """

    _given: tuple[tuple[Any, ...], dict[str, Any]]

    _is_building = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "build" in vars(cls):
            cls.build = guarded(cls.build)  # type: ignore[method-assign]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made_layer = super().__new__(cls)
        made_layer._given = args, kwargs
        return made_layer

    def __init__(
        self,
        *,
        activity_regularizer: Any = None,
        trainable: bool = True,
        dtype: Any = None,
        autocast: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        shapes = {key: kwargs.pop(key) for key in _SHAPES if key in kwargs}
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments passed to {type(self).__name__}: {kwargs}")
        self._name = str(name) if name else auto_name(snake_case(type(self).__name__))
        self._dtype = tf.as_dtype(_dtype_name(dtype) or settings.floatx())
        self._trainable = bool(trainable)
        self._weights: list[Any] = []
        self._losses = Kept()
        self._nodes = Kept()
        self._input_shape = _shape_of_arguments(shapes)
        self._build_shape: Any = None
        self._seen_output: Any = None
        self._seen_inputs: Any = None  # the specs of the inputs of the first call
        self.autocast = autocast
        self.activity_regularizer = regularizers.get(activity_regularizer)
        self.supports_masking = type(self).compute_mask is not Layer.compute_mask
        self.input_spec: Any = None
        self.built = False

    @guarded
    def build(self, input_shape: Any) -> None:
        """Make the weights for inputs of this shape: a tuple with None for unknown dimensions, or a nest of them."""
        self.built = True

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """The computation."""
        raise NotImplementedError(f"Layer {type(self).__name__} does not have a `call()` method implemented.")

    # Calling

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the layer; on KerasTensors, note the call and give KerasTensors."""
        if not hasattr(self, "_losses"):
            raise RuntimeError(
                f"In layer '{type(self).__name__}', you forgot to call `super().__init__()` as the first statement in "
                "the `__init__()` method. Go add it!"
            )
        if keras_tensors((args, kwargs)):
            return self._symbolic_call(args, kwargs)
        return self._run(*args, **kwargs)

    def _symbolic_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        inputs = args[0] if args else next(iter(kwargs.values()), None)
        if self.input_spec is not None:
            specs.check(self.input_spec, inputs, self.name)
        outputs = inferred(self._run, args, kwargs)
        self._nodes.items.append(Node(self, args, kwargs, outputs))
        return outputs

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        return calling.run(self, args, kwargs)

    # Weights

    def add_weight(
        self,
        shape: Any = None,
        initializer: Any = None,
        dtype: Any = None,
        trainable: bool = True,
        autocast: bool = True,
        regularizer: Any = None,
        constraint: Any = None,
        aggregation: Any = None,
        overwrite_with_gradient: bool = False,
        name: str | None = None,
        **kwargs: Any,
    ) -> Weight:
        """A weight of this layer.

        Args:
            initializer: by default "glorot_uniform" for floating dtypes, "zeros" for others.
            regularizer: a function of the weight, whose result is added to the losses.
            constraint: a function that gives what the weight becomes after an update.
        """
        if isinstance(shape, str):  # TensorFlow 2.3 had the name first
            shape, name, initializer = (initializer if initializer is not None else ()), shape, None
        kind = tf.as_dtype(dtype or self._dtype)
        usual = "glorot_uniform" if kind.is_floating else "zeros"
        weight = made(
            initializers.get(initializer if initializer is not None else usual),
            _sizes(() if shape is None else shape, self.name),
            kind,
            name or auto_name("variable"),
            self._path(),
            trainable,
            regularizer=regularizers.get(regularizer),
            constraint=constraints.get(constraint),
        )
        self._weights.append(weight)
        trackable.announce(self, weight.name, weight)
        return weight

    def _set_parts(self, arguments: Mapping[str, Any], *parts: str) -> None:
        """Take the initializer, regularizer and constraint of each part from the constructor's arguments."""
        for part in parts:
            for what, room in (
                ("initializer", initializers),
                ("regularizer", regularizers),
                ("constraint", constraints),
            ):
                setattr(self, f"{part}_{what}", room.get(arguments.get(f"{part}_{what}")))

    def _add_part(self, name: str, shape: Any, part: str | None = None, trainable: bool = True) -> Any:
        """The weight of a part, with its initializer, regularizer and constraint."""
        source = part or name
        return self.add_weight(
            shape,
            getattr(self, f"{source}_initializer"),
            trainable=trainable,
            regularizer=getattr(self, f"{source}_regularizer", None),
            constraint=getattr(self, f"{source}_constraint", None),
            name=name,
        )

    def _path(self) -> str:
        path = calling.context.path
        return "/".join([*path, *([] if path and path[-1] == self.name else [self.name])])

    @property
    def trainable(self) -> bool:
        """Whether training should change the weights; setting it goes for all layers inside."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = bool(value)
        for layer in self._own_layers():
            layer.trainable = value

    @property
    def weights(self) -> list[Any]:
        """The layer's own weights, the trainable ones first, then those of layers inside."""
        own = self._own_weights()
        found = [w for w in own if w.trainable] + [w for w in own if not w.trainable]
        return each_once([*found, *(w for layer in self._own_layers() for w in layer.weights)])

    @property
    def trainable_weights(self) -> list[Any]:
        """The weights that training should change."""
        if not self._trainable:
            return []
        own = [w for w in self._own_weights() if w.trainable]
        return each_once([*own, *(w for layer in self._own_layers() for w in layer.trainable_weights)])

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The weights that training leaves alone."""
        if not self._trainable:
            return self.weights
        own = [w for w in self._own_weights() if not w.trainable]
        return each_once([*own, *(w for layer in self._own_layers() for w in layer.non_trainable_weights)])

    @property
    def variables(self) -> list[Any]:  # type: ignore[override]
        """All weights."""
        return self.weights

    @property
    def trainable_variables(self) -> list[Any]:  # type: ignore[override]
        """The weights that training should change."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:  # type: ignore[override]
        """The weights that training leaves alone."""
        return self.non_trainable_weights

    def _own_weights(self) -> list[Any]:
        return each_once([*self._weights, *held(self, tf.Variable)])

    def _own_layers(self) -> list[Layer]:
        """The layers in attributes, and in lists, tuples and dicts of these, in the order of assignment."""
        return each_once([layer for layer in held(self, Layer) if layer is not self])

    def _all_layers(self) -> list[Layer]:
        """This layer and all inside."""
        return each_once([self, *(inner for layer in self._own_layers() for inner in layer._all_layers())])

    def get_weights(self) -> list[Any]:
        """The values of the weights."""
        return [weight.numpy() for weight in self.weights]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Set the values of the weights; ValueError when their number or a shape does not fit."""
        own = self.weights
        if len(own) != len(weights):
            raise ValueError(
                f"You called `set_weights(weights)` on layer '{self.name}' with a weight list of length "
                f"{len(weights)}, but the layer was expecting {len(own)} weights."
            )
        for weight, value in zip(own, weights, strict=True):
            if tuple(weight.shape) != tuple(np.shape(value)):
                raise ValueError(
                    f"Layer {self.name} weight shape {tuple(weight.shape)} is not compatible with provided weight "
                    f"shape {tuple(np.shape(value))}."
                )
        for weight, value in zip(own, weights, strict=True):
            weight.assign(np.asarray(value, weight.dtype.as_numpy_dtype))

    def count_params(self) -> int:
        """How many numbers the weights have."""
        if not self.built and not self.weights:
            raise ValueError(
                "You tried to call `count_params` on layer "
                f"'{self.name}', but the layer isn't built. You can build it manually via: `layer.build(input_shape)`."
            )
        return sum(int(np.prod(weight.shape)) for weight in self.weights)

    def __children__(self) -> dict[str, Any]:
        """What checkpoints follow: attributes, and weights and layers that no attribute holds."""
        found = {
            name: value
            for name, value in super().__children__().items()
            if name not in ("_weights", "_given")
        }
        held_ones = {id(item) for item in [*held(self, tf.Variable), *held(self, Layer)]}
        own = [item for item in [*self._weights, *self._own_layers()] if id(item) not in held_ones]
        return {**found, **{f"{item.name}": item for item in own}}

    # Losses and metrics

    def add_loss(self, loss: Any) -> None:
        """Add a scalar to what training makes small."""
        for item in tf.nest.flatten(loss):
            self._losses.items.append(item)

    @property
    def losses(self) -> list[Any]:
        """What `add_loss` and activity regularizers gave in the last call, and the weights' regularizers give."""
        layers = self._all_layers()
        added = [loss() if callable(loss) else loss for layer in layers for loss in layer._losses.items]
        regularized = [
            weight.regularizer(weight)
            for weight in self.trainable_weights
            if getattr(weight, "regularizer", None) is not None
        ]
        return [*added, *regularized]

    @property
    def metrics(self) -> list[Metric]:
        """The metrics of this layer and those inside."""
        return each_once([metric for layer in self._all_layers() for metric in held(layer, Metric)])

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """The mask of the output: that of the input."""
        return previous_mask

    def compute_output_shape(self, *args: Any, **kwargs: Any) -> Any:
        """The shape of the output for inputs of a shape, found by tracing the layer."""
        shape = args[0] if args else next(iter(kwargs.values()))
        inputs = as_keras_tensors(shape, self._dtype)
        return tf.nest.map_structure(lambda tensor: tensor.shape, inferred(self._run, (inputs,), {}))

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        """The KerasTensors of the output for KerasTensors."""
        return inferred(self._run, args, kwargs)

    # Facts

    @property
    def dtype(self) -> str:
        return self._dtype.name

    variable_dtype = compute_dtype = dtype

    @property
    def path(self) -> str:
        return self.name

    @property
    def input(self) -> Any:
        """The input of the layer's only call on KerasTensors."""
        node = self._only_node("input")
        tensors = node.parents
        return tensors[0] if len(tensors) == 1 else tensors

    @property
    def output(self) -> Any:
        """The output of the layer's only call on KerasTensors."""
        return self._only_node("output").outputs

    @property
    def input_shape(self) -> Any:
        return tf.nest.map_structure(lambda tensor: tensor.shape, self.input)

    @property
    def output_shape(self) -> Any:
        return tf.nest.map_structure(lambda tensor: tensor.shape, self.output)

    def _only_node(self, what: str) -> Node:
        nodes: list[Node] = self._nodes.items
        if len(nodes) != 1:
            why = "has never been called and thus has no defined" if not nodes else "has multiple calls and"
            raise AttributeError(f"The layer {self.name} {why} {what}.")
        return nodes[0]

    def get_config(self) -> dict[str, Any]:
        """What `from_config` makes the layer of again: the arguments of the constructor."""
        config = {"name": self.name, "trainable": self.trainable, "dtype": dtype_config(self.dtype)}
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        signature = inspect.signature(type(self).__init__)
        names = [name for name, one in signature.parameters.items() if one.kind in kinds][1:]
        names = [name for name in names if name != "weights"]
        if type(self).__module__.startswith(__name__.rpartition(".")[0]):
            own = {name: serialized(self._argument(name)) for name in names if name not in config}
            return {**config, **own}
        given = signature.bind(self, *self._given[0], **self._given[1]).arguments
        return {**config, **{name: given[name] for name in names if name in given}}

    def _argument(self, name: str) -> Any:
        """What an argument of the constructor was."""
        return getattr(self, name)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        return cls(**config)

    def get_build_config(self) -> dict[str, Any] | None:
        """What `build_from_config` builds the layer with."""
        return None if self._build_shape is None else {"input_shape": self._build_shape}

    def build_from_config(self, config: Mapping[str, Any]) -> None:
        """Build the layer for the shape in `config`."""
        if config.get("input_shape") is not None:
            shape = config["input_shape"]
            self.build(tuple(shape) if is_shape(shape) else shape)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"

    # The way of a call

    def _build_for_call(self, shape: Any) -> None:
        """Build at the first call."""
        self.build(shape)


def _sizes(shape: Any, layer: str) -> tuple[int, ...]:
    sizes = tuple(shape) if isinstance(shape, (list, tuple, tf.TensorShape)) else (shape,)
    if None in sizes:
        raise ValueError(
            "Cannot make a weight of shape "
            f"{sizes} in layer '{layer}': every dimension must be known. The input's shape is not known enough."
        )
    return tuple(int(size) for size in sizes)


def _dtype_name(dtype: Any) -> Any:
    """A dtype, or what a config says about one."""
    if isinstance(dtype, Mapping):
        return dtype["config"]["name"]
    return dtype


def dtype_config(name: str) -> dict[str, Any]:
    """How a config says which dtype a layer has."""
    return {"module": "keras", "class_name": "DTypePolicy", "config": {"name": name}, "registered_name": None}


def as_keras_tensors(shape: Any, dtype: Any) -> Any:
    if isinstance(shape, dict):
        return {name: as_keras_tensors(one, dtype) for name, one in shape.items()}
    if not is_shape(shape):
        return [as_keras_tensors(one, dtype) for one in shape]
    return KerasTensor(shape, dtype)


def _shape_of_arguments(given: Mapping[str, Any]) -> Any:
    """The shape of a batch, of the arguments that older programs give to a first layer."""
    for name in ("batch_input_shape", "batch_shape"):
        if name in given:
            return tuple(given[name])
    if "input_shape" in given:
        shape = given["input_shape"]
        return (given.get("batch_size"), *(shape if isinstance(shape, (list, tuple)) else (shape,)))
    return (given.get("batch_size"), given["input_dim"]) if "input_dim" in given else None
