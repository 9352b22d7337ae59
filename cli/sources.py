"""Python source from a file or from stdin: bytes → text → a syntax tree, with an error for each way to fail.

missing, a directory, not allowed     cannot be read
zero bytes, not in its encoding       not text        (encodings as PEP 263 has them; a BOM is dropped)
anything Python itself refuses        not Python      (with a caret)
"""

from __future__ import annotations

import ast
import io
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, NamedTuple

from agc.autograph.errors import Where

from .errors import (
    BAD_USAGE,
    FAILED,
    NO_FUNCTION,
    NOT_PYTHON,
    NOT_TEXT,
    UNREADABLE,
    CommandError,
    listing,
    problem,
    suggestion,
)

STDIN = "-"
_STDIN_NAME = "<stdin>"


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Source(NamedTuple):
    """The text of a module and the names it goes by."""

    label: str  # as the user wrote it
    filename: str  # as tracebacks show it
    text: str


def split_target(target: str) -> tuple[str, str | None]:
    """Return the file and the function of `FILE::FUNCTION`.

    >>> split_target("a.py::Model.call"), split_target("a.py")
    (('a.py', 'Model.call'), ('a.py', None))
    """
    if "::" not in target or os.path.exists(target):
        return target, None
    file, _, function = target.rpartition("::")
    return STDIN if file == _STDIN_NAME else file, function


_NEGATIVE = re.compile(r"-(\.?\d|inf|nan)")


def spelled(arguments: Sequence[str]) -> list[str]:
    """Return the arguments in a form that click does not take for options: `-::f` on stdin, and negative numbers.

    >>> spelled(["-::f", "-1.5", "-o", "out"])
    ['<stdin>::f', ' -1.5', '-o', 'out']
    """
    texts = [_STDIN_NAME + text[1:] if text.startswith("-::") else text for text in arguments]
    return [f" {text}" if _NEGATIVE.match(text) else text for text in texts]


def is_module(path: str) -> bool:
    """Return whether a path in a folder is that of a module; a pipe or a device of this name could be endless.

    >>> is_module(__file__), is_module("/dev/null"), is_module("no_such.py")
    (True, False, True)
    """
    return path.endswith(".py") and (os.path.isfile(path) or not os.path.exists(path))


def read(path: str) -> Source:
    """Return the source in the file `path`, or on stdin for `-`."""
    if path == STDIN:
        if sys.stdin is None:
            raise problem(UNREADABLE, "cannot read stdin: it is closed")
        stream = getattr(sys.stdin, "buffer", None)
        data = stream.read() if stream is not None else sys.stdin.read().encode()
        return Source(_STDIN_NAME, _STDIN_NAME, decode(data, _STDIN_NAME))
    # Python makes the name absolute in just this way.
    filename = os.path.join(os.getcwd(), path)
    return Source(path, filename, decode(_bytes(path), path))


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return b"".join(_until_zero(file))
    except FileNotFoundError:
        raise problem(
            UNREADABLE, f"cannot read `{path}`: no such file", fix=_neighbor(path) or "check the path"
        ) from None
    except IsADirectoryError:
        inside = os.path.join(path, "__main__.py")
        fix = f"name the file: {inside}" if os.path.exists(inside) else "name a .py file in it"
        raise problem(UNREADABLE, f"cannot read `{path}`: it is a directory", fix=fix) from None
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise problem(UNREADABLE, f"cannot read `{path}`: {reason.lower()}") from None


