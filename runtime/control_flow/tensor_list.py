"""`TensorList`: a Python list with a length that the graph decides.

out = []                          before the loop: a Python list
for x in tensor:
    if x > 0:
        out.append(x)             in a graph: a `TensorList`, with the methods of a list
return out                        outside of the graph: a Python list of tensors

Elements are nests of tensors of one structure; each leaf has a TensorArray of its own. The object is mutable like a
list. The values in it belong to a graph, so each block of the program gets a copy (see `nest`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from agc.autograph.api import Note
from agc.autograph.staging import MutableValue

from .. import dtypes, nest
from ..core import shapes
from ..core.conversion import convert_to_tensor, register_conversion
from ..core.tensor import EagerTensor, Tensor
from ..core.tensor_array import TensorArray
from ..ir.value_types import TensorType
from ..ops.lists import tensor_list
from ..ops.lists.list_compare import list_repeat
from ..ops.lists.tensor_array import array_concat, array_stack
from . import state_leaves
from .diagnostics import made, staging_error
from .list_queries import ListQuestions

_END = 2**31 - 1


class TensorList(ListQuestions, MutableValue):
    """A list of nests with the structure of `like`, made by the staging of lists, not by users."""

    def __init__(
        self, name: str, like: Any, arrays: Sequence[TensorArray], notes: Sequence[Note] = ()
    ) -> None:
        self.name, self._like, self._arrays = name, like, list(arrays)
        self._notes = tuple(notes)  # on the lines that made elements of these types, for messages

    # The nest protocol: branches and loops carry the arrays of the leaves.

    def __nest__(self) -> list[tuple[Any, Any]]:
        paths = [path for path, _ in nest.flatten_with_path(self._like)]
        return list(zip(paths, self._arrays, strict=True))

    def __rebuilt__(self, parts: Sequence[TensorArray]) -> TensorList:
        return TensorList(self.name, self._like, parts, self._notes)

    def copy(self) -> TensorList:
        return TensorList(self.name, self._like, self._arrays, self._notes)

    __copy__ = copy

    # The methods of a list

    def append(self, value: Any) -> None:
        self._update(tensor_list.list_append, [(tensor,) for tensor in self._leaves(value)])

    def extend(self, values: Any) -> None:
        if isinstance(values, TensorList):
            if not nest.same_structure(self._like, values._like):
                raise _differ(self.name, str(self._specs()), values[0], self._notes)
            self._update(tensor_list.list_extend, [(array._reachable(),) for array in values._arrays])
        elif isinstance(values, Tensor) and len(self._arrays) == 1:
            self._update(tensor_list.list_extend_rows, [(values,)])
        else:
            for value in values:
                self.append(value)

    def insert(self, index: Any, value: Any) -> None:
        self._update(tensor_list.list_insert, [(index, tensor) for tensor in self._leaves(value)])

    def pop(self, index: Any = -1) -> Any:
        flows, elements = zip(
            *(tensor_list.list_pop(array._reachable(), index) for array in self._arrays), strict=True
        )
        self._arrays = [array.with_flow(flow) for array, flow in zip(self._arrays, flows, strict=True)]
        return nest.pack_sequence_as(self._like, elements)

    def clear(self) -> None:
        self._arrays = self.emptied()._arrays

    def reverse(self) -> None:
        self._update(tensor_list.list_reverse, [() for _ in self._arrays])

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self.__rebuilt__(self._part(*_bounds(key)))
        elements = [tensor_list.list_get(array._reachable(), _index(key)) for array in self._arrays]
        return nest.pack_sequence_as(self._like, elements)

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, slice):
            raise self._refused("assigning a slice", "write the elements in a loop, one by one")
        self._update(tensor_list.list_set, [(_index(key), tensor) for tensor in self._leaves(value)])

    def __delitem__(self, key: Any) -> None:
        if isinstance(key, slice):
            raise self._refused("deleting a slice", "keep the other elements: `xs = xs[:i] + xs[j:]`")
        self.pop(_index(key))

    def __add__(self, other: Any) -> TensorList:
        both = self.copy()
        both.extend(other)
        return both

    def __radd__(self, other: Any) -> TensorList:
        both = self.emptied()
        both.extend(other)
        both.extend(self)
        return both

    def __iadd__(self, other: Any) -> TensorList:
        self.extend(other)
        return self

    def __mul__(self, times: Any) -> TensorList:
        many = self.copy()
        many *= times
        return many

    __rmul__ = __mul__

    def __imul__(self, times: Any) -> TensorList:
        self._update(list_repeat, [(_index(times),) for _ in self._arrays])
        return self

    def emptied(self) -> TensorList:
        """Return a new list without elements, for elements of the same types; it shares no values with this list."""
        specs = [array.flow.spec.element for array in self._arrays]
        return self.__rebuilt__([_new_array(spec.dtype, spec.shape) for spec in specs])

    def size(self) -> Any:
        """Return the number of elements, a scalar int32 tensor."""
        return tensor_list.list_size(self._arrays[0]._reachable())

    # Conversion to tensors

    def stack(self) -> Tensor:
        """Return all elements as the rows of one tensor."""
        return array_stack(self._single(), **self._element())  # type: ignore[no-any-return]

    def concatenated(self, axis: Any) -> Tensor:
        """Return the concatenation of all elements, for `tf.concat`."""
        if axis != 0:
            raise self._refused("`tf.concat` along another axis than 0", "transpose the elements")
        return array_concat(self._single(), **self._element())  # type: ignore[no-any-return]

    def _single(self) -> Any:
        if len(self._arrays) != 1 or nest.is_nested(self._like):
            raise self._refused(
                "stacking elements that are not tensors", "keep one list for each tensor of an element"
            )
        return self._arrays[0]._reachable()

    def _element(self) -> dict[str, Any]:
        spec = self._arrays[0].flow.spec.element
        return {"dtype": spec.dtype, "element_shape": spec.shape}

    # Helpers

    def _update(self, operation: Any, operands: Sequence[tuple[Any, ...]]) -> None:
        pairs = zip(self._arrays, operands, strict=True)
        self._arrays = [array.with_flow(operation(array._reachable(), *rest)) for array, rest in pairs]

    def _part(self, start: Any, stop: Any, step: Any) -> list[TensorArray]:
        flows = [tensor_list.list_slice(array._reachable(), start, stop, step) for array in self._arrays]
        return [array.with_flow(flow) for array, flow in zip(self._arrays, flows, strict=True)]

    def _leaves(self, value: Any) -> list[Any]:
        """Return the tensors of a new element."""
        self._check(value)
        found = nest.flatten(value)
        return [self._adapted(leaf, array.dtype) for leaf, array in zip(found, self._arrays, strict=True)]

    def _check(self, value: Any) -> None:
        if not fits(self._like, value):
            raise _differ(self.name, str(self._specs()), value, self._notes)

    def _adapted(self, leaf: Any, dtype: dtypes.DType) -> Any:
        try:
            tensor = state_leaves.carried(leaf, dtype)
        except TypeError:
            tensor = state_leaves.carried(leaf)
        if tensor.dtype is not dtype:
            raise staging_error(
                "AGC274",
                f"the elements of the list `{self.name}` have different dtypes: {dtype.name} and "
                f"{tensor.dtype.name}",
                notes=_other_lines(self._notes, leaf),
                why="the graph decides how long the list is, so all its elements are of one type",
                fix=f"cast the element, for instance tf.cast(value, tf.{dtype.name})",
            )
        return tensor

    def __repr__(self) -> str:
        return f"<list {self.name!r} of {self._specs()}>"

    def _specs(self) -> Any:
        return nest.pack_sequence_as(self._like, [_element_text(array) for array in self._arrays])


def _element_text(array: Any) -> str:
    # A message may have text in place of the arrays.
    return str(array.flow.spec.element) if isinstance(array, TensorArray) else str(array)


def _index(key: Any) -> Any:
    if isinstance(key, Tensor) and not key.dtype.is_integer:
        raise TypeError(f"list indices must be integers or slices, not tensors of {key.dtype.name}")
    return key if isinstance(key, Tensor) else key.__index__()


def _bounds(key: slice) -> tuple[Any, Any, Any]:
    """Return start, stop and step as numbers that mean the same for a list of any length."""
    step = 1 if key.step is None else key.step
    if not isinstance(step, int):
        raise TypeError("the step of a slice of a list must be a Python int")
    start = key.start if key.start is not None else (0 if step > 0 else _END)
    stop = key.stop if key.stop is not None else (_END if step > 0 else -_END)
    return start, stop, step


def fits(like: Any, element: Any) -> bool:
    """Return whether an element has this structure, with leaves that a graph carries."""
    return nest.same_structure(like, element) and all(
        state_leaves.can_be_carried(leaf) and not isinstance(leaf, TensorArray)
        for leaf in nest.flatten(element)
    )


def _differ(name: str, one: str, other: Any, notes: Sequence[Note]) -> Exception:
    if _holds_list(other):
        return staging_error(
            "AGC273",
            f"an element of the list `{name}` is a list whose length the graph decides",
            why="the elements of such a list are tensors, or nests of a fixed number of them",
            fix="stack the inner list, `tf.stack([... for ...])`, or make one flat list, `[... for ... for ...]`",
        )
    return staging_error(
        "AGC273",
        f"the elements of the list `{name}` do not fit each other: one is {one}, another {state_leaves.shown(other)}",
        notes=_other_lines(notes, other),
        why="the graph decides how long the list is, so all its elements are tensors, or the same nests of tensors",
        fix="give all elements one structure, or keep Python objects out of the list",
    )


def _holds_list(value: Any) -> bool:
    if isinstance(value, TensorList):
        return True
    return nest.is_nested(value) and any(_holds_list(child) for _, child in nest.children(value))


def _made(value: Any) -> list[Note]:
    """Return notes on the lines that made the parts of an element, with their types."""
    return [note for note in map(made, nest.flatten(value)) if note is not None]


def _other_lines(notes: Sequence[Note], other: Any) -> list[Note]:
    """Return notes on the lines that made two different elements."""
    return list(dict.fromkeys([*notes, *_made(other)]))


def from_elements(name: str, elements: Sequence[Any], examples: Iterable[Any] = ()) -> TensorList:
    """Return a list of these elements; `examples` are other future elements that contribute to its types."""
    known = [*elements, *examples]
    like = known[0]
    for other in known:
        if not fits(like, other):
            raise _differ(name, state_leaves.shown(like), other, _made(like))
    columns = zip(*map(nest.flatten, known), strict=True)
    bare = nest.map_structure(lambda leaf: None, like)
    result = TensorList(name, bare, [_empty(column) for column in columns], _made(like))
    for element in elements:
        result.append(element)
    return result


def _empty(column: Sequence[Any]) -> TensorArray:
    """Return an empty array for the values of one leaf."""
    firm = [leaf for leaf in column if getattr(leaf, "_weak_from", None) is None]
    wanted = next((dtype for dtype in map(state_leaves.dtype_of, firm or column) if dtype is not None), None)
    if wanted is None:
        numbers = [type(leaf) for leaf in column if state_leaves.is_weak(leaf)]
        wanted = dtypes.float32 if float in numbers else state_leaves.carried(column[0]).dtype
    shape: Any = state_leaves.spec_of(state_leaves.carried(column[0])).shape  # type: ignore[union-attr]
    for leaf in column[1:]:
        spec = state_leaves.spec_of(state_leaves.carried(leaf))
        assert isinstance(spec, TensorType)
        shape = shapes.generalize(shape, spec.shape)
    return _new_array(wanted, shape)


def _new_array(dtype: dtypes.DType, shape: Any) -> TensorArray:
    flow = tensor_list.list_new(dtype, shape)
    return TensorArray(dtype, dynamic_size=True, infer_shape=False, element_shape=shape, flow=flow)


def as_python(value: Any) -> Any:
    """Return a result of a graph with lists in the graph as Python lists."""
    if isinstance(value, TensorList):
        columns = [array.flow._array.items() for array in value._arrays]
        rows = zip(*columns, strict=True)
        return [nest.pack_sequence_as(value._like, list(map(EagerTensor, row))) for row in rows]
    if nest.is_nested(value):
        return nest.rebuilt(value, [as_python(child) for _, child in nest.children(value)])
    return value


def _as_tensor(value: TensorList, dtype: dtypes.DType | None) -> Tensor:
    return convert_to_tensor(value.stack(), dtype)


register_conversion(TensorList, _as_tensor)
