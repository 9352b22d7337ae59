"""Keep eager calls that ran: make an EagerCall from the operands, or find the elements that its key lacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ...core.tensor import EagerTensor
from ...core.variable import Variable
from ...ir.graph import Constant
from ...ir.value_types import ListType, TensorType
from .call_keys import LISTS, MOST_BYTES, Elements, KnownOperand
from .eager_calls import EagerCall
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
    order = [i for i in named if any(i == position for position, _ in op._inputs)]
    items: list[Any] = []
    for i, kind in op._inputs:
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
