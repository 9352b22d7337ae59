"""The arguments that a graph was traced for, and those of a call, which must fit them.

f(x, n=3) traced for a vector  ⇒  {"x": TensorSpec([None]), "n": 3}

call          inputs of the graph
f(t, 3)       [t]
f(t)          [t]: Python values of the trace may be left out
f(t, 4)       TypeError: f(): `n` was 3 when traced, but is 4 in this call
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from .. import errors, nest
from ..composite import components
from ..core import shapes
from ..core.conversion import convert_to_tensor
from ..core.tensor import Tensor
from ..core.tensor_spec import TensorSpec
from ..core.type_spec import TypeSpec
from ..ir.value_types import TensorType
from .cache_key import Identity, Parameters, is_tensor_argument, key_of, key_of_traced


class WrongDtypeError(errors.InvalidArgumentError, TypeError):
    """Error: a tensor of another dtype than the traced one. TensorFlow raises either class, depending on the call."""


class TracedArguments:
    """The arguments of a trace, by parameter: TensorSpecs and other specs for tensors, Python values elsewhere."""

    def __init__(self, function: str, parameters: Parameters, specs: Mapping[str, Any]) -> None:
        self._function, self._parameters, self._specs = function, parameters, specs
        self.receiver: str | None = None  # the parameter that is bound to the instance of a method

    def inputs_of(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
        """Return the leaves of a call that are inputs of the graph; the call may give only the tensors.

        Raise TypeError naming the argument if one does not fit.
        """
        try:
            return self.checked(self._bound(args, kwargs))
        except TypeError:
            from .flat_call import tensors_of  # imported for arguments that do not fit

            tensors = tensors_of(self._specs, args, kwargs)
            if tensors is None:
                raise
            with contextlib.suppress(TypeError):  # the error about all arguments names more of them
                return [self._checked_leaf(*each) for each in tensors]
            raise

    def _bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments by name. Those of the trace that are Python values may be left out, and so may `self`.

        A value of the trace goes before the default of its parameter.
        """
        if self.receiver is not None:
            instance = alive(self._specs[self.receiver])
            if not args or args[0] is not instance:
                args = (instance, *args)
        known = {
            name: nest.map_structure(alive, value)
            for name, value in self._specs.items()
            if not any(map(_is_input, nest.flatten(value)))
        }
        found = {**known, **self._parameters.given(args, kwargs)}
        return found if len(found) == len(self._specs) else {**self._parameters.bind(args, kwargs), **found}

    def checked(self, arguments: Mapping[str, Any]) -> list[Any]:
        """Return the inputs of the graph among arguments by name. Raise TypeError if one does not fit."""
        found = []
        for name, traced, given in self._paired(arguments):
            if isinstance(traced, Identity) and (name == self.receiver or traced.target is given):
                continue
            if isinstance(traced, TensorSpec) and nest.is_nested(given):
                found.append(self._checked_leaf(name, traced, given))
                continue
            if not nest.same_structure(traced, given):
                raise TypeError(
                    f"{self._function}(): argument `{name}` has another structure than the traced one: {traced}"
                )
            pairs = zip(nest.flatten_with_path(traced, name), nest.flatten(given), strict=True)
            for (path, spec), leaf in pairs:
                if components.is_composite_spec(spec):
                    found += self._checked_composite(path, spec, leaf)
                    continue
                checked = self._checked_leaf(path, spec, leaf)
                if checked is not None:
                    found.append(checked)
        return found

    def _paired(self, arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
        """Yield the name, the traced and the given value of each argument; of `**kwargs`, those of each keyword."""
        for name, traced in self._specs.items():
            given = arguments[name]
            if name == self._parameters.keywords and traced.keys() == given.keys():
                yield from ((key, traced[key], given[key]) for key in sorted(traced))
            else:
                yield name, traced, given

    def _checked_composite(self, path: str, traced: TypeSpec, given: Any) -> list[Any]:
        if not traced.is_compatible_with(given):
            raise TypeError(
                f"{self._function}(): `{path}` is {given!r}, but the graph was traced for {traced}"
            )
        return [*filter(is_tensor_argument, components.flatten(given))]

    def _checked_leaf(self, path: str, traced: Any, given: Any) -> Any:
        if not isinstance(traced, TensorSpec):
            if is_tensor_argument(traced):
                return given
            if key_of_traced(traced) != key_of(given):
                raise TypeError(
                    f"{self._function}(): `{path}` was {traced!r} when traced, but is {given!r} in this call"
                )
            return None
        try:
            tensor = given if isinstance(given, Tensor) else convert_to_tensor(given, traced.dtype)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{self._function}(): `{path}` must be {traced.spec}: {error}") from None
        spec = TensorType(tensor.dtype, tensor.shape.sizes)
        if spec.dtype is not traced.dtype or not shapes.compatible(traced.spec.shape, spec.shape):
            kind = TypeError if spec.dtype is traced.dtype else WrongDtypeError
            raise kind(f"{self._function}(): `{path}` is {spec}, but the graph was traced for {traced.spec}")
        return tensor


def alive(leaf: Any) -> Any:
    """Return a Python value of a trace; the trace keeps no object alive, but knows which it was."""
    return leaf.target if isinstance(leaf, Identity) else leaf


def _is_input(leaf: Any) -> bool:
    return is_tensor_argument(leaf) or components.is_composite_spec(leaf)
