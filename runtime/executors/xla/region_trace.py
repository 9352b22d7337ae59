"""Compute the operations of a graph with values that JAX traces.

    y = floordiv x, n               y = floor_divide(x, where(n == 0, 1, n))
    z = add y, 1             ==>    z = y + 1
                                    failed = any(n == 0)

A check is a condition, not an error: `failed` says whether one has not held, and is a result of the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.xla_metadata import set_xla_metadata

from ... import dtypes
from ...core.shapes import compatible, num_elements
from ...functionalize.constants import folded
from ...functionalize.errors import CannotCompileError, NeverRunsError, Reason
from ...ir.graph import Constant, Graph, Operand, Operation, Value
from ...ir.value_types import TensorType
from ...ops.framework import narrow_floats
from ...ops.framework.op_errors import FAILURES
from ...ops.framework.region_ops import CUSTOM
from ...ops.math.cast import optimization_barrier
from . import symbolic_sizes
from .effects import Effects
from .numpy_namespace import traced
from .partition import ChainPart, is_deep, parts
from .rule_registry import RULES, NotLoweredError, refusal

Array = Any
"""A value that JAX traces, or an array of NumPy where it is a constant."""


class DeviceAxis(NamedTuple):
    """The axis of the devices that run one program together, each as a replica."""

    name: str
    size: int


class RegionTrace:
    """The computation of one graph or region. `failed` is False, or a traced bool: whether a check did not hold.

    Collective operations communicate along `axis`; None means one device. With `splits`, long chains become several
    functions.
    """

    def __init__(self, effects: Effects, axis: DeviceAxis | None, splits: bool) -> None:
        self.failed: Any = False
        self.effects = effects
        self.axis = axis
        self._splits = splits

    def inner(self) -> RegionTrace:
        """Return the computation of a region, with checks of its own."""
        return RegionTrace(self.effects, self.axis, self._splits)

    def run(self, graph: Graph, arguments: Sequence[Array]) -> list[Array]:
        """Return the outputs of the graph for the values of its inputs."""
        values: dict[Operand, Array] = dict(zip(graph.inputs, arguments, strict=True))
        if self._splits and is_deep(graph):
            for part in parts(graph):
                values.update(zip(part.outputs, self._called(part, values), strict=True))
        else:
            self._run(graph.live_operations(), values)
        return [_read(operand, values) for operand in graph.outputs]

    def _run(self, operations: Sequence[Operation], values: dict[Operand, Array]) -> None:
        """Compute operations, whose results are added to `values`."""
        for operation in operations:
            inputs = [_read(operand, values) for operand in operation.inputs]
            values.update(zip(operation.outputs, self._computed(operation, inputs), strict=True))

    def _called(self, part: ChainPart, values: Mapping[Operand, Array]) -> list[Array]:
        """Compute the results of a part as one function, which XLA does not inline. Constants stay known."""
        given: dict[Operand, Array] = {value: values[value] for value in part.inputs}
        traced = [value for value, array in given.items() if _is_traced(array)]
        results: list[Array] = []

        def compute(arrays: Sequence[Array]) -> tuple[list[Any], list[Array]]:
            inner = self.inner()
            scope: dict[Operand, Array] = {**given, **dict(zip(traced, arrays, strict=True))}
            inner._run(part.operations, scope)
            results[:] = [scope[value] for value in part.outputs]
            return [inner.failed] * (inner.failed is not False), [
                array for array in results if _is_traced(array)
            ]

        with set_xla_metadata(inlineable="false"):
            failures, arrays = jax.jit(compute)([given[value] for value in traced])
        for failed in failures:
            self.fail(failed)
        new = iter(arrays)
        return [next(new) if _is_traced(array) else array for array in results]

    def demand(self, holds: Array) -> None:
        """Note a check, which fails unless all elements of `holds` are true."""
        if isinstance(holds, jax.Array):
            self.fail(jnp.logical_not(jnp.all(holds)))
        elif not np.all(holds):  # known now
            self.fail(True)

    def fail(self, failed: Any) -> None:
        """Note whether a check, or one of several, has failed."""
        if self.failed is False:
            self.failed = failed
        elif failed is not False:
            self.failed = jnp.logical_or(self.failed, failed)

    def _computed(self, operation: Operation, inputs: list[Array]) -> Sequence[Array]:
        sizes = symbolic_sizes.computed(operation, inputs)
        inputs = symbolic_sizes.as_values(operation, inputs)
        known = _folded(operation, inputs) if sizes is None else sizes
        if known is not None:
            return known
        site, rule = RuleContext(operation, self, inputs), RULES.get(operation.type, traced)
        try:
            if operation.regions:
                return rule(site, *inputs)
            given = [_widened(x) for x in inputs] if site.is_widened else inputs
            found = rule(site, *operation.op.grouped(given))
        except NotLoweredError as error:
            raise CannotCompileError([Reason(operation, str(error))]) from None
        except (MemoryError, *FAILURES) as error:
            if not _refuses(operation, inputs):
                raise  # a fault of the rule
            raise NeverRunsError(Reason(operation, f"these shapes are refused: {error}")) from error
        results = found if isinstance(found, (list, tuple)) else [found] if operation.outputs else []
        return [_as_declared(x, value) for x, value in zip(results, operation.outputs, strict=True)]


class RuleContext:
    """One operation while its rule runs: its attributes, the type of its result, and the checks that it adds."""

    __slots__ = ("_inputs", "attrs", "is_widened", "operation", "trace")

    def __init__(self, operation: Operation, trace: RegionTrace, inputs: Sequence[Array]) -> None:
        self.operation = operation
        self._inputs = inputs
        self.attrs: Mapping[str, Any] = operation.attrs
        self.trace = trace
        self.is_widened = _is_widened(operation)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the first result. In exports, a size that the operand `shape` has may be symbolic.

        Raise `NotLoweredError` if a size is unknown.
        """
        shape, names = self.operation.outputs[0].shape, self.operation.op.input_names
        if shape is not None and None not in shape:
            return shape  # type: ignore[return-value]
        place = next((i for i, name in enumerate(names) if name in ("shape", "dims")), None)
        sizes: Any = None if place is None else self._inputs[place]
        if not symbolic_sizes.is_sizes(sizes):
            raise NotLoweredError("the shape of its result must be known when the program is compiled")
        return tuple(sizes)

    @property
    def is_empty(self) -> bool:
        """Return whether the first result is known to have no elements."""
        return 0 in (self.operation.outputs[0].shape or ())

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype in which the first result is computed."""
        dtype = self.operation.outputs[0].dtype.numpy_dtype
        return np.dtype(np.float32) if self.is_widened and dtype in dtypes.NARROW else dtype

    def demand(self, holds: Array) -> None:
        """Add a check, which fails unless all elements of `holds` are true."""
        self.trace.demand(holds)


def _folded(operation: Operation, inputs: list[Array]) -> list[Array] | None:
    """Return the results of a small operation on constants, by its own kernel; None for other operations."""
    if operation.stateful or operation.regions or not inputs or operation.op is optimization_barrier:
        return None
    specs = [value.spec for value in operation.outputs]
    is_small = all(
        isinstance(spec, TensorType) and (num_elements(spec.shape) or _MOST) < _MOST for spec in specs
    )
    if not is_small or any(
        isinstance(x, jax.Array) or not isinstance(x, (np.ndarray, np.generic)) for x in inputs
    ):
        return None
    found = folded(operation, [Constant(np.asarray(x)) for x in inputs], specs)
    return None if found is None else [each.value for each in found]


def _refuses(operation: Operation, inputs: Sequence[Array]) -> bool:
    """Return whether the operation's own kernel refuses inputs of these shapes, whatever the values."""
    if operation.regions or not all(isinstance(operand.spec, TensorType) for operand in operation.inputs):
        return False
    if not all(isinstance(size, int) for x in inputs for size in np.shape(x)):
        return False  # in exports
    for fill in (0, 1):  # one of them is a valid index and no zero divisor
        arrays = [np.broadcast_to(np.array(fill, x.dtype), x.shape) if _is_traced(x) else x for x in inputs]
        try:
            operation.op.compute(*operation.op.grouped(arrays), **operation.attrs)
        except Exception:  # of any kernel, which may only refuse these values
            continue
        return False
    return True


