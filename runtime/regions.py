"""Tracing Python functions into the regions of `cond`, `switch` and `while`.

A branch is called inside a builder of its own, on the very tensors of the surroundings: what it uses is captured
and becomes an input of the region. A loop body is called on new inputs, again and again until what comes
out fits what goes in: Python numbers adapt their dtype, shapes that grow become unknown, and a variable that has its first value
in the loop is carried with a flag.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agc.autograph.staging import Maybe, Pending, Undefined, rotated

from . import dtypes, leaves, nest, shapes
from .diagnostics import staging_error
from .ir.builder import Builder, current
from .ir.graph import Graph, Operand, Operation
from .ir.specs import AnySpec, ArraySpec, RefSpec, Spec
from .ops.declare import Op
from .ops.structure import WHILE
from .tensor import SymbolicTensor, Tensor, WeakDtype

MAX_ATTEMPTS = 12


def active() -> Builder:
    builder = current()
    assert builder is not None, "regions exist in graphs only"
    return builder


# --- branches -----------------------------------------------------------------------------------------------


def branches(op: Op, selector: Any, functions: Sequence[Callable[[], tuple[Any, ...]]], names: Sequence[str]) -> Any:
    """Record `cond` or `switch`; each function returns one result for each of `names`."""
    outer = active()
    labels = ("then", "else") if len(functions) == 2 else tuple(f"branch_{i}" for i in range(len(functions)))
    builders, results = [], []
    for label, function in zip(labels, functions, strict=True):
        builder = Builder(label, outer)
        with builder:
            results.append(list(function()))
        builders.append(builder)
    for i, name in enumerate(names):
        column = _agreed(name, [result[i] for result in results])
        for result, value in zip(results, column, strict=True):
            result[i] = value
    return _record_branches(op, selector, builders, results, names)


def _agreed(name: str, values: list[Any]) -> list[Any]:
    """The values that the branches give one variable, brought to one structure."""
    real = [value for value in values if not isinstance(value, Undefined) or isinstance(value, Maybe)]
    if not real:
        return values
    agreed = [_blank_like(real[0]) if isinstance(value, Pending) else value for value in values]
    if any(isinstance(value, Undefined) for value in agreed):
        agreed = [_as_maybe(name, value, real[0]) for value in agreed]
    for other in agreed[1:]:
        if not leaves.same_structure(agreed[0], other):
            raise staging_error(
                "AGC202",
                f"the branches give `{name}` different structures",
                notes=[f"one gives {_shown(values[0])}", f"the other gives {_shown(other)}"],
                why="a value that a graph decides on has one structure, whichever branch runs",
                fix=f"make `{name}` the same kind of value in every branch",
            )
    return agreed


def _shown(value: Any) -> str:
    return leaves.describe(value) if not nest.is_nested(value) else str(nest.map_structure(leaves.describe, value))


def _as_maybe(name: str, value: Any, like: Any) -> Maybe:
    if isinstance(value, Maybe):
        return value
    if not isinstance(value, Undefined):
        return Maybe(name, value, True)
    return Maybe(name, _blank_like(like.value if isinstance(like, Maybe) else like), False)


def _blank_like(value: Any) -> Any:
    """A value of the same structure and types that nobody reads."""
    return nest.pack_sequence_as(value, [_blank(leaf) for leaf in nest.flatten(value)])


def _blank(leaf: Any) -> Any:
    if not leaves.is_carried(leaf) or leaves.is_weak(leaf):
        return leaf
    return leaves.zeros(leaves.spec_of(leaves.carried(leaf)))


def _record_branches(
    op: Op, selector: Any, builders: list[Builder], results: list[list[Any]], names: Sequence[str]
) -> tuple[Any, ...]:
    outer = active()
    paths = [path for name, value in zip(names, results[0], strict=True) for path, _ in leaves.flatten_named(name, value)]
    rows = [[leaf for value in result for leaf in leaves.flatten(value)] for result in results]
    outputs: list[list[Operand]] = [[] for _ in builders]
    specs: list[AnySpec] = []
    flat: list[Any] = []
    for path, column in zip(paths, zip(*rows, strict=True), strict=True):
        static = _static_leaf(path, column)
        if static is not None:
            flat.append(static)
            continue
        operands, spec = _unified(path, builders, column)
        for output, operand in zip(outputs, operands, strict=True):
            output.append(operand)
        specs.append(spec)
        flat.append(column[0])
    carried = [i for i, leaf in enumerate(flat) if type(leaf) is not _Static]
    regions, captured = closed(builders, outputs)
    operands = [outer.operand(selector), *captured]
    values = outer.add(op, operands, {}, specs, regions, [_hint(paths[i]) for i in carried])
    for i, value in zip(carried, values, strict=True):
        flat[i] = leaves.rewrapped(flat[i], value, outer)
    return _repacked(results[0], [leaf.value if type(leaf) is _Static else leaf for leaf in flat])


class _Static:
    """A Python object that is the same in every branch."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _static_leaf(path: str, column: Sequence[Any]) -> _Static | None:
    first = column[0]
    if all(leaves.same_static(first, other) for other in column[1:]) and (
        not leaves.is_carried(first) or leaves.is_weak(first)
    ):
        return _Static(first)
    for leaf in column:
        if not leaves.can_be_carried(leaf):
            different = " and ".join(dict.fromkeys(leaves.describe(leaf) for leaf in column))
            raise staging_error(
                "AGC203",
                f"the branches give `{path}` values that a graph cannot choose between: {different}",
                why="the graph decides which branch runs, so both must give a tensor, or the same Python object",
                fix=f"give `{path}` a tensor of one dtype in every branch"
                + (", for instance return a value on every path" if path == "result" else ""),
            )
    return None


