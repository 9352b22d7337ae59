"""`input_signature`: the specs that all calls of a function fit, so that they share one graph."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from .. import nest
from ..core import shapes
from ..core.conversion import convert_to_tensor
from ..core.symbolic_tensor import SymbolicTensor
from ..core.tensor_spec import TensorSpec
from ..core.type_spec import TypeSpec
from ..core.variable import Variable
from ..ir.value_types import TensorType
from .cache_key import Parameters


class InputSignature:
    """TensorSpecs, in nests, for the parameters of a function in order; `self` has none.

    Raises TypeError if it holds anything but TensorSpecs, more of them than there are parameters, or fewer than there
    are parameters without a default.
    """

    def __init__(self, specs: Iterable[Any], function_name: str, parameters: Parameters) -> None:
        self.specs = tuple(specs)
        self.name = function_name
        for leaf in nest.flatten(list(self.specs)):
            if not isinstance(leaf, TypeSpec):
                raise TypeError(f"input_signature must be a nest of TensorSpecs, but holds {leaf!r}")
        self._parameters = parameters
        extra = len(self.specs) - parameters.most
        if extra > 0:
            raise TypeError(f"input_signature contains {extra} extra type constraints.")
        for name in parameters.positional[parameters.may_be_method + len(self.specs) :]:
            if parameters.signature.parameters[name].default is inspect.Parameter.empty:
                raise TypeError(f"input_signature missing type constraint for {name}")

    def described(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the specs by the names of their parameters."""
        if self._parameters.rest is not None:
            return self._with_rest(self._parameters.rest)
        names = list(arguments)
        if len(names) < len(self.specs):
            raise TypeError(
                f"{self.name}() takes {len(names)} arguments, input_signature has {len(self.specs)}"
            )
        start = len(names) > len(self.specs) and self._parameters.are_of_method
        return dict(zip(names[start:], self.specs, strict=False))

    def _with_rest(self, rest: str) -> dict[str, Any]:
        """Return the same for a function with `*rest`, which gets the remaining specs."""
        names = self._parameters.positional[self._parameters.are_of_method :]
        found = dict(zip(names, self.specs, strict=False))
        return {**found, rest: self.specs[len(names) :]}

    def fitted(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments as tensors that fit their specs.

        Raise TypeError naming the argument and both specs if one does not.
        """
        result = dict(arguments)
        for name, wanted in self.described(arguments).items():
            result[name] = self._fitted(name, wanted, arguments[name])
        return result

    def _fitted(self, name: str, wanted: Any, given: Any) -> Any:
        if isinstance(wanted, TypeSpec):
            return _fitted_leaf(given, wanted, name, self.name)
        if not _has_form(wanted, given):
            raise TypeError(f"{self.name}(): the structure of argument `{name}` does not match {wanted}")
        pairs = zip(nest.children(wanted), nest.children(given), strict=True)
        return nest.rebuilt(wanted, [self._fitted(name, spec, part) for (_, spec), (_, part) in pairs])


def _has_form(wanted: Any, given: Any) -> bool:
    """Return whether a nest of specs and a nest have the same keys; below a spec, a list means a tensor."""
    return type(wanted) is type(given) and [key for key, _ in nest.children(wanted)] == [
        key for key, _ in nest.children(given)
    ]


def _fitted_leaf(value: Any, wanted: TypeSpec, argument: str, name: str) -> Any:
    if not isinstance(wanted, TensorSpec):
        if wanted.is_compatible_with(value):
            return value
        given = getattr(value, "_type_spec", type(value).__name__)
        raise TypeError(
            f"{name}(): argument `{argument}` is {given}, which does not fit {wanted} of input_signature"
        )
    if isinstance(value, TensorSpec):
        tensor: Any = value
    else:
        try:
            tensor = convert_to_tensor(
                value.value() if isinstance(value, Variable) else value, dtype_hint=wanted.dtype
            )
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name}(): argument `{argument}` is not a tensor: {error}") from None
    # A tensor of a graph may be known too little to tell; then each run checks its shape.
    fits = shapes.compatible if isinstance(tensor, SymbolicTensor) else shapes.covers
    if tensor.dtype is not wanted.dtype or not fits(
        shapes.as_dims(wanted.shape), shapes.as_dims(tensor.shape)
    ):
        given = TensorType(tensor.dtype, shapes.as_dims(tensor.shape))
        raise TypeError(
            f"{name}(): argument `{argument}` is {given}, which does not fit {wanted.spec} of input_signature"
        )
    return tensor
