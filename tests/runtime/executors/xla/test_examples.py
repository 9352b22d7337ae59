"""Examples of operations in the manuals give what the interpreter gives; with AGC_FUZZ, all that XLA runs.

The examples of one module of operations are one graph, so that XLA compiles some dozen programs only.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict

import numpy as np
import pytest
from agc.runtime.executors.xla import XlaFunction, operation_kinds
from agc.runtime.executors.xla.rule_registry import FUNCTIONALIZED, REASONS, RULES, TRACED
from agc.runtime.ir.graph import Operation, Value
from agc.runtime.ops.framework.op import REGISTRY
from operation_sweep.cases import DTYPES, cases
from operation_sweep.judging import same_array
from operation_sweep.running import compared
from support.operation_examples import NAMES, calls, different, graph_of

IS_FUZZING = bool(os.environ.get("AGC_FUZZ"))

MOST = 5 if IS_FUZZING else 1  # examples of one operation
EACH = 1 if IS_FUZZING else 8  # one of so many operations is compiled here

ROOMS: dict[str, list[str]] = defaultdict(list)
for _name in NAMES:
    if _name in RULES or _name in TRACED:
        ROOMS[REGISTRY[_name].rule.__module__.removeprefix("agc.runtime.ops.").partition(".")[0]].append(
            _name
        )


def is_wanted(made: Operation, inputs: list[Value]) -> bool:
    """Whether the shapes are known, and there is no effect."""
    return made.type != "print" and all(None not in (value.shape or ()) for value in made.outputs)


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_examples_agree_with_the_interpreter(room: str) -> None:
    graph, values = graph_of(ROOMS[room][::EACH], MOST, is_wanted)
    assert different(graph, values, XlaFunction(graph).run, same_array) == []


@pytest.mark.parametrize("number", range(len(DTYPES) if IS_FUZZING else 1))
def test_operations_on_dtypes_in_turn_agree_with_the_interpreter(number: int) -> None:
    """A part of `python -m operation_sweep --executors xla`, which calls each operation with every dtype."""
    made = []
    names = [name for name in NAMES if name in RULES or name in TRACED]
    for place, name in enumerate(names if IS_FUZZING else names[::11]):
        examples = [([*map(np.asarray, call.arrays)], call.attrs) for call in calls(name)]
        made += cases(name, examples, 1, [DTYPES[(place + number) % len(DTYPES)]], ["odd"])
    counts: Counter[str] = Counter()
    assert list(compared(made, ["xla"], lambda text: None, 400, counts)) == []
    assert counts["xla"] > 10


def test_each_operation_has_a_rule_a_traced_kernel_or_a_reason() -> None:
    kinds = operation_kinds()
    names = [*NAMES, "cond", "while", "switch", "call", "fused", "custom_gradient"]
    assert {name for each in kinds.values() for name in each} >= set(names)
    assert not set(RULES) & TRACED
    assert not (set(RULES) | TRACED) & set(REASONS)
    assert not FUNCTIONALIZED & (set(RULES) | TRACED | set(REASONS))
    assert set(RULES) | TRACED | set(REASONS) | FUNCTIONALIZED <= set(REGISTRY) | set(names)
    assert len(kinds["rule"]) > 150
    assert len(kinds["traced kernel"]) > 190
    assert all(REASONS.values())
