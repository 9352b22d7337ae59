"""Diagnostics: the location, the difference, the reason and the fix, in one format.

    error[AGC201]: the branches of this `if` give `step` different dtypes
      --> train.py:12:8, in fit
     12 |     if loss < best:
        |        ^^^^^^^^^^^ decided when the graph runs; `loss` was made at line 9
     13 |         step = tf.constant(1)         int32[]
     15 |         step = tf.constant(0.5)       float32[]
    why: a value in a graph has one dtype, and two tensors are never promoted silently
    fix: make them agree, for instance tf.cast(step, tf.float32) at line 13

A `Diagnostic` is that text as an object; `ConversionError` carries one. Codes AGC1xx are about source and
conversion, AGC2xx about staging. `strip_frames` takes agc's own frames out of a traceback.
"""

from __future__ import annotations

import functools
import linecache
import os
import sys
from collections.abc import Callable
from contextvars import ContextVar
from os import environ
from types import CodeType, FrameType, TracebackType
from typing import Any, ClassVar, NamedTuple, TypeVar

AnyException = TypeVar("AnyException", bound=BaseException)
Paint = Callable[[str, str], str]

_LABEL_GAP = 7  # blanks between the longest noted line and the labels next to the lines

_BOLD, _RED, _YELLOW, _BLUE = "\x1b[1m", "\x1b[1;31m", "\x1b[1;33m", "\x1b[34m"
_CYAN, _RESET = "\x1b[36m", "\x1b[0m"

# Controls of terminals become pictures or U+FFFD, each one column wide: C0 without tab and line feed, C1, and
# the marks that reorder text.
_PICTURES = {code: 0x2400 + code for code in range(32) if code not in (9, 10)} | {127: 0x2421}
_PICTURES |= dict.fromkeys([*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], 0xFFFD)


class Where(NamedTuple):
    """A place in a source file. Lines and columns count from 1, as editors show them; 0 means unknown.

    >>> print(Where("train.py", 3, 5, function="fit"))
    train.py:3:5, in fit
    """

    file: str
    line: int = 0
    column: int = 0
    end_column: int = 0  # one past the last character, on the same line
    function: str = ""
    source: str | None = None  # the text of the line, when it cannot be looked up in the file

    def text(self) -> str | None:
        """Return the source line without its line break, with visible controls; None if it is unknown.

        >>> Where("made_up.py", 1, source="x = 1\\n").text()
        'x = 1'
        """
        text = self.source if self.source is not None else linecache.getline(self.file, self.line)
        return visible(text.rstrip()) or None

    def excerpt(self) -> str:
        """Return the place and its source line, as in a diagnostic.

        >>> print(Where("made_up.py", 1, 5, 6, source="x = y").excerpt())
          --> made_up.py:1:5
         1 | x = y
           |     ^
        """
        return "\n".join([f"  --> {self}", *_excerpt(self, "", (), _plain)])

    def __str__(self) -> str:
        numbers = [str(number) for number in (self.line, self.column) if number]
        text = ":".join([visible(shown_path(self.file), is_line=True), *numbers])
        return f"{text}, in {self.function}" if self.function else text


class Note(NamedTuple):
    """Another line that plays a part in the error, with a label.

    >>> Note(Where("train.py", 3), "int32[]").label
    'int32[]'
    """

    where: Where
    label: str = ""


