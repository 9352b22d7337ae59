"""`name_scope`: a common prefix for the names of operations and variables.

    with name_scope("encoder"):
        y = tf.add(x, 1, name="shifted")         # in a graph its name is encoder/shifted

>>> with name_scope("outer"), name_scope("inner") as scope:
...     scope, get_current_name_scope()
('outer/inner/', 'outer/inner')
"""

from __future__ import annotations

import re
import threading

from ..core.export import export
from .builder import current

_ROOT = r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*"
_INNER = r"[A-Za-z0-9_.\\/>-]*"


class _Eager(threading.local):
    """The scope of eager code in this thread."""

    def __init__(self) -> None:
        self.scope = ""


eager_scope = _Eager()


def scope_prefix() -> str:
    """Return the current prefix of names: "" or "outer/inner/"."""
    builder = current()
    return eager_scope.scope if builder is None else builder.root.scope


@export("get_current_name_scope")
def get_current_name_scope() -> str:
    """Return the current scope without the slash at its end; "" outside of all scopes.

    >>> get_current_name_scope()
    ''
    """
    return scope_prefix().rstrip("/")


@export("name_scope")
class name_scope:  # noqa: N801  (TensorFlow's name)
    """A block in which names of operations (in a graph) and variables begin with `name` and a slash.

    Args:
        name: is appended to the enclosing scope. A name that ends with a slash replaces the enclosing scope,
        and "" resets
            it. In a graph a second scope of the same name is called `name_1`.

    `as` binds the scope with a slash at its end. Raises ValueError if the name is no string, or (in a graph)
    has invalid characters.

    >>> import agc.runtime as tf
    >>> with tf.name_scope("layer"):
    ...     weight = tf.Variable(1.0, name="weight")
    >>> weight.name
    'layer/weight:0'
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        self._name = name
        self._outer: list[tuple[object, str]] = []

    @property
    def name(self) -> str:
        """The name that was passed."""
        return self._name

    def __enter__(self) -> str:
        builder = current()
        around = scope_prefix()
        self._outer.append((eager_scope if builder is None else builder.root, around))
        if not self._name or self._name.endswith("/"):
            scope = self._name
        elif builder is None:
            scope = f"{around}{self._name}/"
        else:
            _check(self._name, around)
            scope = f"{_unique(around + self._name, builder.root.scope_counts)}/"
        _put(self._outer[-1][0], scope)
        return scope

    def __exit__(self, *exception: object) -> None:
        owner, around = self._outer.pop()
        _put(owner, around)


def _put(owner: object, scope: str) -> None:
    owner.scope = scope  # type: ignore[attr-defined]


def _check(name: str, around: str) -> None:
    pattern = _INNER if around else _ROOT
    if re.fullmatch(pattern, name) is None:
        kind = "scope name" if around else "root scope name"
        raise ValueError(
            f"{name!r} is not a valid {kind}. A {kind} has to match the following pattern: ^{pattern}$"
        )


def _unique(name: str, counts: dict[str, int]) -> str:
    """Return the name, with a number if the graph has a scope of this name already."""
    number = counts.get(name.lower(), 0)
    counts[name.lower()] = number + 1
    return _unique(f"{name}_{number}", counts) if number else name
