"""`TraceType`: how objects of one's own say which calls of a `function` may share a graph.

class Fruit:
    def __tf_tracing_type__(self, context):
        return FruitType(type(self))            # equal types: the graph that there is; others: a new one
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable


class TraceType(abc.ABC):
    """What a function needs to know of an argument. Calls whose types are equal share a graph.

    A class of one's own defines `__eq__` and `__hash__` so, and the methods below, which TensorFlow asks for.
    """

    @abc.abstractmethod
    def is_subtype_of(self, other: TraceType) -> bool:
        """Whether what was traced for `other` serves this as well."""

    @abc.abstractmethod
    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TraceType | None:
        """The type that covers this one and others; None when there is none."""

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context: Any) -> Any:
        """What stands for such an argument while it is traced."""

    @abc.abstractmethod
    def __hash__(self) -> int: ...

    @abc.abstractmethod
    def __eq__(self, other: object) -> bool: ...


@runtime_checkable
class SupportsTracingProtocol(Protocol):
    """An object that has a `TraceType`."""

    def __tf_tracing_type__(self, context: TracingContext) -> TraceType:
        """The type that tells it from others."""


class TracingContext:
    """What `__tf_tracing_type__` is given: nothing is asked of it here."""


CONTEXT = TracingContext()