def _unified(path: str, builders: list[Builder], column: Sequence[Any]) -> tuple[list[Operand], AnySpec]:
    """One variable's values in the graphs of the branches, and the spec that covers them."""
    hint = next((dtype for dtype in map(leaves.dtype_of, column) if dtype is not None), _widest(column))
    operands: list[Operand] = []
    for builder, leaf in zip(builders, column, strict=True):
        with builder:
            try:
                argument = leaves.carried(leaf, hint)
            except TypeError:
                raise _dtypes_differ(path, column) from None
        operands.append(leaves.operand_in(builder, argument))
    spec = operands[0].spec
    for operand in operands[1:]:
        common = _common(spec, operand.spec)
        if common is None:
            raise _dtypes_differ(path, column)
        spec = common
    return operands, spec


def _widest(column: Sequence[Any]) -> dtypes.DType | None:
    """The dtype of Python numbers that meet: the one that holds them all."""
    numbers = [leaf for leaf in column if leaves.is_weak(leaf)]
    order = [bool, int, float, complex]
    widest = max((order.index(type(leaf)) for leaf in numbers if type(leaf) in order), default=None)
    mixed = {type(leaf) is bool for leaf in numbers} == {True, False}
    return None if widest is None or mixed else dtypes.as_dtype(order[widest])


def _common(one: AnySpec, other: AnySpec) -> AnySpec | None:
    """The most precise spec that covers both, None when their kinds or dtypes differ."""
    if isinstance(one, Spec) and isinstance(other, Spec) and one.dtype is other.dtype:
        return one.with_shape(shapes.generalise(one.shape, other.shape))
    if isinstance(one, ArraySpec) and isinstance(other, ArraySpec):
        element = _common(one.element, other.element)
        return ArraySpec(element) if isinstance(element, Spec) else None
    return one if isinstance(one, RefSpec) and one == other else None


def _dtypes_differ(path: str, column: Sequence[Any]) -> Exception:
    given = " and ".join(leaves.describe(leaf) for leaf in column)
    weak = next((leaf for leaf in column if isinstance(leaf, SymbolicTensor) and leaf._is_weak), None)
    others = {leaf.dtype for leaf in column if isinstance(leaf, Tensor)} - {None if weak is None else weak.dtype}
    if weak is not None and len(others) == 1:
        return WeakDtype(f"the branches give `{path}` different dtypes", weak, others.pop())
    return staging_error(
        "AGC201",
        f"the branches give `{path}` different types: {given}",
        why="a value in a graph has one dtype, and two tensors are never promoted silently",
        fix=f"make them agree, for instance with tf.cast({path}, ...) in one of the branches",
    )


