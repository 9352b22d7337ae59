"""Cache the operation that a function calls, so that later calls with the same types run its kernel at once.

    @export("concat")
    @cached_dispatch
    def concat(values, axis, name=None):
        return join(values, axis, name=name)

    concat([x, y], 0)      x, y: float32[2, 3]
        key                (list, 2, float32[2, 3], float32[2, 3], int, 0)
        EagerCall          of `join`, whose inputs are the two tensors in the key

    silu(x)                x: float32[2, 3]
        EagerProgram       of `sigmoid` and `multiply`: their inputs are tensors in the key, or results of earlier ones

A call is cached when its key comes for the second time, if the function returns results of the operations that it
calls, or a nest of them. Their inputs must be all tensors of the arguments, constants, and results of each other.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ...core.call_slot import CallSlot
from ...core.devices import placement
from ...core.eviction import takes_new
from ...core.tensor import EagerTensor
from ...core.variable import Variable
from ...ir.builder import recording_by, stack
from .call_keys import Dtypes, have_key
from .eager_calls import MOST, native, run_kept
from .kept_calls import as_dtypes, count_new, dtype_of_numbers

if TYPE_CHECKING:
    from .eager_programs import Kept

F = TypeVar("F", bound=Callable[..., Any])


def cached_dispatch(function: F) -> F:
    """Decorate a function of tensors that chooses its operation by types, and by arguments that are no tensors.

    It must not read elements of tensors, settings that programs change, or random numbers.
    """
    return _CachedFunction(function, ())  # type: ignore[return-value]


def dispatch_with_operands(*operands: str) -> Callable[[F], F]:
    """Decorate a function as `cached_dispatch` does, which hands on numbers for some parameters as it does tensors."""
    return lambda function: _CachedFunction(function, operands)  # type: ignore[return-value]


class _CachedFunction(CallSlot):
    """A function whose slot `__call__` has a C function that runs kept calls, as that of an operation."""

    def __init__(self, function: Callable[..., Any], operands: Sequence[str]) -> None:
        functools.update_wrapper(self, function)
        self._function, self._operands = function, operands
        if hasattr(function, "public"):
            function.public = self  # composite classes find their own functions by this object
        self._calls: dict[Any, Kept | Dtypes | int | None] = {}
        self.__call__ = native.caller(self) if native else self._call

    @property
    def python_function(self) -> Callable[..., Any]:
        """The function, for callers that read or convert its code."""
        return self._function

    def __reduce__(self) -> str:
        return self.__qualname__  # type: ignore[attr-defined, no-any-return]

    def __repr__(self) -> str:
        return repr(self._function)

    def _fields(self) -> tuple[Any, ...]:
        """Return what the C function reads, as `Op._fields` does."""
        return self._calls, self._call, self._converted, False

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        if not stack.eager or placement.observed:
            return self._function(*args, **kwargs)
        return run_kept(self._calls, args, kwargs, False, stack.recorders, self._converted)

    def _converted(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], key: Any, given: int, types: Any
    ) -> Any:
        """Call the function; keep the call by its key if that comes for the second time."""
        result = self._function(*args, **kwargs)
        if key in self._calls:
            self._calls[key] = self._rehearsed(key, (*args, *kwargs.values()), [*kwargs])
        elif key is not None:
            if takes_new(self._calls, MOST):
                self._calls[key] = None
            if types is not None and self._operands:
                count_new(self._calls, types, functools.partial(self._dtypes, args, kwargs))
        return result

    def _dtypes(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Dtypes:
        """Return the dtypes to which numbers for `_operands` convert, which those of its operations are."""
        from .eager_programs import Operations

        operations = Operations()
        with recording_by([operations]):
            self._function(*args, **kwargs)
        inputs = [x for _, inputs, *_ in operations.found for x in inputs]
        names = [*[*inspect.signature(self._function).parameters][: len(args)], *kwargs]
        arguments = zip(names, (*args, *kwargs.values()), strict=True)
        return as_dtypes(
            [dtype_of_numbers(x, inputs) if name in self._operands else None for name, x in arguments]
        )

    def _rehearsed(self, key: Any, arguments: tuple[Any, ...], names: Sequence[str]) -> Kept:
        """Return what is kept for a call, which runs again on a tensor of its own for each tensor in the arguments."""
        from .eager_programs import Operations  # imported when a call comes for the second time

        copies, tensors, operations = _copied(arguments), list[Any](), Operations()
        have_key(copies, [], tensors, False, [])
        count = len(copies) - len(names)
        with recording_by([operations]):
            result = self._function(*copies[:count], **dict(zip(names, copies[count:], strict=True)))
        return operations.kept(key, tensors, result)


def _copied(x: Any) -> Any:
    """Return arguments in which each tensor, or value of a variable, is another object."""
    if type(x) is Variable:
        return EagerTensor(x._array)
    if type(x) is EagerTensor:
        return EagerTensor(x._array, x._kind)
    return type(x)(map(_copied, x)) if type(x) is list or type(x) is tuple else x
