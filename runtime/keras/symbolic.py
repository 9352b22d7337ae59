"""`KerasTensor`: what a layer will give for inputs that come later. Calls on it are noted, and make a model.

x = Input((3,))          a KerasTensor of shape (None, 3)
y = Dense(2)(x) + 1      two nodes: a call of the layer, and one of an addition
Model(x, y)              runs the nodes between x and y
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn

from agc import runtime as tf

from ..core.shapes import as_dims
from . import notes
from .naming import auto_name


class Node:
    """A call of a layer: its arguments, among them KerasTensors, and the KerasTensors that it gave."""

    def __init__(self, layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], outputs: Any) -> None:
        self.layer, self.args, self.kwargs, self.outputs = layer, args, kwargs, outputs
        for tensor in tf.nest.flatten(outputs):
            if isinstance(tensor, KerasTensor):
                tensor.node = self

    @property
    def parents(self) -> list[KerasTensor]:
        """The KerasTensors among the arguments."""
        return keras_tensors((self.args, self.kwargs))


class KerasTensor:
    """A tensor of a model that is being put together. Attributes: `shape` (a tuple), `dtype` (a text), `name`."""

    __array_priority__ = 200.0

    def __init__(self, shape: Any, dtype: Any = "float32", name: str | None = None) -> None:
        dims = as_dims(shape)
        if dims is None:
            raise ValueError("a KerasTensor needs a shape with a known number of dimensions")
        self.shape = tuple(dims)
        self.dtype = tf.as_dtype(dtype).name
        self.name = name or auto_name("keras_tensor")
        self.node: Node | None = None
        self._keras_mask: Any = None

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def spec(self) -> tf.TensorSpec:
        """What stands for it when a layer is traced."""
        return tf.TensorSpec(self.shape, self.dtype)

    def __repr__(self) -> str:
        return f"<KerasTensor shape={self.shape}, dtype={self.dtype}, sparse=False, ragged=False, name={self.name}>"

    def _refuse(self, what: str) -> NoReturn:
        raise TypeError(
            f"{what} needs a value, which a KerasTensor does not have: it is a symbolic placeholder"
        )

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> NoReturn:
        raise ValueError(
            "A KerasTensor cannot be used as input to a TensorFlow function. A KerasTensor is a symbolic placeholder "
            "for a shape and dtype, used when constructing Keras Functional models. You can only use it as input to a "
            "Keras layer. You probably want to wrap the function in a `keras.layers.Lambda` layer."
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        self.__tf_tensor__()

    def __bool__(self) -> NoReturn:
        self._refuse("bool()")

    def __int__(self) -> NoReturn:
        self._refuse("int()")

    def __float__(self) -> NoReturn:
        self._refuse("float()")

    def __len__(self) -> NoReturn:
        self._refuse("len()")

    def __iter__(self) -> NoReturn:
        self._refuse("iterating")

    def __getitem__(self, key: Any) -> Any:
        return _applied("get_item", operator.getitem, self, key)


def _applied(name: str, function: Callable[..., Any], *args: Any) -> Any:
    from .layers.core import Operation  # a layer, and layers know KerasTensors

    return Operation(function, auto_name(name))(*args)


def _binary(name: str, function: Callable[..., Any], is_reflected: bool = False) -> Callable[..., Any]:
    def method(self: KerasTensor, other: Any) -> Any:
        return (
            _applied(name, function, other, self) if is_reflected else _applied(name, function, self, other)
        )

    return method


for _name, _method, _function in (
    ("add", "add", operator.add), ("subtract", "sub", operator.sub), ("multiply", "mul", operator.mul),
    ("true_divide", "truediv", operator.truediv), ("floor_divide", "floordiv", operator.floordiv),
    ("mod", "mod", operator.mod), ("power", "pow", operator.pow), ("matmul", "matmul", operator.matmul),
):  # fmt: skip
    setattr(KerasTensor, f"__{_method}__", _binary(_name, _function))
    setattr(KerasTensor, f"__r{_method}__", _binary(_name, _function, is_reflected=True))
for _name, _method, _function in (
    ("less", "lt", operator.lt), ("less_equal", "le", operator.le), ("greater", "gt", operator.gt),
    ("greater_equal", "ge", operator.ge),
):  # fmt: skip
    setattr(KerasTensor, f"__{_method}__", _binary(_name, _function))
setattr(KerasTensor, "__neg__", lambda self: _applied("negative", operator.neg, self))  # noqa: B010
setattr(KerasTensor, "__abs__", lambda self: _applied("absolute", operator.abs, self))  # noqa: B010


def keras_tensors(nest: Any) -> list[KerasTensor]:
    """The KerasTensors in a nest."""
    return [leaf for leaf in tf.nest.flatten(nest) if isinstance(leaf, KerasTensor)]


def is_keras_tensor(x: Any) -> bool:
    """Whether `x` is a KerasTensor."""
    return isinstance(x, KerasTensor)


def filled(nest: Any, value_of: Callable[[KerasTensor], Any]) -> Any:
    """A nest with something else for each KerasTensor."""
    return tf.nest.map_structure(lambda leaf: value_of(leaf) if isinstance(leaf, KerasTensor) else leaf, nest)


def inferred(call: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """What `call` gives for KerasTensors among the arguments: a nest of KerasTensors, found by tracing it.

    What has a mask is given with one, and what gets a mask has it.
    """
    tensors = keras_tensors((args, kwargs))
    masked = [tensor for tensor in tensors if tensor._keras_mask is not None]

    def traced(*values: Any) -> Any:
        found = {id(tensor): value for tensor, value in zip(tensors, values, strict=False)}
        for tensor, mask in zip(masked, values[len(tensors) :], strict=True):
            notes.masks[found[id(tensor)]] = mask
        own_args, own_kwargs = filled((args, kwargs), lambda tensor: found[id(tensor)])
        outputs = call(*own_args, **own_kwargs)
        for tensor in masked:
            if notes.masks.get(found[id(tensor)]) is None:  # attention takes it off
                tensor._keras_mask = None
        return outputs, [notes.masks.get(leaf) for leaf in tf.nest.flatten(outputs)]

    specs = [tensor.spec for tensor in (*tensors, *(tensor._keras_mask for tensor in masked))]
    concrete = tf.function(traced, autograph=False).get_concrete_function(*specs)
    outputs, masks = concrete.structured_outputs
    made = [_keras_tensor(*pair) for pair in zip(tf.nest.flatten(outputs), masks, strict=True)]
    return tf.nest.pack_sequence_as(outputs, made)


def _keras_tensor(leaf: Any, mask: Any) -> Any:
    if not isinstance(leaf, tf.TensorSpec):
        return leaf
    tensor = KerasTensor(leaf.shape, leaf.dtype)
    if isinstance(mask, tf.TensorSpec) and mask.shape.rank is not None:
        tensor._keras_mask = KerasTensor(mask.shape, mask.dtype)
    return tensor
