"""The registry of operators that can be read, and what their functions get.

@operator("Relu")
def _(call, x):
    return relu(x)

A function takes the call and the operands, with None for those left out. It returns the result, or a list of results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .....core.tensor import EagerTensor
from .....ops.framework.static_values import of_tensor

OPERATORS: dict[str, Callable[..., Any]] = {}
"""The functions by the name of the operator; those of other domains have a prefix."""

DRAWING = frozenset({"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"})
"""Operators that give other numbers in each run."""


class TensorSequence:
    """A sequence of tensors, whose length is known before the model runs."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items


class OperatorCall(NamedTuple):
    """A call of an operator: its node, and the function that runs a subgraph on values for its inputs."""

    node: Any
    run: Callable[[Any, list[Any]], list[Any]]

    @property
    def opset(self) -> int:
        opset: int = self.node.opset
        return opset

    def get(self, name: str, default: Any = None) -> Any:
        """Return an attribute of the node."""
        return self.node.attrs.get(name, default)

    def choice(self, name: str, default: Any, *others: Any) -> Any:
        """Return an attribute that has one of these values; ValueError for another."""
        value = self.get(name, default)
        if value not in (default, *others):
            raise ValueError(f"{name} is {value!r}: it is one of {(default, *others)}")
        return value

    @property
    def results(self) -> int:
        """The number of results."""
        return len(self.node.outputs)


def operator(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that registers the function of operators."""

    def enter(rule: Callable[..., Any]) -> Callable[..., Any]:
        OPERATORS.update(dict.fromkeys(names, rule))
        return rule

    return enter


def plain(table: dict[str, Callable[..., Any]]) -> None:
    """Register operators that are one operation of agc with the same operands."""
    for name, operation in table.items():
        OPERATORS[name] = lambda call, *operands, operation=operation: operation(*operands)


def numbers(value: Any, what: str) -> list[int]:
    """Return the integers of an operand that must be known before the model runs."""
    if isinstance(value, EagerTensor):
        return [int(each) for each in np.ravel(value._array)]
    known = of_tensor(value)
    if known is None or None in known:
        raise ValueError(f"{what} is computed when the model runs; agc needs a constant")
    return [int(each) for each in known if each is not None]


def axes_of(call: OperatorCall, value: Any, default: Any = None) -> Any:
    """Return axes from an operand, or from the attribute that older versions have."""
    if value is not None:
        return tuple(numbers(value, "an axis"))
    return call.get("axes", default)


def rank_of(value: Any) -> int:
    """Return the number of axes."""
    rank = value.shape.rank
    if rank is None:
        raise ValueError("the rank of an operand is not known")
    return int(rank)
