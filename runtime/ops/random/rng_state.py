"""States of random streams as values; native code uses them in place of stream and generator objects.

s                                  [counter, lower half first; key]
y = stateless_normal [3], s
s.1 = stream_after_drawing s, y    the state after drawing y
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...ir.value_types import TensorType
from ...kernels.random.distributions import BLOCKS_PER_ELEMENT
from ..framework.op import Input, Ints, Name, Ref, op
from ..framework.op_families import require_dtype
from ..state.compare_and_swap import exchange

Array = Any

STATES = frozenset({dtypes.int64})

_HALF = (1 << 64) - 1


def blocks_after(drawing: str, shape: tuple[int, ...]) -> int:
    """Return the number of blocks of random bits that an operation reserves for a result of this shape.

    >>> blocks_after("random_uniform", (3,)), blocks_after("random_shuffle", (9,))
    (768, 2)
    """
    if drawing == "random_shuffle":
        return -(-max(shape[0] - 1, 0) // 4)
    if drawing == "random_categorical":
        return shape[0] * (-(-shape[1] // 4) * 4) * BLOCKS_PER_ELEMENT * 2
    return math.prod(shape) * BLOCKS_PER_ELEMENT


def _moved(state: Array, blocks: int) -> Array:
    low, high, key = np.asarray(state).view(np.uint64).tolist()
    counter = ((high << 64 | low) + blocks) & (1 << 128) - 1
    return np.array((counter & _HALF, counter >> 64, key), np.uint64).view(np.int64)


@op(stateful=True)
def generator_state(variable: Ref, blocks: Ints, name: Name = None) -> TensorType:
    """Return the state of a generator, and advance the generator by `blocks` blocks of random bits.

    >>> from agc.runtime import Variable
    >>> state = Variable(np.array([5, 0, 1]))
    >>> generator_state(state, 256).numpy().tolist(), state.numpy().tolist()
    ([5, 0, 1], [261, 0, 1])
    """
    content: TensorType = variable.spec.content
    if content.dtype is not dtypes.int64:
        raise TypeError(f"the state of a generator is int64, not {content.dtype.name}")
    return TensorType(dtypes.int64, content.shape)


@generator_state.kernel
def _(variable: Any, blocks: Array) -> Array:
    while True:
        state = variable._array
        if state.shape != (3,):
            raise errors.UnimplementedError(
                "the ThreeFry algorithm, whose state has two numbers, is not supported: use Philox"
            )
        if exchange([variable], [state], [_moved(state, int(blocks))]):
            return state


@op
def stream_after_drawing(state: Input, drawn: Input, drawing: str, name: Name = None) -> TensorType:
    """Return the state of a stream after the operation `drawing` has drawn `drawn` from it.

    >>> stream_after_drawing(np.array([5, 0, 1]), np.zeros(3), "random_uniform").numpy().tolist()
    [773, 0, 1]
    """
    require_dtype(state, STATES, "stream_after_drawing")
    return TensorType(dtypes.int64, (3,))


stream_after_drawing.kernel(
    lambda state, drawn, drawing: _moved(state, blocks_after(drawing, np.shape(drawn)))
)
stream_after_drawing.no_gradient("the state of a random stream is discrete")


@op
def stream_after(state: Input, count: Ints, each: int, name: Name = None) -> TensorType:
    """Advance the state of a stream by `each` blocks for each element of a shape.

    >>> stream_after(np.array([-1, 0, 1]), [2, 3], 2).numpy().tolist()
    [11, 1, 1]
    """
    require_dtype(state, STATES, "stream_after")
    return TensorType(dtypes.int64, (3,))


stream_after.kernel(lambda state, count, each: _moved(state, int(np.prod(count, dtype=np.int64)) * each))
stream_after.no_gradient("the state of a random stream is discrete")
