"""`Module`: an object that tracks the variables in its attributes, at any depth.

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
>>> [(".".join(map(str, path)), m.name) for path, m in stack._flatten(lambda x: isinstance(x, Module), with_path=True)]
[('layers.0', 'dense'), ('layers.1', 'dense')]
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from agc.autograph import api

from .. import nest
from ..ir.builder import current
from ..ir.name_scopes import name_scope
from . import trackable
from .export import export
from .variable import Variable

Path = tuple[Any, ...]


@export("Module")
class Module:
    """Base class of layers and models.

    A module tracks the variables and modules in its attributes, also in lists, tuples and dicts.

    Attributes are visited in the order of their names, dict entries in the order of their keys. A module's own
    leaves come before those of its submodules. Attributes named in `_TF_MODULE_IGNORED_PROPERTIES` are skipped.

    Args:
        name: an identifier; by default the class's name in snake case. ValueError for anything else.

    >>> import agc.runtime as tf
    >>> class Line(tf.Module):
    ...     def __init__(self):
    ...         self.slope, self.parts = tf.Variable(2.0), [tf.Variable(1.0)]
    >>> len(Line().trainable_variables)
    2
    """

    _TF_MODULE_IGNORED_PROPERTIES: frozenset[str] = frozenset()
    _is_leaf_of_nests = True

    def __init__(self, name: str | None = None) -> None:
        chosen = _snake_case(type(self).__name__) if name is None else name
        if not chosen.isidentifier():
            raise ValueError(
                f"{chosen!r} is not a valid module name. Module names must be valid Python identifiers (e.g. a valid "
                "class name)."
            )
        self._name = chosen
        with name_scope(chosen) as self._scope_name:
            pass

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        trackable.announce(self, name, value)

    def __children__(self) -> dict[str, Any]:
        """Return the attributes, which saving and restoring follow."""
        return trackable.attributes(self)

    @property
    def name(self) -> str:
        """The name given to the module; without a call of `__init__`, the class's name in snake case."""
        return getattr(self, "_name", _snake_case(type(self).__name__))

    @property
    def name_scope(self) -> name_scope:
        """A context in which names begin with the module's name, after the scope in which the module was made.

        Raises AttributeError before a call of `__init__`.
        """
        scope = getattr(self, "_scope_name", None)
        if scope is None:
            raise AttributeError(
                f"{type(self).__name__} has no name scope before `super().__init__()` is called"
            )
        return name_scope(scope)

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate a method so that it runs in the module's `name_scope`.

        >>> class Scaled(Module):
        ...     @Module.with_name_scope
        ...     def __call__(self, x):
        ...         self.w = Variable(2.0, name="w")
        ...         return self.w * x
        >>> scaled = Scaled()
        >>> float(scaled(3.0)), scaled.w.name
        (6.0, 'scaled/w:0')
        """

        @functools.wraps(method)
        def scoped(self: Module, *args: Any, **kwargs: Any) -> Any:
            called = method if current() is None else api.converted(method)
            with self.name_scope:
                return called(self, *args, **kwargs)

        return scoped

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of this module and its submodules, each once, in the order of the attributes' names."""
        return tuple(self._flatten(lambda leaf: isinstance(leaf, Variable)))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that training should change."""
        return tuple(self._flatten(lambda leaf: isinstance(leaf, Variable) and leaf.trainable))

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that training should not change."""
        return tuple(self._flatten(lambda leaf: isinstance(leaf, Variable) and not leaf.trainable))

    @property
    def submodules(self) -> tuple[Module, ...]:
        """The modules inside this one, at any depth, each once."""
        return tuple(self._flatten(lambda leaf: isinstance(leaf, Module)))

    def _no_dependency(self, value: Any) -> Any:
        """Return `value`: TensorFlow's way to set an attribute unwrapped, as all attributes are set here."""
        return value

    def _flatten(
        self,
        predicate: Callable[[Any], bool] | None = None,
        recursive: bool = True,
        attribute_traversal_key: Callable[[str], Any] | None = None,
        with_path: bool = False,
        expand_composites: bool = False,
    ) -> Iterator[Any]:
        """Yield the leaves of the attributes for which `predicate` holds, each once.

        Args:
            predicate: a test; None takes all leaves.
            recursive: whether to visit the submodules.
            attribute_traversal_key: the sort key of attributes' names; None takes the names as they are.
            with_path: yield pairs of a path and a leaf; a path has the attribute names, keys and indices.
            expand_composites: whether composite tensors are flattened as well.
        """
        seen: set[int] = {id(self)}
        pending: list[tuple[Path, Module]] = [((), self)]
        while pending:
            prefix, module = pending.pop(0)
            inner: list[tuple[Path, Module]] = []
            for path, leaf in module._leaves(attribute_traversal_key, expand_composites):
                if id(leaf) in seen:
                    continue
                seen.add(id(leaf))
                if predicate is None or predicate(leaf):
                    yield ((*prefix, *path), leaf) if with_path else leaf
                if recursive and isinstance(leaf, Module):
                    inner.append(((*prefix, *path), leaf))
            pending[:0] = inner  # the leaves of the first submodule come before those of the second

    def _leaves(self, key: Callable[[str], Any] | None, expand: bool) -> Iterator[tuple[Path, Any]]:
        attributes = trackable.attributes(self)
        for name in sorted(attributes, key=key):
            if name not in self._TF_MODULE_IGNORED_PROPERTIES:
                for path, leaf in _leaves_of(attributes[name], expand):
                    yield (name, *path), leaf


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _leaves_of(value: Any, expand: bool) -> Iterator[tuple[Path, Any]]:
    if expand and nest.is_composite(value):
        yield from (((number,), leaf) for number, leaf in enumerate(nest.flatten(value, True)))
        return
    if isinstance(value, (Module, Variable)) or not nest.is_nested(value):
        yield (), value
        return
    for key, child in nest.children(value):
        for path, leaf in _leaves_of(child, expand):
            yield (key, *path), leaf
