"""Generate a plan: one Python function for the graph and one for each callee.

    b = exp a                        b = op_exp(a)
    c = add b, a             ==>     c = b + a
    d = reverse c, [0]               del b
                                     d = op_reverse(c, constant)

Values that may be big are deleted after their last use. Regions become nested blocks, see `region_codegen`.
"""

from __future__ import annotations

import functools

from ... import dtypes
from ...ir.graph import Constant, Graph, Operation, Value
from ...ir.structured import is_fused, is_loop
from ...ir.value_types import TensorType, VariableType
from ...kernels.matrix_products import multiply
from ...ops.framework import narrow_floats
from ...ops.framework.kernel_results import returns_many
from ...ops.state.compare_and_swap import update_into
from ...ops.state.own_arrays import own_array
from ...ops.state.print_and_assert import assert_true
from . import identifiers
from .buffer_donation import BufferOwnership, updates
from .list_ownership import changing, may_write
from .liveness import last_uses
from .peephole import is_large_product, is_scalar, shortcut
from .region_codegen import STRUCTURES, Regions
from .source_module import PlanSource, Scope
from .source_writer import tuple_of
from .unboxing.deferred_conditions import deferred
from .unboxing.scalar_statements import statement, takes_number


def compiled(graph: Graph, writer: type[PlanCodegen] | None = None) -> PlanSource:
    """Return the source module of the plan of `graph`; `writer` may be a subclass of `PlanCodegen`."""
    module = PlanSource(graph)
    for each, name in module.functions():
        (writer or PlanCodegen)(module, each, name, is_main=each is graph)
    for recipe in module.recipes.values():
        module.lines += ["", *recipe.lines]
    return module


