"""A call of a layer: inputs are fitted, weights made, `training` and `mask` settled; losses and masks are kept.

model(x, training=True)     the model's call trains, and so do the calls of layers inside it
model(x)                    they do not, unless the call around them does
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from agc import runtime as tf
from agc.autograph import api

from ...ir.builder import current
from .. import notes
from . import specs


class _Context(threading.local):
    """The calls that are going on: how many, whether they train, and the names of the layers."""

    def __init__(self) -> None:
        self.depth = 0
        self.training: Any = None
        self.path: list[str] = []


context = _Context()


@contextlib.contextmanager
def named(name: str) -> Iterator[None]:
    """Weights that are made meanwhile have this in their path."""
    context.path.append(name)
    try:
        yield
    finally:
        context.path.pop()


def run(layer: Any, given: tuple[Any, ...], named_arguments: dict[str, Any]) -> Any:
    """Call a layer on tensors."""
    args, kwargs = _fitting(layer, given, named_arguments)
    inputs = args[0] if args else next(iter(kwargs.values()), None)
    _prepare(layer, inputs)
    cls: Any = type(layer)
    parameters = _parameters(cls)
    positional = dict(zip(parameters, args, strict=False))
    training = _settled(kwargs, parameters, positional)
    masks = _masked(inputs, kwargs, parameters, positional)
    if context.depth == 0:
        for inner in layer._all_layers():
            inner._losses.items.clear()
    outputs = _called(layer, args, kwargs, training)
    if layer._seen_output is None:
        layer._seen_output = _described(outputs)
        layer._seen_inputs = tf.nest.map_structure(_spec_of, inputs)
    if layer.activity_regularizer is not None:
        for output in tf.nest.flatten(outputs):
            samples = tf.cast(tf.shape(output)[0], output.dtype)
            layer.add_loss(layer.activity_regularizer(output) / samples)
    if layer.supports_masking:
        _mark(layer, inputs, masks, outputs)
    return outputs


def _prepare(layer: Any, inputs: Any) -> None:
    """See whether the input fits, and make the weights at the first call."""
    if layer.input_spec is not None:
        specs.check(layer.input_spec, inputs, layer.name)
    if not layer.built:
        layer._build_for_call(tf.nest.map_structure(_shape_of, inputs))


def _called(layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], training: Any) -> Any:
    before = context.training
    context.depth += 1
    context.training = training
    try:
        with named(layer.name):
            if current() is None:
                return layer.call(*args, **kwargs)
            return converted(layer.call)(*args, **kwargs)
    finally:
        context.depth -= 1
        context.training = before


def converted(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that Keras calls while a function is traced, converted: whoever wrote it, unless it is Keras's own."""
    if inspect.ismethod(method) and not str(method.__func__.__module__).startswith("agc.runtime."):
        return api.convert(method)
    return method


@functools.cache
def _parameters(cls: Any) -> Mapping[str, inspect.Parameter]:
    """The parameters of a layer's `call`, without `self`."""
    call: Callable[..., Any] = cls.call
    found = dict(inspect.signature(call).parameters)
    found.pop(next(iter(found)))
    return found


def _settled(kwargs: dict[str, Any], parameters: Mapping[str, Any], positional: Mapping[str, Any]) -> Any:
    """Whether this call trains: what it says, else what the call around it says, else nothing."""
    given = kwargs.get("training", positional.get("training"))
    if given is None:
        given = context.training
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    if "training" not in parameters:
        if not takes_any:
            kwargs.pop("training", None)
    elif "training" not in positional and given is not None:
        kwargs["training"] = given
    elif kwargs.get("training", 0) is None:
        del kwargs["training"]  # the default of `call`
    return given


def _masked(
    inputs: Any, kwargs: dict[str, Any], parameters: Mapping[str, Any], positional: Mapping[str, Any]
) -> Any:
    """The masks of the inputs. They become `mask`, those of several arguments `query_mask` and the like."""
    masks = tf.nest.map_structure(notes.masks.get, inputs)
    if "mask" in parameters:
        given = kwargs.get("mask", positional.get("mask"))
        if given is not None:
            return given
        if "mask" not in positional and _any(masks):
            kwargs["mask"] = masks
    named = {**positional, **kwargs}
    tensors = [name for name in named if any(isinstance(x, tf.Tensor) for x in tf.nest.flatten(named[name]))]
    for name in tensors if len(tensors) > 1 else ():
        if f"{name}_mask" in parameters and named.get(f"{name}_mask") is None:
            kwargs[f"{name}_mask"] = tf.nest.map_structure(notes.masks.get, named[name])
    return masks


def _mark(layer: Any, inputs: Any, masks: Any, outputs: Any) -> None:
    """Give the outputs their masks, but for those that the layer has marked itself; one mask is the first output's."""
    flat = tf.nest.flatten(outputs)
    if all(notes.masks.get(output) is not None for output in flat):
        return
    found = layer.compute_mask(inputs, masks)
    each = list(found) if isinstance(found, (list, tuple)) else [found]
    for output, mask in zip(flat, each, strict=False):
        if mask is not None and isinstance(output, tf.Tensor) and notes.masks.get(output) is None:
            notes.masks[output] = mask


def _any(masks: Any) -> bool:
    return any(mask is not None for mask in tf.nest.flatten(masks))


def _fitting(
    layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arrays as tensors, numbers of other floating dtypes cast to the layer's."""
    fit = functools.partial(_fitted, layer._dtype if layer.autocast and layer._dtype.is_floating else None)
    if args and isinstance(args[0], (list, tuple)) and _is_numbers(args[0]):
        args = (tf.convert_to_tensor(args[0]), *args[1:])
    return (
        tuple(tf.nest.map_structure(fit, arg) for arg in args),
        {name: tf.nest.map_structure(fit, value) for name, value in kwargs.items()},
    )


def _fitted(dtype: Any, value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        value = tf.convert_to_tensor(value)
    if (
        dtype is None
        or not isinstance(value, tf.Tensor)
        or not value.dtype.is_floating
        or value.dtype == dtype
    ):
        return value
    cast = tf.cast(value, dtype)
    mask = notes.masks.get(value)
    if mask is not None:
        notes.masks[cast] = mask
    return cast


def _is_numbers(value: Any) -> bool:
    leaves = tf.nest.flatten(value)
    return bool(leaves) and all(isinstance(leaf, (bool, int, float)) for leaf in leaves)


def _shape_of(value: Any) -> Any:
    shape = getattr(value, "shape", None)
    if shape is None or (isinstance(shape, tf.TensorShape) and shape.rank is None):
        return None
    return tuple(shape)


def _spec_of(leaf: Any) -> Any:
    """What an input may be like in further calls: its batch may have any size."""
    if not isinstance(leaf, tf.Tensor) or not leaf.shape.rank:
        return leaf
    return tf.TensorSpec([None, *leaf.shape[1:]], leaf.dtype)


def _described(outputs: Any) -> Any:
    """The shape of outputs for a batch of any size, as tables show it."""
    shapes = [
        (None, *tuple(leaf.shape)[1:])
        for leaf in tf.nest.flatten(outputs)
        if isinstance(leaf, tf.Tensor) and leaf.shape.rank
    ]
    return shapes[0] if len(shapes) == 1 else shapes or None
