"""Objects with fields: instances of dataclasses, and of classes that the package attrs defines.

    @attr.s(auto_attribs=True)
    class Point:                ==>      field_names(Point) == ("x", "y")
        x: object
        y: object

Backends flatten such objects into their fields, and the search for objects that a block changes does the same.
"""

from __future__ import annotations

import functools
from typing import Any


def has_fields(kind: Any) -> bool:
    """Return whether the instances of a class have fields.

    >>> from dataclasses import make_dataclass
    >>> has_fields(make_dataclass("Point", ["x", "y"])), has_fields(list)
    (True, False)
    """
    return hasattr(kind, "__dataclass_fields__") or hasattr(kind, "__attrs_attrs__")


@functools.lru_cache(maxsize=1024)
def field_names(kind: Any) -> tuple[str, ...]:
    """Return the names of the fields of a class, in the order of their definition.

    >>> from dataclasses import make_dataclass
    >>> field_names(make_dataclass("Point", ["x", "y"]))
    ('x', 'y')
    """
    names = [field.name for field in getattr(kind, "__attrs_attrs__", ())]
    if hasattr(kind, "__dataclass_fields__"):
        import dataclasses  # imported late: most programs that get here use no dataclass

        names += [field.name for field in dataclasses.fields(kind)]
    return tuple(dict.fromkeys(names))


@functools.lru_cache(maxsize=1024)
def is_frozen(kind: Any) -> bool:
    """Return whether a class with fields forbids assignments to them.

    >>> from dataclasses import dataclass
    >>> is_frozen(dataclass(type("Point", (), {}))), is_frozen(dataclass(frozen=True)(type("Fixed", (), {})))
    (False, True)
    """
    parameters = getattr(kind, "__dataclass_params__", None)
    if parameters is not None:
        return bool(parameters.frozen)
    return getattr(kind.__setattr__, "__name__", None) == "_frozen_setattrs"  # of attrs, in all its versions
