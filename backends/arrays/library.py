"""The protocol of an array library: leaves and types of values, tracing, and three operations for control flow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

Build = Callable[[Sequence[Any]], Any]
"""Makes a value of one structure from its leaves."""


class Type(NamedTuple):
    """The type of an array. A weak type, such as that of a Python number, adapts to the types of others.

    `varies` are the axes of a mesh of devices along which the array differs, in a function that runs on each device.
    """

    shape: tuple[int, ...]
    dtype: Any
    is_weak: bool
    varies: frozenset[str] = frozenset()


class UnknownValue(NamedTuple):
    """Why the library cannot give Python a value. For a truth value the reason may be that code was not converted."""

    title: str
    why: str
    fix: str
    is_truth: bool


class Program(Protocol):
    """A function of arrays after its trace."""

    has_effects: bool
    passed_on: Sequence[Any]
    """For each result: the array that the function has only passed on from outside, or None."""

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """Stage the operations of the program on these arrays; return its results."""
        ...

    def operations(self) -> float:
        """Return the number of operations; infinity if there are loops, branches, or operations that may fail."""
        ...

    def is_selectable(self) -> bool:
        """Return whether the program may run where its results are not selected: it has finite derivatives.

        A selection gives the other results a derivative of 0, and 0 times infinity is not a number.
        """
        ...


class Library(Protocol):
    """An array library whose values are staged. Functions that it gets may use arrays from outside."""

    name: str
    package: str
    value: str
    """The word for a traced value: array or tensor."""
    reductions: str
    """The advice for reducing an array of bools to one."""
    has_weak_arrays: bool
    """Whether arrays that come from Python numbers adapt to other dtypes, as the numbers do."""
    conversions: str
    """The advice for changing the dtype or the shape of an array."""

    def conversion_to(self, dtype: str) -> str:
        """Return how to convert an array to a dtype, for a message."""
        ...

    # Values

    def flatten(self, value: Any, is_leaf: Callable[[Any], bool]) -> tuple[list[Any], Build]:
        """Return the leaves of a pytree, and the function that builds it again."""
        ...

    def flatten_with_path(self, value: Any, is_leaf: Callable[[Any], bool]) -> list[tuple[str, Any]]:
        """Return the leaves with their paths, such as `['h'][0]`."""
        ...

    def structure(self, value: Any, is_leaf: Callable[[Any], bool]) -> Any:
        """Return a key that is equal for pytrees of one structure."""
        ...

    def is_array(self, leaf: Any) -> bool:
        """Return whether the library carries the leaf as an array."""
        ...

    def as_array(self, leaf: Any) -> Any:
        """Return an array or number as an array that can be staged."""
        ...

    def type_of(self, leaf: Any) -> Type:
        """Return the type of an array or a Python number."""
        ...

    def dtype_name(self, dtype: Any) -> str: ...

    def common_dtype(self, types: Sequence[Type]) -> Any:
        """Return the dtype of several types of one shape after promotion; None if they have none."""
        ...

    def converted(self, leaf: Any, type: Type) -> Any:
        """Return an array or number as an array of this type, which has its shape."""
        ...

    def blank(self, type: Type) -> Any:
        """Return an array of zeros."""
        ...

    def is_concrete(self, value: Any) -> bool:
        """Return whether Python can read the value now."""
        ...

    def unknown_value(self, error: Exception) -> UnknownValue | None:
        """Explain an error of the library that says that Python needs a traced value; None for other errors."""
        ...

    # Operations

    def is_integer(self, value: Any) -> bool: ...

    def truth(self, value: Any) -> Any:
        """Return an array of one element as a scalar of bool: whether it is not zero."""
        ...

    def where(self, condition: Any, one: Any, other: Any) -> Any: ...

    def logical_and(self, one: Any, other: Any) -> Any: ...

    def logical_or(self, one: Any, other: Any) -> Any: ...

    def logical_not(self, value: Any) -> Any: ...

    def minimum(self, one: Any, other: Any) -> Any: ...

    def maximum(self, one: Any, other: Any) -> Any: ...

    def item(self, array: Any, index: Any) -> Any:
        """Return the row of an array at an index that is not negative."""
        ...

    def rows(self, array: Any) -> Sequence[Any]:
        """Return all rows of an array."""
        ...

    def reversed(self, array: Any) -> Any: ...

    def arange(self, count: int) -> Any: ...

    def code(self, number: int) -> Any:
        """Return a scalar of int32."""
        ...

    # Tracing and control flow

    def tracing(self) -> AbstractContextManager[Any]:
        """Return the context in which converted functions run."""
        ...

    def trace_state(self) -> Any:
        """Return a key that is equal while one function is traced."""
        ...

    def trace(self, function: Callable[..., list[Any]], types: Sequence[Type]) -> Program: ...

    def types_of_results(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the results of a function with a `Type` in place of each array, without staging it."""
        ...

    def cond(
        self, test: Any, then: Callable[[], list[Any]], orelse: Callable[[], list[Any]]
    ) -> list[Any]: ...

    def while_loop(
        self, test: Callable[[list[Any]], Any], body: Callable[[list[Any]], list[Any]], start: list[Any]
    ) -> list[Any]: ...

    def scan(
        self,
        body: Callable[[list[Any], list[Any]], tuple[list[Any], list[Any]]],
        start: list[Any],
        rows: list[Any],
        length: int,
    ) -> tuple[list[Any], list[Any]]:
        """Return the carry after `length` steps, and what the steps return besides it, stacked."""
        ...

    def raise_when_run(self, errors: tuple[BaseException, ...], code: Any) -> None:
        """Stage the raising of the exception with this number, from 1, while the program runs; 0 is none."""
        ...
