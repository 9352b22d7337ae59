"""Generate the Python function that computes one tile of a fused operation.

    def block_s(x, s, axes_s, b0):
        np.multiply(x, x, out=b0)
        np.exp(b0, out=b0)
        np.add.reduce(b0, axes_s, None, s)

Its parameters are the tiles of the operands and results, the axes of reductions, and buffers for intermediate
values. A buffer is reused as soon as its value is dead.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ....ir.facts import BlockReduction
from ....ir.graph import Constant, Graph, Operand, Operation, Value
from ....ops.arrays.where_ops import choose
from ....ops.framework.fusion_traits import cost
from ..elementwise_templates import CHOICE, CHOICE_OF_ZERO, CONSTANTS, MASK, formula


class Result(NamedTuple):
    """A result of a fused operation: elements, or a reduction of elements."""

    dtype: Any
    reduction: Operation | None


class FusedKernelSource(NamedTuple):
    """The source of a fused kernel, which does not depend on shapes; `lines` define the function `name`."""

    region: Graph
    name: str
    lines: list[str]
    results: tuple[Result, ...]
    buffers: tuple[Any, ...]  # their dtypes
    cost: float  # nanoseconds per element

    def may_take(self, result: int, operand: int) -> bool:
        """Return whether no line reads the operand after the result is first written into its array.

        A NumPy function may write to its own operand. Kernels may fail, and then the whole operation is run
        again, so their operands must be intact.
        """
        reads = re.compile(rf"\bx{operand}(_bits)?\b")
        writes = re.compile(rf"out=y{result}(_bits)?\b|copyto\(y{result}\b|^    y{result}\b(?!_)")
        read = [number for number, line in enumerate(self.lines) if number and reads.search(line)]
        write = [number for number, line in enumerate(self.lines) if number and writes.search(line)]
        by_kernel = any("[...] = " in line for line in self.lines)
        return not by_kernel and bool(write) and max(read, default=0) <= write[0]


def write(
    region: Graph, name: str, constant: Callable[[Any], str], kernel: Callable[..., str]
) -> FusedKernelSource:
    """Return the fused kernel of a region.

    `constant` returns a name for an array; `kernel` returns the call of a kernel.
    """
    return _Writer(region, constant, kernel).recipe(name)


class _Writer:
    def __init__(self, region: Graph, constant: Callable[[Any], str], kernel: Callable[..., str]) -> None:
        self.region = region
        self.constant = constant
        self.kernel = kernel
        self.lines: list[str] = []
        self.buffers: list[Any] = []
        self.free: dict[Any, list[str]] = {}
        self.texts: dict[Value, str] = {value: f"x{i}" for i, value in enumerate(region.inputs)}
        self.results: dict[Operand, str] = {value: f"y{i}" for i, value in enumerate(region.outputs)}
        self.held: dict[str, Any] = {}  # buffers in use, and their dtypes
        self.uniform: dict[Operand, str] = {}
        self.twins: dict[str, str] = {}  # integer views of buffers, of the same size
        self.masks: dict[tuple[Operand, int], str] = {}
        self.last: dict[Operand, int] = {}
        for i, operation in enumerate(region.operations):
            self.last.update(dict.fromkeys(operation.inputs, i))

    def recipe(self, name: str) -> FusedKernelSource:
        for i, operation in enumerate(self.region.operations):
            if operation.op.reducer is not None:
                self.reduce(operation, operation.op.reducer)
            elif operation.op.fills is not None and operation.outputs[0] not in self.results:
                number = self.scalar(operation.op.fills, operation.outputs[0].dtype.numpy_dtype)
                self.texts[operation.outputs[0]] = self.uniform[operation.outputs[0]] = number
            else:
                self.compute(operation, i)
            self.release(operation, i)
        made: dict[Operand, Operation] = {
            value: operation for operation in self.region.operations for value in operation.outputs
        }
        results = []
        for value in self.results:
            operation = made[value]
            results.append(Result(value.dtype.numpy_dtype, operation if operation.op.reducer else None))
        axes = [f"axes{i}" for i, result in enumerate(results) if result.reduction]
        given = [*self.texts_of(self.region.inputs), *self.results.values(), *axes]
        parameters = [*given, *(f"b{i}" for i in range(len(self.buffers)))]
        lines = [f"def {name}({', '.join(parameters)}):", *(f"    {line}" for line in self.lines)]
        total = sum(map(cost, self.region.operations))
        return FusedKernelSource(self.region, name, lines, tuple(results), tuple(self.buffers), total)

    def texts_of(self, values: Any) -> list[str]:
        return [self.texts[value] for value in values]

    def text(self, operand: Operand) -> str:
        return self.constant(operand.value) if isinstance(operand, Constant) else self.texts[operand]

    def scalar(self, number: int, dtype: Any) -> str:
        return self.constant(np.array(number, dtype))

    def reduce(self, operation: Operation, reducer: BlockReduction) -> None:
        (operand,), (value,) = operation.inputs, operation.outputs
        name, elements = self.results[value], self.text(operand)
        if isinstance(operand, Constant) or elements == self.uniform.get(operand):
            elements = self.buffer(operand.dtype.numpy_dtype)
            self.lines.append(f"np.copyto({elements}, {self.text(operand)})")
        self.lines.append(f"{reducer.text}({elements}, axes{name[1:]}, None, {name})")

    def compute(self, operation: Operation, position: int) -> None:
        value = operation.outputs[0]
        dtype = value.dtype.numpy_dtype
        if operation.op is choose and dtype.itemsize <= 8:
            self.choose(operation, dtype, position)
            return
        recipe = formula(operation)
        holes = {name: self.scalar(n, dtype) for name, n in CONSTANTS.items() if self.uses(recipe, name)}
        texts = [self.text(operand) for operand in operation.inputs]
        if self.uses(recipe, "kernel"):
            holes["kernel"] = self.kernel(operation, texts)
        out = self.results.get(value) or self.taken(operation, recipe.reuses, position) or self.buffer(dtype)
        self.texts[value] = out
        self.lines += [statement.format(*texts, o=out, **holes) for statement in recipe.statements]

    def choose(self, operation: Operation, dtype: Any, position: int) -> None:
        """Emit `where` on bits."""
        value = operation.outputs[0]
        mask = self.mask(operation.inputs[0], dtype)
        own = self.taken(operation, (1,), position)
        out = self.results.get(value) or own or self.buffer(dtype)
        texts = [self.bits(self.text(operand), dtype) for operand in operation.inputs[1:]]
        by_zero = self.is_zero(operation.inputs[2])
        holes = {"o": self.bits(out, dtype), "t": self.bits(own or out, dtype), "m": mask}
        statements = CHOICE_OF_ZERO if by_zero else CHOICE
        self.lines += [statement.format("", *texts, **holes) for statement in statements]
        self.texts[value] = out

    def bits(self, name: str, dtype: Any) -> str:
        """Return the name of a view of the same elements as signed integers."""
        if dtype.kind == "i":
            return name
        if name not in self.twins:
            self.twins[name] = f"{name}_bits"
            self.lines.append(f"{name}_bits = {name}.view(np.int{dtype.itemsize * 8})")
        return self.twins[name]

    @staticmethod
    def uses(recipe: Any, hole: str) -> bool:
        return any(f"{{{hole}}}" in statement for statement in recipe.statements)

    def is_zero(self, operand: Operand) -> bool:
        """Return whether an operand is a scalar of zero bits (and not -0.0)."""
        if isinstance(operand, Constant):
            return not operand.value.ndim and not any(operand.value.tobytes())
        return self.texts[operand] == self.scalar(0, operand.dtype.numpy_dtype)

    def mask(self, condition: Operand, dtype: Any) -> str:
        """Return the name of the mask of a condition, which is kept as long as the condition is live."""
        key = condition, dtype.itemsize
        if key not in self.masks:
            name = self.masks[key] = self.buffer(np.dtype(f"i{dtype.itemsize}"))
            self.lines += [statement.format(self.text(condition), o=name) for statement in MASK]
        return self.masks[key]

    def taken(self, operation: Operation, reuses: tuple[int, ...] | None, position: int) -> str | None:
        """Return the buffer of an operand that dies here, to be reused for the result."""
        dtype = operation.outputs[0].dtype.numpy_dtype
        for i in range(len(operation.inputs)) if reuses is None else reuses:
            operand = operation.inputs[i]
            once = reuses is None or operation.inputs.count(operand) == 1
            if isinstance(operand, Value) and once and self.last[operand] == position:
                name = self.texts[operand]
                if name in self.held and self.held[name] == dtype:  # NumPy says that float64 equals None
                    return name
        return None

    def buffer(self, dtype: Any) -> str:
        names = self.free.setdefault(dtype, [])
        if not names:
            names.append(f"b{len(self.buffers)}")
            self.buffers.append(dtype)
        self.held[names[-1]] = dtype
        return names.pop()

    def release(self, operation: Operation, position: int) -> None:
        """Release the buffers of values that die here, unless the result reuses them."""
        kept = {self.texts.get(value) for value in operation.outputs}
        for operand in dict.fromkeys(operation.inputs):
            if self.last[operand] == position:
                names = [name for (value, _), name in self.masks.items() if value is operand]
                names += [] if isinstance(operand, Constant) else [self.texts[operand]]
                for name in names:
                    if name in self.held and name not in kept:
                        self.free[self.held.pop(name)].append(name)
                for key in [key for key in self.masks if key[0] is operand]:
                    del self.masks[key]
