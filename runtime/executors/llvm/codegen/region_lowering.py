"""Lower the operations of one graph in order, and decide when lazy values are materialized.

Rank-0 values are computed immediately, in registers. Other tensors are computed when they are needed in
memory, in one loop nest with all lazy values that they read at the same index (materialization.py). Values
that have later readers (use_lists.py) are stored by the same nest, unless they are cheap to compute again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .... import dtypes
from ....functionalize.errors import CannotCompileError, Reason
from ....ir.graph import Constant, Graph, Operand, Operation, Value
from ....ir.value_types import ListType, TensorType
from ....ops.math.cast import cast_op
from ..background_compiler import pausing
from ..diagnostics import BrokenRuleError
from .check_builder import TooLateError
from .dynamic_shapes import agreeing
from .dynamic_sizes import is_sized
from .early_outputs import Donation, EarlyOutputs
from .element_formulas import element_rule
from .function_builder import Emitter
from .kernel_calls import called, has_kernel
from .lazy_values import (
    Buffer,
    ConstantArray,
    Index,
    IndexMap,
    LazyElementwise,
    LazyValue,
    Scalar,
    is_heavier,
)
from .llvm_types import COMPILED, CONVERTED, STORED, constant
from .materialization import DEEPEST, HEAVIEST, Values
from .rule_registry import LOWERINGS, MOVING, SIZED, ElementRule, RefusedError, Site, load

_NONE: Mapping[int, LazyValue] = {}

_RESHAPING = {"expand_dims", "squeeze", "ensure_shape", "reshape", "identity", "stop_gradient"}
"""The operations whose results have the elements of their first operand."""


class Region(Values):
    """A graph that is being lowered; `inputs` are the nodes of its inputs."""

    def __init__(self, e: Emitter, graph: Graph, inputs: Sequence[LazyValue]) -> None:
        super().__init__(e, graph)
        self.graph = graph
        self.is_inner = False
        self.overwritten: set[int] = set()
        self._nodes: dict[Operand, LazyValue] = {}
        self._roots: dict[Operand, Operand] = {}  # the values of which others are a reshaped copy
        self._checked: set[tuple[Operand, int]] = set()
        for value, node in zip(graph.inputs, inputs, strict=True):
            self._nodes[value] = node
            self.readers.give(value, node)

    # Lowering in program order

    def run(
        self,
        targets: Sequence[Buffer | None] = (),
        donors: Mapping[int, LazyValue] = _NONE,
        donation: Donation = Donation.NEVER,
    ) -> list[LazyValue]:
        """Lower all operations. Outputs with a target are stored there; other tensors may stay lazy.

        The outputs with the numbers in `overwritten` are in the memory of the inputs that `donors` has for them.
        """
        live = self.graph.live_operations()
        early = self.early = EarlyOutputs(self, self.graph.outputs, targets, donors, donation, live)
        for operation in pausing(live):
            early.before(operation)
            nodes = [self.node(operand) for operand in operation.inputs]
            self.readers.begin(operation)
            try:
                with self.e.lowering(operation):
                    results = self._lowered(operation, nodes)
            except RefusedError as refusal:
                self.e.reasons.append(Reason(operation, str(refusal)))
                if not all(map(_can_be_nothing, operation.outputs)):
                    raise CannotCompileError(self.e.reasons) from refusal
                results = [_nothing(value) for value in operation.outputs]
            except (CannotCompileError, BrokenRuleError, TooLateError):
                raise
            except Exception as fault:
                raise BrokenRuleError(operation) from fault
            for value, node in zip(operation.outputs, results, strict=True):
                self._bind(value, node)
                if operation.type in _RESHAPING:
                    self._roots[value] = self._root(operation.inputs[0])
                node.maker = node.maker or operation
            early.after(operation, results)
            lazy = [node for node in results if node.is_lazy]
            self.readers.end(operation, nodes, lazy)
            for node in lazy:
                self.bounded(node)
        outputs = [self.node(operand) for operand in self.graph.outputs]
        early.finish(outputs)
        self.overwritten = early.overwritten
        return outputs

    def _lowered(self, operation: Operation, nodes: list[LazyValue]) -> list[LazyValue]:
        for value in operation.outputs:
            if isinstance(value.spec, TensorType) and value.dtype not in STORED:
                raise RefusedError(f"{value.dtype.name} is not compiled")
        try:
            return self._by_rule(operation, nodes)
        except RefusedError:
            if self.e.is_in_nest or not has_kernel(operation):
                raise
        return [self._settled(node) for node in called(self, operation, nodes)]

    def _by_rule(self, operation: Operation, nodes: list[LazyValue]) -> list[LazyValue]:
        load(operation.type)
        _demand_computed(operation)
        rule = element_rule(operation.op)
        if rule is not None:
            return [self._elementwise(operation, rule, nodes)]
        lower = LOWERINGS.get(operation.type)
        if lower is None:
            raise RefusedError(
                "it has effects outside of the graph"
                if operation.stateful
                else "there is no native code for it"
            )
        if operation.type not in SIZED:
            _demand_known(operation, nodes)
        results = lower(self, operation, *nodes)
        results = results if isinstance(results, list) else [results]
        return [self._settled(node) for node in results]

    def _settled(self, node: LazyValue) -> LazyValue:
        """Compute a lazy rank-0 node."""
        if node.is_lazy and not node.shape:
            return self.scalar(node)
        return node

    def _elementwise(self, operation: Operation, rule: ElementRule, nodes: list[LazyValue]) -> LazyValue:
        refusal = rule.takes(operation)
        if refusal is not None:
            raise RefusedError(refusal)
        (value,) = operation.outputs
        site = Site(operation.type, nodes[0].dtype, value.dtype, operation.attrs, rule.may_fail(operation))
        shape: Any = value.shape
        if None in shape or any(is_sized(node.shape) for node in nodes):
            shape, nodes = agreeing(self.e, nodes, shape)
        node = self.computed(rule.write, site, value.dtype, shape, nodes, operation.op.cost)
        if operation.stateful and node.is_lazy:
            self.stored(
                node
            )  # a check fails also if nothing reads its result, or only a branch that does not run
        return node

    def computed(
        self,
        write: Any,
        site: Site,
        dtype: dtypes.DType,
        shape: tuple[int, ...],
        nodes: Sequence[LazyValue],
        cost: int = 1,
    ) -> LazyValue:
        """Return an elementwise operation on `nodes`."""
        node = LazyElementwise(dtype, shape, write, site, list(nodes), cost)
        return self._settled(node)

    def bounded(self, node: LazyValue) -> LazyValue:
        """Return `node`, materialized if the expression that computes it is deep or heavy."""
        if node.is_lazy and (node.depth > DEEPEST or is_heavier(node, HEAVIEST)):
            return self.stored(node)
        return node

    def node(self, operand: Operand) -> LazyValue:
        """Return the node of an operand."""
        found = self._nodes.get(operand)
        if found is None:
            assert isinstance(operand, Constant), operand
            if operand.dtype not in STORED:  # read only by what is not compiled, such as messages
                found = self._nodes[operand] = LazyValue(operand.dtype, operand.shape)
                return found
            found = self._nodes[operand] = ConstantArray(operand.value)
            found = found if found.shape else self._settled_known(found, operand)
        return found

    def _settled_known(self, node: LazyValue, operand: Operand) -> LazyValue:
        scalar = self._nodes[operand] = Scalar(node.dtype, node.at(self.e, Index((), ())))
        return scalar

    def _bind(self, value: Value, node: LazyValue) -> None:
        self._nodes[value] = node
        self.readers.bind(value, node)

    def _root(self, operand: Operand) -> Operand:
        return self._roots.get(operand, operand)

    def note_checked(self, operand: Operand, size: int) -> None:
        """Record that all indices in a value are known to be less than `size`, and not negative."""
        self._checked.add((self._root(operand), size))

    def has_checked(self, operand: Operand, size: int) -> bool:
        """Return whether all indices in a value are known to be less than `size`, and not negative."""
        return (self._root(operand), size) in self._checked

    def leave(self, operation: Operation, nodes: Iterable[LazyValue]) -> None:
        """Record that `operation` has read its operands."""
        self.readers.leave(operation, nodes)

    def own(self, operation: Operation, node: LazyValue) -> Buffer:
        """Return a buffer with the elements of `node` that `operation` may overwrite: a copy if others read it."""
        found = self.stored(node)
        if found.is_own and self.is_given_up(operation, node):
            return found
        return self.stored(node, Buffer.new(self.e, node.dtype, node.shape))

    def inner(self, graph: Graph, inputs: Sequence[LazyValue]) -> Region:
        """Return the lowering state of a region of one of this graph's operations."""
        region = Region(self.e, graph, inputs)
        region._stored = self._stored
        region.is_inner = True
        return region

    def is_given_up(self, operation: Operation, node: LazyValue) -> bool:
        """Return whether `operation` may overwrite the memory of `node`: nothing reads or aliases the memory later."""
        return self.is_last_read(operation, node) and self.readers.is_alone(operation, node)

    def is_last_read(self, operation: Operation, node: LazyValue) -> bool:
        """Return whether `operation` is the last reader of `node`, and reads it once only."""
        if sum(self._nodes.get(operand) is node for operand in operation.inputs) > 1:
            return False
        return self.readers.is_last(operation, node)


