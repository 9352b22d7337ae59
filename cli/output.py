"""Output of generated text: to stdout, or to a file that is replaced atomically.

    agc convert model.py -o out.py        out.py.tmp is written next to it, then renamed

Text is written as UTF-8, whatever the terminal's locale: a Python file is UTF-8 unless it says otherwise.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys

from .errors import FAILED, UNWRITABLE, CommandError, problem

_COOKIE = re.compile(r"^([ \t\f]*#.*?coding[:=][ \t]*)([-\w.]+)")


def check_destination(path: str, source: str) -> None:
    """Complain about a file that cannot be written before any work is done for it."""
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise unwritable(path, f"there is no directory `{folder}`", fix=f"mkdir -p {folder}")
    if os.path.isdir(path):
        raise unwritable(path, "it is a directory", fix="name a file")
    if os.path.exists(path) and os.path.exists(source) and os.path.samefile(path, source):
        raise unwritable(path, "it is the file that is converted", fix="write to another file")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise unwritable(path, "permission denied")


def write(path: str, text: str) -> None:
    """Replace the file `path`, keeping its permissions; a failure leaves it as it was."""
    target = os.path.realpath(path)  # a link stays a link
    data = in_utf8(text).encode()
    try:
        if os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode):
            with open(target, "wb") as special:  # a device or a pipe cannot be replaced, only fed
                special.write(data)
        else:
            _replace(target, data)
    except OSError as error:
        raise unwritable(path, (error.strerror or str(error)).lower()) from None


def emit(text: str) -> None:
    """Write to stdout. When its reader has gone (`agc convert ... | head`), end quietly."""
    stream = sys.stdout
    if stream is None:
        return
    try:
        buffer = getattr(stream, "buffer", None)
        if buffer is None:  # not a file, but an object that takes text
            stream.write(text)
        else:
            stream.flush()
            # A file's name may hold bytes that are not text: Python's surrogates for them are written as \udcff.
            buffer.write(in_utf8(text).encode(errors="backslashreplace"))
        stream.flush()
    except BrokenPipeError:
        abandon_stdout()
        raise SystemExit(FAILED) from None
    except OSError as error:
        raise stdout_failed(error) from None


def flush() -> None:
    """Write out what a program has printed, while an error can still be handled."""
    if sys.stdout is not None and not sys.stdout.closed:
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise stdout_failed(error) from None


def stdout_failed(error: OSError) -> CommandError:
    """Return the error of a stdout that takes nothing, such as a file on a full disk."""
    abandon_stdout()
    return unwritable("stdout", (error.strerror or str(error)).lower())


def abandon_stdout() -> None:
    """Let what is still buffered for stdout go nowhere, so that Python does not fail on it at exit."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
    except (OSError, ValueError):  # ValueError: stdout is no file
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115


def in_utf8(text: str) -> str:
    """Return `text` with UTF-8 in its coding line, if it has one.

    >>> in_utf8("# -*- coding: latin-1 -*-\\nx = 1")
    '# -*- coding: utf-8 -*-\\nx = 1'
    """
    lines = text.split("\n", 2)
    for number, line in enumerate(lines[:2]):
        if _COOKIE.match(line):
            lines[number] = _COOKIE.sub(r"\1utf-8", line)
            break
        if line.strip() and not line.lstrip().startswith("#"):
            break
    return "\n".join(lines)


def _replace(path: str, data: bytes) -> None:
    temporary = os.path.join(os.path.dirname(path), f".agc-{os.getpid()}-{os.urandom(4).hex()}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
        if os.path.exists(path):
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def unwritable(path: str, reason: str, fix: str = "") -> CommandError:
    return problem(UNWRITABLE, f"cannot write `{path}`: {reason}", fix=fix)
