"""Extension types by the names that they have in files.

class Masked(ExtensionType):
    __name__ = "my_project.Masked"          Masked.Spec   ⇔   "my_project.Masked.Spec"
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping
from typing import Any

from ..core.type_spec import TypeSpec
from .extension_type import ExtensionType, ExtensionTypeSpec


def name_in_files(kind: type[TypeSpec]) -> str | None:
    """Return the name of the specs of an extension type; None without an attribute `__name__`, and for other specs."""
    if not issubclass(kind, ExtensionTypeSpec) or "__name__" not in vars(kind._type):
        return None
    return f"{vars(kind._type)['__name__']}.Spec"


def with_name(name: str) -> type[ExtensionTypeSpec] | None:
    """Return the specs of the extension type with this name in files, of two types those of the newer one."""
    kinds = reversed(_subclasses(ExtensionType))
    return next((kind.Spec for kind in kinds if name_in_files(kind.Spec) == name), None)


def _subclasses(kind: type[ExtensionType]) -> list[type[ExtensionType]]:
    return [each for direct in kind.__subclasses__() for each in (direct, *_subclasses(direct))]


class AnonymousExtensionType(ExtensionType):
    """The values of an extension type that the program does not have: their fields, without methods."""


def restored(name: str, fields: Mapping[str, Any]) -> ExtensionTypeSpec:
    """Return a spec from a file. If no extension type has its name and fields, its values are anonymous.

    ValueError for fields that no class can have.
    """
    for field in fields:
        if not isinstance(field, str) or not field.isidentifier() or field.startswith("__"):
            raise ValueError(f"{field!r} is not the name of a field")
    kind = with_name(name)
    if kind is not None and list(kind._type._annotations()) == list(fields):
        return kind._of(fields)
    reason = (
        "has other fields than the file" if kind else "is unknown; import its module before you load the file"
    )
    warnings.warn(
        f"values of the extension type {name.removesuffix('.Spec')} become anonymous: it {reason}",
        stacklevel=2,
    )
    return _anonymous(tuple(fields)).Spec._of(fields)


@functools.cache
def _anonymous(fields: tuple[str, ...]) -> type[ExtensionType]:
    made: Any = type("AnonymousExtensionType", (AnonymousExtensionType,), {})
    made._fields = dict.fromkeys(fields, object)
    return made  # type: ignore[no-any-return]
