"""Look up the kernel that an executor runs for an operation.

If the rank of an input is unknown during the trace, shape inference cannot reject the input. The kernel then
repeats the inference at run time, once for each combination of shapes. LENIENT kernels do so for unknown sizes, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...ir.graph import Constant, Operation
from ...ir.traits import LENIENT
from ...ir.value_types import TensorType
from . import narrow_floats
from .op_families import Elementwise

_MOST_SHAPES = 64


def kernel_of(operation: Operation) -> Callable[..., Any]:
    """Return the kernel of an operation; it checks its inputs if the graph knows too little of their shapes."""
    compute = narrow_floats.kernel_of(operation)
    if isinstance(operation.op, Elementwise):
        return compute
    specs = [operand.spec for operand in operation.inputs]
    tensors = [spec for spec in specs if isinstance(spec, TensorType)]
    is_lenient = operation.op.has(LENIENT)
    is_vague = len(tensors) == len(specs) and any(
        spec.shape is None or (is_lenient and None in spec.shape) for spec in tensors
    )
    return _checked(compute, operation) if is_vague else compute


def _checked(compute: Callable[..., Any], operation: Operation) -> Callable[..., Any]:
    seen: set[tuple[Any, ...]] = set()

    def computed(*inputs: Any, **attrs: Any) -> Any:
        arrays = list(_flat(inputs))
        shapes = tuple(map(np.shape, arrays))
        if shapes not in seen:
            if all(isinstance(array, (np.ndarray, np.generic)) for array in arrays):
                operation.op.infer([Constant(np.asarray(array)) for array in arrays], attrs)
            if len(seen) < _MOST_SHAPES:
                seen.add(shapes)
        return compute(*inputs, **attrs)

    return computed


def _flat(inputs: Sequence[Any]) -> Iterator[Any]:
    for value in inputs:
        if isinstance(value, list):
            yield from value
        else:
            yield value
