"""Error messages of the command, and their exit codes.

    0    success
    1    the source cannot be converted, or the program failed
    2    the command line is wrong: an option, a file, a function or an argument that is not there
    123  a bug in agc
    130  interrupted from the keyboard

Messages have the shape that `agc.autograph.errors.Diagnostic` gives them, on stderr. Codes AGC3xx are this
command's own.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable, Sequence

from agc.autograph.errors import Diagnostic, Where, keeps_frames

from . import color

OK, FAILED, USAGE, INTERNAL, INTERRUPTED = 0, 1, 2, 123, 130

#     code               what it is about
BAD_USAGE = "AGC300"  #  an option or argument of agc's own
UNREADABLE = "AGC301"  # a file that cannot be opened
NOT_TEXT = "AGC302"  #   a file whose bytes are not text
NOT_PYTHON = "AGC303"  # a syntax error
NO_FUNCTION = "AGC304"
BAD_VALUE = "AGC305"  #  an argument that cannot be read
BAD_CALL = "AGC306"  #   arguments that do not fit the function
UNWRITABLE = "AGC307"
NO_MODULE = "AGC308"
FAULT = "AGC399"


class CommandError(Exception):
    """Ends the command with a message and an exit code."""

    def __init__(self, diagnostic: Diagnostic, exit_code: int) -> None:
        super().__init__(diagnostic.title)
        self.diagnostic = diagnostic
        self.exit_code = exit_code


def problem(
    code: str, title: str, where: Where | None = None, *, why: str = "", fix: str = "", exit_code: int = USAGE
) -> CommandError:
    """Return a `CommandError` to be raised."""
    return CommandError(Diagnostic(code, title, where, why=why, fix=fix), exit_code)


def show(diagnostic: Diagnostic) -> None:
    """Print a diagnostic to stderr."""
    if sys.stderr is not None:  # closed by the process that started the command: then no message is possible
        print(diagnostic.format(color=color.wanted(sys.stderr)), file=sys.stderr)


def show_fault(error: BaseException) -> int:
    """Print an internal error, with its traceback if the environment says so; return the exit code."""
    if keeps_frames():
        traceback.print_exception(error)
    found = fault(error)
    show(found.diagnostic)
    return found.exit_code


def _has_folder() -> bool:
    try:
        return bool(os.getcwd())
    except FileNotFoundError:
        return False


def fault(error: BaseException) -> CommandError:
    """Return the end of the command by an internal error of agc, or for a current folder that was deleted."""
    if isinstance(error, FileNotFoundError) and not _has_folder():
        return problem(UNREADABLE, "the current folder was deleted", fix="change to a folder that exists")
    said = " ".join(str(error).split())
    what = f"{type(error).__name__}: {said}" if said else type(error).__name__
    advice = "" if keeps_frames() else " (AGC_FULL_TRACEBACK=1 shows the traceback)"
    return problem(FAULT, f"agc itself failed: {what}{advice}", exit_code=INTERNAL)


def suggestion(wrong: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return a question for the `fix` line that names the most similar name.

    >>> suggestion("colatz", ["collatz", "gcd"])
    'did you mean `collatz`?'
    """
    import difflib  # imported here: only errors need it

    near = difflib.get_close_matches(wrong, list(known), n=3, cutoff=0.6)
    return f"did you mean {' or '.join(f'`{name}`' for name in near)}?" if near else otherwise


def listing(names: Iterable[str], limit: int = 8) -> str:
    """Return names for a message, at most `limit`.

    >>> listing("abc"), listing("abc", limit=2)
    ('a, b, c', 'a, b, ... (3 in all)')
    """
    names = list(names)
    if len(names) <= limit:
        return ", ".join(names)
    return f"{', '.join(names[:limit])}, ... ({len(names)} in all)"


def no_pass(name: str, known: Sequence[str]) -> CommandError:
    """Return the error for `--after` with an unknown pass."""
    return problem(
        BAD_USAGE,
        f"there is no pass `{name}`",
        why=f"the passes are, in order: {listing(known, limit=30)}",
        fix=suggestion(name, known),
        exit_code=USAGE,
    )