def closed(builders: Sequence[Builder], outputs: Sequence[Sequence[Operand]]) -> tuple[tuple[Graph, ...], list[Operand]]:
    """The finished regions, all with the same captured inputs, and what the surroundings pass in for them."""
    captured = list(dict.fromkeys(outer for builder in builders for outer in builder.captured_outer()))
    regions = []
    for builder, results in zip(builders, outputs, strict=True):
        own = [value for value in builder.inputs if value not in set(builder.captures.values())]
        given = [builder.input_for(outer) for outer in captured]
        regions.append(builder.finish(results, (*own, *given)))
    return tuple(regions), captured  # type: ignore[return-value]


def _repacked(like: Sequence[Any], flat: list[Any]) -> tuple[Any, ...]:
    packed = []
    for value in like:
        count = len(leaves.flatten(value))
        packed.append(leaves.packed(value, flat[:count]))
        flat = flat[count:]
    return tuple(packed)


def _hint(path: str) -> str:
    """A path as a name for the graph: `cell[0]` → `cell_0`."""
    return "".join(c if c.isalnum() else "_" for c in path).strip("_").replace("__", "_") or "value"


# --- loops --------------------------------------------------------------------------------------------------


class _Slot:
    """One leaf of a loop's state: its path, its initial value, and what is carried."""

    __slots__ = ("fixed", "initial", "path", "spec")

    def __init__(self, path: str, initial: Any, spec: AnySpec | None, fixed: bool = False) -> None:
        self.path = path
        self.initial = initial
        self.spec = spec  # None: static
        self.fixed = fixed  # the user said what the shape may be

    def is_weak(self) -> bool:
        """Whether the variable still has the dtype that its Python number has by itself."""
        if isinstance(self.initial, SymbolicTensor):
            return self.initial._is_weak
        return leaves.is_weak(self.initial) and leaves.spec_of(leaves.carried(self.initial)) == self.spec

    def starting(self, builder: Builder) -> Operand:
        hint = self.spec.dtype if isinstance(self.spec, Spec) else None
        return leaves.operand_in(builder, leaves.carried(self.initial, hint))


