"""Graphs as Python source: one function for the graph, one for each callee, regions as nested blocks.

What a region is given keeps its name inside. What it yields is stored right under the name of the result,
where nothing reads that name any more:

    m = cond odd, n                     if odd:
      then n                                m = n + int32_1
        t = add n, 1            ==>     else:
        yield t                             m = n
      else n
        yield n

Values that may be big are deleted after their last use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .. import dtypes
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.specs import RefSpec, Spec
from ..ops import narrow
from . import names
from .liveness import in_place, last_uses, may_be_big
from .module import Module, Place
from .owning import Owning, body_of, written
from .results import returns_many
from .shortcuts import is_scalar, shortcut

DEEPEST = 15
"""Blocks nested deeper become functions: Python allows 20 loops within each other."""

INLINE = 8
"""Callees of no more operations than this, none with regions, are written in place."""

Scope = dict[Value, str]


def compiled(graph: Graph, writer: type[Writer] | None = None) -> Module:
    """The source of the plan of a graph; `writer` may be a class that writes more."""
    module = Module(graph)
    for each, name in module.functions():
        (writer or Writer)(module, each, name, is_main=each is graph)
    for recipe in module.recipes.values():
        module.lines += ["", *recipe.lines]
    return module


class Writer:
    """Writes one function of a module."""

    def __init__(self, module: Module, graph: Graph, name: str, is_main: bool) -> None:
        self.module = module
        self.names = names.Names()
        self.owning: Owning = Owning(graph, (), module)
        self.buffers: Scope = {}
        scope = {value: self.fresh(value) for value in graph.inputs}
        if is_main and module.lines:
            self.line(0, "")
        self.line(0, f"def {name}({', '.join(scope.values())}):")
        if is_main:
            self._unpack(graph, scope)
        results = self.operations(graph, scope, 1, {})
        self.line(1, f"return {_tuple(results)}")

    def _unpack(self, graph: Graph, scope: Scope) -> None:
        """Scalars arrive as arrays of rank 0."""
        for value in graph.inputs:
            if isinstance(value.spec, Spec) and value.shape == () and value.dtype is not dtypes.string:
                self.line(1, f"{scope[value]} = {scope[value]}[()]")

    def fresh(self, value: Value) -> str:
        return self.names.unique(names.local(value.name))

    def line(self, depth: int, text: str, place: Place | None = None) -> None:
        self.module.lines.append("    " * depth + text)
        if place is not None:
            self.module.places[len(self.module.lines)] = place

    def text(self, operand: Operand, scope: Scope) -> str:
        return self.module.constant(operand.value) if isinstance(operand, Constant) else scope[operand]

    def operations(
        self, graph: Graph, scope: Scope, depth: int, wanted: Scope, owning: Owning | None = None
    ) -> list[str]:
        """Write the live operations of `graph`; the texts of its outputs.

        `scope` has the names of its inputs; `wanted` those that some of its values must be stored under.
        """
        live = graph.live_operations()
        dying = last_uses(graph, live)
        outer, self.owning = self.owning, owning or Owning(graph, live, self.module)
        for operation, dead in zip(live, dying, strict=True):
            for value in operation.outputs:
                scope[value] = wanted.get(value) or self.fresh(value)
            self.operation(operation, scope, depth, dead)
            self.delete([scope[value] for value in dead], depth)
        self.owning = outer
        return [self.text(operand, scope) for operand in graph.outputs]

    def delete(self, dead: Sequence[str], depth: int) -> None:
        if dead:
            self.line(depth, f"del {', '.join(dead)}")

    def operation(self, operation: Operation, scope: Scope, depth: int, dead: list[Value]) -> None:
        inputs = [self.text(operand, scope) for operand in operation.inputs]
        targets = [scope[value] for value in operation.outputs]
        if operation.type == "while":
            early = self._dead_state(operation, dead, scope)
            self._while(operation, inputs, targets, depth, early)
            dead[:] = [value for value in dead if scope[value] not in early]
        elif operation.type == "fused":
            self._fused(operation, inputs, targets, depth)
        elif operation.type in _STRUCTURES:
            _STRUCTURES[operation.type](self, operation, inputs, targets, depth)
        else:
            text = self._into(operation, inputs, targets, scope) or self._computation(
                operation, inputs, targets
            )
            self.line(depth, text, (operation, tuple(inputs)))

    def _into(self, operation: Operation, inputs: list[str], targets: list[str], scope: Scope) -> str | None:
        """The operation computed into an array that is there already, if there is one."""
        if len(operation.outputs) != 1:
            return None
        (value,) = operation.outputs
        old = self.owning.into.get(value)
        out = self.buffers.get(value) if old is None else self.text(old, scope)
        text = None if out is None else written(operation)
        return None if text is None else f"{targets[0]} = {text.format(*inputs, o=out)}"

    def _computation(self, operation: Operation, inputs: list[str], targets: list[str]) -> str:
        op = operation.op
        expression = None if narrow.is_used_by(operation) else shortcut(operation)
        if expression is not None:
            return f"{targets[0]} = {self._filled(expression, operation, inputs)}"
        if op.expression is not None and _one_dtype(operation):
            text = op.expression.format(*inputs)
        else:
            text = self.module.call(operation, inputs)
            if len(targets) == 1 and not returns_many(op) and is_scalar(operation.outputs[0].spec):
                text += "[()]"  # a kernel such as that of reshape gives an array of rank 0
        if not targets:
            return text
        if len(targets) == 1 and not returns_many(op):
            return f"{targets[0]} = {text}"
        return f"{_tuple(targets)} = {text}"

    def _filled(self, expression: str, operation: Operation, inputs: list[str]) -> str:
        holes = {}
        if "{kernel}" in expression:
            holes["kernel"] = self.module.kernel(operation)
        if "{type}" in expression:
            holes["type"] = self.module.scalar_type(operation.outputs[0].dtype)
        return expression.format(*inputs, **holes)

    def _cond(self, operation: Operation, inputs: list[str], targets: list[str], depth: int) -> None:
        then, orelse = operation.regions
        self.line(depth, f"if {inputs[0]}:", (operation, (inputs[0],)))
        self._branch(then, inputs[1:], targets, depth + 1)
        if targets or orelse.stateful:
            self.line(depth, "else:")
            self._branch(orelse, inputs[1:], targets, depth + 1)

    def _switch(self, operation: Operation, inputs: list[str], targets: list[str], depth: int) -> None:
        self.line(depth, f"match int({inputs[0]}):", (operation, (inputs[0],)))
        for number, region in enumerate(operation.regions):
            last = number == len(operation.regions) - 1
            self.line(depth + 1, f"case {'_' if last else number}:")
            self._branch(region, inputs[1:], targets, depth + 2)

    def _call(self, operation: Operation, inputs: list[str], targets: list[str], depth: int) -> None:
        (callee,) = operation.regions
        small = len(callee.operations) <= INLINE and not any(inner.regions for inner in callee.operations)
        self._branch(callee, inputs, targets, depth, inline=small, empty="")

    def _fused(self, operation: Operation, inputs: list[str], targets: list[str], depth: int) -> None:
        # A failure inside is placed on the lines of the function for the whole, which runs then.
        taken = [self.owning.into.get(value) for value in operation.outputs]
        into = [None if old is None else operation.inputs.index(old) for old in taken]
        self.line(depth, f"{_tuple(targets)} = {self.module.fusion(operation, into)}({', '.join(inputs)})")

    def _branch(
        self,
        region: Graph,
        inputs: list[str],
        targets: list[str],
        depth: int,
        inline: bool = True,
        empty: str = "pass",
    ) -> None:
        """Write a region whose results go to `targets`, names that nobody reads before."""
        start = len(self.module.lines)
        if not inline or depth > DEEPEST:
            call = f"{self.module.function(region)}({', '.join(inputs)})"
            self.line(depth, f"{_tuple(targets)} = {call}" if targets else call)
            return
        scope = dict(zip(region.inputs, inputs, strict=True))
        made = {value for operation in region.operations for value in operation.outputs}
        wanted: Scope = {}
        for output, target in zip(region.outputs, targets, strict=True):
            if isinstance(output, Value) and output in made:
                wanted.setdefault(output, target)
        results = self.operations(region, scope, depth, wanted)
        self._assign(targets, results, depth)
        if len(self.module.lines) == start and empty:
            self.line(depth, empty)

    def _assign(self, targets: Sequence[str], results: Sequence[str], depth: int) -> None:
        """Assign in parallel what is not in its place already."""
        pairs = [pair for pair in zip(targets, results, strict=True) if pair[0] != pair[1]]
        if pairs:
            self.line(depth, f"{', '.join(t for t, _ in pairs)} = {', '.join(r for _, r in pairs)}")

    def _dead_state(self, operation: Operation, dead: list[Value], scope: Scope) -> list[str]:
        """The initial values that nobody reads once the loop has its own names for them."""
        count = len(operation.outputs)
        invariants = set(operation.inputs[count:])
        initial = set(operation.inputs[:count])
        return [scope[value] for value in dead if value in initial and value not in invariants]

    def _while(
        self, operation: Operation, inputs: list[str], targets: list[str], depth: int, early: list[str]
    ) -> None:
        test, body = operation.regions
        state = [*targets, *inputs[len(targets) :]]
        self._assign(targets, inputs[: len(targets)], depth)
        self.delete(early, depth)
        inside = self._prepare(operation, targets, depth)
        limit = operation.attrs.get("maximum_iterations")
        self.line(depth, "while True:" if limit is None else f"for _ in range({limit}):")
        go = self._region(test, state, depth + 1, {})
        self.line(depth + 1, f"if not {go[0]}:", (operation, (go[0],)))
        self.line(depth + 2, "break")
        wanted = {} if depth + 1 > DEEPEST else in_place(body, targets)
        results = self._region(body, state, depth + 1, wanted, inside)
        self._assign(targets, results, depth + 1)
        spent = [
            name
            for value, name in zip(body.outputs, results, strict=True)
            if isinstance(value, Value) and name not in state and may_be_big(value)
        ]
        self.delete(list(dict.fromkeys(spent)), depth + 1)

    def _prepare(self, operation: Operation, targets: list[str], depth: int) -> Owning | None:
        """Make what a loop works in: copies of state that it may not change, and buffers; what its body owns."""
        owned = self.owning.states.get(operation, frozenset())
        for number in sorted(owned):
            if not self.owning.dies(operation.inputs[number], operation):
                self.line(depth, f"{targets[number]} = {targets[number]}.copy()")
        if depth + 1 > DEEPEST:
            return None
        inside = body_of(operation, owned, self.module)
        for value in inside.kept:
            name = self.buffers[value] = self.names.unique(f"{names.local(value.name)}_buffer")
            self.line(depth, f"{name} = np.empty({value.shape}, np.{value.dtype.numpy.name})")
        return inside

    def _region(
        self, region: Graph, inputs: list[str], depth: int, wanted: Scope, owning: Owning | None = None
    ) -> list[str]:
        """Write a region; the texts of its results."""
        if depth <= DEEPEST:
            scope = dict(zip(region.inputs, inputs, strict=True))
            return self.operations(region, scope, depth, wanted, owning)
        results = [self.names.unique(f"{region.name}_result") for _ in region.outputs]
        call = f"{self.module.function(region)}({', '.join(inputs)})"
        self.line(depth, f"{_tuple(results)} = {call}" if results else call)
        return results


_STRUCTURES: dict[str, Callable[[Writer, Operation, list[str], list[str], int], None]] = {
    "cond": Writer._cond,
    "switch": Writer._switch,
    "call": Writer._call,
}


def _tuple(texts: Sequence[str]) -> str:
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


_BY_KERNEL = frozenset({dtypes.string, *dtypes.NARROW_FLOATS})
"""Dtypes whose operators NumPy does not have."""


def _one_dtype(operation: Operation) -> bool:
    """Whether the operation's expression may stand for its kernel; of strings it gives bytes, and no array."""
    tensors = [operand for operand in operation.inputs if not isinstance(operand.spec, RefSpec)]
    if any(not isinstance(operand.spec, Spec) for operand in tensors):
        return False
    found = {operand.dtype for operand in tensors}
    return len(found) <= 1 and found.isdisjoint(_BY_KERNEL)
