"""Calls of a concrete function with the tensors of its trace only, without the Python values that it was traced with.

concrete = f.get_concrete_function(model, tf.TensorSpec([]), 2)        f(model, x, power)
concrete(x)          ==>    the inputs of the graph, in order
concrete(x=x)        ==>    the inputs of the graph, by name
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .. import nest
from ..composite import components
from .cache_key import is_tensor_argument
from .trace import input_name


def tensors_of(
    traced: Mapping[str, Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[tuple[str, Any, Any]] | None:
    """Return the name and traced type of each tensor with the one of the call.

    Return None if the call gives not exactly these. Python numbers are no tensors: they could be meant for parameters
    that the trace has no input for.

    Args:
        traced: the arguments of the trace by parameter.
        args: the tensors of a call, in the order of the trace.
        kwargs: further ones, by the names of the graph's inputs.
    """
    wanted = dict(_inputs(traced))
    if len(args) + len(kwargs) != len(wanted) or any(map(components.is_composite_spec, wanted.values())):
        return None
    given = {**dict(zip(wanted, args, strict=False)), **kwargs}
    if given.keys() != wanted.keys() or not all(map(is_tensor_argument, given.values())):
        return None
    return [(name, spec, given[name]) for name, spec in wanted.items()]


def _inputs(traced: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the tensors of the trace: the name of the graph's input, and the type."""
    for parameter, value in traced.items():
        for path, leaf in nest.flatten_with_path(value, parameter):
            if is_tensor_argument(leaf) or components.is_composite_spec(leaf):
                yield getattr(leaf, "name", None) or input_name(path), leaf
