"""Recurrent networks: a loop over time, for each direction.

x [time, batch, input]     y [time, directions, batch, hidden], and the last states [directions, batch, hidden]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .....control_flow.functional_api import while_loop
from .....core.tensor_array import TensorArray
from .....ops.arrays import concat_split, creation, reshape, shape_ops
from .....ops.arrays.reverse_and_roll import reverse
from .....ops.linalg.matmul import matmul
from .....ops.math import elementwise
from .....ops.math.clip import clip_by_value
from .....ops.nn.activations import relu
from .registry import OperatorCall, operator

_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sigmoid": elementwise.sigmoid,
    "tanh": elementwise.tanh,
    "relu": relu,
    "softsign": lambda x: x / (1.0 + elementwise.abs(x)),
    "softplus": elementwise.softplus,
    "hardsigmoid": lambda x: clip_by_value(x * 0.2 + 0.5, 0.0, 1.0),
}


def _activations(call: OperatorCall, default: list[str], directions: int) -> list[list[Callable[[Any], Any]]]:
    names = [name.lower() for name in call.get("activations", ()) or default * directions]
    if call.get("activation_alpha") or call.get("activation_beta") or call.get("clip") is not None:
        raise ValueError("activations with parameters are not supported")
    unknown = [name for name in names if name not in _FUNCTIONS]
    if unknown:
        raise ValueError(f"the activation {unknown[0]!r} is not supported")
    count = len(default)
    return [[_FUNCTIONS[name] for name in names[i * count : (i + 1) * count]] for i in range(directions)]


def _run(
    x: Any, step: Callable[..., list[Any]], states: list[Any], is_reverse: bool
) -> tuple[Any, list[Any]]:
    """Run one direction; return the states of all times, stacked, and the last ones."""
    rows = reverse(x, [0]) if is_reverse else x
    time = shape_ops.shape(rows)[0]
    hidden = TensorArray(states[0].dtype, time, element_shape=states[0].shape)

    def body(i: Any, array: Any, *current: Any) -> Any:
        after = step(rows[i], *current)
        return (i + 1, array.write(i, after[0]), *after)

    start = creation.constant(0)
    _, hidden, *last = while_loop(lambda i, *rest: i < time, body, (start, hidden, *states))
    found = hidden.stack()
    return (reverse(found, [0]) if is_reverse else found), last


def _directions(call: OperatorCall) -> list[bool]:
    return {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[
        call.get("direction", "forward")
    ]


def _start(x: Any, given: Any, direction: int, hidden: int) -> Any:
    if given is not None:
        return given[direction]
    return creation.zeros(concat_split.stack([shape_ops.shape(x)[1], creation.constant(hidden)]), x.dtype)


def _network(
    call: OperatorCall,
    x: Any,
    lengths: Any,
    starts: list[Any],
    defaults: list[str],
    make_step: Callable[..., Any],
) -> list[Any]:
    if lengths is not None:
        raise ValueError("sequences of different lengths are not supported")
    if call.get("layout", 0):
        x = reshape.transpose(x, [1, 0, 2])
        starts = [None if each is None else reshape.transpose(each, [1, 0, 2]) for each in starts]
    ways = _directions(call)
    functions = _activations(call, defaults, len(ways))
    outputs, ends = [], []
    for number, is_reverse in enumerate(ways):
        states = [_start(x, each, number, call.get("hidden_size")) for each in starts]
        step = make_step(number, *functions[number])
        found, last = _run(x, step, states, is_reverse)
        outputs.append(found)
        ends.append(last)
    y = concat_split.stack(outputs, 1)
    finals = [concat_split.stack(list(each), 0) for each in zip(*ends, strict=True)]
    if call.get("layout", 0):
        y, finals = (
            reshape.transpose(y, [2, 0, 1, 3]),
            [reshape.transpose(each, [1, 0, 2]) for each in finals],
        )
    return [y, *finals][: max(call.results, 1)]


def _biases(bias: Any, number: int) -> tuple[Any, Any]:
    """Return the biases of the inputs and of the state."""
    if bias is None:
        return 0.0, 0.0
    first, second = concat_split.split(bias[number], 2, 0)
    return first, second


@operator("LSTM")
def _(call: OperatorCall, x: Any, w: Any, r: Any, *rest: Any) -> Any:
    b, lengths, h, c, p = (*rest, *[None] * 5)[:5]
    if p is not None or call.get("input_forget", 0):
        raise ValueError("peepholes and coupled gates are not supported")

    def make_step(number: int, gate: Any, change: Any, show: Any) -> Any:
        first, second = _biases(b, number)

        def step(row: Any, hidden: Any, cell: Any) -> list[Any]:
            whole = matmul(row, w[number], transpose_b=True) + matmul(hidden, r[number], transpose_b=True)
            i, o, f, g = concat_split.split(whole + first + second, 4, -1)
            after = gate(f) * cell + gate(i) * change(g)
            return [gate(o) * show(after), after]

        return step

    return _network(call, x, lengths, [h, c], ["Sigmoid", "Tanh", "Tanh"], make_step)


@operator("GRU")
def _(call: OperatorCall, x: Any, w: Any, r: Any, b: Any = None, lengths: Any = None, h: Any = None) -> Any:
    def make_step(number: int, gate: Any, change: Any) -> Any:
        first, second = _biases(b, number)

        def step(row: Any, hidden: Any) -> list[Any]:
            xz, xr, xn = concat_split.split(matmul(row, w[number], transpose_b=True) + first, 3, -1)
            if call.get("linear_before_reset", 0):
                hz, hr, hn = concat_split.split(matmul(hidden, r[number], transpose_b=True) + second, 3, -1)
                update, reset = gate(xz + hz), gate(xr + hr)
                new = change(xn + reset * hn)
            else:
                rz, rr, rn = concat_split.split(r[number], 3, 0)
                parts = [0.0] * 3 if b is None else concat_split.split(second, 3, 0)
                update = gate(xz + matmul(hidden, rz, transpose_b=True) + parts[0])
                reset = gate(xr + matmul(hidden, rr, transpose_b=True) + parts[1])
                new = change(xn + matmul(reset * hidden, rn, transpose_b=True) + parts[2])
            return [(1.0 - update) * new + update * hidden]

        return step

    return _network(call, x, lengths, [h], ["Sigmoid", "Tanh"], make_step)


@operator("RNN")
def _(call: OperatorCall, x: Any, w: Any, r: Any, b: Any = None, lengths: Any = None, h: Any = None) -> Any:
    def make_step(number: int, change: Any) -> Any:
        first, second = _biases(b, number)

        def step(row: Any, hidden: Any) -> list[Any]:
            whole = matmul(row, w[number], transpose_b=True) + matmul(hidden, r[number], transpose_b=True)
            return [change(whole + first + second)]

        return step

    return _network(call, x, lengths, [h], ["Tanh"], make_step)