class Diagnostic(NamedTuple):
    """One problem: a stable code, a title that says what is wrong, and what the reader needs to mend it.

    >>> Diagnostic("AGC101", "no source", Where("a.py", 3)).level
    'error'
    """

    code: str
    title: str
    where: Where | None = None
    label: str = ""  # printed after the caret
    notes: tuple[Note, ...] = ()
    why: str = ""
    fix: str = ""
    level: str = "error"  # or "warning": what can be converted, but will hardly be staged

    def format(self, color: bool = False) -> str:
        """Return the text shown in the module's docstring, with ANSI colors when `color` is true.

        >>> print(Diagnostic("AGC101", "no source", Where("a.py", 3), fix="save it").format())
        error[AGC101]: no source
          --> a.py:3
        fix: save it
        """
        paint = _painted if color else _plain
        style = _RED if self.level == "error" else _YELLOW
        title = visible(self.title, is_line=True)
        lines = [f"{paint(f'{self.level}[{self.code}]', style)}: {paint(title, _BOLD)}"]
        if self.where is not None:
            lines.append(f"  {paint('-->', _BLUE)} {self.where}")
            lines += _excerpt(self.where, self.label, self.notes, paint)
        advice = ("why", self.why), ("fix", self.fix)
        lines += [f"{paint(f'{key}:', _CYAN)} {visible(text)}" for key, text in advice if text]
        return "\n".join(lines)

    def to_json(self) -> str:
        """Return the diagnostic as one JSON object.

        >>> Diagnostic("AGC101", "no source", fix="save it").to_json()[:50]
        '{"code": "AGC101", "title": "no source", "where": '
        """
        import json  # not needed by a program that goes well

        return json.dumps(self.to_dict(), ensure_ascii=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnostic as dicts, lists, texts and numbers."""
        return _as_dict(self)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        return self.format()


class DiagnosticError(Exception):
    """An error with a diagnostic."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic)
        self.diagnostic = diagnostic

    def __str__(self) -> str:
        # The first line of a traceback's last entry already reads `ConversionError: `.
        return self.diagnostic.format()


class ConversionError(DiagnosticError):
    """Error: code cannot be converted. The conversion raises it, before the code runs.

    Attribute `diagnostic`: the code, place, reason and fix, as a `Diagnostic`.
    """


class StagingError(DiagnosticError, TypeError, ValueError):
    """Error: a backend cannot stage control flow with these values. It is raised while a function is traced.

    The class is a TypeError and a ValueError, since TensorFlow raises either of them in these cases. Attribute
    `diagnostic`: the code, place, reason and fix, as a `Diagnostic`.
    """

    made: ClassVar[ContextVar[list[StagingError] | None]] = ContextVar("made", default=None)
    """A list that a backend sets to see all errors, and that each new one is appended to."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic)
        made = self.made.get()
        if made is not None:
            made.append(self)


class SideEffectWarning(UserWarning):
    """Warning: a staged block reads state of the process, such as the clock, only once, while it is traced."""


def _as_dict(value: Any) -> Any:
    """Return named tuples as dicts, nested ones included."""
    if hasattr(value, "_asdict"):
        return {key: _as_dict(part) for key, part in value._asdict().items()}
    return [_as_dict(part) for part in value] if isinstance(value, tuple) else value


def visible(text: str, is_line: bool = False) -> str:
    r"""Return a text whose characters do not control a terminal; with `is_line`, not even a line feed.

    Names of files and lines of source may be a stranger's.

    >>> visible("a\x1b[31m\n"), visible("a\n", is_line=True)
    ('a␛[31m\n', 'a␊')
    """
    if text.isprintable():
        return text
    return text.translate(_PICTURES).replace("\n", "␊" if is_line else "\n")


def _plain(text: str, style: str) -> str:
    return text


def _painted(text: str, style: str) -> str:
    return f"{style}{text}{_RESET}"


def cell_name(file: str) -> str | None:
    """Return the name of a notebook cell, such as "Cell In[3]", by the file name that IPython gives it; else None.

    >>> cell_name("train.py") is None
    True
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    named = None if shell is None else shell.compile.format_code_name(file)
    return " ".join(named) if named else None


def shown_path(file: str) -> str:
    """Return the name of a cell, or a path, relative to the working directory for a file inside it.

    >>> shown_path(os.path.join(os.getcwd(), "train.py"))
    'train.py'
    """
    cell = cell_name(file)
    if cell is not None:
        return cell
    try:
        here = os.getcwd() + os.sep
    except FileNotFoundError:  # the folder was deleted while the program ran
        return file
    return file[len(here) :] if file.startswith(here) else file


def _excerpt(where: Where, label: str, notes: tuple[Note, ...], paint: Paint) -> list[str]:
    """Return the source line with its caret, then the noted lines with their labels in one column."""
    text = where.text()
    if not where.line or text is None:
        return []
    near = [note for note in notes if note.where.file == where.file and note.where.text() is not None]
    far = [note for note in notes if note not in near]
    gutter = max(len(str(near_note.line)) for near_note in [where, *(note.where for note in near)])

    def row(number: int | str, content: str) -> str:
        return f" {paint(f'{number:>{gutter}} |', _BLUE)} {content}".rstrip()

    lines = [row(where.line, text)]
    if where.column:
        lines.append(row("", _caret(text, where, label, paint)))
    reach = max((_width(note.where.text() or "") for note in near if note.label), default=0) + _LABEL_GAP
    for note in near:
        noted = note.where.text() or ""
        padding = " " * (reach - _width(noted)) if note.label else ""
        lines.append(row(note.where.line, f"{noted}{padding}{note.label}"))
    return lines + [f"  {paint('-->', _BLUE)} {note.where}  {note.label}".rstrip() for note in far]


def _caret(text: str, where: Where, label: str, paint: Paint) -> str:
    """Return the line under the source: `^^^` below the columns, then the label."""
    start = min(where.column - 1, len(text))
    end = min(max(where.end_column - 1, start + 1), max(len(text), start + 1))
    # Tabs stay tabs, so that the caret is below its text whatever a tab's width is.
    indent = "".join("\t" if c == "\t" else " " * _width(c) for c in text[:start])
    carets = "^" * max(_width(text[start:end]), 1)
    return f"{indent}{paint(carets, _RED)} {label}".rstrip()


def _width(text: str) -> int:
    """Return the columns that `text` takes in a terminal: two for a wide East Asian character, none for an accent.

    >>> _width("a") , _width("字"), _width("e\\u0301")
    (1, 2, 1)
    """
    if text.isascii():
        return len(text)
    import unicodedata  # few texts need it

    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) != 0 for c in text)


