"""The error for a program that a format cannot express: all reasons at once, each with the user's line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

from ..errors import UnimplementedError
from ..functionalize.errors import CannotCompileError, Reason

_SHOWN = 20


class CannotExportError(UnimplementedError):
    """Error for a program that a format cannot express. `reasons` lists every operation that is one."""

    def __init__(self, format_name: str, name: str, reasons: Iterable[Reason | str]) -> None:
        self.reasons = list(dict.fromkeys(map(str, reasons)))
        shown = self.reasons[:_SHOWN]
        if len(self.reasons) > _SHOWN:
            shown.append(f"and {len(self.reasons) - _SHOWN} more (`.reasons` of this error)")
        lines = "".join(f"\n  {reason}" for reason in shown)
        super().__init__(f"`{name}` cannot be written as {format_name}:{lines}")


@contextlib.contextmanager
def refusing(format_name: str, name: str) -> Iterator[None]:
    """Raise CannotExportError in place of a compiler's refusal of the program `name`."""
    try:
        yield
    except CannotCompileError as error:
        raise CannotExportError(format_name, name, error.reasons) from None
