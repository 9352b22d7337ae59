"""Recurrent layers: a cell goes through a sequence, step by step.

>>> LSTM(4, return_sequences=True)(tf.zeros([2, 5, 3])).shape
TensorShape([2, 5, 4])

A sequence whose length is known when it is traced, and short, is laid out; any other becomes a loop of the graph.
"""

from __future__ import annotations

import inspect
from typing import Any

from agc import runtime as tf

from ..naming import snake_case
from .base import Layer
from .cells import GRUCell, LSTMCell, SimpleRNNCell, StackedRNNCells
from .specs import InputSpec

LAID_OUT = 32
"""So many steps at most are laid out in a graph: that runs faster than a loop, and takes longer to trace."""


class RNN(Layer):
    """A cell, or a list of cells, as a layer on sequences of shape [batch, steps, features].

    Args:
        return_sequences: give the outputs of all steps, rather than that of the last.
        return_state: give the last state, too.
        go_backwards: begin with the last step.
        stateful: the next batch begins with the state that the last one ended with.
        unroll: lay the steps out, whatever their number.
        zero_output_for_mask: outputs of masked steps are 0, rather than those of the step before.
    """

    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        zero_output_for_mask: bool = False,
        **kwargs: Any,
    ) -> None:
        kwargs.pop("time_major", None)
        super().__init__(**kwargs)
        self.cell: Any = StackedRNNCells(cell) if isinstance(cell, (list, tuple)) else cell
        for needed in ("call", "state_size"):
            if not hasattr(self.cell, needed):
                raise ValueError(f"Argument `cell` should have a `{needed}`. Received: cell={cell}")
        self.return_sequences, self.return_state, self.go_backwards = (
            return_sequences,
            return_state,
            go_backwards,
        )
        self.stateful, self.unroll, self.zero_output_for_mask = stateful, unroll, zero_output_for_mask
        self.supports_masking = True
        self.input_spec = InputSpec(ndim=3)
        self._state: Any = None

    def build(self, sequences_shape: Any) -> None:
        if isinstance(sequences_shape, list):
            sequences_shape = sequences_shape[0]
        if (
            isinstance(self.cell, Layer)
            and not self.cell.built
            and not isinstance(self.cell, StackedRNNCells)
        ):
            self.cell.build((sequences_shape[0], sequences_shape[2]))

    def get_initial_state(self, batch_size: Any) -> Any:
        """The state before the first step, as a list."""
        if hasattr(self.cell, "get_initial_state"):
            state = self.cell.get_initial_state(batch_size=batch_size, dtype=self._dtype)
        else:
            state = tf.nest.map_structure(
                lambda size: tf.zeros([batch_size, size], self._dtype), self.cell.state_size
            )
        return list(state) if isinstance(state, (list, tuple)) else [state]

    def reset_states(self, states: Any = None) -> None:
        """With `stateful`: begin with a state of 0, or this one, again."""
        if not self.stateful:
            raise AttributeError("Layer must be stateful: RNN(..., stateful=True)")
        for i, variable in enumerate(self._state or ()):
            variable.assign(tf.zeros_like(variable) if states is None else states[i])

    reset_state = reset_states

    def call(self, sequences: Any, initial_state: Any = None, mask: Any = None, training: Any = False) -> Any:
        if isinstance(mask, (list, tuple)):
            mask = mask[0]
        start = self._start(sequences, initial_state)
        mapping = self._stepper(sequences, start, training)
        steps = sequences.shape[1]
        if self.unroll and steps is None:
            raise ValueError("Cannot unroll a RNN if the time dimension is undefined")
        outputs, last, state = _gone_through(
            mapping, sequences, start, mask, self.go_backwards, self.unroll, self.zero_output_for_mask,
            self.return_sequences,
        )  # fmt: skip
        if self.stateful:
            for variable, value in zip(self._state, tf.nest.flatten(state), strict=True):
                variable.assign(value)
        result = outputs if self.return_sequences else last
        return [result, *state] if self.return_state else result

    def _start(self, sequences: Any, initial_state: Any) -> Any:
        batch = sequences.shape[0]
        if initial_state is not None:
            return list(initial_state) if isinstance(initial_state, (list, tuple)) else [initial_state]
        if not self.stateful:
            return self.get_initial_state(tf.shape(sequences)[0] if batch is None else batch)
        if self._state is None:
            if batch is None:
                raise ValueError(
                    "a stateful RNN needs a known batch size: give the model an Input(batch_shape=...)"
                )
            sizes = [tuple(part.shape) for part in tf.nest.flatten(self.get_initial_state(batch))]
            weights = [self.add_weight(size, "zeros", trainable=False, name="rnn_state") for size in sizes]
            self._state = weights
        return tf.nest.pack_sequence_as(self.get_initial_state(batch), [tf.identity(v) for v in self._state])

    def _stepper(self, sequences: Any, start: Any, training: Any) -> Any:
        """A function of one step's input and state."""
        extra: dict[str, Any] = {}
        takes = inspect.signature(self.cell.call).parameters
        if "training" in takes:
            extra["training"] = training
        if "dropped" in takes and training:
            extra["dropped"] = self.cell.masked_dropout(sequences[:, 0], start[0], training)

        def step(inputs: Any, state: Any) -> Any:
            single = len(state) == 1 and not isinstance(self.cell, StackedRNNCells)
            output, following = self.cell(
                inputs, state[0] if single and self._takes_single else state, **extra
            )
            return output, list(following) if isinstance(following, (list, tuple)) else [following]

        return step

    @property
    def _takes_single(self) -> bool:
        """A cell of the user's own whose state is one tensor gets it as it is."""
        return not isinstance(self.cell.state_size, (list, tuple)) and not hasattr(
            self.cell, "masked_dropout"
        )

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        mask = previous_mask[0] if isinstance(previous_mask, (list, tuple)) else previous_mask
        output = mask if self.return_sequences else None
        if not self.return_state:
            return output
        sizes = self.cell.state_size
        return [output, *([None] * (len(sizes) if isinstance(sizes, (list, tuple)) else 1))]


