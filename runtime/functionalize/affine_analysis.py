"""Affine analysis: slices with bounds that differ by a constant have a static length.

    j = multiply i, 3          3 i
    k = add i, 1
    m = multiply k, 3          3 i + 3          so x[j:m] has three rows, wherever it begins

Integers wrap around. The result still holds for slices within a tensor, which is checked at run time. The
condition is that the dtype of the bounds can represent every index of the axis. Without this condition, an
int8 i = 126 would make x[i:i+3] end at -127, which is row 173 of 300.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..ir.graph import Constant, Operand, Operation, Value
from ..ir.op_def import OpDef
from ..ops.arrays.getitem import filled, matched
from ..ops.math.arithmetic import add, multiply, subtract

Makers = Mapping[Value, Operation]
_Form = dict[Operand | None, int]
"""A linear combination of operands; the key None is for the constant term."""

_DEEPEST = 40

_LARGEST = (1 << 31) - 1
"""The maximum size assumed for an axis of unknown size."""


def constant_difference(start: Any, stop: Any, makers: Makers) -> int | None:
    """Return `stop - start` if it is a known constant, else None. Both are ints or operands."""
    forms: dict[Operand, _Form] = {}
    first, last = (_form(one, makers, forms, _DEEPEST) for one in (start, stop))
    difference = _sum(last, first, -1)
    number = difference.pop(None, 0)
    return None if any(difference.values()) else number


def _form(operand: Any, makers: Makers, forms: dict[Operand, _Form], depth: int) -> _Form:
    if isinstance(operand, int):
        return {None: operand}
    if isinstance(operand, Constant):
        return {None: int(operand.value)}
    found = forms.get(operand)
    if found is None:
        found = forms[operand] = _computed(makers.get(operand), makers, forms, depth) or {operand: 1}
    return found


def _computed(
    maker: Operation | None, makers: Makers, forms: dict[Operand, _Form], depth: int
) -> _Form | None:
    if maker is None or not depth or maker.op not in (add, subtract, multiply):
        return None
    return _combined(maker.op, *(_form(part, makers, forms, depth - 1) for part in maker.inputs))


def _combined(op: OpDef, one: _Form, other: _Form) -> _Form | None:
    if op is not multiply:
        return _sum(one, other, 1 if op is add else -1)
    for form, factor in ((one, other), (other, one)):
        if not any(number for key, number in factor.items() if key is not None):
            return {key: number * factor.get(None, 0) for key, number in form.items()}
    return None


def _sum(one: _Form, other: _Form, factor: int) -> _Form:
    keys = dict.fromkeys([*one, *other])
    return {key: one.get(key, 0) + factor * other.get(key, 0) for key in keys}


def index_of(key: str, parts: list[Operand]) -> tuple[Any, ...]:
    """Return a slicing key as a Python index: ints where the values are known, operands elsewhere."""
    return filled(key, [part if part.value is None else int(part.value) for part in parts])


def selected_sizes(
    index: tuple[Any, ...], shape: tuple[int | None, ...], makers: Makers
) -> Iterator[int | None]:
    """Yield the sizes of the selection by an index of ints and operands; None for unknown sizes."""
    for item, axis in matched(index, len(shape)):
        if item is None:
            yield 1
        elif isinstance(item, slice):
            yield _length(item, shape[axis], makers)


def is_moving(item: slice) -> bool:
    """Return whether a bound of a slice is an operand."""
    return any(isinstance(bound, Value) for bound in (item.start, item.stop, item.step))


def _length(item: slice, size: int | None, makers: Makers) -> int | None:
    if not is_moving(item):
        return None if size is None else len(range(*item.indices(size)))
    step = 1 if item.step is None else item.step
    if isinstance(step, Value) or step < 1 or item.start is None or item.stop is None:
        return None
    if not all(_reaches(bound, size) for bound in (item.start, item.stop)):
        return None
    length = constant_difference(item.start, item.stop, makers)
    return None if length is None or length < 0 else -(-length // step)


def _reaches(bound: Any, size: int | None) -> bool:
    """Return whether the dtype of a bound can represent all indices of an axis."""
    return isinstance(bound, int) or np.iinfo(bound.dtype.numpy_dtype).max >= (
        _LARGEST if size is None else size
    )
