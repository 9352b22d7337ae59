"""ONNX models of programs and of the examples of operations, checked, and run by ONNX Runtime."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import agc.runtime
import numpy as np
import onnx
import onnxruntime
from agc.runtime import dtypes
from agc.runtime.export.source import resolve
from agc.runtime.export.verify import difference
from agc.runtime.formats.onnx import model as onnx_model
from agc.runtime.formats.program import Program
from agc.runtime.ir.graph import Constant, Graph, Operation, Value
from agc.runtime.ir.value_types import TensorType

from .operation_examples import Call, calls

OPSETS = (22, 28)
"""One that is two years old, and the newest that ONNX Runtime takes."""


def loaded(content: bytes, folder: Path) -> Any:
    """Return the function of a model, by a file in the folder."""
    (folder / "m.onnx").write_bytes(content)
    return agc.runtime.onnx.load(folder / "m.onnx")


def session(content: bytes) -> Any:
    """Check a model, and load it."""
    onnx.checker.check_model(onnx.load_from_string(content), full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def results(content: bytes, arrays: Sequence[Any]) -> dict[str, Any]:
    """Return the outputs of a model by name, for the first inputs in their order."""
    running = session(content)
    inputs = [*running.get_inputs(), *running.get_overridable_initializers()]
    feeds = {each.name: onnx_model._fed(np.asarray(a)) for each, a in zip(inputs, arrays, strict=False)}
    names = [each.name for each in running.get_outputs()]
    return {n: onnx_model._read(v) for n, v in zip(names, running.run(None, feeds), strict=True)}


def disagreements(program: Program, arrays: Sequence[Any], **options: Any) -> list[str]:
    """Return the outputs that differ between agc and ONNX Runtime."""
    found = list(results(onnx_model.encode(program, **options), arrays).values())
    expected = program.run(arrays)
    named = zip(program.outputs, expected, found, strict=False)
    compared = [difference(port.name, as_array(one), other) for port, one, other in named]
    return [str(each) for each in compared if not each.agrees]


def results_of(model: Any, inputs: Sequence[Any]) -> list[Any]:
    """Return the results of a loaded model as arrays."""
    found = model(*inputs)
    return [np.asarray(each) for each in (found if isinstance(found, list) else [found])]


def differences_after_a_round_trip(program: Program, arrays: Sequence[Any], folder: Path) -> list[str]:
    """Return the outputs that differ after a program was written and read."""
    (folder / "m.onnx").write_bytes(onnx_model.encode(program, optimize=False))
    found = results_of(agc.runtime.onnx.load(folder / "m.onnx"), arrays)
    compared = zip(program.outputs, program.run(arrays), found, strict=True)
    differences = [difference(port.name, as_array(one), as_array(other)) for port, one, other in compared]
    return [str(each) for each in differences if not each.agrees]


def as_array(value: Any) -> Any:
    array = np.asarray(value)
    return array.astype(object) if array.dtype.kind in "SU" else array


def operation(call: Call, number: int) -> tuple[Operation, list[Value], list[Any]]:
    """Return a call of an operation, its inputs and their values; integers after the first operand are constants."""
    arrays = [as_array(array) for array in call.arrays]
    kinds = [kind for _, kind in call.op.operand_parameters]
    starts_with_shape = kinds[:1] == ["Ints"] and set(kinds) != {"Ints"}
    operands: list[Any] = []
    for place, array in enumerate(arrays):
        dtype = dtypes.string if array.dtype == object else dtypes.of_array(array)
        if (place or starts_with_shape) and array.dtype.kind in "iu":
            operands.append(Constant(array))
        else:
            operands.append(Value(f"x{number}_{place}", TensorType(dtype, array.shape)))
    specs = call.specs(operands)
    outputs = tuple(Value(f"r{number}_{place}", spec) for place, spec in enumerate(specs))
    inputs = [operand for operand in operands if isinstance(operand, Value)]
    given = [array for operand, array in zip(operands, arrays, strict=True) if isinstance(operand, Value)]
    return Operation(call.op, tuple(operands), call.attrs, outputs), inputs, given


def distinct(names: Sequence[str]) -> Iterator[Call]:
    """Yield the calls of operations in the examples of their manuals that succeed, each once."""
    seen = set()
    for name in names:
        for call in calls(name):
            arrays = [as_array(array) for array in call.arrays]
            content = [
                (a.shape, a.dtype.str, a.tobytes() if a.dtype != object else str(a.tolist())) for a in arrays
            ]
            key = name, str(call.attrs), str(content)
            if key not in seen and not isinstance(call.outcome(*call.arrays), type):
                seen.add(key)
                yield call


def program_of(made: Sequence[tuple[Operation, list[Value], list[Any]]]) -> tuple[Program, list[Any]]:
    """Return one program of several operations, and the values of its inputs."""
    operations = [each for each, _, _ in made]
    inputs = [value for _, values, _ in made for value in values]
    outputs = [value for each in operations for value in each.outputs]
    return resolve(Graph("examples", inputs, operations, outputs)), [a for _, _, given in made for a in given]
