"""Write graphs as StableHLO, by `jax.export`: the programs that XLA compiles, for other processes and machines.

    graph f(x: float32[?, 3])        jax.export.Exported, which `serialize` turns into bytes
      y = matmul x, w          ==>     func.func public @main(%arg0: tensor<?x3xf32>) …

An unknown size is a symbolic one, if no operation needs its number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from ... import dtypes
from ...functionalize.errors import CannotCompileError
from ...functionalize.shapes import specialized
from ...ir.graph import Constant, Graph
from ...ir.value_types import TensorType
from .library import wide
from .xla_program import XlaProgram

Sizes = Sequence[int | str]

_PRINTS = ["it prints, which an exported program cannot"]


class ExportedInput(NamedTuple):
    """An input of an exported function; an unknown size is a name."""

    dtype: dtypes.DType
    sizes: Sizes

    @property
    def spec(self) -> TensorType:
        """The type of the input."""
        return TensorType(self.dtype, tuple(size if isinstance(size, int) else None for size in self.sizes))


def exported(graph: Graph, operands: Sequence[ExportedInput | Constant]) -> Any:
    """Return a graph without variables as an `Exported` of JAX, for these inputs and constants.

    If a check may fail, the first result says whether one has. Raise `CannotCompileError` with the reasons if there is
    no such program.
    """
    from ...optimize import OptimizerOptions, dce, optimize  # executors import the optimizer lazily

    known = [each if isinstance(each, Constant) else each.spec for each in operands]
    arguments = [each for each in operands if isinstance(each, ExportedInput)]
    with_sizes = any(None in each.shape for each in known)  # type: ignore[operator]
    needed = dce.run(graph, OptimizerOptions())
    program = XlaProgram(optimize(specialized(needed, known, with_sizes)))
    with wide():
        scope = jax.export.SymbolicScope()
        shapes = [jax.export.symbolic_shape(_text(each.sizes), scope=scope) for each in arguments]
        specs = [
            jax.ShapeDtypeStruct(shape, each.dtype.numpy_dtype)
            for shape, each in zip(shapes, arguments, strict=True)
        ]
        try:
            found = jax.export.export(jax.jit(program.compute))(*specs)
        except CannotCompileError:
            raise
        except Exception as error:
            if program.has_effects:
                raise CannotCompileError(_PRINTS) from None
            if not with_sizes:
                raise
            text = str(error).strip().partition("\n")[0]
            raise CannotCompileError(
                [f"unknown sizes are not supported here; give numbers: {text}"]
            ) from error
    if program.has_effects:
        raise CannotCompileError(_PRINTS)
    return found


def _text(sizes: Sizes) -> str:
    """Return sizes as `jax.export` reads them."""
    return f"({''.join(f'{size},' for size in sizes)})"


def run(content: bytes | bytearray, arrays: Sequence[Any]) -> list[Any]:
    """Return the results of a serialized program."""
    with wide():
        return [np.asarray(result) for result in jax.export.deserialize(bytearray(content)).call(*arrays)]
