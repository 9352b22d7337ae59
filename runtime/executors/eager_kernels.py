"""Compile the kernels of eager operations that compute long, on large arrays or often.

    y = softmax(x)      x: float32[64, 128, 128], 1.5 ms a call; or float32[8, 16], 7 us
        after HOT seconds in this kernel          a graph of this operation alone, run by the automatic executor
                                                  0.2 ms a call, or 1 us, once native code was faster

The kernel itself runs again where the compiled one fails, and raises the operation's error.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dtypes, errors
from ..ir.builder import Builder
from ..ir.graph import Graph
from ..ir.value_types import TensorType
from ..ops.linalg.einsum import einsum_op
from ..ops.linalg.matmul import matmul_op
from ..ops.linalg.tensordot import tensordot_op
from . import EXECUTORS
from .llvm import tiering
from .llvm.trial_times import TRIALS, measured

if TYPE_CHECKING:
    from ..ops.framework.eager_calls import EagerCall

_FAST = frozenset({matmul_op, tensordot_op, einsum_op})
"""Operations whose kernels are routines of BLAS, as in native code."""


def compiled_kernel(call: EagerCall, arrays: Sequence[Any]) -> Callable[..., Any] | None:
    """Return a kernel that replaces that of a kept call with such arrays; None if there is none.

    Like the call's kernel, it takes all arrays, and then the attributes that it does not read.
    """
    op: Any = call.op
    if op in _FAST or not call.is_closed or not call.is_plain or not tiering.is_wanted():
        return None
    varying = [i for i, x in enumerate(call.template) if x is None]
    if not all(type(arrays[i]) is np.ndarray for i in varying):
        return None  # elements of a TensorArray
    try:
        run = EXECUTORS["automatic"](_graph_of(call, arrays, varying))
    except (errors.OpError, TypeError, ValueError):
        return None  # the operation has no graph for these types
    original, many = call.compute, call.returns_many

    def kernel(*arrays: Any) -> Any:
        try:
            found = run([arrays[i] for i in varying])
        except errors.OpError:
            return original(*arrays)
        return found if many else found[0]

    owner: Any = getattr(run, "__self__", None)
    if not isinstance(owner, tiering.TieredRunner):
        return None

    def decided() -> None:
        is_plan = owner.plan_for(()) is not None  # native code is slower, or there is none
        call.compute = (
            original if is_plan else functools.partial(_compared, call, (original, kernel), ([], []))
        )

    owner.hot = 0.0  # the kernel has run for long
    owner.when_decided((), decided)
    return kernel


def _graph_of(call: EagerCall, arrays: Sequence[Any], varying: Sequence[int]) -> Graph:
    """Return the graph of a call alone; its inputs have the types of the arrays with the indices `varying`."""
    op: Any = call.op
    builder = Builder(op.name)
    with builder:
        tensors: list[Any] = list(call.template)
        for i in varying:
            tensors[i] = builder.input_tensor("x", TensorType(dtypes.of_array(arrays[i]), arrays[i].shape))
        results = op.record(builder, tensors, dict(call.attributes), None)
        outputs = [builder.operand(x) for x in (results if call.returns_many else [results])]
    return builder.finish(outputs, [tensors[i]._value for i in varying])


def _compared(
    call: EagerCall, kernels: Sequence[Callable[..., Any]], times: Sequence[list[float]], *arrays: Any
) -> Any:
    """Run one of two kernels in turn, and keep the faster one after some calls.

    Native code that is faster than the plan may be slower than the kernel, which needs no plan.
    """
    number = int(len(times[1]) < len(times[0]))
    found = measured(kernels[number], times[number], *arrays)
    if len(times[1]) >= TRIALS:
        call.compute = kernels[min(times[1]) < min(times[0])]
    return found
