"""Operations that call a Python function each time the graph runs; `interop.py_function` creates them.

An exception of the function becomes an OpError, chosen by its class, with the line that raised it:

    ValueError, TypeError   InvalidArgumentError        MemoryError            ResourceExhaustedError
    StopIteration           OutOfRangeError             NotImplementedError    UnimplementedError
    all others              UnknownError
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import late_binding
from ...core.conversion import convert_to_tensor
from ...core.tensor import EagerTensor
from ...ir.builder import eagerly
from ...ir.source_location import raised_at
from ...ir.traits import CALLS_PYTHON
from ...ir.value_types import TensorType
from ..framework.attribute_parsers import READERS, read_object
from ..framework.op import Name, Op, Tensors, op

_KINDS: tuple[tuple[type[BaseException], type[errors.OpError]], ...] = (
    (TypeError, errors.InvalidArgumentError),
    (ValueError, errors.InvalidArgumentError),
    (StopIteration, errors.OutOfRangeError),
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
)


class HostFunction:
    """A user function and the types of its results; a graph's text contains only its name."""

    def __init__(self, function: Callable[..., Any], results: Sequence[TensorType]) -> None:
        self.function = function
        self.results = tuple(results)
        self.is_once_differentiable = False
        self.__name__ = getattr(function, "__name__", type(function).__name__)

    def on_tensors(self, arguments: Sequence[Any]) -> list[EagerTensor]:
        """Call the function with tensors in eager mode; its results are converted to the expected dtypes."""
        with eagerly():
            try:
                given = self.function(*arguments)
                values = list(given) if isinstance(given, (tuple, list)) else [] if given is None else [given]
                pairs = zip(values, self.results, strict=False)
                tensors = [convert_to_tensor(value, spec.dtype) for value, spec in pairs]
            except Exception as error:
                raise failure(error) from error
        self._check_count(len(tensors))
        return tensors  # type: ignore[return-value]

    def sources(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Return the objects that gradients with respect to `arguments` are taken of."""
        return arguments

    def on_arrays(self, arguments: Sequence[Any]) -> list[Any]:
        """Call the function with copies as NumPy arrays and scalars; its results must have the expected dtypes."""
        with eagerly():
            try:
                given = self.function(*(np.array(argument)[()] for argument in arguments))
            except Exception as error:
                raise failure(error) from error
        values = list(given) if isinstance(given, (tuple, list)) else [] if given is None else [given]
        arrays = [_as_array(value) for value in values]
        self._check_count(len(arrays))
        for position, (array, spec) in enumerate(zip(arrays, self.results, strict=True)):
            if array.dtype != spec.dtype.numpy_dtype:
                raise errors.InvalidArgumentError(
                    f"{position}-th value returned by {self.__name__} is {dtypes.as_dtype(array.dtype).name}, but "
                    f"expects {spec.dtype.name}"
                )
        return arrays

    def _check_count(self, count: int) -> None:
        if count != len(self.results):
            raise errors.InvalidArgumentError(
                f"{self.__name__} returns {count} values, but expects to see {len(self.results)} values."
            )


def _as_array(value: Any) -> np.ndarray[Any, Any]:
    array = np.asarray(value)
    return convert_to_tensor(array)._array if array.dtype.kind in "SUO" else array  # type: ignore[attr-defined]


def failure(error: Exception) -> errors.OpError:
    """Convert an exception raised by the function to an OpError."""
    kind = next((mine for theirs, mine in _KINDS if isinstance(error, theirs)), errors.UnknownError)
    where = raised_at(error)
    return kind(f"{type(error).__name__}: {error}" + (f"\n  raised at {where}" if where else ""))


READERS["HostFunction"] = read_object


def _declare(name: str, manual: str, stateful: bool, call: str) -> Op:
    def rule(inputs: Tensors, function: HostFunction, name: Name = None) -> tuple[TensorType, ...]:
        return function.results

    def kernel(inputs: list[Any], function: HostFunction) -> list[Any]:
        if call == "on_arrays":
            return _fitting(function, function.on_arrays(inputs))
        tensors = function.on_tensors([EagerTensor(np.array(array)) for array in inputs])
        return _fitting(function, [tensor._array for tensor in tensors])

    rule.__name__ = rule.__qualname__ = name
    rule.__doc__ = manual
    declared = op(name=name, stateful=stateful, traits=CALLS_PYTHON)(rule)
    declared.kernel(kernel)
    return declared


def _fitting(function: HostFunction, arrays: list[Any]) -> list[Any]:
    for position, (array, spec) in enumerate(zip(arrays, function.results, strict=True)):
        if not spec.covers(TensorType(spec.dtype, array.shape)):
            raise errors.InvalidArgumentError(
                f"{position}-th value returned by {function.__name__} has shape {array.shape}, but the specified shape "
                f"is {spec}"
            )
    return arrays


call_on_tensors = _declare(
    "py_function",
    """Call a Python function with the tensors, each time the graph runs.

    >>> double = HostFunction(lambda x: 2 * x, [TensorType(dtypes.int32, ())])
    >>> [int(y) for y in call_on_tensors([4], double)]
    [8]
    """,
    stateful=True,
    call="on_tensors",
)
call_on_arrays = _declare(
    "numpy_function",
    """Call a Python function with NumPy arrays, each time the graph runs.

    >>> halve = HostFunction(lambda x: x // 2, [TensorType(dtypes.int32, ())])
    >>> [int(y) for y in call_on_arrays([4], halve)]
    [2]
    """,
    stateful=True,
    call="on_arrays",
)
compute_on_arrays = _declare(
    "stateless_numpy_function",
    """Call a Python function without effects with NumPy arrays, when something needs its results.

    >>> halve = HostFunction(lambda x: x // 2, [TensorType(dtypes.int32, ())])
    >>> [int(y) for y in compute_on_arrays([4], halve)]
    [2]
    """,
    stateful=False,
    call="on_arrays",
)


@call_on_tensors.gradient
def _(dy: Any, y: Any, inputs: list[Any], function: HostFunction) -> Any:
    """Differentiate the function's own operations, which run once more under a tape."""
    wanted = [position for position, tensor in enumerate(inputs) if _has_gradient(tensor.dtype)]
    given = [position for position, each in enumerate(dy) if each is not None]

    def differentiated(*arguments: Any) -> list[Any]:
        tensors, upstream = arguments[: len(inputs)], arguments[len(inputs) :]
        objects = function.sources(tensors)
        sources = [objects[position] for position in wanted]
        with late_binding.GradientTape() as tape:
            tape.watch(sources)
            results = function.on_tensors(tensors)
        targets = [results[position] for position in given]
        found = tape.gradient(targets, sources, output_gradients=list(upstream), unconnected_gradients="zero")
        return list(found)

    specs = [TensorType(inputs[position].dtype, inputs[position].shape.sizes) for position in wanted]
    kind = _Once if function.is_once_differentiable else HostFunction
    host = kind(differentiated, specs)
    gradients = dict(
        zip(wanted, call_on_tensors([*inputs, *(dy[position] for position in given)], host), strict=True)
    )
    return [gradients.get(position) for position in range(len(inputs))]


class _Once(HostFunction):
    """The gradient of a function that also reads variables: its own gradient would not reach them."""

    def sources(self, arguments: Sequence[Any]) -> Sequence[Any]:
        raise NotImplementedError(
            "no second derivative of a traced function that calls itself and reads variables or tensors that are not "
            "its arguments: pass them as arguments"
        )


def _has_gradient(dtype: dtypes.DType) -> bool:
    return dtype.is_floating or dtype.is_complex
