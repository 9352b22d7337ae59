"""PyTorch as an array library: pytrees, tracing to graph modules, and torch's operators for control flow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from agc.arrays import Build, Library, Type

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing, get_proxy_mode
from torch.utils import _pytree as pytree

from .gradients import note_wrong_gradient
from .indexing import TracedIndices
from .programs import HIGHER_ORDER, applied, is_plain, trace


class Kind(NamedTuple):
    """The dtype and the device of a tensor; other libraries need the dtype only."""

    dtype: torch.dtype
    device: torch.device


_CPU = torch.device("cpu")
_NUMBERS: dict[type, Callable[[], torch.dtype]] = {
    bool: lambda: torch.bool,
    int: lambda: torch.int64,
    float: torch.get_default_dtype,
    complex: lambda: torch.get_default_dtype().to_complex(),
}


class TorchLibrary:
    """Implements `agc.arrays.Library`."""

    name = "PyTorch"
    package = "torch"
    value = "tensor"
    has_weak_arrays = False
    reductions = ".all() or .any()"
    conversions = ".to(dtype) or torch.broadcast_to"

    def conversion_to(self, dtype: str) -> str:
        return f".to(torch.{dtype})"

    def flatten(self, value: Any, is_leaf: Callable[[Any], bool]) -> tuple[list[Any], Build]:
        leaves, tree = pytree.tree_flatten(value, is_leaf=is_leaf)
        return leaves, lambda new: pytree.tree_unflatten(new, tree)

    def flatten_with_path(self, value: Any, is_leaf: Callable[[Any], bool]) -> list[tuple[str, Any]]:
        pairs, _ = pytree.tree_flatten_with_path(value, is_leaf=is_leaf)
        return [(pytree.keystr(path), leaf) for path, leaf in pairs]

    def structure(self, value: Any, is_leaf: Callable[[Any], bool]) -> Any:
        return pytree.tree_structure(value, is_leaf=is_leaf)

    def is_array(self, leaf: Any) -> bool:
        return isinstance(leaf, torch.Tensor)

    def as_array(self, leaf: Any) -> Any:
        return leaf if self.is_array(leaf) else self.converted(leaf, self.type_of(leaf))

    def type_of(self, leaf: Any) -> Type:
        if self.is_array(leaf):
            return Type(tuple(leaf.shape), Kind(leaf.dtype, leaf.device), False)
        return Type((), Kind(_NUMBERS[type(leaf)](), _CPU), not isinstance(leaf, bool))

    def dtype_name(self, dtype: Kind) -> str:
        name = str(dtype.dtype).removeprefix("torch.")
        return name if dtype.device == _CPU else f"{name} on {dtype.device}"

    def common_dtype(self, types: Sequence[Type]) -> Any:
        if {type.dtype.dtype == torch.bool for type in types} == {True, False}:
            return None
        firm = [type.dtype for type in types if not type.is_weak]
        kinds = firm or [type.dtype for type in types]
        dtype = kinds[0].dtype
        for type in types:
            adapts = firm and type.is_weak and _category(type.dtype.dtype) <= _category(dtype)
            dtype = dtype if adapts else torch.promote_types(dtype, type.dtype.dtype)
        return Kind(dtype, kinds[0].device)

    def converted(self, leaf: Any, type: Type) -> Any:
        if self.is_array(leaf):
            return leaf.to(type.dtype.device, type.dtype.dtype)
        return torch.full((), leaf, dtype=type.dtype.dtype, device=type.dtype.device)

    def blank(self, type: Type) -> Any:
        return torch.zeros(type.shape, dtype=type.dtype.dtype, device=type.dtype.device)

    def is_concrete(self, value: Any) -> bool:
        return not isinstance(value, FakeTensor)

    def unknown_value(self, error: Exception) -> None:
        return None  # PyTorch's own errors name the value and its line

    def is_integer(self, value: Any) -> bool:
        return _category(self.type_of(value).dtype.dtype) == 1

    def truth(self, value: Any) -> Any:
        value = self.as_array(value).reshape(())
        return value if value.dtype == torch.bool else value != 0

    where = staticmethod(torch.where)
    logical_and = staticmethod(torch.logical_and)
    logical_or = staticmethod(torch.logical_or)
    logical_not = staticmethod(torch.logical_not)
    arange = staticmethod(torch.arange)
    trace_state = staticmethod(get_proxy_mode)
    tracing = staticmethod(TracedIndices)
    trace = staticmethod(trace)

    def minimum(self, one: Any, other: Any) -> Any:
        return torch.minimum(*_in_common(one, other))

    def maximum(self, one: Any, other: Any) -> Any:
        return torch.maximum(*_in_common(one, other))

    def item(self, array: Any, index: Any) -> Any:
        if not self.is_array(index):
            return array[index]
        return torch.index_select(array, 0, index.reshape(1).to(array.device)).squeeze(0)

    def rows(self, array: Any) -> Sequence[Any]:
        return list(torch.unbind(array))

    def reversed(self, array: Any) -> Any:
        return torch.flip(array, (0,))

    def code(self, number: int) -> Any:
        return torch.full((), number, dtype=torch.int32)

    def types_of_results(self, function: Callable[..., Any], *arguments: Any) -> Any:
        with disable_proxy_modes_tracing():
            return pytree.tree_map(self.type_of, function(*arguments))

    def cond(self, test: Any, then: Callable[[], list[Any]], orelse: Callable[[], list[Any]]) -> list[Any]:
        branches, outer = applied([trace(then, []), trace(orelse, [])])
        return list(HIGHER_ORDER.cond(test, *branches, tuple(outer)))

    def while_loop(
        self, test: Callable[[list[Any]], Any], body: Callable[[list[Any]], list[Any]], start: list[Any]
    ) -> list[Any]:
        types = [self.type_of(array) for array in start]
        programs = [trace(lambda *now: [test(list(now))], types), trace(lambda *now: body(list(now)), types)]
        (goes, step), outer = applied(programs)
        if any(program.has_blocks for program in programs):
            note_wrong_gradient()
        carry = HIGHER_ORDER.while_loop(
            lambda *now: goes(*now)[0], step, tuple(_distinct(start)), tuple(outer)
        )
        return list(carry)

    def scan(
        self,
        body: Callable[[list[Any], list[Any]], tuple[list[Any], list[Any]]],
        start: list[Any],
        rows: list[Any],
        length: int,
    ) -> tuple[list[Any], list[Any]]:
        types = [self.type_of(array) for array in start]
        rows = rows or [torch.arange(length)]
        items = [self.type_of(array)._replace(shape=tuple(array.shape[1:])) for array in rows]

        def step(*now: Any) -> list[Any]:
            return [
                value for part in body(list(now[: len(start)]), list(now[len(start) :])) for value in part
            ]

        (run,), outer = applied([trace(step, types + items)])
        found = HIGHER_ORDER.scan(run, tuple(_distinct(start)), tuple(rows), tuple(outer))
        return list(found[: len(start)]), list(found[len(start) :])

    def raise_when_run(self, errors: tuple[BaseException, ...], code: Any) -> None:
        for number, error in enumerate(errors, 1):
            torch.ops.aten._assert_async.msg(code != number, f"{type(error).__name__}: {error}")


def _category(dtype: torch.dtype) -> int:
    """Return 0 for bool, 1 for integers, 2 for floats, 3 for complex numbers."""
    return 3 if dtype.is_complex else 2 if dtype.is_floating_point else 0 if dtype == torch.bool else 1


def _in_common(*operands: Any) -> list[Any]:
    """Return two operands, of which one may be a Python number, as tensors of one dtype."""
    dtype = torch.result_type(*operands)
    return [torch.as_tensor(each, dtype=dtype) for each in operands]


def _distinct(tensors: Sequence[Any]) -> list[Any]:
    """Return the tensors with copies in place of repeated ones and of views such as `x.T`.

    Torch refuses states that share memory, and those whose strides a step changes.
    """
    seen: set[int] = set()
    found = []
    for tensor in tensors:
        is_kept = id(tensor) not in seen and is_plain(tensor)
        found.append(tensor if is_kept else tensor.clone(memory_format=torch.contiguous_format))
        seen.add(id(tensor))
    return found


LIBRARY: Library = TorchLibrary()
