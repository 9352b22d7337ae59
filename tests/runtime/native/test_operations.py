"""Each operation's first example, compiled: the same as the kernel's, or a refusal. How many compile only grows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from agc.runtime import dtypes
from agc.runtime.execute import interpret
from agc.runtime.ir.graph import Constant, Graph, Operation, Value
from agc.runtime.ir.specs import Spec
from agc.runtime.native import CompilationError, Native
from operation_examples import NAMES, Call, examples

FEWEST = 150
"""Operations whose first example compiles."""


def graph_of(call: Call) -> tuple[Graph, list[Any]] | None:
    """The call as a graph, shapes and the like being constants; None for strings, variables and lists."""
    if any(
        not isinstance(x, (np.ndarray, np.generic)) or np.asarray(x).dtype.kind in "OSUV" for x in call.arrays
    ):
        return None
    arrays = [np.asarray(x) for x in call.arrays]
    kinds = [kind for _, kind in call.op._inputs] if call.op._group is None else [""] * len(arrays)
    values = [Value(f"x{i}", Spec(dtypes.of_array(x), x.shape)) for i, x in enumerate(arrays)]
    inputs = [Constant(x) if kind == "Ints" else v for x, kind, v in zip(arrays, kinds, values, strict=True)]
    outputs = [Value(f"y{i}", spec) for i, spec in enumerate(call.specs(inputs))]
    operation = Operation(call.op, tuple(inputs), call.attrs, tuple(outputs))
    given = [(v, x) for v, x, operand in zip(values, arrays, inputs, strict=True) if operand is v]
    return Graph(call.op.name, [v for v, _ in given], [operation], outputs), [x for _, x in given]


def test_operations_agree_with_their_kernels() -> None:
    compiled = set()
    for name in NAMES:
        if not examples().calls[name]:
            continue
        made = graph_of(examples().calls[name][0])
        if made is None or made[0].operations[0].stateful:
            continue
        graph, arrays = made
        try:
            found = Native(graph).run(arrays)
        except CompilationError:
            continue
        compiled.add(name)
        for one, other in zip(found, map(np.asarray, interpret(graph, arrays)), strict=True):
            assert (one.dtype, one.shape) == (other.dtype, other.shape), name
            if one.dtype.kind in "fc":
                np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6, err_msg=name)
            else:
                np.testing.assert_array_equal(one, other, err_msg=name)
    assert len(compiled) >= FEWEST, f"only {len(compiled)} operations compile"


def test_a_long_loop_can_be_interrupted() -> None:
    import _thread
    import threading

    import agc.runtime as tf

    @tf.function(jit_compile=True)
    def endless(n: Any) -> Any:
        while n >= 0:
            n = (n + 1) % 1000
        return n

    endless(tf.constant(-1))
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        endless(tf.constant(0))
