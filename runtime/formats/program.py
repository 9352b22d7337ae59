"""`Program`: what all exporters write. A graph with names for its inputs and outputs, and its variables.

graph f(x: float32[?, 3], w: ref float32[3]) -> float32[?]

inputs      x: float32[x_0, 3]            unknown dimensions have names
outputs     output_0: float32[?]
variables   w, with the value that it has when the program is written
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..config import optimizer
from ..core.tensor import EagerTensor
from ..core.variable import Variable
from ..ir.graph import Graph, Operand, Value
from ..ir.value_types import TensorType

Array = np.ndarray[Any, Any]


class Port(NamedTuple):
    """An input or output. `axes` has the name of each unknown dimension and None for the others."""

    name: str
    operand: Operand
    axes: tuple[str | None, ...] | None  # None for an unknown rank

    @property
    def spec(self) -> TensorType:
        spec = self.operand.spec
        assert isinstance(spec, TensorType)
        return spec

    def __str__(self) -> str:
        if self.axes is None or self.spec.shape is None:
            return f"{self.name}: {self.spec}"
        sizes = [axis or str(size or "?") for axis, size in zip(self.axes, self.spec.shape, strict=True)]
        return f"{self.name}: {self.spec.dtype.name}[{', '.join(sizes)}]"


class Captured(NamedTuple):
    """A variable that the graph uses: its input of the graph, a unique name, and the variable."""

    name: str
    value: Value
    variable: Variable


class Program(NamedTuple):
    """A graph to be written in a format.

    The inputs of `graph` are those of `inputs`, then those of `variables`. Its outputs are those of `outputs`.

    >>> import agc.runtime as tf, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     program = tf.export.text(tf.sin, folder + "/f.txt", [tf.TensorSpec([2])])
    >>> program, program.run([np.zeros(2, np.float32)])
    (<Program sin(x: float32[2]) -> output_0: float32[2]>, [array([0., 0.], dtype=float32)])
    """

    name: str
    graph: Graph
    inputs: Sequence[Port]
    outputs: Sequence[Port]
    variables: Sequence[Captured]
    metadata: dict[str, str]
    examples: Sequence[Array] | None = None  # the values that the program was traced with, if it was

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.inputs))}) -> {', '.join(map(str, self.outputs))}"

    def __repr__(self) -> str:
        return f"<Program {self}>"

    def optimized(self) -> Program:
        """Return the program with an optimized graph, in which convolutions keep their data format."""
        from ..optimize import OptimizerOptions, optimize  # loaded by programs that need the optimizer only

        options = OptimizerOptions.chosen(optimizer.get_experimental_options())
        graph = optimize(self.graph, options._replace(channels_last=False))
        values = zip(self.inputs, graph.inputs, strict=False)
        inputs = [port._replace(operand=value) for port, value in values]
        captured = zip(self.variables, graph.inputs[len(inputs) :], strict=True)
        return self._replace(
            graph=graph,
            inputs=inputs,
            outputs=[
                port._replace(operand=operand)
                for port, operand in zip(self.outputs, graph.outputs, strict=True)
            ],
            variables=[each._replace(value=value) for each, value in captured],
        )

    def run(self, arrays: Sequence[Array]) -> list[Array]:
        """Return the outputs for arrays, by the interpreter. The program's own variables do not change."""
        from ..executors import interpret

        copies = [Variable(EagerTensor(np.array(each.variable._array))) for each in self.variables]
        results = interpret(self.graph, [*arrays, *[copy._bound for copy in copies]])
        return [np.asarray(result) for result in results]

    def random_inputs(self) -> list[Array]:
        """Return arrays for the inputs: numbers between 0 and 4; unknown dimensions have the size 3."""
        generator = np.random.default_rng(0)
        return [_random(port.spec, generator) for port in self.inputs]


def _random(spec: TensorType, generator: np.random.Generator) -> Array:
    shape = [3 if each is None else each for each in spec.shape or ()]
    kind = spec.dtype.numpy_dtype
    if kind.kind == "b":
        return np.asarray(generator.random(shape) < 0.5)
    if kind.kind in "iu":
        return generator.integers(0, 5, shape).astype(kind)
    if kind.kind == "O":
        texts = generator.integers(0, 1000, shape)
        return np.array([str(number).encode() for number in texts.ravel()], object).reshape(shape)
    return (generator.random(shape) * 4).astype(kind)