def _chosen(counts: Any, new: Any, old: Any) -> Any:
    """For each sample: what is new where its step counts, what is old where it does not."""
    for _ in range(new.shape.rank - counts.shape.rank):
        counts = tf.expand_dims(counts, -1)
    return tf.where(counts, new, old)


def _gone_through(
    step: Any,
    sequences: Any,
    start: Any,
    mask: Any,
    backwards: bool,
    unroll: bool,
    zero_masked: bool,
    keep_all: bool,
) -> tuple[Any, Any, Any]:
    """The outputs of all steps, that of the last, and the last state."""
    by_step = tf.transpose(sequences, [1, 0, *range(2, sequences.shape.rank)])
    counts = None if mask is None else tf.transpose(tf.cast(mask, tf.bool))
    if backwards:
        by_step = tf.reverse(by_step, [0])
        counts = None if counts is None else tf.reverse(counts, [0])
    known = by_step.shape[0]
    if unroll or (known is not None and (known <= LAID_OUT or tf.executing_eagerly())):
        return _laid_out(step, by_step, counts, start, zero_masked, known)
    return _looped(step, by_step, counts, start, zero_masked, keep_all)


def _laid_out(
    step: Any, by_step: Any, counts: Any, state: Any, zero_masked: bool, steps: int
) -> tuple[Any, Any, Any]:
    outputs: list[Any] = []
    output = None
    for i in range(steps):
        new, following = step(by_step[i], state)
        if counts is None:
            output, state = new, following
        else:
            before = tf.zeros_like(new) if output is None else output
            output = _chosen(counts[i], new, before)
            state = tf.nest.map_structure(lambda a, b, i=i: _chosen(counts[i], a, b), following, state)
            if zero_masked:
                outputs.append(_chosen(counts[i], new, tf.zeros_like(new)))
                continue
        outputs.append(output)
    return tf.stack(outputs, axis=1), output, state


def _looped(
    step: Any, by_step: Any, counts: Any, start: Any, zero_masked: bool, keep_all: bool
) -> tuple[Any, Any, Any]:
    steps = tf.shape(by_step)[0]
    # One step before the loop shows the output's shape and dtype; of an empty sequence nothing is computed.
    like, _ = step(
        tf.zeros_like(by_step[:1])[0] if by_step.shape[0] else tf.zeros(tf.shape(by_step)[1:], by_step.dtype),
        start,
    )
    nothing = tf.zeros_like(like)
    kept = tf.TensorArray(like.dtype, size=steps if keep_all else 0, element_shape=like.shape)

    def body(i: Any, output: Any, state: Any, kept: Any) -> Any:
        new, following = step(by_step[i], state)
        shown = new
        if counts is not None:
            following = tf.nest.map_structure(lambda a, b: _chosen(counts[i], a, b), following, state)
            shown = _chosen(counts[i], new, nothing if zero_masked else output)
            new = _chosen(counts[i], new, output)
        return i + 1, new, following, kept.write(i, shown) if keep_all else kept

    _, last, state, kept = tf.while_loop(
        lambda i, *_: i < steps, body, [tf.constant(0), nothing, start, kept]
    )
    if not keep_all:
        return None, last, state
    stacked = kept.stack()
    return tf.transpose(stacked, [1, 0, *range(2, like.shape.rank + 1)]), last, state


class _OfCell(RNN):
    """Base class of layers with a cell of their own, whose arguments they take."""

    kind: type

    def __init__(self, arguments: dict[str, Any]) -> None:
        own = inspect.signature(self.kind).parameters
        layer = inspect.signature(RNN.__init__).parameters
        kwargs = arguments["kwargs"]
        kwargs.pop("implementation", None)
        cell = self.kind(
            **{name: arguments[name] for name in own if name in arguments and name not in _NOT_CELLS},
            dtype=kwargs.get("dtype"),
            name=snake_case(self.kind.__name__),
        )
        options = {name: arguments[name] for name in layer if name in arguments and name not in _NOT_CELLS}
        super().__init__(cell, activity_regularizer=arguments["activity_regularizer"], **options, **kwargs)

    def _argument(self, name: str) -> Any:
        if name == "use_cudnn":
            return "auto"
        return getattr(self, name) if hasattr(self, name) else getattr(self.cell, name)

    @property
    def units(self) -> int:
        return int(self.cell.units)


_NOT_CELLS = ("self", "kwargs", "cell")


class SimpleRNN(_OfCell):
    """A recurrent layer whose output is its state.

    The arguments are those of `SimpleRNNCell` and `RNN`; `use_cudnn` is accepted, and there is no cuDNN.
    """

    kind = SimpleRNNCell

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
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(locals())


class LSTM(_OfCell):
    """Long short-term memory.

    The arguments are those of `LSTMCell` and `RNN`; `use_cudnn` is accepted, and there is no cuDNN.
    """

    kind = LSTMCell

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
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        seed: int | None = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        use_cudnn: Any = "auto",
        **kwargs: Any,
    ) -> None:
        super().__init__(locals())


class GRU(_OfCell):
    """Gated recurrent unit.

    The arguments are those of `GRUCell` and `RNN`; `use_cudnn` is accepted, and there is no cuDNN.
    """

    kind = GRUCell

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
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        seed: int | None = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        reset_after: bool = True,
        use_cudnn: Any = "auto",
        **kwargs: Any,
    ) -> None:
        super().__init__(locals())
