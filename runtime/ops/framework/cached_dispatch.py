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

A call is cached when its key comes for the second time, if the function returns the result of the operations that it
calls. Their inputs must be all tensors of the arguments, constants, and results of each other.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, Literal, TypeVar

from ...core.call_slot import CallSlot
from ...core.devices import placement
from ...core.eviction import takes_new
from ...core.tensor import EagerTensor
from ...core.variable import Variable
from ...ir.builder import recording_by, stack
from ...ir.graph import Constant
from .call_keys import Dtypes, Elements, KnownOperand, have_key
from .eager_calls import MOST, EagerCall, EagerProgram, native, run_kept
from .kept_calls import as_dtypes, count_new, dtype_of_numbers, kept_call
from .signature import Signature

Kept = EagerCall | EagerProgram | Elements | Literal[False]

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
        operations = _Operations()
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
        copies, tensors, operations = _copied(arguments), list[Any](), _Operations()
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


class _Operations:
    """A recorder of the operations that a function calls."""

    def __init__(self) -> None:
        self.found: list[tuple[Any, Sequence[Any], Mapping[str, Any], list[Any]]] = []

    def computed(
        self, op: Any, inputs: Sequence[Any], attrs: Mapping[str, Any], outputs: Sequence[Any]
    ) -> None:
        """Collect an operation."""
        self.found.append((op, list(inputs), attrs, list(outputs)))

    def added(self, operation: Any, builder: Any) -> None:
        """Do nothing: operations of graphs are not kept."""

    def grown(self, operation: Any, added: Any) -> None:
        """Do nothing."""

    def kept(self, key: Any, tensors: Sequence[Any], result: Any) -> Kept:
        """Return what is kept for operations on tensors of a key, constants and each other's results."""
        everything = [x for _, inputs, _, outputs in self.found for x in (*inputs, *outputs)]
        numbers = {id(x): i for i, x in enumerate(tensors)}
        if (
            not all(isinstance(op, Signature) and not op.stateful for op, *_ in self.found)
            or not all(type(x) is EagerTensor for x in everything)
            or not numbers.keys() <= {id(x) for x in (*everything, result)}
        ):
            return False
        if len(self.found) == 1:
            op, inputs, attributes, outputs = self.found[0]
            results = result if type(result) is list else [result]
            order = [numbers[id(x)] for x in inputs if id(x) in numbers]
            if [*map(id, results)] == [*map(id, outputs)] and sorted(order) == [*range(len(tensors))]:
                return _call(op, key, inputs, order, numbers.keys(), attributes, result)
        return self._program(tensors, result) if type(result) is EagerTensor else False

    def _program(self, tensors: Sequence[Any], result: EagerTensor) -> EagerProgram | Literal[False]:
        """Return a program of the operations; False if an inference rule reads elements."""
        made = [y for *_, outputs in self.found for y in outputs]
        varying = {id(x) for x in (*tensors, *made)}
        others = {id(x): x for x in (*(x for _, inputs, *_ in self.found for x in inputs), result)}
        constants = [x for number, x in others.items() if number not in varying]
        places = {id(x): i for i, x in enumerate([*tensors, *constants, *made])}
        steps: list[tuple[Any, tuple[int, ...]]] = []
        for op, inputs, attributes, outputs in self.found:
            call, given = op.__call__, [places[id(x)] for x in inputs]
            if attributes or not hasattr(op, "_kept"):  # it is no elementwise operation
                given = [places[id(x)] for x in inputs if id(x) in varying]
                results = outputs[0] if len(outputs) == 1 else outputs
                call = _call(op, (None,), inputs, range(len(given)), varying, attributes, results)
                if type(call) is not EagerCall:
                    return False
            steps.append((call, tuple(given)))
        return EagerProgram(steps, constants, places[id(result)])


def _call(
    op: Any, key: Any, inputs: Sequence[Any], order: Sequence[int], varying: Container[int],
    attributes: Mapping[str, Any], result: Any,
) -> EagerCall | Elements | Literal[False]:  # fmt: skip
    """Return what is kept for an operation, all of whose inputs are constants except those that vary."""
    operands = [(KnownOperand if id(x) in varying else Constant)(x._array) for x in inputs]
    return kept_call(op, key, operands, order, attributes, result)
