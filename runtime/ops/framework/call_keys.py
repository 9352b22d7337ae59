"""Keys of eager calls: the abstract values of tensors and NumPy arrays, and the values of all other arguments.

    reduce_sum(x, axis=1)          x: float32[2, 3]
        key                        ("axis", float32[2, 3], int, 1)
    reshape(x, n)                  n: a tensor of [3, 2], whose elements the inference rule reads
        key                        (float32[2, 3], int32[2], the bytes of [3, 2], the position of n)
    roll(x, i, 0)                  i: an int that differs from call to call
        key                        (float32[2, 3], int, 7, int, 0), or that of roll(x, a tensor of i, 0)
        its types                  (float32[2, 3], int, None, int, None)

The inference rule accepts all calls with the key of an accepted one, and the results have the same types. native_keys.h
has the same for the C extension.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from ... import dtypes
from ...core import shapes
from ...core.abstract_value import abstract_value_of
from ...core.tensor import EagerArray, EagerTensor
from ...core.variable import Variable
from ...ir.graph import Constant
from ...ir.value_types import TensorType

_LONGEST = 32
"""The maximum length of a list in a key."""

_MOST_TENSORS = 256
"""The maximum length of a list in a key that begins with a tensor."""

_LONGEST_TEXT = 256
"""The maximum length of a string in a key."""

_MOST_PARTS = 256
"""The maximum number of parts of a key; a list that contains itself has no end."""

MOST_BYTES = 256
"""The maximum size of a tensor whose elements are in a key."""

ATOMS = frozenset({bool, int, str, type(None), type(...), dtypes.DType, dtypes.NarrowFloat, range, type})
LISTS = frozenset({list, tuple})
_NUMBERS = frozenset(np.dtype(code).num for code in "?bhilqBHILQefdFD")
"""The numbers of the dtypes of arrays that have a key."""


Dtypes = list[Any] | Literal[False]
"""The dtype to which each argument converts that is made of numbers, or that is a list with tensors; None for others.

It is False if all are None.
"""


class Elements(tuple[int, ...]):
    """The positions, among the tensors of a key, of those whose elements the inference rule reads.

    The complete key ends with the elements and these positions.
    """

    __slots__ = ()

    def key(self, key: tuple[Any, ...], tensors: Sequence[Any]) -> tuple[Any, ...]:
        """Return the complete key for tensors that have this one."""
        return (*key, *[tensors[i]._array.tobytes() for i in self], self)


def have_key(
    arguments: Iterable[Any],
    parts: list[Any],
    tensors: list[Any],
    takes_variables: bool,
    numbers: list[int],
) -> bool:
    """Append the parts of a key for some arguments, and their tensors; return False if they have no key.

    Append to `numbers` the positions of those parts that are numbers for which int32 or float32 has surely room.

    A variable counts as its value, unless the operation takes variables by reference. An array of numbers counts as a
    tensor; it is copied, because the program may write to it later.
    """
    for x in arguments:
        kind = type(x)
        if kind is EagerTensor:
            parts.append(x._kind or abstract_value_of(x))
            tensors.append(x)
        elif kind in ATOMS:
            if kind is str and len(x) > _LONGEST_TEXT:
                return False
            if kind is int and -(2**31) <= x < 2**31:
                numbers.append(len(parts) + 1)
            parts += (kind, x)
        elif kind is float:
            if abs(x) < 1e38:
                numbers.append(len(parts) + 1)
            parts += (kind, x or str(x))  # 0.0 and -0.0 are equal
        elif kind in LISTS and len(x) <= _longest(x) and len(parts) <= _MOST_PARTS:
            parts += (kind, len(x))
            if x and not have_key(x, parts, tensors, takes_variables, numbers):
                return False
        elif kind is slice:
            ends = (x.start, x.stop, x.step)
            if not all(end is None or type(end) is int for end in ends):
                return False
            parts += (kind, *ends)
        elif kind is shapes.TensorShape:
            parts += (kind, x.sizes)
        elif kind is Variable and x._owner is None:
            if takes_variables:
                parts += (kind, x.content_spec.dtype, x.content_spec.shape)
                tensors.append(x)
            else:
                value = x.value()
                parts.append(abstract_value_of(value))
                tensors.append(value)
        elif kind is EagerArray and type(x.spec.element) is TensorType:
            parts += (kind, x.spec.element.dtype, x.spec.element.shape)
            tensors.append(x)
        elif isinstance(x, np.dtype):
            parts += (kind, x)
        elif kind is np.ndarray or isinstance(x, np.generic):
            if x.dtype.num not in _NUMBERS or not x.dtype.isnative:
                return False
            value = EagerTensor(np.array(x))
            parts += (kind, abstract_value_of(value))
            tensors.append(value)
        else:
            return False
    return True


def _longest(x: Sequence[Any]) -> int:
    """Return the maximum length of a list with these items."""
    return _MOST_TENSORS if x and type(x[0]) is EagerTensor else _LONGEST


def types_in(key: tuple[Any, ...], numbers: Iterable[int]) -> tuple[Any, ...] | None:
    """Return a key without its numbers, which have these positions; None if there are none."""
    parts = [*key]
    for i in numbers:
        parts[i] = None
    return tuple(parts) if numbers else None


class KnownOperand(Constant):
    """An operand that notices when an inference rule reads its elements."""

    __slots__ = ("_known", "is_read")

    def __init__(self, value: Any) -> None:
        self._known = value
        self.captured = None
        self.is_read = False

    @property
    def value(self) -> Any:  # type: ignore[override]
        self.is_read = True
        return self._known

    @property
    def dtype(self) -> dtypes.DType:
        return dtypes.of_array(self._known)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._known.shape  # type: ignore[no-any-return]

    @property
    def spec(self) -> TensorType:
        return TensorType(dtypes.of_array(self._known), self._known.shape)