class PlanCodegen(Regions):
    """The code generator for one function of a module."""

    def __init__(self, module: PlanSource, graph: Graph, name: str, is_main: bool) -> None:
        super().__init__(module, graph)
        self.deferred: set[Operation] = set()
        self.graph = graph
        scope = {value: self.fresh(value) for value in graph.inputs}
        if is_main and module.lines:
            self.line(0, "")
        self.line(0, f"def {name}({', '.join(scope.values())}):")
        if is_main:
            self._unpack(graph, scope)
        self.operations(graph, scope, 1, {})
        self.line(1, f"return {tuple_of([self.text(operand, scope) for operand in graph.outputs])}")

    def _unpack(self, graph: Graph, scope: Scope) -> None:
        """Emit code that turns scalars, which arrive as arrays of rank 0, into NumPy scalars."""
        for value in graph.inputs:
            if isinstance(value.spec, TensorType) and value.shape == () and value.dtype is not dtypes.string:
                self.line(1, f"{scope[value]} = {scope[value]}[()]")

    def operations(
        self,
        graph: Graph,
        scope: Scope,
        depth: int,
        wanted: Scope,
        owning: BufferOwnership | None = None,
        is_test: bool = False,
    ) -> None:
        """Emit the live operations of `graph`, and add the names of their results to `scope`.

        `scope` has the names of the inputs. `wanted` has the names under which some values must be stored.
        """
        live = graph.live_operations()
        dying = last_uses(graph, live)
        outer, self.owning = self.owning, owning or BufferOwnership(graph, live, self.module)
        self.deferred |= deferred(self.numbers, graph, is_test)
        for operation, dead in zip(live, dying, strict=True):
            for value in operation.outputs:
                name = wanted.get(value) or (dead and _inherited(operation, dead, scope))
                scope[value] = name or self.fresh(value)
            self.operation(operation, scope, depth, dead)
            if dead:
                self.delete([scope[value] for value in dead], depth)
        self.owning = outer

    def operation(self, operation: Operation, scope: Scope, depth: int, dead: list[Value]) -> None:
        targets = [scope[value] for value in operation.outputs]
        if operation.regions and self._structure(operation, scope, targets, depth, dead):
            return
        if targets and operation.outputs[0] in self.numbers:
            self._number(operation, scope, targets[0], depth)
        else:
            inputs, places = self._inputs(operation, scope), self._places(operation, scope, depth)
            place = places.get(operation.outputs[0]) if places else None
            text = self._into(operation, inputs, targets, scope, place) or self._computation(
                operation, inputs, targets
            )
            if operation.op is assert_true:
                text = self._asked(operation, scope) + text
            self.line(depth, text, (operation, scope))
            self.delete([*places.values()], depth)

    def _structure(
        self, operation: Operation, scope: Scope, targets: list[str], depth: int, dead: list[Value]
    ) -> bool:
        """Emit an operation with regions; return False if its kernel computes the operation as a whole."""
        if is_loop(operation):
            early = self._dead_state(operation, dead, scope)
            self.while_loop(operation, scope, targets, depth, early)
            dead[:] = [value for value in dead if scope[value] not in early]
        elif operation.op in STRUCTURES:
            STRUCTURES[operation.op](self, operation, scope, targets, depth)
        elif is_fused(operation):
            self._fused(operation, scope, targets, depth)
        else:
            return False
        return True

    def _inputs(self, operation: Operation, scope: Scope) -> list[str]:
        """Return the operands as source, as the operation takes them."""
        if not self.numbers:
            constant = self.module.constant
            return [
                constant(operand.value) if type(operand) is Constant else scope[operand]  # type: ignore[index]
                for operand in operation.inputs
            ]
        return [
            (self.either if takes_number(operation, number) else self.text)(operand, scope)
            for number, operand in enumerate(operation.inputs)
        ]

    @functools.cached_property
    def _changing(self) -> set[Operation]:
        return changing(self.graph)

    def _asked(self, operation: Operation, scope: Scope) -> str:
        """Return the guard of an assertion about an unboxed number: the kernel is called only if it fails."""
        is_asked = operation.inputs[0] in self.numbers
        return f"if not {self.either(operation.inputs[0], scope)}: " if is_asked else ""

    def _number(self, operation: Operation, scope: Scope, target: str, depth: int) -> None:
        operands = [
            self.text(operand, scope) if operand.shape else self.number(operand, scope)
            for operand in operation.inputs
        ]
        text, wrapping = statement(self.module, self.numbers, operation, operands, target)
        if operation in self.deferred:
            scope[operation.outputs[0]] = f"({text})"
            return
        self.line(depth, f"{target} = {text}", (operation, scope))
        if wrapping is not None:
            self.line(depth, f"if {wrapping[0]}:")
            self.line(depth + 1, f"{target} = {wrapping[1]}")

    def _places(self, operation: Operation, scope: Scope, depth: int) -> dict[Value, str]:
        """Emit names of the arrays of variables that results may overwrite; a run may find that there is none."""
        places = {}
        for value in operation.outputs:
            if value in self.owning.assigned:
                operands = (*self.owning.assigned[value], self.owning.into.get(value))
                given = ["None" if operand is None else self.text(operand, scope) for operand in operands]
                places[value] = self.names.unique(f"{identifiers.local(value.name)}_place")
                found = self.module.name_of("own_array", "op_own_array", own_array)
                self.line(depth, f"{places[value]} = {found}({', '.join(given)})")
        return places

    def _into(
        self, operation: Operation, inputs: list[str], targets: list[str], scope: Scope, place: str | None
    ) -> str | None:
        """Return the source that computes the operation into an existing array; None if there is none."""
        if len(operation.outputs) != 1 or not (self.owning.into or place):
            return None
        (value,) = operation.outputs
        old = self.owning.into.get(value)
        out = place or (None if old is None else self.text(old, scope))
        text = None if out is None else self.owning.written(operation)
        if text is not None and is_large_product(operation):
            text = text.replace("np.matmul", self._product()).replace("out=", "")
        if text is not None and updates(operation):
            text = text.replace(
                "update_into", self.module.name_of("update_into", "op_update_into", update_into)
            )
        return None if text is None else f"{targets[0]} = {text.format(*inputs, o=out)}"

    def _product(self) -> str:
        return self.module.name_of("multiply", "op_multiply", multiply)

    def _computation(self, operation: Operation, inputs: list[str], targets: list[str]) -> str:
        op = operation.op
        expression = shortcut(operation)
        if expression is not None and narrow_floats.is_used_by(operation):
            expression = None
        if expression is not None and is_large_product(operation):
            expression = f"{self._product()}({expression.replace(' @', ',')})"
        if expression is not None:
            return f"{targets[0]} = {self._filled(expression, operation, inputs)}"
        if op.expression is not None and _one_dtype(operation):
            text = op.expression.format(*inputs)
        else:
            text = self.module.call(operation, inputs, may_write(operation) and operation in self._changing)
            if len(targets) == 1 and not returns_many(op) and is_scalar(operation.outputs[0].spec):
                text += "[()]"  # kernels such as that of reshape return an array of rank 0
        if not targets:
            return text
        if len(targets) == 1 and not returns_many(op):
            return f"{targets[0]} = {text}"
        return f"{tuple_of(targets)} = {text}"

    def _filled(self, expression: str, operation: Operation, inputs: list[str]) -> str:
        holes = {}
        if "{kernel}" in expression:
            holes["kernel"] = self.module.kernel(operation)
        if "{type}" in expression:
            holes["type"] = self.module.scalar_type(operation.outputs[0].dtype)
        return expression.format(*inputs, **holes)

    def _fused(self, operation: Operation, scope: Scope, targets: list[str], depth: int) -> None:
        # If a block fails, the function of the whole operation runs, so that its lines give the location.
        places = self._places(operation, scope, depth)
        given = [*operation.inputs, *places]
        taken = [value if value in places else self.owning.into.get(value) for value in operation.outputs]
        into = [None if old is None else given.index(old) for old in taken]
        inputs = [*(self.text(operand, scope) for operand in operation.inputs), *places.values()]
        self.line(depth, f"{tuple_of(targets)} = {self.module.fusion(operation, into)}({', '.join(inputs)})")
        self.delete([*places.values()], depth)


def _inherited(operation: Operation, dead: list[Value], scope: Scope) -> str | None:
    """Return the variable of a dying operand that has the result's name, as in `x = x * y`."""
    if operation.regions or len(operation.outputs) != 1:
        return None
    (result,) = operation.outputs
    for value in dead:
        if value.name == result.name and value is not result:
            dead.remove(value)
            return scope[value]
    return None


_BY_KERNEL = frozenset({dtypes.string, *dtypes.NARROW_FLOATS})
"""Dtypes for which NumPy has no operators."""


def _one_dtype(operation: Operation) -> bool:
    """Return whether the operation's Python expression can replace its kernel.

    The dtypes of the operands must be equal. The expression would give `bytes` for strings, not an array.
    """
    found = None
    for operand in operation.inputs:
        spec = operand.spec
        if isinstance(spec, TensorType):
            if spec.dtype in _BY_KERNEL or (found is not None and spec.dtype is not found):
                return False
            found = spec.dtype
        elif not isinstance(spec, VariableType):
            return False
    return True
