"""The names of spec classes in files: `tf.RaggedTensorSpec`, and `Masked.Spec` for an extension type named "Masked"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as runtime

from ...composite import registered_types
from ...core.type_spec import TypeSpec

_NAME_TO_TYPE_SPEC: dict[str, type[TypeSpec]] = {}
_TYPE_SPEC_TO_NAME: dict[type[TypeSpec], str] = {}


def register(name: str) -> Callable[[type[TypeSpec]], type[TypeSpec]]:
    """Return a decorator that names a class of specs. ValueError for a name or a class that is registered already."""

    def registered(kind: type[TypeSpec]) -> type[TypeSpec]:
        if name in _NAME_TO_TYPE_SPEC or kind in _TYPE_SPEC_TO_NAME:
            raise ValueError(
                f"TypeSpec {kind.__qualname__} or the name {name!r} has been registered already."
            )
        _NAME_TO_TYPE_SPEC[name] = kind
        _TYPE_SPEC_TO_NAME[kind] = name
        return kind

    return registered


def get_name(kind: type[TypeSpec]) -> str:
    """Return the name of a spec class. ValueError for a class without a name."""
    if getattr(runtime, kind.__name__, None) is kind:
        return f"tf.{kind.__name__}"
    name = _TYPE_SPEC_TO_NAME.get(kind) or registered_types.name_in_files(kind)
    if name is None:
        raise ValueError(f"TypeSpec {kind.__module__}.{kind.__qualname__} has not been registered.")
    return name


def lookup(name: str) -> type[TypeSpec]:
    """Return the spec class with this name, of two extension types the newer one. ValueError if none has the name."""
    module, _, last = name.partition(".")
    found: Any = getattr(runtime, last, None) if module == "tf" and last.isidentifier() else None
    if isinstance(found, type) and issubclass(found, TypeSpec):
        return found
    kind = _NAME_TO_TYPE_SPEC.get(name) or registered_types.with_name(name)
    if kind is None:
        raise ValueError(f"No TypeSpec has been registered with name {name!r}")
    return kind
