"""Trace a loop into one `while` operation.

The body is traced repeatedly on new inputs until the types of its results fit its inputs (a fixed point). Python
numbers adapt their dtype, and dimensions that change become unknown. A variable that is first assigned in the loop is
carried with a flag.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agc.autograph.api import Note
from agc.autograph.staging import Maybe, Pending, Undefined, deciding, rotated

from ..core import shapes, weak_types
from ..core.symbolic_tensor import SymbolicTensor, WeakDtypeError
from ..ir.builder import Builder
from ..ir.graph import Operand, Value
from ..ir.value_types import AnySpec, ListType, TensorType
from ..ops.framework.region_ops import WHILE
from . import exceptions, state_leaves
from .diagnostics import advice_for_objects, assigned, assigned_outside, staging_error
from .list_staging import NeedsTensorList, fitted, held, indexable, lengths_differ
from .regions import active, as_maybe, blank_like, close_regions, common_spec, hint, repacked, truth
from .tensor_list import from_elements

MAX_ATTEMPTS = 12
Place = tuple[int, str]
"""The number of a variable of the state, and the path of a leaf: two variables may have one name."""


class _Slot:
    """One leaf of a loop's state: its path, its initial value, and the type of the loop-carried value."""

    __slots__ = ("_own", "fixed", "initial", "path", "spec")

    def __init__(self, path: str, initial: Any, spec: AnySpec | None) -> None:
        self.path = path
        self.initial = initial
        self.spec = spec  # None: static
        self._own = spec  # the type of the initial value
        self.fixed = False  # whether the user gave a shape invariant

    def is_weak(self) -> bool:
        """Return whether the variable still has the default dtype of its Python number."""
        if isinstance(self.initial, SymbolicTensor):
            return self.initial._weak_from is not None or bool(self.initial._numbers)
        return state_leaves.is_weak(self.initial) and self._own == self.spec

    def starting(self, builder: Builder) -> Operand:
        dtype = self.spec.dtype if isinstance(self.spec, TensorType) else None
        return state_leaves.operand_in(builder, state_leaves.carried(self.initial, dtype))


class NoneBecomesTensor(BaseException):
    """Ends a trace in which a None in a loop's state becomes a value that the graph carries."""

    def __init__(self, loop: Loop) -> None:
        super().__init__()
        self.loop = loop


