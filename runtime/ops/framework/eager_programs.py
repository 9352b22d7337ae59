"""Make programs of eager calls from operations that ran: the same operations on other tensors of the same types.

z = tf.exp(x) * y        exp: x → e,  multiply: e, y → z
    EagerProgram         the kept calls of both, with the positions of their inputs in [x, y, e]
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any, Literal

from ... import nest
from ...core.tensor import EagerTensor
from ...ir.graph import Constant
from .call_keys import Elements, KnownOperand
from .eager_calls import EagerCall, EagerProgram
from .kept_calls import kept_call
from .signature import Signature

Kept = EagerCall | EagerProgram | Elements | Literal[False]


class Operations:
    """A recorder of the operations that a function calls."""

    def __init__(self) -> None:
        self.found: list[tuple[Any, Sequence[Any], Mapping[str, Any], list[Any]]] = []

    def computed(
        self, op: Any, inputs: Sequence[Any], attrs: Mapping[str, Any], outputs: Sequence[Any]
    ) -> None:
        """Collect an operation."""
        self.found.append((op, list(inputs), attrs, list(outputs)))

    def added(self, operation: Any, builder: Any) -> None:
        """Do nothing: operations of graphs are not kept."""

    def grown(self, operation: Any, added: Any) -> None:
        """Do nothing."""

    def kept(self, key: Any, tensors: Sequence[Any], result: Any) -> Kept:
        """Return what is kept for operations on all tensors of a key, constants and each other's results."""
        numbers = {id(x): i for i, x in enumerate(tensors)}
        results = nest.flatten(result)
        used = {id(x) for _, inputs, _, outputs in self.found for x in (*inputs, *outputs)}
        if not numbers.keys() <= used | {*map(id, results)}:
            return False  # the function may have read elements
        if len(self.found) == 1 and self._are_kept(results):
            op, inputs, attributes, outputs = self.found[0]
            order = [numbers[id(x)] for x in inputs if id(x) in numbers]
            are_all = type(result) in (EagerTensor, list) and [*map(id, results)] == [*map(id, outputs)]
            if are_all and sorted(order) == [*range(len(tensors))]:
                call = _call(op, key, inputs, order, numbers.keys(), attributes, result)
                if call is not False:
                    return call
        return self.program(tensors, results, _packing(result))

    def program(
        self, tensors: Sequence[Any], results: Sequence[Any], pack: Callable[[list[Any]], Any] | None
    ) -> EagerProgram | Literal[False]:
        """Return a program of the operations; False if an inference rule reads elements."""
        if not results or not self._are_kept(results):
            return False
        made = [y for *_, outputs in self.found for y in outputs]
        varying = {id(x) for x in (*tensors, *made)}
        others = {id(x): x for x in (*(x for _, inputs, *_ in self.found for x in inputs), *results)}
        constants = [x for number, x in others.items() if number not in varying]
        places = {id(x): i for i, x in enumerate([*tensors, *constants, *made])}
        steps: list[tuple[Any, tuple[int, ...]]] = []
        for op, inputs, attributes, outputs in self.found:
            call, given = op.__call__, [places[id(x)] for x in inputs]
            if attributes or not hasattr(op, "_kept"):  # it is no elementwise operation
                given = [places[id(x)] for x in inputs if id(x) in varying]
                found = outputs[0] if len(outputs) == 1 else outputs
                call = _call(op, (None,), inputs, range(len(given)), varying, attributes, found)
                if type(call) is not EagerCall:
                    return False
            steps.append((call, tuple(given)))
        return EagerProgram(steps, constants, [places[id(x)] for x in results], pack)

    def _are_kept(self, results: Sequence[Any]) -> bool:
        """Return whether all operations can be kept, and everything is a tensor."""
        everything = [x for _, inputs, _, outputs in self.found for x in (*inputs, *outputs)]
        return all(isinstance(op, Signature) and not op.stateful for op, *_ in self.found) and all(
            type(x) is EagerTensor for x in (*everything, *results)
        )


def _packing(result: Any) -> Callable[[list[Any]], Any] | None:
    """Return a function that makes a nest like `result` of the list of its tensors; None if `result` is a tensor."""
    if type(result) is EagerTensor:
        return None
    text = _expression(result, itertools.count())
    if text is not None:
        return eval(f"lambda x: {text}")  # type: ignore[no-any-return]
    structure = nest.map_structure(lambda _: None, result)
    return functools.partial(nest.pack_sequence_as, structure)


def _expression(x: Any, numbers: Iterator[int]) -> str | None:
    """Return the text of an expression for lists and tuples of the items of `x`; None for other nests.

    ([a, b], c)     →     "([x[0], x[1], ], x[2], )"
    """
    if type(x) is EagerTensor:
        return f"x[{next(numbers)}]"
    parts = [_expression(item, numbers) for item in x] if type(x) in (list, tuple) else [None]
    if None in parts:
        return None
    items = "".join(f"{part}, " for part in parts)
    return f"[{items}]" if type(x) is list else f"({items})"


def _call(
    op: Any, key: Any, inputs: Sequence[Any], order: Sequence[int], varying: Container[int],
    attributes: Mapping[str, Any], result: Any,
) -> EagerCall | Elements | Literal[False]:  # fmt: skip
    """Return what is kept for an operation, all of whose inputs are constants except those that vary."""
    operands = [(KnownOperand if id(x) in varying else Constant)(x._array) for x in inputs]
    return kept_call(op, key, operands, order, attributes, result)
