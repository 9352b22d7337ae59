"""TensorFlow's options for machines, devices and files; they have no effect."""

from __future__ import annotations

from typing import Any


class _Options:
    """Options by keyword, kept as attributes."""

    def __init__(self, **options: Any) -> None:
        vars(self).update(options)


class SaveOptions(_Options):
    """Options of `save`; none has an effect."""


class LoadOptions(_Options):
    """Options of `load`; none has an effect."""
