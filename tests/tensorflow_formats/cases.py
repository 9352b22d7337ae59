"""What is written and run in TensorFlow: the examples of operations' manuals, and the programs of the fixtures.

sort([3, 1, 2])      ==>     graph f(values: int32[3]) -> int32[3], and the arrays of the example
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import agc.runtime as tf
import numpy as np
from agc.runtime import dtypes
from agc.runtime.formats.program import Port, Program
from agc.runtime.ir.graph import Constant, Graph, Operation, Value
from agc.runtime.ir.value_types import TensorType
from support import programs
from support.operation_examples import NAMES, Call, calls

from . import written_programs

WORKLOADS = ("mlp", "cnn", "rnn", "rnn_gradient", "lstm", "transformer", "recurrence", "rk45", "mandelbrot")
"""Steps of training and other workloads of the benchmarks, in small."""

MOST = 3
"""How many examples of an operation are taken."""


BY_SHAPE = {"timestamp", "random_integers", "uniform_candidates", "log_uniform_candidates"}
"""Operations whose values differ in each process."""

IMAGES = {"encode_png", "encode_jpeg"}
"""Operations whose files differ in their compression, and are compared by their pixels."""


class Case(NamedTuple):
    """What is written and run: programs as saved models, others as graphs."""

    name: str
    program: Program
    arrays: list[Any]
    by_shape: bool = False
    is_image: bool = False

    @property
    def is_program(self) -> bool:
        return self.name.startswith("program ")


def operation_cases(most: int = MOST, part: str = "") -> Iterator[Case]:
    """The examples of each operation that has tensors only."""
    for name in NAMES:
        if part in name:
            for number, call in enumerate(_different(calls(name))[:most]):
                yield Case(f"{name}.{number}", *program_of(call), name in BY_SHAPE, name in IMAGES)


def _different(found: list[Call]) -> list[Call]:
    """Return the calls without repetitions, those with the most elements first."""
    seen: dict[str, Call] = {}
    for call in found:
        key = f"{call.attrs} {[(np.asarray(a).dtype, np.shape(a)) for a in call.arrays]}"
        seen.setdefault(key, call)
    return sorted(seen.values(), key=lambda call: -sum(np.size(array) for array in call.arrays))


def program_of(call: Call) -> tuple[Program, list[Any]]:
    """Return a call as a program; shapes and other integers of that kind are constants."""
    arrays = [np.asarray(array) for array in call.arrays]
    kinds = [kind for _, kind in call.op.operand_parameters]
    is_grouped = "Inputs" in kinds or "Tensors" in kinds
    operands: list[Any] = []
    for number, array in enumerate(arrays):
        kind = "Input" if is_grouped else kinds[number]
        spec = TensorType(dtypes.of_array(array), array.shape)
        operands.append(Constant(array) if kind == "Ints" else Value(f"x{number}", spec))
    specs = call.specs(operands)
    outputs = tuple(Value(f"r{number}", spec) for number, spec in enumerate(specs))
    inputs = [operand for operand in operands if isinstance(operand, Value)]
    given = [array for operand, array in zip(operands, arrays, strict=True) if isinstance(operand, Value)]
    operation = Operation(call.op, tuple(operands), call.attrs, outputs)
    graph = Graph("f", inputs, (operation,), outputs)
    return program(graph), given


def program(graph: Graph) -> Program:
    """Return a graph without variables as a program."""
    axes = lambda value: None if value.spec.shape is None else (None,) * len(value.spec.shape)  # noqa: E731
    return Program(
        name=graph.name,
        graph=graph,
        inputs=[Port(value.name, value, axes(value)) for value in graph.inputs],
        outputs=[Port(f"output_{i}", value, axes(value)) for i, value in enumerate(graph.outputs)],
        variables=[],
        metadata={},
    )


def program_cases(part: str = "") -> Iterator[Case]:
    """The programs of the fixtures with their first arguments, those of `written_programs`, and the workloads."""
    for name in programs.NAMES:
        if part in name:
            loaded = programs.load(name)
            arguments = loaded.tensor_arguments(0, tf.constant)
            yield _traced(f"program {name}", tf.function(loaded.entry), arguments)
    for name, (function, arguments) in written_programs.PROGRAMS.items():
        if part in name:
            yield _traced(f"program {name}", tf.function(function), [tf.constant(each) for each in arguments])
    for name in WORKLOADS:
        if part in name:
            workload = importlib.import_module(f"benchmarks.workloads.{name}")
            yield _of_workload(f"program {name}", workload)


def _traced(name: str, function: Any, arguments: list[Any]) -> Case:
    program = tf.export.resolve(function, arguments)
    return Case(name, program, list(program.examples or ()))


def _of_workload(name: str, workload: Any) -> Case:
    """Return the function of a workload: the one of agc, with the arguments that it is called with."""
    calls: list[Any] = []
    original = tf.function

    def recording(*args: Any, **options: Any) -> Any:
        if not args:
            return lambda python: recording(python)
        made = original(args[0])

        def call(*given: Any) -> Any:
            calls.append((made, given))
            return made(*given)

        return call

    tf.function = recording
    try:
        workload.tensorflow(tf, False, **workload.TINY)()
    finally:
        tf.function = original
    function, given = calls[-1]
    return _traced(name, function, list(given))
