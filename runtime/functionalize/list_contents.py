"""Analysis of list contents: whether a list is still empty, or contains one constant only.

    s = list_new                     : array float32[?, 2]        array, nothing yet, float32[?, 2]
    s.1 = list_append s, x           : array float32[?, 2]  ==>   array float32[3, 2]
    t.1 = list_append t, [3, 2]      : array int32[2]             array of [3, 2] only, int32[2]
    t.2, shape = list_pop t.1, -1                                 shape is [3, 2]

Loops that are differentiated keep residuals of their iterations in lists, and also shapes to which gradients
are summed. If all sizes are static, these shapes are equal in all iterations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..ir.graph import Constant, Operand, Operation
from ..ir.value_types import AnySpec, ListType, TensorType
from ..ops.lists.list_gradients import array_sum
from ..ops.lists.nested_lists import list_keep, list_of_lists, list_take
from ..ops.lists.tensor_list import list_append, list_new, list_pop


class SameSpec(ListType):
    """The type of a list that contains one constant only, or nothing if `constant` is None."""

    __slots__ = ("constant",)

    def __init__(self, element: TensorType, constant: Constant | None) -> None:
        super().__init__(element)
        self.constant = constant

    def _key(self) -> object:
        return (
            None if self.constant is None else (self.constant.spec, np.asarray(self.constant.value).tobytes())
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameSpec) and (self.element, self._key()) == (other.element, other._key())

    def __hash__(self) -> int:
        return hash((SameSpec, self.element, self._key()))

    def __str__(self) -> str:
        held = "nothing yet" if self.constant is None else f"{self.constant} only"
        return f"array of {held}, {self.element}"


_TAKING = frozenset({list_pop, list_take})
_EMPTY = frozenset({list_new, list_of_lists})


def filled(operation: Operation, inputs: Sequence[Operand], specs: Sequence[AnySpec]) -> Sequence[AnySpec]:
    """Return the types of an operation's results, refined by the contents of lists."""
    if operation.op in _TAKING:
        return specs
    if operation.op in _EMPTY:
        return [SameSpec(spec.element, None) for spec in specs if isinstance(spec, ListType)]
    if operation.op in (list_append, list_keep):
        held, value = inputs[0].spec, inputs[1]
        assert isinstance(held, ListType)
        return [_appended(held, value, spec) for spec in specs]
    if operation.op is array_sum:
        return [_sum(inputs[0].spec, inputs[1].spec, spec) for spec in specs]
    return [plain(spec) for spec in specs]


def _sum(one: AnySpec, other: AnySpec, spec: AnySpec) -> AnySpec:
    """Return the type of the sum of two lists: the type of one list if the other is empty."""
    for first, second in ((one, other), (other, one)):
        if isinstance(first, SameSpec) and first.constant is None:
            return plain(second)
    return plain(spec)


def _appended(held: ListType, value: Operand, spec: AnySpec) -> AnySpec:
    is_empty = isinstance(held, SameSpec) and held.constant is None
    if isinstance(value, Constant):
        more = SameSpec(value.spec, value)
        return more if is_empty or more == held else plain(spec)
    if is_empty:
        return ListType(value.spec)
    return ListType(value.spec) if held.element == value.spec else plain(spec)


def plain(spec: AnySpec) -> AnySpec:
    """Return a type without knowledge of list contents."""
    if not isinstance(spec, ListType) or not (
        isinstance(spec, SameSpec) or isinstance(spec.element, SameSpec)
    ):
        return spec
    return ListType(plain(spec.element))


def taken(operation: Operation, inputs: Sequence[Operand], outputs: Sequence[Operand]) -> Sequence[Operand]:
    """Return the results of an operation, with a constant for an element taken from a list of this constant only.

    Gradients take as many elements as were appended. In user code, taking an element may be an error.
    """
    held = inputs[0].spec if inputs else None
    is_gradient = operation.op is list_pop and operation.origin is None
    if is_gradient and isinstance(held, SameSpec) and held.constant is not None:
        return [outputs[0], held.constant]
    return outputs


def of_both(one: ListType, other: ListType) -> ListType | None:
    """Return the type of a list that is either of two lists, if their contents determine the type, else None."""
    for first, second in ((one, other), (other, one)):
        if isinstance(first, SameSpec) and first.constant is None:
            return second
    return one if one == other else None
