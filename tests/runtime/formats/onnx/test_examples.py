"""The examples of operations in the manuals give the same in ONNX Runtime, or are refused with a reason.

The suite takes a few examples of each operation, those of one module in one model. `make fuzz` takes all, one by one.
"""

import os
from collections import defaultdict

import pytest
from agc.runtime.export import CannotExportError
from agc.runtime.formats.onnx import model
from agc.runtime.formats.onnx.graph_writer import IGNORED
from agc.runtime.formats.onnx.inexpressible import INEXPRESSIBLE
from agc.runtime.formats.onnx.registry import RULES
from agc.runtime.ops.framework.op import REGISTRY
from support.onnx_models import (
    OPSETS,
    differences_after_a_round_trip,
    disagreements,
    distinct,
    operation,
    program_of,
)
from support.operation_examples import NAMES

MOST = 2  # examples of one operation

BY_MODULE = defaultdict(list)
for _name in NAMES:
    if _name in RULES:
        BY_MODULE[REGISTRY[_name].rule.__module__.removeprefix("agc.runtime.ops.")].append(_name)


def is_written(made, opset):
    program, _ = program_of([made])
    try:
        model.encode(program, opset=opset, optimize=False)
    except CannotExportError:
        return False
    return True


def chosen(names):
    return [call for name in names for call in list(distinct([name]))[:MOST]]


def has_text_only(call):
    """ONNX Runtime takes strings that are UTF-8 from Python."""
    texts = [
        text for array in call.arrays for text in getattr(array, "flat", [array]) if isinstance(text, bytes)
    ]
    return all(text.isascii() for text in texts)


def test_every_operation_has_a_rule_or_a_reason():
    assert set(NAMES) - set(RULES) - set(INEXPRESSIBLE) - set(IGNORED) == set()
    assert set(RULES) & set(INEXPRESSIBLE) == set()
    assert (set(RULES) | set(INEXPRESSIBLE)) - set(NAMES) == set()
    assert len(RULES) > 300


@pytest.mark.parametrize("opset", OPSETS)
def test_examples_agree_with_onnx_runtime(opset):
    wrong, count = {}, 0
    for module in sorted(BY_MODULE):
        calls = [call for call in chosen(BY_MODULE[module]) if has_text_only(call)]
        made = [operation(call, number) for number, call in enumerate(calls)]
        made = [each for each in made if each[0].outputs and is_written(each, opset)]
        if made:
            program, arrays = program_of(made)
            count += len(made)
            wrong[module] = disagreements(program, arrays, opset=opset, optimize=False)
    assert {module: found for module, found in wrong.items() if found} == {}
    assert count > 350


def test_examples_agree_after_they_were_written_and_read(tmp_path):
    """The suite takes an example of every fifth operation."""
    every = 1 if "AGC_FUZZ" in os.environ else 5
    calls = [call for name in sorted(RULES)[::every] for call in list(distinct([name]))[:1]]
    made = [operation(call, number) for number, call in enumerate(calls)]
    made = [each for each in made if each[0].outputs and is_written(each, 22)]
    assert differences_after_a_round_trip(*program_of(made), tmp_path) == []


@pytest.mark.skipif("AGC_FUZZ" not in os.environ, reason="one session for each example takes a minute")
@pytest.mark.parametrize("opset", OPSETS)
def test_most_examples_agree_one_by_one(opset):
    wrong, total, refused = [], 0, 0
    for call in distinct(NAMES):
        made = operation(call, 0)
        if not made[0].outputs or not has_text_only(call):
            continue
        total += 1
        program, arrays = program_of([made])
        try:
            wrong += disagreements(program, arrays, opset=opset, optimize=False)
        except CannotExportError:
            refused += 1
    assert wrong == []
    assert (total - refused) / total > 0.85
