"""Packing of a graph's outputs into the structure that the Python function returned, compiled once for each graph.

structure of the results       filler(structure)(tensors)
(Output(0), {"n": Output(1)})    ==>    (tensors[0], {"n": tensors[1]})
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from .. import nest
from ..control_flow.tensor_list import as_python
from ..core.abstract_value import kind_for
from ..core.tensor import EagerTensor
from ..ir.value_types import AnySpec, TensorType
from ..ops.framework.op import eager_result
from .trace import Composite, Output

Filler = Callable[[Sequence[Any]], Any]

_new_tensor = EagerTensor.__new__
_array, _as_array = np.ndarray, np.asarray


def finisher(structure: Any, specs: Sequence[AnySpec], fill: Filler) -> Filler:
    """Return a function from the results of a runner to the result for its caller."""
    if _is_tensor(structure) and isinstance(specs[0], TensorType):
        only = _maker(specs[0])
        return lambda results: only(results[0])
    makers = [_maker(spec) if isinstance(spec, TensorType) else _state_maker(spec) for spec in specs]
    return lambda results: fill([make(result) for make, result in zip(makers, results, strict=True)])


def _state_maker(spec: AnySpec) -> Filler:
    return lambda result: eager_result(result, spec)


def _maker(spec: TensorType) -> Callable[[Any], EagerTensor]:
    """Return a function that makes a tensor of a result. It sets the slots directly, without a call of `__init__`."""
    dtype = spec.dtype.numpy_dtype
    scalar = dtype.type
    kind = None if dtype.hasobject else kind_for(spec.dtype, ())

    def tensor_of(result: Any) -> EagerTensor:
        tensor = _new_tensor(EagerTensor)
        if type(result) is scalar:
            tensor._array = _as_array(result)
            tensor._kind = kind
        else:
            tensor._array = result if type(result) is _array else _as_array(result, dtype)
            tensor._kind = None
        return tensor

    return tensor_of


def filler(structure: Any) -> Filler:
    """Return a function that replaces each `Output` in the structure by its tensor."""
    if _is_tensor(structure):
        return itemgetter(structure.number)
    if isinstance(structure, (Output, Composite)):
        return lambda results: as_python(structure.filled(results))
    if not nest.is_nested(structure):
        return lambda results: structure
    kind = type(structure)
    if kind is tuple and len(structure) > 1 and all(map(_is_tensor, structure)):
        return itemgetter(*[output.number for output in structure])
    if kind is tuple or kind is list:
        parts = [filler(child) for child in structure]
        return lambda results: kind([part(results) for part in parts])
    if kind is dict:
        items = [(key, filler(child)) for key, child in structure.items()]
        return lambda results: {key: part(results) for key, part in items}
    return lambda results: as_python(filled(structure, results))


def filled(structure: Any, results: Sequence[Any]) -> Any:
    """Return the structure with each `Output` replaced by its result."""
    leaves = nest.flatten(structure)
    flat = [leaf.filled(results) if isinstance(leaf, (Output, Composite)) else leaf for leaf in leaves]
    return nest.pack_sequence_as(structure, flat)


def _is_tensor(leaf: Any) -> bool:
    return type(leaf) is Output and leaf.array is None
