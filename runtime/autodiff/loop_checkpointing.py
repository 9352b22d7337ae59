"""Gradient checkpointing of loops: the VJP of a loop that keeps its state every few iterations only.

    while n, h        [checkpoint_every=k]      while n, h, hs                        every k iterations hs gets an h
      h = f(h)                                    hs = cond n is due: list_append hs, h
                                          ==>     n, h = n + 1, f(h)
                                                while n, dh, hs                       the last k iterations first
                                                  hs, h = list_pop hs
                                                  while i, h, as                      the k iterations once more, with
                                                    a, h = f'(h)                      their residuals
                                                    i, as = i + 1, list_append as, a
                                                  while i, dh, as                     and the VJP of these iterations
                                                    ...

So n iterations take memory for n / k states and for k iterations. If k is "auto" the segments grow, 1, 2, 3 …, so
that both numbers are about the square root of 2 n. Results that cannot be recomputed (random numbers, results of
Python functions, contents of variables that the loop assigns) are kept from every iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..control_flow.regions import close_regions
from ..core.tensor import EagerTensor
from ..ir.builder import Builder, current
from ..ir.clone import Substitution
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.value_types import ListType
from ..ops.framework.op import wrap
from ..ops.framework.region_ops import COND, WHILE
from ..ops.lists.nested_lists import array_sublist, list_take, new_list
from ..ops.lists.tensor_list import list_get, list_pop, list_size
from ..ops.math.arithmetic import add, floordiv, multiply, subtract
from ..ops.math.comparison import equal, greater, less
from .backward_loop import EVERY, INT, BackwardLoop, counted, number
from .clone_operations import copied, of
from .graph_vjp import blank
from .loop_invariants import is_repeatable
from .loop_residuals import LoopResiduals, append_residuals, appended, grown, round_counter
from .reread_variables import given_references, reread_variables_after
from .tape_records import GraphRecord

AUTO = "auto"


def checkpointed(
    record: GraphRecord, backward: BackwardLoop, state: Sequence[Any], every: int | str
) -> list[Any]:
    """Record the loop with checkpoints, and its backward loop by segments; return the final state of the latter."""
    segment = Segment(record, backward)
    rounds, firsts, *saved = _save(record, segment, every)
    segment.receive(saved)
    builder = Builder("body", current())
    left = builder.input_tensor("rounds", INT)
    own = [wrap(builder.input(value.name, value.spec), builder) for value in backward.state]
    kept = [firsts, *segment.stacks]
    stacks = [wrap(builder.input(name, x.spec), builder) for name, x in zip(segment.names, kept, strict=True)]
    with builder:
        popped = [_popped(array) for array in stacks]
        first, *begin = [element for _, element in popped]
        size = subtract(left, first)
        passed, saved = segment.run(size, first, begin)
        found = backward.record(size, own, saved, passed, segment.inputs, first)
        after = [first, *found, *(shorter for shorter, _ in popped)]
    begin = [rounds, *state, *kept]
    return recorded_loop(lambda left: greater(left, number(0)), builder, after, begin, **{EVERY: 1})[1:]


def _save(record: GraphRecord, segment: Segment, every: int | str) -> list[Any]:
    """Add the checkpoints to the forward loop.

    Return the number of iterations, the first iteration of each segment, the lists of states, and the results that
    cannot be recomputed.
    """
    body = Builder("body")
    body.inputs = list(segment.body.inputs)
    body.operations = segment.forward_operations()
    counter = round_counter(record.operation, segment.saving)
    parts, after = append_residuals(body, (), segment.unique, counts=counter is None)
    rounds = parts[0] if counter is None else body.inputs[counter]
    values = [rounds, *segment.kept]
    lists = [Value(name, ListType(x.spec)) for name, x in zip(segment.names, values, strict=True)]
    with body:
        due = equal(wrap(rounds, body), _first_of(list_size(wrap(lists[0], body)), every))
        longer = _appended_if(due, [wrap(x, body) for x in lists], [wrap(x, body) for x in values])
        at = 1 if counter is None else 0
        parts[at:at] = lists
        after[at:at] = map(body.operand, longer)
    graph = Graph(segment.body.name, tuple(body.inputs), tuple(body.operations), segment.body.outputs)
    found = grown(record, LoopResiduals(parts, after), graph)
    return found if counter is None else [record.outputs[counter], *found]


def _first_of(segment: Any, every: int | str) -> Any:
    """Return the number of the first iteration of a segment."""
    if every == AUTO:
        return floordiv(multiply(segment, add(segment, number(1))), number(2))
    return multiply(segment, number(int(every)))


def _appended_if(due: Any, lists: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    outer = current()
    assert outer is not None
    then, orelse = Builder("then", outer), Builder("else", outer)
    with then:
        longer = [then.operand(appended(*pair)) for pair in zip(lists, values, strict=True)]
    with orelse:
        same = [orelse.operand(array) for array in lists]
    regions, captured = close_regions((then, orelse), (longer, same))
    results = outer.add(COND, [outer.operand(due), *captured], {}, [x.spec for x in lists], regions)
    return [wrap(value, outer) for value in results]


class Segment:
    """A segment of consecutive iterations that is run again to compute its residuals.

    Attributes: `kept`, the state at the start of a segment; `unique`, the results that cannot be recomputed.
    """

    def __init__(self, record: GraphRecord, backward: BackwardLoop) -> None:
        self.record, self.way, self.saving = record, backward, backward.saving
        self.forward = backward.reversal.forward
        self.body = backward.reversal.graph
        self.originals = backward.reversal.originals
        self.wanted = [*self.saving.last, *self.saving.stacked]
        self.operations, self.positions, unique = self._needed()
        self.unique = [value for each in self.forward.operations if each in unique for value in each.outputs]
        self.kept = [self.body.inputs[index] for index in self.positions]
        self.names = ["firsts", *(value.name for value in self.kept)]
        self.inputs = record.inputs
        self.references = given_references(record, self.saving.references)
        self.stacks: list[Any] = []
        self.never_again: list[Any] = []
        self.contents: dict[Value, Any] = {}

    def _needed(self) -> tuple[list[Operation], list[int], set[Operation]]:
        """Return the operations to run again, the indices of the state they read, and operations not to repeat."""
        saving, body = self.saving, self.body
        moving = {
            value: i
            for i, value in enumerate(body.inputs[: len(body.outputs)])
            if value not in saving.steady and value not in saving.counters
        }
        needed: set[Operand] = set(self.wanted)
        indices: list[int] = []
        while True:
            recomputed = []
            unique = set()
            for operation in reversed(self.forward.operations):
                if needed.isdisjoint(operation.outputs):
                    continue
                if is_repeatable(operation, saving.references):
                    recomputed.append(operation)
                    needed.update(operation.inputs)
                else:
                    unique.add(operation)
            more = [index for value, index in moving.items() if value in needed and index not in indices]
            if not more:
                return recomputed[::-1], sorted(indices), unique
            indices += more
            needed.update(body.outputs[index] for index in more)

    def forward_operations(self) -> list[Operation]:
        """Return the original operations of the body, except for those with results that have to be kept."""
        unique = set(self.unique)
        chosen: list[Operation] = []
        needed: set[Operand] = set()
        for operation in reversed(self.forward.operations):
            original = self.originals.get(operation)
            is_unique = not unique.isdisjoint(operation.outputs)
            if original is not None and not is_unique:
                chosen.append(original)
            elif original is not None or is_unique or not needed.isdisjoint(operation.outputs):
                chosen.append(operation)
                needed.update(operation.inputs)
        return chosen[::-1]

    def receive(self, saved: list[Any]) -> None:
        """Receive the values that the loop has kept, and read the contents of variables."""
        self.stacks, self.never_again = saved[: len(self.kept)], saved[len(self.kept) :]
        read = {*self.saving.read, *(x for each in self.operations for x in each.inputs)}
        read = {self.saving.reads.get(value, value) for value in read if isinstance(value, Value)}
        self.contents = reread_variables_after(
            self.record, {inner: outer for inner, outer in self.references.items() if inner in read}
        )

    def run(self, size: Any, first: Any, begin: Sequence[Any]) -> tuple[dict[Value, Any], list[Any]]:
        """Record the loop over a segment; return its loop-invariant residuals, and the lists of the others."""
        outer = current()
        assert outer is not None
        saving = self.saving
        body = Builder("body", outer)
        at = body.input_tensor("round", INT)
        known: Substitution = {value: body.input(value.name, value.spec) for value in self.kept}
        parts = [body.input(value.name, value.spec) for value in saving.last]
        parts += [body.input(value.name, ListType(value.spec)) for value in saving.stacked]
        with body:
            self._receive_steady(body, known, add(at, first))
            body.operations += copied(self.operations, known)
            after = [add(at, number(1))]
            after += [_tensor(of(self.body.outputs[index], known), body) for index in self.positions]
            after += [_tensor(known[value], body) for value in saving.last]
            lists = zip(parts[len(saving.last) :], saving.stacked, strict=True)
            after += [appended(wrap(part, body), _tensor(known[value], body)) for part, value in lists]
        begin = [number(0), *begin, *(_nothing(part.spec) for part in parts)]
        results = recorded_loop(lambda now: less(now, size), body, after, begin)[1 + len(self.kept) :]
        passed = {value: self.inputs[saving.steady[value]] for value in saving.given}
        passed |= {value: self.contents[saving.reads[value]] for value in saving.read}
        passed |= dict(zip(saving.last, results, strict=False))
        return passed, results[len(saving.last) :]

    def _receive_steady(self, body: Builder, known: Substitution, round_: Any) -> None:
        """Bind the induction variables, the loop invariants and the results that cannot be recomputed."""
        saving = self.saving
        read = {x for operation in self.operations for x in operation.inputs}
        read.update(self.body.outputs[position] for position in self.positions)
        for index, value in enumerate(self.body.inputs):
            if value not in read:
                continue
            if value in saving.counters:
                now = known[value] = Value(value.name, value.spec, value.elements)
                counter = saving.counters[value]
                counted(body, round_, counter, self.inputs[counter.position], now)
            elif value in self.contents:
                known[value] = body.operand(self.contents[value])
            elif value in saving.steady:
                known[value] = body.operand(self.inputs[index])
        for value, array in zip(self.unique, self.never_again, strict=True):
            known[value] = body.operand(_element(array, round_))


def recorded_loop(
    going: Callable[[Any], Any], body: Builder, after: Sequence[Any], begin: Sequence[Any], **attrs: Any
) -> list[Any]:
    """Record a loop with `going` as its test of the first loop-carried value; return the final state."""
    outer = current()
    assert outer is not None
    with body:
        ends = [body.operand(x) for x in after]
    test = Builder("test", outer)
    with test:
        seen = [test.input(value.name, value.spec) for value in body.inputs[: len(ends)]]
        go = test.operand(going(wrap(seen[0], test)))
    specs = [value.spec for value in seen]
    regions, captured = close_regions((test, body), ([go], ends))
    values = outer.add(WHILE, [*map(outer.operand, begin), *captured], attrs, specs, regions)
    return [wrap(value, outer) for value in values]


def _tensor(operand: Operand, builder: Builder) -> Any:
    return EagerTensor(operand.value) if isinstance(operand, Constant) else wrap(operand, builder)


def _nothing(spec: Any) -> Any:
    return new_list(spec) if isinstance(spec, ListType) else blank(spec)


def _element(array: Any, index: Any) -> Any:
    return array_sublist(array, index) if isinstance(array.spec.element, ListType) else list_get(array, index)


def _popped(array: Any) -> tuple[Any, Any]:
    if isinstance(array.spec.element, ListType):
        return tuple(list_take(array))
    return tuple(list_pop(array, -1))
