"""Python functions as operations: `py_function` calls them with tensors, `numpy_function` with NumPy arrays.

>>> from agc.runtime import constant, function
>>> @function
... def hypotenuse(a, b):
...     return numpy_function(np.hypot, [a, b], dtypes.float32)
>>> hypotenuse(constant(3.0), constant(4.0)).numpy()
np.float32(5.0)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes, nest
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..ir.builder import current
from ..ir.value_types import TensorType
from ..ops.framework.op import Op
from ..ops.state.host_call import HostFunction, call_on_arrays, call_on_tensors, compute_on_arrays


@export("py_function")
def py_function(
    func: Callable[..., Any] | None = None,
    inp: Sequence[Any] | None = None,
    Tout: Any = None,  # noqa: N803
    name: str | None = None,
) -> Any:
    """Call `func` with eager tensors, each time the graph runs; at once in eager code.

    Args:
        func: takes a tensor for each of `inp`; its results are converted to the dtypes of `Tout`.
        inp: a list of tensors.
        Tout: the dtype of the result, or its TensorSpec when the shape is known; a list when `func` returns several
            results, an empty list for none.

    Without `func` this is a decorator, of functions that are called with tensors. Raises TypeError without `Tout`,
    ValueError when `func` cannot be called. An exception of `func` becomes InvalidArgumentError (from ValueError and
    TypeError), OutOfRangeError (StopIteration), UnimplementedError (NotImplementedError), else UnknownError.

    >>> py_function(lambda x: x + 1, [1], dtypes.int32).numpy()
    np.int32(2)
    """
    specs, is_list = _results(Tout, "py_function")
    if func is None:
        return lambda function: lambda *args: py_function(function, args, Tout, name)
    host = HostFunction(_checked(func), specs)
    arguments = [convert_to_tensor(each) for each in (() if inp is None else inp)]
    if current() is None:
        return _as_said(host.on_tensors(arguments), is_list)
    return _recorded(call_on_tensors, arguments, host, is_list, name)


@export("numpy_function")
def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Sequence[Any] | None = None,
    Tout: Any = None,  # noqa: N803
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Call `func` with NumPy arrays, each time the graph runs; at once in eager code.

    Args:
        func: takes an array (a NumPy scalar for a scalar tensor, in a graph) for each of `inp`, and returns arrays with
            the dtypes of `Tout`.
        inp: a list of tensors.
        Tout: a dtype, or a list of them when `func` returns several results.
        stateful: whether `func` has effects, or returns different results for the same arguments. If not, it is not
            called when its results are unused.

    Without `func` this is a decorator. Raises InvalidArgumentError when the graph runs, for results of other dtypes or
    another number of them. In eager code results are not checked, and exceptions propagate, as in TensorFlow.

    >>> numpy_function(np.cumsum, [np.array([1.0, 2.0])], dtypes.float64).numpy()
    array([1., 3.])
    """
    specs, is_list = _results(Tout, "numpy_function")
    if func is None:
        return lambda function: lambda *args: numpy_function(function, args, Tout, stateful, name)
    if current() is None:
        results = nest.flatten(_checked(func)(*map(np.array, () if inp is None else inp)))
        tensors = [None if result is None else convert_to_tensor(result) for result in results]
        return tensors[0] if len(tensors) == 1 else tensors
    arguments = [convert_to_tensor(each) for each in (() if inp is None else inp)]
    host = HostFunction(_checked(func), specs)
    return _recorded(call_on_arrays if stateful else compute_on_arrays, arguments, host, is_list, name)


def _checked(func: Any) -> Callable[..., Any]:
    if not callable(func):
        raise ValueError(f"Expected func to be callable. Received func={func!r} of type {type(func)}.")
    return func  # type: ignore[no-any-return]


def _results(said: Any, name: str) -> tuple[list[TensorType], bool]:
    """Return the types of the results, and whether the results are a list."""
    if said is None:
        raise TypeError(f"Missing required argument: 'Tout': tf.{name} needs the dtypes of its results")
    is_list = isinstance(said, (list, tuple))
    return [_spec(each) for each in (said if is_list else [said])], is_list


def _spec(said: Any) -> TensorType:
    found = getattr(said, "spec", None)
    return found if isinstance(found, TensorType) else TensorType(dtypes.as_dtype(said), None)


def _as_said(results: Sequence[Any], is_list: bool) -> Any:
    return list(results) if is_list else results[0]


def _recorded(operation: Op, arguments: Sequence[Any], host: HostFunction, is_list: bool, name: Any) -> Any:
    return _as_said(operation(arguments, host, name=name), is_list)
