"""Deeply nested expressions and blocks: room for the recursion over their trees, and errors for deeper ones."""

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
    """Make room for recursion over deeply nested code of a file; refuse code that is too deep for Python."""
    with raised_recursion_limit(lambda limit: DEEP):
        try:
            yield
        except (RecursionError, MemoryError):
            fix = "split it up, for instance with a variable for each part"
            raise _refusal("an expression is", fix, filename) from None
        except IndentationError as error:
            if "too many levels" not in str(error):
                raise
            raise _refusal("blocks are", "move the inner ones into a function", filename) from None


def _refusal(what: str, fix: str, filename: str | None) -> ConversionError:
    where = None if filename is None else Where(filename)
    title = f"{what} nested too deeply for this version of Python"
    return ConversionError(Diagnostic("AGC107", title, where, fix=fix))
