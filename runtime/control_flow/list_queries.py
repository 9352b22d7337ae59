"""The read-only methods of a list in the graph, and the methods that only Python could run.

xs == ys      a bool that the graph computes, as `xs != ys`, `xs.count(v)`, `xs.index(v)`
[*xs, 5]      an error: Python would need the elements now; the message suggests `xs + [5]`
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from .. import nest
from ..ops.lists.list_compare import list_count, list_equal, list_index
from ..ops.math.comparison import logical_and, logical_not
from .diagnostics import staging_error


class ListQuestions:
    """The methods of a `TensorList` that do not change it."""

    name: str
    _like: Any
    _arrays: Sequence[Any]
    _single: Any
    _leaves: Any
    emptied: Any

    __hash__ = None  # type: ignore[assignment]  # as Python's lists

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, (list, ListQuestions)):
            return False
        same: Any = True
        joined = self.emptied()  # the other list, with elements of the types of this one
        joined.extend(other)
        for one, two in zip(self._arrays, joined._arrays, strict=True):
            equal = self._answer(list_equal, one._reachable(), two._reachable())
            same = equal if same is True else logical_and(same, equal)
        return same

    def __ne__(self, other: object) -> Any:
        equal = self == other
        return True if equal is False else logical_not(equal)

    def count(self, value: Any) -> Any:
        """Return the number of elements that are equal to `value`."""
        (tensor,) = self._asked(value, "count")
        return self._answer(list_count, self._single(), tensor)

    def index(self, value: Any) -> Any:
        """Return the index of the first element equal to `value`; the graph raises ValueError if there is none."""
        (tensor,) = self._asked(value, "index")
        return self._answer(list_index, self._single(), tensor)

    def _asked(self, value: Any, name: str) -> Any:
        if nest.is_nested(self._like):
            raise self._refused(f"`{name}`, where elements are no single tensors,", "write the loop")
        return self._leaves(value)

    def _answer(self, operation: Any, *operands: Any) -> Any:
        try:
            return operation(*operands)
        except TypeError:
            raise self._refused(
                "comparing elements that are not scalars",
                f"compare the tensor tf.stack({self.name}), or write the loop",
            ) from None

    # Methods for which Python would need the elements

    def __iter__(self) -> NoReturn:
        name = self.name
        raise self._refused(
            "unpacking all elements",
            f"write `{name} + [x]` for `[*{name}, x]`, `a, b = {name}[0], {name}[1]` for `a, b = {name}`, "
            f"a loop over `{name}` in converted code, or use the tensor tf.stack({name})",
        )

    def __len__(self) -> NoReturn:
        raise self._refused("len() outside of converted code", f"use tf.shape(tf.stack({self.name}))[0]")

    def __bool__(self) -> NoReturn:
        raise self._refused("truth outside of converted code", f"use tf.shape(tf.stack({self.name}))[0] > 0")

    def __contains__(self, value: Any) -> NoReturn:
        raise self._refused("`in`", f"write tf.reduce_any(tf.equal(tf.stack({self.name}), value))")

    def remove(self, value: Any) -> NoReturn:
        raise self._refused("`remove`", f"write `{self.name}.pop({self.name}.index(value))`")

    def sort(self, **options: Any) -> NoReturn:
        raise self._refused("`sort`", f"write `sorted({self.name})`, which gives a tensor")

    def _refused(self, what: str, fix: str) -> Exception:
        return staging_error(
            "AGC275",
            f"{what} is not possible for the list `{self.name}`",
            why="the graph decides how long the list is, and it is not known while the function is traced",
            fix=fix,
        )
