"""TensorFlow's options of saving and loading. Those for machines, devices and files have no effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class _Options:
    """Options by keyword, kept as attributes."""

    def __init__(self, **options: Any) -> None:
        vars(self).update(options)


class SaveOptions(_Options):
    """Options of `save`. `function_aliases` are functions by name that `load` can return; others have no effect."""

    function_aliases: Mapping[str, Any] | None = None


class LoadOptions(_Options):
    """Options of `load`. With `experimental_load_function_aliases=True`, the loaded object has `function_aliases`."""

    experimental_load_function_aliases = False
