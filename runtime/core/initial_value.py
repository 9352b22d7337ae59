"""The initial value of a variable: computed once, and known even while a graph is being built.

Variable(1.0)              a tensor at once
Variable(lambda: 1.0)      also in a function: `Builder.make_variable` computes the value outside of the graph
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir.builder import Builder, eagerly
from .conversion import convert_to_tensor
from .symbolic_tensor import SymbolicTensor
from .tensor import EagerTensor, Tensor


def initial_tensor(given: Any, dtype: Any, builder: Builder | None) -> EagerTensor:
    """Return the value of `given`, which may be a function without parameters."""
    value = _called(given, builder) if callable(given) else given
    if builder is not None:
        return _made_in_graph(builder, value, dtype)
    try:
        tensor = convert_to_tensor(value, dtype)
    except ValueError as error:
        raise ValueError(f"initial_value: {error}") from None
    return known(tensor)


def known(tensor: Tensor) -> EagerTensor:
    """Return `tensor`, which must not be one of a graph."""
    if isinstance(tensor, SymbolicTensor):
        raise tensor.unreachable("a variable was given")
    assert isinstance(tensor, EagerTensor)
    return tensor


def _called(initializer: Callable[[], Any], builder: Builder | None) -> Any:
    """Return the value of `initializer`, computed once also if a staged block that runs often makes the variable."""
    if builder is None or builder is builder.function:
        return initializer()
    with eagerly():
        return initializer()


def _made_in_graph(builder: Builder, value: Any, dtype: Any) -> EagerTensor:
    make = builder.function.make_variable
    if make is None:
        raise ValueError(
            "tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable "
            "is only created once or created outside tf.function: keep it in an attribute or a global and test "
            "`if self.v is None` before making it."
        )
    return make(value, dtype)  # type: ignore[no-any-return]
