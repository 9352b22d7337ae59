"""`Module`: an object that knows the variables in its attributes, however deep.

>>> class Dense(Module):
...     def __init__(self, size):
...         super().__init__()
...         self.w, self.b = Variable([[0.5] * size]), Variable([0.0] * size, trainable=False)
>>> class Stack(Module):
...     def __init__(self):
...         super().__init__(name="stack")
...         self.layers = [Dense(1), Dense(2)]
>>> stack = Stack()
>>> [tuple(v.shape) for v in stack.variables], len(stack.trainable_variables), len(stack.submodules)
([(1,), (1, 1), (2,), (1, 2)], 2, 2)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from . import tracking
from .variable import Variable

T = TypeVar("T")


class Module:
    """Base class of layers and models. Variables and modules in its attributes, and in lists, tuples and dicts
    of these, belong to it.

    Args:
        name: an identifier; by default the class's name in snake case. ValueError for anything else.
    """

    def __init__(self, name: str | None = None) -> None:
        chosen = _snake_case(type(self).__name__) if name is None else name
        if not chosen.isidentifier():
            raise ValueError(f"{chosen!r} is not a valid module name: it must be a Python identifier")
        self._name = chosen

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        tracking.announce(self, name, value)

    def __children__(self) -> dict[str, Any]:
        """The attributes: what saving and restoring follow."""
        return tracking.attributes(self)

    @property
    def name(self) -> str:
        """The name given to the module; the class's name in snake case where `__init__` did not run."""
        return getattr(self, "_name", _snake_case(type(self).__name__))

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of this module and its submodules, each once, attributes in the order of their names."""
        return tuple(_found(self, Variable))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that training should change."""
        return tuple(variable for variable in self.variables if variable.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that training should leave alone."""
        return tuple(variable for variable in self.variables if not variable.trainable)

    @property
    def submodules(self) -> tuple[Module, ...]:
        """The modules inside this one, at any depth, each once."""
        return tuple(module for module in _found(self, Module) if module is not self)


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _found(root: Module, kind: type[T]) -> Iterator[T]:
    """Objects of a kind reachable through attributes, lists, tuples, sets and dicts: those close by first."""
    pending: list[Any] = [root]
    seen: set[int] = set()
    while pending:
        value = pending.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, kind):
            yield value
        pending += _parts(value)


def _parts(value: Any) -> list[Any]:
    if isinstance(value, Module):
        return [part for _, part in sorted(vars(value).items())]
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, (list, tuple)) else []
