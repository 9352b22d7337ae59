"""Datasets and iterators in graphs: tensors of dtype variant, and the operations on them.

    d = dataset n [build=<Recipe _RangeDataset>] : variant[]      a stage, made when the graph runs
    i = iterator d                               : variant[]
    more = iterator_advance i                    : bool[]         to the next element, if there is one
    x = iterator_current i [specs=…]             : float32[3]     that element

A dataset or iterator from outside of the graph is an attribute of `dataset_handle` or `iterator_handle`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, errors
from ..ir.traits import CALLS_PYTHON, IDEMPOTENT, KEEPS_VARIABLES
from ..ir.value_types import TensorType
from ..ops.framework.attribute_parsers import Object, Specs
from ..ops.framework.op import Input, Name, Tensors, op
from .element_spec import boxed, fitted_leaves, unboxed
from .iterator_state import Walk

VARIANT = TensorType(dtypes.variant, ())


@op
def dataset(values: Tensors, build: Object, name: Name = None) -> TensorType:
    """Return the pipeline that `build` makes from the values of its symbolic tensors."""
    return VARIANT


dataset.kernel(lambda values, build: boxed(build(values)))


@op(stateful=True, traits=KEEPS_VARIABLES)
def renewed_dataset(values: Tensors, build: Object, name: Name = None) -> TensorType:
    """Return a pipeline with state of its own, such as seeds: each run makes a new one, which starts again."""
    return VARIANT


renewed_dataset.kernel(lambda values, build: boxed(build(values)))


@op
def dataset_handle(stage: Object, name: Name = None) -> TensorType:
    """Return a pipeline from outside of the graph."""
    return VARIANT


dataset_handle.kernel(lambda stage: boxed(stage))


@op(stateful=True)
def iterator(dataset: Input, name: Name = None) -> TensorType:
    """Start a new iteration of a dataset."""
    return VARIANT


iterator.kernel(lambda dataset: boxed(Walk(unboxed(dataset))))


@op
def iterator_handle(walk: Object, name: Name = None) -> TensorType:
    """Return an iterator from outside of the graph."""
    return VARIANT


iterator_handle.kernel(lambda walk: boxed(walk))


@op(stateful=True, traits=CALLS_PYTHON)
def iterator_advance(iterator: Input, name: Name = None) -> TensorType:
    """Advance to the next element; return false when there is none."""
    return TensorType(dtypes.bool_, ())


iterator_advance.kernel(lambda iterator: np.bool_(unboxed(iterator).advance()))


@op(stateful=True)
def iterator_current(iterator: Input, specs: Specs, name: Name = None) -> tuple[TensorType, ...]:
    """Return the leaves of the current element, set by `iterator_advance`."""
    return specs


iterator_current.kernel(lambda iterator, specs: tuple(unboxed(iterator).current))
iterator_current.no_gradient("the elements of a dataset are constants")


@op(stateful=True, traits=CALLS_PYTHON)
def iterator_next(iterator: Input, specs: Specs, name: Name = None) -> tuple[TensorType, ...]:
    """Return the leaves of the next element. Raises OutOfRangeError when there is none."""
    return specs


@iterator_next.kernel
def _(iterator: Any, specs: Specs) -> tuple[Any, ...]:
    walk = unboxed(iterator)
    if not walk.advance():
        raise errors.OutOfRangeError("End of sequence")
    return tuple(walk.current)


iterator_next.no_gradient("the elements of a dataset are constants")


@op(stateful=True, traits=CALLS_PYTHON)
def iterator_next_as_optional(iterator: Input, name: Name = None) -> TensorType:
    """Return the leaves of the next element as an optional, which is empty when there is none."""
    return VARIANT


@iterator_next_as_optional.kernel
def _(iterator: Any) -> Any:
    walk = unboxed(iterator)
    return boxed(tuple(walk.current) if walk.advance() else None)


@op
def optional_from_value(values: Tensors, name: Name = None) -> TensorType:
    """Return an optional with these leaves."""
    return VARIANT


optional_from_value.kernel(lambda values: boxed(tuple(values)))


@op
def optional_none(name: Name = None) -> TensorType:
    """Return an optional without a value."""
    return VARIANT


optional_none.kernel(lambda: boxed(None))


@op
def optional_has_value(optional: Input, name: Name = None) -> TensorType:
    """Return whether an optional has a value."""
    return TensorType(dtypes.bool_, ())


optional_has_value.kernel(lambda optional: np.bool_(unboxed(optional) is not None))


@op(stateful=True, traits=KEEPS_VARIABLES | IDEMPOTENT)
def optional_get_value(optional: Input, specs: Specs, name: Name = None) -> tuple[TensorType, ...]:
    """Return the leaves of an optional's value. Raises InvalidArgumentError when there is none."""
    return specs


@optional_get_value.kernel
def _(optional: Any, specs: Specs) -> tuple[Any, ...]:
    leaves = unboxed(optional)
    if leaves is None:
        raise errors.InvalidArgumentError("The given optional does not have a value.")
    return tuple(fitted_leaves(leaves, specs, "the value of an optional"))


@op
def dataset_cardinality(dataset: Input, name: Name = None) -> TensorType:
    """Return the number of elements, -1 when it is infinite, -2 when it is unknown."""
    return TensorType(dtypes.int64, ())


dataset_cardinality.kernel(lambda dataset: np.int64(unboxed(dataset).cardinality()))
