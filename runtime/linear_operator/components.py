"""Operators as composite tensors, as arguments of functions, and as sequences of their batches.

tf.matmul(operator, x)      operator.matmul(x)
tape.gradient(y, operator)  an operator of the same class, made of derivatives
operator[0]                 an operator of the same class, with the first matrix of the batch
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from .. import dtypes
from ..core.module import Module
from ..core.type_spec import CompositeTensor
from ..ops.arrays.creation import zeros_like
from ..ops.framework.composite_dispatch import name_of
from . import hints
from .dispatch import FUNCTIONS
from .slicing import sliced
from .spec import LinearOperatorSpec


class OperatorComponents(CompositeTensor):
    """The part of `LinearOperator` that takes operators apart, and makes others of their parts."""

    _TF_MODULE_IGNORED_PROPERTIES = frozenset({"_parameters"})
    # Arguments whose converted values are attributes of these names.
    _composite_tensor_fields: tuple[str, ...] = ()
    _matrix_ndims: Mapping[str, int] = {}  # arguments → how many of their last axes belong to one matrix
    _parameters: dict[str, Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = inspect.signature(cls.__init__).parameters.values()
        cls.__signature__ = inspect.Signature([*own][1:])  # type: ignore[attr-defined]  # 3.11.2 takes that of __new__

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__new__(cls)
        made._parameters = _bound(cls, args, kwargs)
        return made

    def _arguments(self) -> dict[str, Any]:
        """Return arguments with which the constructor makes this operator, the tensors converted."""
        own = {*self._composite_tensor_fields, *self._matrix_ndims, *hints.HINTS}
        return {
            name: getattr(self, name) if name in own else value
            for name, value in self._parameters.items()
            if name != "name"
        }

    @property
    def _type_spec(self) -> LinearOperatorSpec:
        return LinearOperatorSpec.of(self)

    @property
    def _differentiated(self) -> list[Any]:
        found = []
        for part in self._type_spec.parts(self):
            if isinstance(part, OperatorComponents):
                found += part._differentiated
            elif _is_continuous(part.dtype):
                found.append(part)
        return found

    def _with_differentiated(self, derivatives: list[Any]) -> Any:
        if all(each is None for each in derivatives):
            return None
        pairs = zip(self._differentiated, derivatives, strict=True)
        return self._with_parts(iter([zeros_like(x) if each is None else each for x, each in pairs]))

    def _with_parts(self, tensors: Iterator[Any]) -> Any:
        """Return an operator with other floating tensors, of which the hints are not known."""
        spec, made = self._type_spec, []
        for part in spec.parts(self):
            if isinstance(part, OperatorComponents):
                made.append(part._with_parts(tensors))
            else:
                made.append(next(tensors) if _is_continuous(part.dtype) else part)
        return spec.without_hints()._from_components(made)

    @staticmethod
    def _operation(operation: Any) -> Any:
        return FUNCTIONS.get(name_of(operation))

    def __getitem__(self, slices: Any) -> Any:
        return sliced(self, slices)

    def __children__(self) -> dict[str, Any]:
        children = Module.__children__(self)  # type: ignore[arg-type]
        return {name: value for name, value in children.items() if name != "_parameters"}


def _is_continuous(dtype: dtypes.DType) -> bool:
    return dtype.is_floating or dtype.is_complex


def _bound(owner: type, args: Any, kwargs: Any) -> dict[str, Any]:
    """Return the arguments of a constructor by name; none if they do not fit, which its call will say."""
    signature = _signature(owner)
    try:
        bound = signature.bind(None, *args, **kwargs)
    except TypeError:
        return {}
    bound.apply_defaults()
    found: dict[str, Any] = {}
    for name, value in list(bound.arguments.items())[1:]:
        kind = signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            name = f"*{name}"  # no argument of a call: such an operator cannot be made again
        found.update(value if kind is inspect.Parameter.VAR_KEYWORD else {name: value})
    return found


@functools.lru_cache(maxsize=256)
def _signature(owner: type) -> inspect.Signature:
    return inspect.signature(owner.__init__)  # type: ignore[misc]