class Loop:
    """A `while` being traced: the state's slots, refined until the body maps them into themselves."""

    def __init__(
        self,
        test: Callable[..., Any],
        body: Callable[..., Any],
        state: Sequence[Any],
        names: Sequence[str],
        invariants: Sequence[Any] | None = None,
        first: Any = None,
    ) -> None:
        self.test, self.body, self.names = test, body, tuple(names)
        self.state = list(state)
        self.invariants = invariants
        self.first = first  # what the test gave for the initial state, if it was called already
        self.slots = self._slots()

    def _slots(self) -> list[_Slot]:
        slots = []
        for name, value in zip(self.names, self.state, strict=True):
            for path, leaf in leaves.flatten_named(name, value):
                spec = leaves.spec_of(leaves.carried(leaf)) if leaves.is_carried(leaf) else None
                slots.append(_Slot(path, leaf, spec))
        if self.invariants is not None:
            for slot, shape in zip(slots, self.invariants, strict=True):
                if shape is not None and isinstance(slot.spec, Spec):
                    slot.spec, slot.fixed = slot.spec.with_shape(shapes.as_dims(shape)), True
        return slots

    def record(self) -> tuple[Any, ...]:
        """Trace until the types settle, record the operation, and return the state after the loop."""
        for _ in range(MAX_ATTEMPTS):
            body = Builder("body", active())
            try:
                with body:
                    results = [*self.body(*self._arguments(body))]
                if not self._refined(results):
                    break
            except WeakDtype as error:
                self._start_with(error, body)
        else:
            raise staging_error(
                "AGC206",
                f"the types of {', '.join(self.names)} do not settle, however often the loop's body is traced",
                why="each iteration gives the state another type",
                fix="give the state its final dtypes and shapes before the loop",
            )
        test = Builder("test", active())
        with test:
            going = truth(self.test(*self._arguments(test)), "while")
        if self.first is not None:
            if any(operation.stateful for operation in test.operations):
                return self._rotated()
            active().discard(self.first)
        return self._finish(test, body, test.operand(going), self._yielded(results, body))

    def _rotated(self) -> tuple[Any, ...]:
        """The same loop for a test with effects, which must not happen once more for the initial state."""
        test, body, state = rotated(self.test, self.body, tuple(self.state), truth(self.first, "while"))
        return Loop(test, body, state, ("going", *self.names)).record()[1:]

    def _arguments(self, builder: Builder) -> tuple[Any, ...]:
        flat = [
            slot.initial if slot.spec is None else self._argument(slot, builder)
            for slot in self.slots
        ]
        return _repacked(self.state, flat)

    def _argument(self, slot: _Slot, builder: Builder) -> Any:
        assert slot.spec is not None
        value = builder.input(_hint(slot.path), slot.spec)
        argument = leaves.rewrapped(slot.initial, value, builder)
        if isinstance(argument, SymbolicTensor):
            argument._is_weak = slot.is_weak()
        return argument

    def _start_with(self, error: WeakDtype, body: Builder) -> None:
        """A Python number in the initial state takes the dtype that it met in the body."""
        at = next((i for i, value in enumerate(body.inputs) if value is error.tensor._value), None)
        carried = [slot for slot in self.slots if slot.spec is not None]
        if at is None or at >= len(carried):
            raise error
        slot = carried[at]
        if isinstance(slot.initial, SymbolicTensor):  # weak in the surrounding loop as well
            raise WeakDtype(str(error), slot.initial, error.dtype) from None
        wider = self._other_dtype(slot, Spec(error.dtype, ()))
        if wider is None:
            raise TypeError(str(error)) from None
        slot.spec = wider

    def _refined(self, results: list[Any]) -> bool:
        """Whether the slots had to change after this trace of the body."""
        changed = False
        for i, (name, before, after) in enumerate(zip(self.names, self.state, results, strict=True)):
            if isinstance(before, Maybe) and not isinstance(after, Maybe):
                results[i] = Maybe(name, after, True)
            elif isinstance(before, Pending) and not isinstance(after, Pending):
                self.state[i] = _blank_like(after)
                changed = True
            elif type(before) is Undefined and type(after) is not Undefined:
                self.state[i] = _as_maybe(name, before, after)
                changed = True
        if changed:
            self.slots = self._slots()
            return True
        for name, before, after in zip(self.names, self.state, results, strict=True):
            if not leaves.same_structure(before, after):
                raise staging_error(
                    "AGC205",
                    f"the loop changes the structure of `{name}`",
                    notes=[f"before the loop: {_shown(before)}", f"after an iteration: {_shown(after)}"],
                    why="a loop in a graph carries the same structure round and round",
                    fix="keep what grows in a tf.TensorArray, or make it a tensor whose shape grows",
                )
        after = [leaf for value in results for leaf in leaves.flatten(value)]
        return any([self._adapted(slot, leaf) for slot, leaf in zip(self.slots, after, strict=True)])

    def _adapted(self, slot: _Slot, leaf: Any) -> bool:
        """Make the slot fit what an iteration gives it; whether that changed it."""
        if slot.spec is None:
            if leaves.same_static(slot.initial, leaf):
                return False
            if leaves.can_be_carried(slot.initial) and leaves.can_be_carried(leaf):
                slot.initial = leaves.carried(slot.initial)
                slot.spec = leaves.spec_of(slot.initial)
                return True
            raise staging_error(
                "AGC204",
                f"the loop changes `{slot.path}` from {leaves.describe(slot.initial)} to {leaves.describe(leaf)}",
                why="only tensors change while a loop of the graph runs",
                fix=f"make `{slot.path}` a tensor before the loop",
            )
        if not leaves.can_be_carried(leaf):
            raise _changes_type(slot, leaf)
        try:
            spec = leaves.spec_of(leaves.carried(leaf, getattr(slot.spec, "dtype", None)))
        except TypeError:
            spec = leaves.spec_of(leaves.carried(leaf))
        if slot.spec.covers(spec):
            return self._sharpened(slot, spec)
        wider = _common(slot.spec, spec)
        if wider is None:
            wider = self._other_dtype(slot, spec)
        if wider is None or slot.fixed:
            raise _changes_type(slot, leaf)
        slot.spec = wider
        return True

    def _sharpened(self, slot: _Slot, spec: AnySpec) -> bool:
        """A TensorArray learns its elements' shape from what the body writes."""
        if isinstance(spec, ArraySpec) and spec != slot.spec and slot.initial._infer_shape:
            slot.spec = spec
            return True
        return False

    def _other_dtype(self, slot: _Slot, spec: AnySpec) -> AnySpec | None:
        """Python numbers start the loop with the dtype that the body gives them, if they fit it."""
        if not leaves.is_weak(slot.initial) or not isinstance(spec, Spec) or not isinstance(slot.spec, Spec):
            return None
        try:
            leaves.carried(slot.initial, spec.dtype)
            fits = leaves.carried(slot.initial, spec.dtype).dtype is spec.dtype
        except TypeError:
            return None
        return Spec(spec.dtype, shapes.generalise(slot.spec.shape, spec.shape)) if fits else None

    def _yielded(self, results: list[Any], body: Builder) -> list[Operand]:
        flat = [leaf for value in results for leaf in leaves.flatten(value)]
        outputs = []
        for slot, leaf in zip(self.slots, flat, strict=True):
            if slot.spec is not None:
                with body:
                    argument = leaves.carried(leaf, getattr(slot.spec, "dtype", None))
                outputs.append(leaves.operand_in(body, argument))
        return outputs

    def _finish(self, test: Builder, body: Builder, going: Operand, yielded: list[Operand]) -> tuple[Any, ...]:
        outer = active()
        carried = [slot for slot in self.slots if slot.spec is not None]
        start = [slot.starting(outer) for slot in carried]
        regions, captured = closed((test, body), ([going], yielded))
        specs = [slot.spec for slot in carried if slot.spec is not None]
        names = [_hint(slot.path) for slot in carried]
        values = iter(outer.add(WHILE, [*start, *captured], {}, specs, regions, names))
        flat = [
            slot.initial if slot.spec is None else leaves.rewrapped(slot.initial, next(values), outer)
            for slot in self.slots
        ]
        return _repacked(self.state, flat)


def _changes_type(slot: _Slot, leaf: Any) -> Exception:
    return staging_error(
        "AGC204",
        f"the loop changes the type of `{slot.path}` from {slot.spec} to {leaves.describe(leaf)}",
        why="a loop in a graph carries values of one dtype and of a shape that fits every iteration",
        fix=f"give `{slot.path}` that type before the loop, or cast it back in the body",
    )


def truth(value: Any, where: str) -> Any:
    """A condition as a scalar bool tensor; numbers are true when they are not zero, as in Python."""
    from .ops.comparison import not_equal
    from .ops.shaping import reshape

    tensor = leaves.carried(value) if leaves.is_carried(value) else leaves.carried(bool(value))
    if tensor.shape.rank not in (0, None):
        if tensor.shape.num_elements() not in (1, None):
            raise staging_error(
                "AGC207",
                f"the condition of this `{where}` has shape {tensor.shape}, but one truth value is needed",
                why="the truth of a tensor with several elements is ambiguous",
                fix="reduce it with tf.reduce_all(...) or tf.reduce_any(...)",
            )
        tensor = reshape(tensor, ())
    return tensor if tensor.dtype.is_bool else not_equal(tensor, leaves.zeros(Spec(tensor.dtype, ())))
