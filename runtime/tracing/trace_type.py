"""`TraceType`: the tracing protocol, by which user-defined objects decide which calls of a `function` share a graph.

class Fruit:
    def __tf_tracing_type__(self, context):
        return FruitType(type(self))            # equal types share a graph, another type is traced
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable


class TraceType(abc.ABC):
    """The type of an argument for the trace cache. Calls with equal types share a graph.

    A subclass defines `__eq__` and `__hash__` accordingly, and the methods below, which TensorFlow requires.

    >>> class Exact(TraceType):
    ...     def __init__(self, value): self.value = value
    ...     def __hash__(self): return hash(self.value)
    ...     def __eq__(self, other): return type(other) is Exact and self.value == other.value
    ...     def is_subtype_of(self, other): return self == other
    ...     def most_specific_common_supertype(self, others): return self if {self} == {*others} else None
    ...     def placeholder_value(self, placeholder_context): return self.value
    >>> Exact("train") == Exact("train")
    True
    """

    @abc.abstractmethod
    def is_subtype_of(self, other: TraceType) -> bool:
        """Return whether a graph that was traced for `other` serves this type as well."""

    @abc.abstractmethod
    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TraceType | None:
        """Return the type that covers this type and `others`; None if there is none."""

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context: Any) -> Any:
        """Return the placeholder of such an argument during a trace."""

    @abc.abstractmethod
    def __hash__(self) -> int: ...

    @abc.abstractmethod
    def __eq__(self, other: object) -> bool: ...


@runtime_checkable
class SupportsTracingProtocol(Protocol):
    """An object that has a `TraceType`.

    >>> class Mode:
    ...     def __tf_tracing_type__(self, context): ...
    >>> isinstance(Mode(), SupportsTracingProtocol), isinstance(3, SupportsTracingProtocol)
    (True, False)
    """

    def __tf_tracing_type__(self, context: TracingContext) -> TraceType:
        """Return the type that distinguishes the object from others."""


class TracingContext:
    """The argument of `__tf_tracing_type__`, which has no use here.

    >>> context = TracingContext()
    """


CONTEXT = TracingContext()