# The folders of agc's own packages, whether installed (…/site-packages/agc/runtime) or edited in place
# (…/checkout/runtime). Other files of a checkout, such as tests and examples, are user code.
_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_OWN = tuple(
    os.path.join(_HOME, part) + os.sep
    for part in ("autograph", "runtime", "cli", "explorer", "backends", "arrays", "jax", "torch")
)


@functools.lru_cache(maxsize=1024)  # there is one question for each frame of a stack
def is_own_file(filename: str) -> bool:
    """Return whether a file belongs to agc itself.

    >>> is_own_file(__file__), is_own_file("/home/me/train.py")
    (True, False)
    """
    return filename.startswith(_OWN)


def strip_frames(exception: AnyException) -> AnyException:
    """Remove agc's own frames from the tracebacks of an exception and of its causes and contexts; return it.

    A block of a converted function appears as the function, at the line that failed, as in Python. With
    AGC_FULL_TRACEBACK=1 in the environment nothing is removed.

    >>> try:
    ...     1 / 0
    ... except ZeroDivisionError as error:
    ...     strip_frames(error) is error
    True
    """
    if keeps_frames():
        return exception
    pending: list[BaseException | None] = [exception]
    seen: set[int] = set()
    while pending:
        error = pending.pop()
        if error is None or id(error) in seen:
            continue
        seen.add(id(error))
        whole, error.__traceback__ = error.__traceback__, _stripped(error.__traceback__)
        if error is exception and error.__traceback__ is None:
            # An internal error of agc keeps its frames: an empty traceback helps no one.
            error.__traceback__ = whole
        pending += [error.__cause__, error.__context__]
        if isinstance(error, BaseExceptionGroup):
            pending += error.exceptions
    return exception


def leave_no_trace(error: BaseException) -> None:
    """Drop agc's own entries at the head of the traceback; for a function of agc that catches to pass on.

    A bare `raise` after it does not add the function again, so the user sees only the user's lines.
    """
    entry = error.__traceback__
    if keeps_frames():
        return
    while entry is not None and is_own_frame(entry.tb_frame):
        entry = entry.tb_next
    error.__traceback__ = entry


def keeps_frames() -> bool:
    """Return whether the environment disables the removal of frames.

    >>> keeps_frames()
    False
    """
    return environ.get("AGC_FULL_TRACEBACK", "") not in ("", "0")


def _stripped(traceback: TracebackType | None) -> TracebackType | None:
    frames = []
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    kept: TracebackType | None = None
    inside: CodeType | None = None  # a block whose function is still to come, further out
    for entry in reversed(frames):
        code = entry.tb_frame.f_code
        if is_own_frame(entry.tb_frame):
            continue
        if inside is None or not belongs(inside, code):
            kept = TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
        inside = code if is_block(code) else None
    return kept


def is_block(code: CodeType) -> bool:
    """Return whether code is that of a generated function; its name is that of the user function around it."""
    around, _, name = code.co_qualname.rpartition(".<locals>.")
    return around != "" and name.rpartition(".")[2] != code.co_name  # of a local class's method: `Net.step`


def belongs(block: CodeType, function: CodeType) -> bool:
    """Return whether a block is part of a function, or of a block in it that is further out."""
    return block.co_name == function.co_name and block.co_filename == function.co_filename


def is_own_frame(frame: FrameType) -> bool:
    """Return whether a frame runs code of agc, or generated code."""
    if is_own_file(frame.f_code.co_filename):
        return True
    # Code that agc wrote and runs (a plan, a factory) has no file, but a module name of agc's.
    name = frame.f_globals.get("__name__")
    return isinstance(name, str) and name.startswith(("agc.autograph.", "agc.runtime.", "agc.cli."))
