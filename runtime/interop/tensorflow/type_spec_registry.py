"""The names of spec classes in files: `tf.RaggedTensorSpec`, and `Masked.Spec` for an extension type named "Masked"."""

from __future__ import annotations

from typing import Any

import agc.runtime as runtime

from ...composite import registered_types
from ...core.type_spec import TypeSpec


def get_name(kind: type[TypeSpec]) -> str:
    """Return the name of a spec class. ValueError for an extension type that has no attribute `__name__`."""
    if getattr(runtime, kind.__name__, None) is kind:
        return f"tf.{kind.__name__}"
    name = registered_types.name_in_files(kind)
    if name is None:
        raise ValueError(f"TypeSpec {kind.__module__}.{kind.__qualname__} has not been registered.")
    return name


def lookup(name: str) -> type[TypeSpec]:
    """Return the spec class with this name, of two extension types the newer one. ValueError if none has the name."""
    module, _, last = name.partition(".")
    found: Any = getattr(runtime, last, None) if module == "tf" and last.isidentifier() else None
    if isinstance(found, type) and issubclass(found, TypeSpec):
        return found
    kind = registered_types.with_name(name)
    if kind is None:
        raise ValueError(f"No TypeSpec has been registered with name {name!r}")
    return kind
