"""The format `stablehlo`: StableHLO in the form that `jax.export` reads, for XLA on any machine (extra `[jax]`).

    f.stablehlo ──jax.export.deserialize──► exported.call(x), exported.mlir_module()

Variables that are only read are constants. Those that are assigned are inputs after the others, and their new values
are results after the others. If a check may fail, the first result says whether it has failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from ..executors import xla
from ..formats.program import Array, Program
from ..formats.refusals import CannotExportError, refusing
from ..functionalize.errors import CannotCompileError
from ..functionalize.random import with_streams
from ..functionalize.variables import without_variables
from ..ir.graph import Constant, Graph, Value


def encode(program: Program) -> bytes:
    """Return the serialized program. Raise `CannotExportError` with the reasons if XLA cannot run it."""
    why = xla.missing()
    if why is not None:
        raise CannotExportError("StableHLO", program.name, [why])
    from ..executors.xla import exporting  # imports JAX

    with refusing("StableHLO", program.name):
        graph, assigned = _functional(program)
        operands = [_operand(program, i, value, assigned) for i, value in enumerate(graph.inputs)]
        return bytes(exporting.exported(graph, operands).serialize())


def run(path: Path, program: Program, arrays: Sequence[Array]) -> list[Array]:
    """Return the outputs that XLA computes; InvalidArgumentError if a check has failed."""
    from ..executors.xla import exporting

    _, assigned = _functional(program)
    results = exporting.run(path.read_bytes(), [*arrays, *(_value(program, i) for i in assigned)])
    if len(results) > len(program.outputs) + len(assigned):
        if results[0]:
            raise InvalidArgumentError(f"a check of `{program.name}` has failed")
        results = results[1:]
    return results[: len(program.outputs)]


def _functional(program: Program) -> tuple[Graph, list[int]]:
    """Return the graph without variables, and the inputs of the program that it assigns."""
    if with_streams(program.graph)[1]:
        raise CannotCompileError(
            ["it draws from a random stream of this process: use tf.random.stateless_uniform and the like"]
        )
    return without_variables(program.graph)


def _operand(program: Program, number: int, value: Value, assigned: Sequence[int]) -> Any:
    """Return the type of an input, or the value of a variable that is only read."""
    from ..executors.xla.exporting import ExportedInput

    is_variable = number >= len(program.inputs)
    if is_variable and number not in assigned:
        return Constant(_value(program, number))
    if value.shape is None:
        raise CannotCompileError([f"the rank of `{value.name}` is unknown"])
    axes = None if is_variable else program.inputs[number].axes
    names = axes or [None] * len(value.shape)
    sizes = [
        name or f"{value.name}_{i}" if size is None else size
        for i, (size, name) in enumerate(zip(value.shape, names, strict=True))
    ]
    return ExportedInput(value.dtype, sizes)


def _value(program: Program, number: int) -> Array:
    return np.asarray(program.variables[number - len(program.inputs)].variable._array)
