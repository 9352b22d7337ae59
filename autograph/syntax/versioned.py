"""Nodes around code of which a compiled function has two versions. The passes change what is inside of them.

`passes/version_choices.py` adds them, and `conversion/statement_versions.py` replaces each by a choice."""

from __future__ import annotations

import gast


class VersionedBlock(gast.stmt):  # type: ignore[misc]
    """Group statements that run one after the other."""

    _fields = ("body",)
    _attributes = ("lineno", "col_offset", "end_lineno", "end_col_offset")


class VersionedValue(gast.expr):  # type: ignore[misc]
    """Hold one expression."""

    _fields = ("value",)
    _attributes = ("lineno", "col_offset", "end_lineno", "end_col_offset")


VERSIONED = (VersionedBlock, VersionedValue)