def _demand_computed(operation: Operation) -> None:
    """Refuse dtypes that LLVM cannot compute with, except in rules that only move or convert elements.

    Rules of lists convert elements where they add some.
    """
    if operation.type in MOVING:
        return
    values = (*operation.inputs, *operation.outputs)
    converts = operation.op is cast_op or any(isinstance(value.spec, ListType) for value in values)
    taken = CONVERTED if converts else COMPILED
    for operand in values:
        dtype = getattr(operand.spec, "dtype", None)
        if dtype is not None and dtype not in taken:
            raise RefusedError(f"{dtype.name} is not compiled")


def _demand_known(operation: Operation, nodes: Sequence[LazyValue]) -> None:
    """Refuse dynamic sizes."""
    for operand, node in zip(operation.inputs, nodes, strict=True):
        if is_sized(node.shape):
            name = f"`{operand.name}`" if isinstance(operand, Value) else "an operand"
            raise RefusedError(f"the size of {name}, {operand.spec}, depends on values")
    for value in operation.outputs:
        if isinstance(value.spec, TensorType) and (value.shape is None or None in value.shape):
            raise RefusedError(f"the shape of its result, {value.spec}, depends on values")


def _can_be_nothing(value: Value) -> bool:
    return isinstance(value.spec, TensorType) and value.dtype in STORED and value.shape is not None


def _nothing(value: Value) -> LazyValue:
    """Return a placeholder for the result of a refused operation, so that the remaining operations can be checked."""
    shape = tuple(size or 0 for size in value.shape or ())
    number = Scalar(value.dtype, constant(value.dtype, 0))
    return IndexMap(value.dtype, shape, [], lambda e, index: number.value, cost=0) if shape else number
