"""The layers that most models have: Dense, Embedding, Activation, Lambda, InputLayer, and what reshapes.

>>> Dense(1, kernel_initializer="ones")([[1.0, 2.0]]).numpy().tolist()
[[3.0]]
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from agc import runtime as tf

from .. import activations
from ..symbolic import KerasTensor, Node
from .base import Layer
from .specs import InputSpec


class InputLayer(Layer):
    """Where a model's input comes in. `Input` makes one and gives its KerasTensor."""

    def __init__(
        self,
        shape: Any = None,
        batch_size: int | None = None,
        dtype: Any = None,
        sparse: bool | None = None,
        ragged: bool | None = None,
        batch_shape: Any = None,
        input_tensor: Any = None,
        optional: bool = False,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, dtype=dtype, **kwargs)
        if sparse or ragged:
            raise ValueError("sparse and ragged inputs are not supported: give dense tensors")
        shape = self._input_shape[1:] if shape is None and self._input_shape else shape
        if shape is None and batch_shape is None and input_tensor is None:
            raise ValueError("You must pass a `shape` argument.")
        if input_tensor is not None:
            self.batch_shape: tuple[Any, ...] = tuple(input_tensor.shape)
        elif batch_shape is not None:
            self.batch_shape = tuple(batch_shape)
        else:
            self.batch_shape = (batch_size, *(shape if isinstance(shape, (list, tuple)) else (shape,)))
        self.optional = optional
        self.built = True
        tensor = input_tensor
        if tensor is None:
            tensor = KerasTensor(self.batch_shape, self.dtype, name=self.name)
        self._nodes.items.append(Node(self, (), {}, tensor))

    def call(self) -> None:
        """Nothing is computed: the model puts its input here."""

    def get_config(self) -> dict[str, Any]:
        return {
            "batch_shape": self.batch_shape,
            "dtype": self.dtype,
            "sparse": False,
            "ragged": False,
            "name": self.name,
            "optional": self.optional,
        }


def Input(
    shape: Any = None,
    batch_size: int | None = None,
    dtype: Any = None,
    sparse: bool | None = None,
    ragged: bool | None = None,
    batch_shape: Any = None,
    name: str | None = None,
    tensor: Any = None,
    optional: bool = False,
) -> Any:
    """The input of a model: a KerasTensor of this shape, which goes without the size of a batch."""
    layer = InputLayer(
        shape, batch_size, dtype, sparse, ragged, batch_shape=batch_shape, input_tensor=tensor, name=name
    )
    return layer.output


class Operation(Layer):
    """A function of tensors as a layer: what an operator on KerasTensors becomes."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        super().__init__(name=name, autocast=False)
        self.function = function
        self.built = True

    def call(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


class Lambda(Layer):
    """A function as a layer; `arguments` are its further ones."""

    def __init__(
        self,
        function: Callable[..., Any],
        output_shape: Any = None,
        mask: Any = None,
        arguments: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.arguments = arguments or {}
        self.function = function
        self.mask = mask
        self._output_shape = output_shape
        self.supports_masking = mask is not None

    def call(self, inputs: Any, mask: Any = None, training: Any = None) -> Any:
        takes = inspect.signature(self.function).parameters
        extra = {name: value for name, value in (("mask", mask), ("training", training)) if name in takes}
        return self.function(inputs, **self.arguments, **extra)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        return self.mask(inputs, previous_mask) if callable(self.mask) else self.mask


class Dense(Layer):
    """`activation(inputs @ kernel + bias)`, along the last dimension.

    Args:
        units: how many outputs.
        activation: a name or function; None for none.
        use_bias: whether a bias is added.
        kernel_initializer, bias_initializer, …_regularizer, …_constraint: of the two weights.
        activity_regularizer: of the output.
    """

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        if not isinstance(units, int) or units <= 0:
            raise ValueError(
                f"Received an invalid value for `units`, expected a positive integer. Received: units={units}"
            )
        self.units, self.use_bias = units, use_bias
        self.activation = activations.get(activation)
        self._set_parts(locals(), "kernel", "bias")
        self.input_spec = InputSpec(min_ndim=2)
        self.supports_masking = True
        self.bias: Any = None

    def build(self, input_shape: Any) -> None:
        self.kernel: Any = self._add_part("kernel", (input_shape[-1], self.units))
        if self.use_bias:
            self.bias = self._add_part("bias", (self.units,))
        self.input_spec = InputSpec(min_ndim=2, axes={-1: input_shape[-1]})

    def call(self, inputs: Any, training: Any = None) -> Any:
        inputs = tf.cast(inputs, self._dtype)
        rank = inputs.shape.rank
        product = tf.matmul(inputs, self.kernel) if rank == 2 else tf.tensordot(inputs, self.kernel, 1)
        if self.bias is not None:
            product = tf.nn.bias_add(product, self.bias)
        return self.activation(product)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return (*input_shape[:-1], self.units)


class Embedding(Layer):
    """A row of weights for each integer.

    Args:
        input_dim: how many integers there are: they are below it.
        output_dim: how long rows are.
        mask_zero: 0 stands for nothing; layers that know of masks skip it.
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Any = "uniform",
        embeddings_regularizer: Any = None,
        embeddings_constraint: Any = None,
        mask_zero: bool = False,
        weights: Any = None,
        **kwargs: Any,
    ) -> None:
        input_length = kwargs.pop("input_length", None)
        super().__init__(**kwargs)
        if self._input_shape is None and input_length is not None:
            self._input_shape = (None, input_length)
        self.input_dim, self.output_dim, self.mask_zero = input_dim, output_dim, mask_zero
        self._set_parts(locals(), "embeddings")
        self.supports_masking = mask_zero
        self.autocast = False
        if weights is not None:
            self.build(None)
            self.set_weights(weights if isinstance(weights, list) else [weights])

    def build(self, input_shape: Any = None) -> None:
        self.embeddings: Any = self._add_part("embeddings", (self.input_dim, self.output_dim))

    def call(self, inputs: Any) -> Any:
        inputs = tf.convert_to_tensor(inputs)
        if inputs.dtype not in (tf.int32, tf.int64):
            inputs = tf.cast(inputs, tf.int32)
        return tf.gather(self.embeddings, inputs)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        return tf.not_equal(inputs, 0) if self.mask_zero else None


class Masking(Layer):
    """Steps whose features all equal `mask_value` stand for nothing: they become 0, and later layers skip them."""

    def __init__(self, mask_value: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.mask_value = mask_value
        self.supports_masking = True

    def call(self, inputs: Any) -> Any:
        counts = tf.reduce_any(tf.not_equal(inputs, self.mask_value), axis=-1, keepdims=True)
        return inputs * tf.cast(counts, inputs.dtype)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        return tf.reduce_any(tf.not_equal(inputs, self.mask_value), axis=-1)


class Identity(Layer):
    """The input itself."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, inputs: Any) -> Any:
        return tf.nest.map_structure(tf.identity, inputs)