_MOST = 64
"""Results with as many elements are left to XLA."""


def _is_traced(value: Array) -> bool:
    """Return whether a value is no constant that is known while the program is traced."""
    return not isinstance(value, (np.ndarray, np.generic))


def _read(operand: Operand, values: Mapping[Operand, Array]) -> Array:
    return operand.value if isinstance(operand, Constant) else values[operand]


_EXACT = narrow_floats.EXACT | {"cast"}


def _is_widened(operation: Operation) -> bool:
    """Return whether narrow floats are computed in float32, and rounded at the end, as in the other executors."""
    specs = [operand.spec for operand in (*operation.inputs, *operation.outputs)]
    is_plain = not operation.regions and all(isinstance(spec, TensorType) for spec in specs)
    return is_plain and operation.type not in _EXACT and narrow_floats.is_used_by(operation)


def _widened(value: Array) -> Array:
    if isinstance(value, (list, tuple)):
        return [_widened(each) for each in value]
    return value.astype(np.float32) if getattr(value, "dtype", None) in dtypes.NARROW else value


def _as_declared(found: Array, value: Value) -> Array:
    """Return a result with the dtype of its declaration."""
    if not isinstance(value.spec, TensorType):
        return found
    array = jnp.asarray(found, value.dtype.numpy_dtype)
    if not compatible(array.shape, value.shape):
        raise AssertionError(f"the rule returns {array.shape} in place of {value.spec}")
    return array


def reasons(graph: Graph) -> list[Reason]:
    """Return the reasons why operations of a graph and its regions are not run by XLA."""
    found = []
    for operation in graph.live_operations():
        text = refusal(operation.op)
        if text is not None:
            found.append(Reason(operation, text))
        for region in operation.regions if operation.op is not CUSTOM else ():
            found += reasons(region)
    return found
