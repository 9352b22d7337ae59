"""`NamedTuple`: like that of `typing`, but its classes take a tenth of the time to define.

    class Interval(NamedTuple):
        start: int
        end: int = 0                  Interval(1).end  ==>  0

Python compiles each annotation, and a function that creates tuples, when it defines a class. The first call of a
`tf.function` imports a hundred such classes, and creates tuples of few of them. Here the function is compiled for the
first tuple.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:

    class _Definition(type):
        """Makes a plain subclass of `tuple` of the class statement."""

        def __new__(meta, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(meta, name, bases, members)
            fields = tuple(members.get("__annotations__", ()))
            defaults = {field: members.pop(field) for field in fields if field in members}

            def first(cls: type, *args: Any, **kwargs: Any) -> Any:
                create = _creator(fields, defaults)
                created.__new__ = staticmethod(create)
                return create(cls, *args, **kwargs)

            getters = {field: collections._tuplegetter(i, "") for i, field in enumerate(fields)}
            names = {"_fields": fields, "_field_defaults": defaults, "__match_args__": fields}
            created = type(name, (tuple,), {**_SHARED, **members, **getters, **names, "__new__": first})
            return created

    class NamedTuple(metaclass=_Definition):
        """The base of class statements that define tuples with named fields."""


def _creator(fields: tuple[str, ...], defaults: dict[str, Any]) -> Any:
    """Return the function that creates tuples of a class."""
    items = "".join(f"{field}, " for field in fields)
    create = eval(f"lambda _cls, {items}: _new(_cls, ({items}))", {"_new": tuple.__new__})
    create.__name__, create.__defaults__ = "__new__", tuple(defaults.values())
    return create


def _make(cls: type[Any], items: Iterable[Any]) -> Any:
    return tuple.__new__(cls, items)


def _replace(self: Any, /, **changes: Any) -> Any:
    result = self._make(map(changes.pop, self._fields, self))
    if changes:
        raise TypeError(f"{type(self).__name__} has no fields {list(changes)}")
    return result


def _repr(self: Any) -> str:
    items = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
    return f"{type(self).__name__}({items})"


_SHARED = {
    "__slots__": (),
    "__repr__": _repr,
    "__getnewargs__": lambda self: tuple(self),
    "_make": classmethod(_make),
    "_replace": _replace,
    "__replace__": _replace,
    "_asdict": lambda self: dict(zip(self._fields, self, strict=True)),
}
