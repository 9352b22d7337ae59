"""Options that TensorFlow takes, and that concern machines, devices and files that are not here."""

from __future__ import annotations

from typing import Any


class _Options:
    """Options by keyword, kept as attributes."""

    def __init__(self, **options: Any) -> None:
        vars(self).update(options)


class SaveOptions(_Options):
    """Accepted by `save`; none of them has an effect."""


class LoadOptions(_Options):
    """Accepted by `load`; none of them has an effect."""