class Loop:
    """A `while` being traced: the slots of its state are refined until the body preserves their types."""

    may_be_peeled = False  # whether `first_iteration.record` handles NoneBecomesTensor

    def __init__(
        self,
        test: Callable[..., Any],
        body: Callable[..., Any],
        state: Sequence[Any],
        names: Sequence[str],
        invariants: Sequence[Any] | dict[Place, Any] | None = None,
        first: Any = None,
        checkpoint_every: Any = None,
    ) -> None:
        self.test, self.body, self.names = test, body, tuple(names)
        self.state = list(state)
        self.invariants = invariants  # of each leaf, and then of each place, as the state may be restructured
        self.attrs = {} if checkpoint_every is None else {"checkpoint_every": checkpoint_every}
        self.first = first  # the test's result for the initial state, if it was computed already
        self._known: dict[Place, _Slot] = {}
        self.slots = self._slots()

    def _slots(self) -> list[_Slot]:
        places: list[Place] = []
        slots = []
        for at, (name, value) in enumerate(zip(self.names, self.state, strict=True)):
            for path, leaf in state_leaves.flatten_named(name, value):
                is_carried = state_leaves.is_carried(leaf)
                spec = state_leaves.spec_of(state_leaves.carried(leaf)) if is_carried else None
                places.append((at, path))
                slots.append(_Slot(path, leaf, spec))
        if self.invariants is not None and not isinstance(self.invariants, dict):
            self.invariants = dict(zip(places, self.invariants, strict=True))
        for place, slot in zip(places, slots, strict=True):
            if (known := self._known.get(place)) is not None and known.initial is slot.initial:
                slot.spec = known.spec  # from an earlier attempt
            shape = None if self.invariants is None else self.invariants.get(place)
            if shape is not None and isinstance(slot.spec, TensorType):
                slot.spec, slot.fixed = slot.spec.with_shape(shapes.as_dims(shape)), True
        self._known = dict(zip(places, slots, strict=True))
        return slots

    def record(self) -> tuple[Any, ...]:
        """Trace until the types reach a fixed point, record the operation, and return the state after the loop."""
        attempts = 0
        while attempts < MAX_ATTEMPTS:
            attempts += 1
            body = Builder("body", active())
            try:
                results = self._traced(body)
                if not self._refined(results):
                    break
            except WeakDtypeError as error:
                self._start_with(error, body)
                attempts -= 1  # at most once for each variable
            except NeedsTensorList as error:
                self._hold_in_graph(error)
        else:
            raise staging_error(
                "AGC206",
                f"the types of {', '.join(self.names)} do not converge, however often the loop body is traced",
                why="each iteration gives the state another type",
                fix="give the state its final dtypes and shapes before the loop",
            )
        test = Builder("test", active())
        try:
            with test:
                going = truth(self.test(*self._arguments(test)), "while")
        except WeakDtypeError as error:
            self._start_with(error, test)
            return self.record()
        except NeedsTensorList as error:
            self._hold_in_graph(error)
            return self.record()
        if self.first is not None:
            if any(operation.stateful for operation in test.operations):
                return self._rotated()
            active().discard(self.first)
        return self._finish(test, body, test.operand(going), self._yielded(results, body))

    def _traced(self, body: Builder) -> list[Any]:
        """Trace an iteration, and return its results. If it raises, record that it fails at run time."""
        with deciding(), body:
            arguments = self._arguments(body)
            try:
                return fitted(self.names, self.state, self.body(*arguments))
            except BaseException as error:
                exceptions.end(error)
                return [*arguments]

    def _rotated(self) -> tuple[Any, ...]:
        """Record the loop in rotated form, so that a test with effects does not run twice for the initial state."""

        def going(*state: Any) -> Any:
            return truth(self.test(*state), "while")

        test, body, state = rotated(going, self.body, tuple(self.state), truth(self.first, "while"))
        return Loop(test, body, state, ("going", *self.names), **self.attrs).record()[1:]

    def _arguments(self, builder: Builder) -> tuple[Any, ...]:
        flat = [slot.initial if slot.spec is None else self._argument(slot, builder) for slot in self.slots]
        return indexable(repacked(self.state, flat), self)

    def _hold_in_graph(self, error: NeedsTensorList) -> None:
        """Convert a Python list of the state, which is indexed by a tensor, to a list in the graph."""
        if error.loop is not self:
            raise error
        at = error.position
        self.state[at] = from_elements(self.names[at], self.state[at])
        self.slots = self._slots()

    def _argument(self, slot: _Slot, builder: Builder) -> Any:
        assert slot.spec is not None
        value = builder.input(hint(slot.path), slot.spec)
        argument = state_leaves.rewrapped(slot.initial, value, builder)
        if isinstance(argument, SymbolicTensor):
            argument._weak_from = argument._value if slot.is_weak() else None
        return argument

    def _start_with(self, error: WeakDtypeError, traced: Builder) -> None:
        """Give a Python number in the initial state the dtype that it met in the body or the test."""
        at = next((i for i, value in enumerate(traced.inputs) if value is error.origin), None)
        carried = [slot for slot in self.slots if slot.spec is not None]
        if at is None or at >= len(carried):
            raise error
        slot = carried[at]
        is_choice = isinstance(slot.spec, TensorType) and weak_types.adapts(slot.initial, error.dtype)
        if isinstance(slot.initial, SymbolicTensor) and not is_choice:  # weak in the surrounding loop as well
            raise WeakDtypeError(str(error), slot.initial._weak_from, error.dtype) from None
        wider = self._other_dtype(slot, TensorType(error.dtype, ()))
        if wider is None:
            raise TypeError(str(error)) from None
        slot.spec = wider

    def _refined(self, results: list[Any]) -> bool:
        """Refine the slots by the results of a trace of the body; return whether they changed."""
        if not (
            state_leaves.are_plain(self.state) and state_leaves.are_plain(results)
        ) and self._restructured(results):
            return True
        changes = [
            self._adapted(slot, leaf)
            for slot, leaf in zip(self.slots, state_leaves.flatten_all(results), strict=True)
        ]
        return any(changes)  # a list, so that all slots are refined

    def _restructured(self, results: list[Any]) -> bool:
        """Change the structure of variables of the state if necessary; return whether that happened."""
        changed = False
        for i, (name, before, after) in enumerate(zip(self.names, self.state, results, strict=True)):
            if isinstance(before, Maybe) and not isinstance(after, Maybe):
                results[i] = as_maybe(name, after, before)
            elif isinstance(before, Pending) and not isinstance(after, Pending):
                self.state[i] = blank_like(after)
                changed = True
            elif type(before) is Undefined and type(after) is not Undefined:
                self.state[i] = as_maybe(name, before, after)
                changed = True
            elif type(after) is Undefined and not isinstance(before, Undefined):
                raise staging_error(
                    "AGC205",
                    f"the loop leaves `{name}` without a value",
                    why=f"a loop in a graph carries `{name}` through all iterations",
                    fix=f"remove `{name}` before the loop or after it, or give it another value in the loop",
                )
            elif lengths_differ(before, after):
                self.state[i] = held(name, before, after)
                changed = True
        if changed:
            self.slots = self._slots()
            return True
        for name, before, after in zip(self.names, self.state, results, strict=True):
            if not state_leaves.same_structure(before, after):
                if before is None and self.may_be_peeled:
                    raise NoneBecomesTensor(self)
                raise staging_error(
                    "AGC205",
                    f"the loop changes the structure of `{name}`",
                    notes=self._notes(
                        name, (before, state_leaves.shown(before)), (after, state_leaves.shown(after))
                    ),
                    why="a loop in a graph carries the same structure through all iterations",
                    fix=f"assign `{name}` before the loop, too"
                    if isinstance(before, Maybe)
                    else "collect the values in a tf.TensorArray, or use a tensor whose shape grows",
                )
        return self._widened(results)

    def _widened(self, results: list[Any]) -> bool:
        """Widen the composites of the state to cover the results of an iteration; return whether that changed them."""
        wider = [state_leaves.widened(*pair) for pair in zip(self.state, results, strict=True)]
        if all(one is other for one, other in zip(wider, self.state, strict=True)):
            return False
        changed = any(map(state_leaves.composites_differ, wider, self.state))
        self.state = wider
        return changed

    def _adapted(self, slot: _Slot, leaf: Any) -> bool:
        """Make the slot fit the value after an iteration; return whether the slot changed."""
        if slot.spec is None:
            if state_leaves.same_static(slot.initial, leaf):
                return False
            if slot.initial is None and self.may_be_peeled and state_leaves.can_be_carried(leaf):
                raise NoneBecomesTensor(self)
            if state_leaves.can_be_carried(slot.initial) and state_leaves.can_be_carried(leaf):
                slot.initial = state_leaves.carried(slot.initial)
                slot.spec = state_leaves.spec_of(slot.initial)
                return True
            raise staging_error(
                "AGC204",
                f"the loop changes `{slot.path}` from {state_leaves.describe(slot.initial)} "
                f"to {state_leaves.describe(leaf)}",
                notes=self._changes(slot, leaf),
                why="only tensors change while a loop of the graph runs",
                fix=advice_for_objects((leaf,)) or f"make `{slot.path}` a tensor before the loop",
            )
        if not state_leaves.can_be_carried(leaf):
            raise self._changes_type(slot, leaf)
        initial, slot.initial = slot.initial, state_leaves.covering(slot.initial, leaf)
        return self._respecified(slot, slot.spec, leaf) or slot.initial is not initial

    def _respecified(self, slot: _Slot, known: AnySpec, leaf: Any) -> bool:
        """Make the slot's type cover a value that the graph carries; return whether the type changed."""
        try:
            spec = state_leaves.spec_in(leaf, getattr(known, "dtype", None))
        except TypeError:
            spec = state_leaves.spec_of(state_leaves.carried(leaf))
        if known.covers(spec):
            return self._sharpened(slot, spec)
        wider = common_spec(known, spec)
        if wider is None:
            wider = self._other_dtype(slot, spec)
        if wider is None or slot.fixed:
            raise self._changes_type(slot, leaf)
        slot.spec = wider
        return True

    def _sharpened(self, slot: _Slot, spec: AnySpec) -> bool:
        """Refine the element shape of a TensorArray by the writes of the body; return whether it changed."""
        if isinstance(spec, ListType) and spec != slot.spec and slot.initial._infer_shape:
            slot.spec = spec
            return True
        return False

    def _other_dtype(self, slot: _Slot, spec: AnySpec) -> AnySpec | None:
        """Return the slot's type with the dtype of `spec`, if its initial number can have that dtype; else None."""
        if isinstance(spec, TensorType) and weak_types.adapts(slot.initial, spec.dtype):
            slot.initial = weak_types.adapted(slot.initial, spec.dtype)
            return TensorType(spec.dtype, shapes.generalize(slot.initial.shape.sizes, spec.shape))
        if (
            not state_leaves.is_weak(slot.initial)
            or not isinstance(spec, TensorType)
            or not isinstance(slot.spec, TensorType)
        ):
            return None
        try:
            state_leaves.carried(slot.initial, spec.dtype)
            fits = state_leaves.carried(slot.initial, spec.dtype).dtype is spec.dtype
        except TypeError:
            return None
        return TensorType(spec.dtype, shapes.generalize(slot.spec.shape, spec.shape)) if fits else None

    def _changes_type(self, slot: _Slot, leaf: Any) -> Exception:
        return staging_error(
            "AGC204",
            f"the loop changes the type of `{slot.path}` from {slot.spec} to {state_leaves.describe(leaf)}",
            notes=self._changes(slot, leaf),
            why="a loop in a graph carries values of one dtype and of a shape that fits every iteration",
            fix=f"give `{slot.path}` that type before the loop, or cast it back in the body",
        )

    def _changes(self, slot: _Slot, leaf: Any) -> list[Note | None]:
        before = str(slot.spec) if slot.spec is not None else state_leaves.describe(slot.initial)
        return self._notes(slot.path, (slot.initial, before), (leaf, state_leaves.describe(leaf)))

    def _notes(self, path: str, before: tuple[Any, str], after: tuple[Any, str]) -> list[Note | None]:
        """Return notes on the lines that assign a variable before the loop and in the body."""
        return [assigned_outside(path, *before), assigned(self.body, path, *after)]

    def _yielded(self, results: list[Any], body: Builder) -> list[Operand]:
        with body:
            return [
                state_leaves.operand_in(body, state_leaves.carried(leaf, getattr(slot.spec, "dtype", None)))
                for slot, leaf in zip(self.slots, state_leaves.flatten_all(results), strict=True)
                if slot.spec is not None
            ]

    def _finish(
        self, test: Builder, body: Builder, going: Operand, yielded: list[Operand]
    ) -> tuple[Any, ...]:
        outer = active()
        carried = [slot for slot in self.slots if slot.spec is not None]
        start = [slot.starting(outer) for slot in carried]
        regions, captured = close_regions((test, body), ([going], yielded))
        specs = [slot.spec for slot in carried if slot.spec is not None]
        names = [hint(slot.path) for slot in carried]
        values = iter(outer.add(WHILE, [*start, *captured], self.attrs, specs, regions, names))
        flat = [
            slot.initial if slot.spec is None else _result(slot, next(values), outer) for slot in self.slots
        ]
        return repacked(self.state, flat)


def _result(slot: _Slot, value: Value, builder: Builder) -> Any:
    """Return a variable after the loop; its dtype stays weak if it was weak in the outer loop."""
    result = state_leaves.rewrapped(slot.initial, value, builder)
    if isinstance(slot.initial, SymbolicTensor) and slot.initial.dtype is result.dtype:
        result._weak_from = slot.initial._weak_from
    return result
