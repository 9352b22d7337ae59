"""Examples of operations in the manuals give what the interpreter gives; with AGC_FUZZ, all that XLA runs.

The examples of one module of operations are one graph, so that XLA compiles some dozen programs only.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.xla import XlaFunction, operation_kinds
from agc.runtime.executors.xla.rule_registry import FUNCTIONALIZED, REASONS, RULES, TRACED
from agc.runtime.ir.graph import Graph
from agc.runtime.ops.framework.op import REGISTRY
from operation_sweep.cases import DTYPES, cases
from operation_sweep.judging import same_array
from operation_sweep.running import compared
from support.operation_examples import NAMES, as_operation, calls

IS_FUZZING = bool(os.environ.get("AGC_FUZZ"))

MOST = 5 if IS_FUZZING else 1  # examples of one operation
EACH = 1 if IS_FUZZING else 8  # one of so many operations is compiled here

ROOMS: dict[str, list[str]] = defaultdict(list)
for _name in NAMES:
    if _name in RULES or _name in TRACED:
        ROOMS[REGISTRY[_name].rule.__module__.removeprefix("agc.runtime.ops.").partition(".")[0]].append(
            _name
        )


def of_room(room: str) -> tuple[Graph, list[Any]]:
    """The examples of a package of operations as one graph, and the values of its inputs."""
    operations, inputs, values = [], [], []
    for name in ROOMS[room][::EACH]:
        for call in calls(name)[:MOST]:
            if isinstance(call.outcome(*call.arrays), type) or name == "print":
                continue  # it shows a refusal, or has an effect
            made = as_operation(call, len(operations))
            if made is not None and all(None not in (value.shape or ()) for value in made[0].outputs):
                operations.append(made[0])
                inputs += made[1]
                values += made[2]
    outputs = [output for made in operations for output in made.outputs]
    return Graph("examples", inputs, operations, outputs), values


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_examples_agree_with_the_interpreter(room: str) -> None:
    graph, values = of_room(room)
    expected = [np.asarray(result) for result in interpret(graph, list(values))]
    found = [np.asarray(result) for result in XlaFunction(graph).run(list(values))]
    makers = [made.type for made in graph.operations for _ in made.outputs]
    wrong = [
        (maker, one, other)
        for maker, one, other in zip(makers, found, expected, strict=True)
        if not same_array(one, other)
    ]
    assert wrong == []


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
