"""Every example of an operation in the manuals that can be compiled gives what the interpreter gives.

The examples of one module of operations are one graph, so that LLVM starts a few dozen times only.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from agc.runtime import dtypes
from agc.runtime.executors.llvm import CannotCompileError, JitFunction, compile_graph
from agc.runtime.executors.llvm.codegen.element_formulas import element_rule
from agc.runtime.executors.llvm.codegen.kernel_calls import has_kernel
from agc.runtime.executors.llvm.codegen.rule_modules import MODULES
from agc.runtime.executors.llvm.codegen.rule_registry import LOWERINGS, load
from agc.runtime.ir.graph import Graph, Operation, Value
from agc.runtime.ops.framework.op import REGISTRY
from operation_sweep.cases import DTYPES, cases
from operation_sweep.running import compared
from support.operation_examples import NAMES, calls, different, graph_of

MOST = 5  # examples of one operation
STRUCTURE = {"array_", "list_"}  # of several calls each: test_tensor_arrays.py has these

WITHOUT_EXAMPLE = {"identity_matrix", "ones", "raise", "range", "zeros"}
"""Operations of which shapes depend on every input (test_value_specialization.py has them); and the one that fails."""


def is_native(name: str) -> bool:
    load(name)
    return name in LOWERINGS or element_rule(REGISTRY[name]) is not None


ROOMS: dict[str, list[str]] = defaultdict(list)
for _name in NAMES:
    if is_native(_name) and not _name.startswith(tuple(STRUCTURE)):
        ROOMS[REGISTRY[_name].rule.__module__.removeprefix("agc.runtime.")].append(_name)


def compiles(made: Operation, inputs: list[Value]) -> bool:
    graph = Graph("one", inputs, [made], list(made.outputs))
    try:
        compile_graph.lowered(graph, [value.spec for value in inputs])
    except CannotCompileError:
        return False
    return True


def close(found: Any, wanted: Any) -> bool:
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return False
    if found.dtype.kind not in "fc":
        return bool(np.array_equal(found, wanted))
    bound = 32 * np.finfo(found.dtype).eps
    return bool(np.allclose(found, wanted, rtol=bound, atol=bound, equal_nan=True))


def identical(found: Any, wanted: Any) -> bool:
    return found.dtype == wanted.dtype and bool(np.array_equal(found, wanted, equal_nan=True))


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_examples_agree_with_the_interpreter(room: str) -> None:
    graph, values = graph_of(ROOMS[room], MOST, compiles)
    compiled = {made.type for made in graph.operations}
    assert set(ROOMS[room]) - compiled - WITHOUT_EXAMPLE == set(), (
        "these have rules, and no example that compiles"
    )
    assert different(graph, values, JitFunction(graph).run, close) == []


def test_most_operations_are_compiled() -> None:
    assert {"elementwise", "math_functions"} <= set(MODULES.values())
    assert sum(map(is_native, NAMES)) >= 250


def test_operations_without_a_rule_call_kernels() -> None:
    names = [name for name in NAMES if not is_native(name)]
    graph, values = graph_of(names, 2, lambda made, inputs: has_kernel(made))
    assert {"lu", "pseudo_inverse", "expm", "igamma", "zeta", "gamma_variates"} <= {
        made.type for made in graph.operations
    }
    assert different(graph, values, JitFunction(graph).run, identical) == []


def swept(number: int, dtype: dtypes.DType | None = None) -> tuple[list[Any], Counter[str]]:
    """What is wrong with an example of each operation on odd values of a dtype, or of one for each in turn."""
    made = []
    for place, name in enumerate(NAMES):
        wanted = dtype or DTYPES[(place + number) % len(DTYPES)]
        examples = [([*map(np.asarray, call.arrays)], call.attrs) for call in calls(name)]
        made += cases(name, examples, 1, [wanted], ["odd"])
    counts: Counter[str] = Counter()
    return list(compared(made, ["plan", "native"], lambda text: None, 400, counts)), counts


def test_operations_on_floats_that_llvm_does_not_have_agree_with_the_interpreter(given_up: list[str]) -> None:
    wrong, counts = swept(0, dtypes.bfloat16)
    given_up.clear()  # the plan solves equations with NaN
    assert wrong == []
    assert counts["native"] > 250


@pytest.mark.parametrize("number", range(len(DTYPES) if os.environ.get("AGC_FUZZ") else 1))
def test_operations_on_dtypes_in_turn_agree_with_the_interpreter(number: int, given_up: list[str]) -> None:
    """A part of `make fuzz`, which calls each operation with every dtype."""
    wrong, counts = swept(number)
    given_up.clear()  # the plan solves equations with NaN
    assert wrong == []
    assert counts["native"] > 150


@pytest.mark.parametrize("name", ["matmul", "repeat", "sign"])
def test_run_time_sizes_and_misfits_agree_with_the_interpreter(
    name: str,
) -> None:
    """These three once differed in the whole sweep: in batches of unknown size, refusals, infinite numbers."""
    examples = [([*map(np.asarray, call.arrays)], call.attrs) for call in calls(name)]
    chosen = cases(name, examples, 3, [dtypes.complex64], ["odd", "one"])
    assert (
        list(
            compared(
                chosen, ["native", "native of unknown sizes", "native of varying sizes"], lambda text: None
            )
        )
        == []
    )
