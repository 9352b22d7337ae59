"""Shape relaxation: calls that differ in shapes only share a graph with unknown dimensions.

Such a graph exists if it was traced with specs, as by `get_concrete_function(tf.TensorSpec([None]))`. With
`reduce_retracing` the second call traces it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .. import nest
from ..composite import components
from ..core import shapes
from ..core.tensor_spec import TensorSpec
from ..ir.value_types import TensorType
from .cache_key import is_tensor_argument, key_of, key_of_traced
from .variables_in_composites import spec_of

if TYPE_CHECKING:
    from .concrete_function import ConcreteFunction
    from .flat_arguments import FlatArguments

_UNRANKED = 1_000


def relaxed(traced: Iterable[FlatArguments], arguments: FlatArguments) -> FlatArguments:
    """Return the arguments, with a spec for each tensor that differs from an earlier trace in its shape only."""
    for earlier in traced:
        general = generalized(earlier, arguments)
        if general is not None:
            return general
    return arguments


def generalized(traced: FlatArguments, arguments: FlatArguments) -> FlatArguments | None:
    """Return the arguments with specs that also cover an earlier trace; None if they differ in more than shapes."""
    if traced.structure != arguments.structure:
        return None
    leaves = [_common(earlier, leaf) for earlier, leaf in zip(traced.leaves, arguments.leaves, strict=True)]
    return None if any(leaf is _DIFFERENT for leaf in leaves) else arguments.with_leaves(leaves)


_DIFFERENT = object()


def _common(earlier: Any, leaf: Any) -> Any:
    """Return a spec that covers a leaf of an earlier trace and one of this call; `_DIFFERENT` if there is none."""
    if components.is_composite_spec(earlier):
        if not nest.is_composite(leaf):
            return _DIFFERENT
        common = earlier.most_specific_common_supertype([spec_of(leaf)])
        return _DIFFERENT if common is None else common
    if not isinstance(earlier, TensorSpec):
        return leaf if not is_tensor_argument(leaf) and key_of_traced(earlier) == key_of(leaf) else _DIFFERENT
    if not is_tensor_argument(leaf) or leaf.dtype != earlier.dtype:
        return _DIFFERENT
    return TensorSpec(shapes.generalize(earlier.spec.shape, shapes.as_dims(leaf.shape)), earlier.dtype)


def find_covering(graphs: Iterable[ConcreteFunction], arguments: FlatArguments) -> ConcreteFunction | None:
    """Return the most specific trace with unknown dimensions that covers the arguments; None if there is none."""
    found = [
        concrete for concrete in graphs if not concrete.belongs_to_outer and _covers(concrete, arguments)
    ]
    return min(found, key=_unknown, default=None)


def _covers(concrete: ConcreteFunction, arguments: FlatArguments) -> bool:
    if not _unknown(concrete):
        return False
    traced = concrete.traced
    general = generalized(traced, arguments)
    return general is not None and all(
        key_of_traced(one) == key_of_traced(other)
        for one, other in zip(traced.leaves, general.leaves, strict=True)
    )


def _unknown(concrete: ConcreteFunction) -> int:
    """Return the number of unknown dimensions of the inputs; an unknown rank counts more."""
    known = [value.spec.shape for value in concrete.graph.inputs if isinstance(value.spec, TensorType)]
    return sum(_UNRANKED if dims is None else dims.count(None) for dims in known)
