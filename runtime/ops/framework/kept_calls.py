"""Keep eager calls that ran: make an EagerCall from the operands, or find the elements that its key lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ... import errors
from ...core.conversion import convert_to_tensor, holds_tensor
from ...core.eviction import make_room
from ...core.tensor import EagerTensor
from ...core.variable import Variable
from ...ir.builder import recording_by
from ...ir.graph import Constant
from ...ir.value_types import ListType, TensorType
from .call_keys import LISTS, MOST_BYTES, Dtypes, Elements, KnownOperand, have_key
from .eager_calls import MANY, MOST, EagerCall
from .signature import Signature


def _operand(item: Any, tensor: Any) -> Any:
    """Return the operand for an item of the arguments, which is `tensor` after the conversion."""
    if type(tensor) is not EagerTensor:
        return tensor
    has_elements = isinstance(item, (EagerTensor, Variable, np.ndarray, np.generic))
    return KnownOperand(tensor._array) if has_elements else Constant(tensor._array)


def _is_cast(item: Any, tensor: Any) -> bool:
    """Return whether an array became a tensor of another dtype."""
    return isinstance(item, (np.ndarray, np.generic)) and item.dtype != tensor._array.dtype


def eager_call(
    op: Signature,
    key: tuple[Any, ...],
    given: int,
    names: Iterable[str],
    values: Sequence[Any],
    tensors: Sequence[Any],
    attributes: Mapping[str, Any],
    results: Any,
) -> EagerCall | Elements | Literal[False]:
    """Return what is kept for a call that ran: its EagerCall, or the elements that its key lacks; False for neither.

    `given` is the number of tensors in the arguments, `names` are the keywords of the call, `values` the arguments
    by parameter, and `tensors` the inputs.
    """
    named = [op.parameters.index(name) for name in names]
    order = [i for i in named if any(i == position for position, _ in op.operand_parameters)]
    items: list[Any] = []
    for i, kind in op.operand_parameters:
        value = values[i]
        items.extend(value if kind in ("Inputs", "Tensors") and type(value) in LISTS else [value])
    inputs = list(map(_operand, items, tensors))
    varying = [x for x in inputs if type(x) is not Constant]
    if len(varying) != given or order != sorted(order) or any(map(_is_cast, items, tensors)):
        return False  # an attribute or a list of numbers has tensors, or an array gets another dtype
    return kept_call(op, key, inputs, range(given), attributes, results)


def kept_call(
    op: Signature,
    key: tuple[Any, ...],
    inputs: list[Any],
    order: Sequence[int],
    attributes: Mapping[str, Any],
    results: Any,
) -> EagerCall | Elements | Literal[False]:
    """Return what is kept for operands, of which those that are no constants have these numbers in the key."""
    specs = op.infer(inputs, attributes)
    many = isinstance(specs, tuple)
    is_known = all(isinstance(x, (TensorType, ListType)) for x in (specs if many else (specs,)))
    if not is_known or many is not (type(results) is list):
        return False
    varying = dict(sorted(zip(order, (x for x in inputs if type(x) is not Constant), strict=True)))
    read = Elements(i for i, x in varying.items() if type(x) is KnownOperand and x.is_read)
    if read and type(key[-1]) is not Elements:
        arrays = [varying[i]._known for i in read]
        return read if all(x.dtype.kind in "biufc" and x.nbytes <= MOST_BYTES for x in arrays) else False
    return (
        EagerCall(op, inputs, attributes, specs, results, order)
        if not read or {*read} <= {*key[-1]}
        else False
    )


def count_new(calls: dict[Any, Any], types: Any, dtypes_of: Callable[[], Dtypes]) -> None:
    """Count a call with a new key of some types; after many, keep the dtypes to which the numbers of others convert."""
    count = calls.get(types, 0)
    if not count:
        make_room(calls, MOST)
    if type(count) is int:
        calls[types] = count + 1 if count < MANY else dtypes_of()


def operand_dtypes(
    op: Signature, count: int, names: Iterable[str], values: Sequence[Any], tensors: Sequence[Any]
) -> Dtypes:
    """Return the dtypes to which the arguments of a call that are operands convert; the parameters are as above.

    `count` is the number of positional arguments. The call with tensors in place of these numbers is the same.
    """
    found: list[Any] = [None] * len(values)
    at = 0
    for i, kind in op.operand_parameters:
        if kind in ("Inputs", "Tensors"):
            at += len(values[i]) if type(values[i]) in LISTS else 1
        else:
            found[i] = dtype_of_numbers(values[i], tensors[at : at + 1])
            at += 1
    return as_dtypes([*found[:count], *[found[op.parameters.index(name)] for name in names]])


def packed_dtypes(
    op: Signature, count: int, names: Iterable[str], values: Sequence[Any], tensors: Sequence[Any]
) -> Dtypes:
    """Return the dtypes of the tensors to which the arguments convert that are lists with tensors among their items.

    For such a call its key has these dtypes. It runs as the call with the tensors, which is kept by another key:

        reshape(x, [shape(x)[0], -1])      =      reshape(x, stack([shape(x)[0], -1]))
    """
    found: list[Any] = [None] * len(values)
    at = 0
    for i, kind in op.operand_parameters:
        x = values[i]
        if kind in ("Inputs", "Tensors"):
            at += len(x) if type(x) in LISTS else 1
            continue
        if type(x) in LISTS and holds_tensor(x) and _is_packed(x, tensors[at]):
            found[i] = tensors[at].dtype
        at += 1
    return as_dtypes([*found[:count], *[found[op.parameters.index(name)] for name in names]])


def _is_packed(x: Any, tensor: Any) -> bool:
    """Return whether a list with tensors converts to a tensor as it did for an operation."""
    if type(tensor) is not EagerTensor:
        return False
    try:
        with recording_by([]):
            packed = convert_to_tensor(x, tensor.dtype)
    except (TypeError, ValueError, errors.OpError):
        return False
    return type(packed) is EagerTensor and packed._array.tobytes() == tensor._array.tobytes()


def with_packed(arguments: Iterable[Any], packed: Sequence[Any]) -> list[Any]:
    """Return arguments with tensors in place of those lists for which there is a dtype."""
    pairs = zip(arguments, packed, strict=True)
    return [x if dtype is None else convert_to_tensor(x, dtype) for x, dtype in pairs]


def as_dtypes(found: list[Any]) -> Dtypes:
    """Return a list of dtypes, False if all are None."""
    return found if any(dtype is not None for dtype in found) else False


def dtype_of_numbers(x: Any, tensors: Iterable[Any]) -> Any:
    """Return the dtype of the tensors that equal an argument, which is a number or a nest of those of one class.

    Return None for other arguments, if the dtypes differ, and for dtypes that have no room for all usual numbers.
    """
    parts, numbers = list[Any](), list[int]()
    if not have_key([x], parts, [], True, numbers) or len({parts[i - 1] for i in numbers}) != 1:
        return None
    codes = "fd" if float in parts else "ilqfd"
    arrays = [x._array for x in tensors if type(x) is EagerTensor and x._array.size == len(numbers)]
    found = {y.dtype for y in arrays if y.dtype.char in codes and np.array_equal(y, np.array(x, y.dtype))}
    return found.pop() if len(found) == 1 else None
