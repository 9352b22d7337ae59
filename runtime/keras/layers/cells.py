"""Cells of recurrent networks: one step, from an input and a state to an output and the next state.

>>> cell = SimpleRNNCell(2)
>>> output, state = cell(tf.zeros([1, 3]), [tf.zeros([1, 2])])
>>> output.shape, len(state)
(TensorShape([1, 2]), 1)
"""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

import numpy as np
from agc import runtime as tf

from .. import activations, random
from .base import Layer


class Cell(Layer):
    """Base class of the three cells: `gates` times as many columns in the kernels as there are units."""

    gates: ClassVar[int]
    states: ClassVar[int] = 1
    seed_first: ClassVar[bool] = False  # whether the seed for dropout is drawn before those of the weights

    def _set(self, arguments: dict[str, Any]) -> None:
        """Take what all three have from the constructor's arguments."""
        units = arguments["units"]
        if units <= 0:
            raise ValueError(
                f"Received an invalid value for argument `units`, expected a positive integer, got {units}"
            )
        self.units, self.use_bias = units, arguments["use_bias"]
        self.activation = activations.get(arguments["activation"])
        if "recurrent_activation" in arguments:
            self.recurrent_activation = activations.get(arguments["recurrent_activation"])
        self.seed = arguments["seed"]
        early = random.SeedGenerator(self.seed) if self.seed_first else None
        self._set_parts(arguments, "kernel", "recurrent", "bias")
        self.dropout = min(1.0, max(0.0, arguments["dropout"]))
        self.recurrent_dropout = min(1.0, max(0.0, arguments["recurrent_dropout"]))
        self.seed_generator = early or random.SeedGenerator(self.seed)
        self.state_size: Any = units if self.states == 1 else [units] * self.states
        self.output_size = units
        self.bias: Any = None

    def build(self, input_shape: Any) -> None:
        self.kernel: Any = self._add_part("kernel", (input_shape[-1], self.units * self.gates))
        self.recurrent_kernel: Any = self._add_part(
            "recurrent_kernel", (self.units, self.units * self.gates), "recurrent"
        )
        if self.use_bias:
            self.bias = self._make_bias()

    def _make_bias(self) -> Any:
        return self._add_part("bias", (self.units * self.gates,))

    def get_initial_state(self, batch_size: Any = None, dtype: Any = None, inputs: Any = None) -> list[Any]:
        """States of 0 for so many samples."""
        if inputs is not None:
            batch_size, dtype = tf.shape(inputs)[0], inputs.dtype
        sizes = [self.units] * self.states
        return [tf.zeros([batch_size, size], dtype or self._dtype) for size in sizes]

    def zero_state(self, batch_size: Any, dtype: Any = None) -> list[Any]:
        """TensorFlow 1's name for `get_initial_state`."""
        return self.get_initial_state(batch_size, dtype)

    def masked_dropout(self, inputs: Any, states: Any, training: Any) -> tuple[Any, Any] | None:
        """For a whole sequence: what inputs and states are multiplied by; None without dropout."""
        if not training or not (self.dropout or self.recurrent_dropout):
            return None
        return self._mask(inputs, self.dropout), self._mask(states, self.recurrent_dropout)

    def _mask(self, like: Any, rate: float) -> Any:
        ones = tf.ones_like(like)
        return random.dropout(ones, rate, None, self.seed_generator) if rate else ones

    def call(self, inputs: Any, states: Any, training: Any = False, dropped: Any = None) -> Any:
        """The output and the next states. `dropped` is what `masked_dropout` gave for the sequence."""
        given = list(states) if isinstance(states, (list, tuple)) else [states]
        if dropped is None:
            dropped = self.masked_dropout(inputs, given[0], training)
        hidden = given[0]
        if dropped is not None:
            inputs, hidden = inputs * dropped[0], hidden * dropped[1]
        output, following = self._step(inputs, hidden, given)
        return output, following if isinstance(states, (list, tuple)) else following[0]

    def _step(self, inputs: Any, hidden: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        raise NotImplementedError


class SimpleRNNCell(Cell):
    """`activation(inputs @ kernel + hidden @ recurrent_kernel + bias)`: output and state."""

    gates = 1
    seed_first = True

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._set(locals())

    def _step(self, inputs: Any, hidden: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        total = tf.matmul(inputs, self.kernel) + tf.matmul(hidden, self.recurrent_kernel)
        if self.bias is not None:
            total += self.bias
        output = self.activation(total)
        return output, [output]


class LSTMCell(Cell):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997): the states are the output and the carry.

    Gates stand in the kernels in the order input, forget, carry, output. With `unit_forget_bias` the forget gate's
    bias starts at 1.
    """

    gates, states = 4, 2

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        kwargs.pop("implementation", None)
        super().__init__(**kwargs)
        self._set(locals())
        self.unit_forget_bias = unit_forget_bias

    def _make_bias(self) -> Any:
        bias = super()._make_bias()
        if self.unit_forget_bias:
            value = bias.numpy()
            value[self.units : 2 * self.units] = np.ones(self.units)
            bias.assign(value)
        return bias

    def _step(self, inputs: Any, hidden: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        total = tf.matmul(inputs, self.kernel) + tf.matmul(hidden, self.recurrent_kernel)
        if self.bias is not None:
            total += self.bias
        enter, forget, new, leave = tf.split(total, 4, axis=-1)
        gate = self.recurrent_activation
        carry = gate(forget) * states[1] + gate(enter) * self.activation(new)
        output = gate(leave) * self.activation(carry)
        return output, [output, carry]


class GRUCell(Cell):
    """Gated recurrent unit (Cho et al., 2014); with `reset_after` the gate comes after the product, as in cuDNN.

    Gates stand in the kernels in the order update, reset, new.
    """

    gates = 3

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        reset_after: bool = True,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        kwargs.pop("implementation", None)
        super().__init__(**kwargs)
        self._set(locals())
        self.reset_after = reset_after

    def _make_bias(self) -> Any:
        size = 3 * self.units
        return self._add_part("bias", (2, size) if self.reset_after else (size,))

    def _step(self, inputs: Any, hidden: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        gate, before = self.recurrent_activation, states[0]
        of_input = tf.matmul(inputs, self.kernel)
        if self.bias is not None:
            of_input += self.bias[0] if self.reset_after else self.bias
        x_update, x_reset, x_new = tf.split(of_input, 3, axis=-1)
        if self.reset_after:
            of_hidden = tf.matmul(hidden, self.recurrent_kernel)
            if self.bias is not None:
                of_hidden += self.bias[1]
            h_update, h_reset, h_new = tf.split(of_hidden, 3, axis=-1)
            update, reset = gate(x_update + h_update), gate(x_reset + h_reset)
            new = self.activation(x_new + reset * h_new)
        else:
            gates = tf.matmul(hidden, self.recurrent_kernel[:, : 2 * self.units])
            h_update, h_reset = tf.split(gates, 2, axis=-1)
            update, reset = gate(x_update + h_update), gate(x_reset + h_reset)
            new = self.activation(
                x_new + tf.matmul(reset * hidden, self.recurrent_kernel[:, 2 * self.units :])
            )
        output = update * before + (1 - update) * new
        return output, [output]


class StackedRNNCells(Layer):
    """Cells of which each takes the output of the one before; the states are those of all."""

    def __init__(self, cells: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cells = list(cells)

    @property
    def state_size(self) -> list[Any]:
        return [cell.state_size for cell in self.cells]

    @property
    def output_size(self) -> Any:
        return self.cells[-1].output_size

    def get_initial_state(self, batch_size: Any = None, dtype: Any = None) -> list[Any]:
        """The initial states of all cells."""
        return [cell.get_initial_state(batch_size, dtype) for cell in self.cells]

    def call(self, inputs: Any, states: Any, training: Any = False) -> Any:
        following = []
        for cell, state in zip(self.cells, states, strict=True):
            takes = "training" in inspect.signature(cell.call).parameters
            inputs, after = cell(inputs, state, **({"training": training} if takes else {}))
            following.append(after)
        return inputs, following