def _until_zero(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the pieces of a file, up to one with a zero byte: no source has any, but endless devices do."""
    while piece := file.read(1 << 20):
        yield piece
        if b"\0" in piece:
            return


def _neighbor(path: str) -> str:
    folder, name = os.path.split(path)
    if not os.path.isdir(folder or "."):
        return f"there is no directory `{folder}`"
    known = [entry for entry in os.listdir(folder or ".") if entry.endswith(".py")]
    return suggestion(name, known)


def decode(data: bytes, label: str) -> str:
    """Decode source as Python does: by its coding line and byte order mark, with all line ends as newlines."""
    import tokenize  # not needed by `agc --help`

    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise _not_text(
            label, line, "it contains zero bytes", "give the .py file, not a compiled or binary one"
        )
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise _undecodable(error, label) from None
    except (LookupError, UnicodeError):
        # The codec is not one of text; in Python 3.14, the detection itself fails, and the name stays unknown.
        raise _not_text(
            label, 1, "its coding line names no encoding of text", "correct the coding line"
        ) from None
    except SyntaxError as error:
        if _is_undecodable_head(data):
            raise _undecodable(_decode_error(data), label) from None
        raise _not_text(label, 1, str(error), "correct the coding line") from None
    # A line end is \n from here on, as in Python's own reading of a file.
    return io.IncrementalNewlineDecoder(None, translate=True).decode(text, final=True)


def _is_undecodable_head(data: bytes) -> bool:
    """Return whether the first two lines, which may name an encoding, are invalid UTF-8."""
    head = b"\n".join(data.split(b"\n", 2)[:2])
    try:
        head.decode("utf-8")
    except UnicodeDecodeError:
        return b"coding" not in head
    return False


def _decode_error(data: bytes) -> UnicodeDecodeError:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error
    raise AssertionError("only asked about data that is not UTF-8")


def _undecodable(error: UnicodeDecodeError, label: str) -> CommandError:
    line = error.object.count(b"\n", 0, error.start) + 1
    byte = error.object[error.start]
    return _not_text(
        label,
        line,
        f"byte 0x{byte:02x} is not {error.encoding.upper()}",
        "save it as UTF-8, or name its encoding in the first line: # -*- coding: latin-1 -*-",
    )


def _not_text(label: str, line: int, reason: str, fix: str) -> CommandError:
    where = Where(label, line, source="")
    return problem(NOT_TEXT, f"`{label}` is not Python source: {reason}", where, fix=fix, exit_code=FAILED)


def parse(source: Source) -> ast.Module:
    """Return the tree of a source, after the checks of Python's own compiler."""
    check(source)
    with as_deep_as_python(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source.text, source.filename)


def check(source: Source) -> None:
    """Raise an error if Python's own compiler refuses a source."""
    with warnings.catch_warnings(), as_deep_as_python():
        warnings.simplefilter("ignore")  # they are for the reader of the program's own run
        try:
            compile(source.text, source.filename, "exec", dont_inherit=True)
        except SyntaxError as error:
            raise _not_python(error, source) from None
        except (RecursionError, MemoryError):
            raise problem(
                NOT_PYTHON,
                f"`{source.label}` is nested too deeply for Python's own compiler",
                Where(source.label),
                exit_code=FAILED,
            ) from None


@contextmanager
def as_deep_as_python() -> Iterator[None]:
    """Let expressions nest as deeply as `python FILE` does: the frames of this command do not count."""
    limit, frames, frame = sys.getrecursionlimit(), 0, sys._getframe()
    while frame.f_back is not None:
        frames, frame = frames + 1, frame.f_back
    sys.setrecursionlimit(limit + frames)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _not_python(error: SyntaxError, source: Source) -> CommandError:
    lines = source.text.split("\n")
    line = error.lineno or 0
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    one_line = error.end_lineno in (None, error.lineno)
    end = (error.end_offset or 0) if one_line else len(text) + 1
    column = max(error.offset or 0, 0)
    # Python 3.11 marks nothing where a character is missing, later ones that place.
    if column and end == column:
        end += 1
    where = Where(source.label, line, column, max(end, 0), source=text)
    kind = {"IndentationError": "indentation error", "TabError": "indentation error"}
    title = f"{kind.get(type(error).__name__, 'syntax error')}: {error.msg}"
    return problem(NOT_PYTHON, title, where, exit_code=FAILED)


def definitions(tree: ast.Module) -> dict[str, Definition]:
    """Return the definitions of a module by dotted name: functions, classes, methods, nested functions.

    >>> list(definitions(ast.parse("class A:\\n def f(self): ...\\ndef g():\\n def h(): ...")))
    ['A', 'A.f', 'g', 'g.h']
    """
    return dict(_definitions(tree.body, ""))


def _definitions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, Definition]]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield prefix + node.name, node
            yield from _definitions(node.body, f"{prefix}{node.name}.")
        else:  # a definition may be inside `if`, `for`, `try`, `with` or `match`
            for block in ("body", "orelse", "finalbody"):
                yield from _definitions(getattr(node, block, []), prefix)
            for branch in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
                yield from _definitions(branch.body, prefix)


def no_function(name: str, label: str, known: list[str]) -> CommandError:
    """Return the error for a function that is not in a file."""
    return problem(
        NO_FUNCTION,
        f"there is no function `{name}`",
        Where(label),
        why=f"the functions are: {listing(known)}" if known else "no functions are defined there",
        fix=suggestion(name, known),
    )


def without_function(command: str, target: str, by_name: bool) -> CommandError:
    """Return the error of a command for a target without a function; it lists the functions of a file."""
    known: list[str] = []
    if not by_name and target != STDIN:
        tree = parse(read(target))
        known = [each.name for each in tree.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return problem(
        BAD_USAGE,
        f"`agc {command}` needs one function, and `{target}` names none",
        why=f"the functions are: {listing(known)}" if known else "",
        fix=f"agc {command} {target}::{known[0] if known else 'FUNCTION'}",
    )
