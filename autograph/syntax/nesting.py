"""Deeply nested expressions: room for the recursion over their trees, and an error for those that are deeper still."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import ConversionError, Diagnostic, Where
from ..introspection.recursion_limit import raised_recursion_limit

# Frames for walks over the deepest tree that Python compiles. Before 3.12 this limit is also what keeps Python's
# parser and compiler from overflowing the C stack, of which 8 MB are enough for 35,000.
DEEP = 25_000 if sys.version_info < (3, 12) else 100_000


@contextmanager
def deep_trees(filename: str | None = None) -> Iterator[None]:
    """Make room for recursion over the deeply nested expressions of a file; refuse those that are deeper still."""
    with raised_recursion_limit(lambda limit: DEEP):
        try:
            yield
        except (RecursionError, MemoryError):
            title = "an expression is nested too deeply for this version of Python"
            fix = "split it up, for instance with a variable for each part"
            where = None if filename is None else Where(filename)
            raise ConversionError(Diagnostic("AGC107", title, where, fix=fix)) from None
