"""Source locations: the line of user code that an operation comes from, and the variable that its result is
assigned to.

y = tf.matmul(x, w) + b        →  train.py:7, in model; the sum is called `y` in the graph
"""

from __future__ import annotations

import dis
import functools
import os
import sys
from types import CodeType, FrameType
from typing import NamedTuple

from agc.autograph.api import cell_name


class Origin(NamedTuple):
    """The line of user code that an operation comes from."""

    filename: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{cell_name(self.filename) or self.filename}:{self.line}, in {self.function}"


class Call(NamedTuple):
    """A running call in user code: its line, its call site, and the variable for its result."""

    origin: Origin
    site: tuple[int, int]  # the same for all operations that one call records
    name: str | None  # the variable that the result is assigned to; None if there is none
    is_direct: bool  # user code calls the operation itself, not a function that records several


_call = functools.partial(tuple.__new__, Call)  # fast: each operation of a graph needs one

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
_PACKAGES = tuple(os.path.join(_ROOT, part, "") for part in ("runtime", "autograph", "cli", "explorer"))
_DIRECT = tuple(
    os.path.join(_ROOT, "runtime", *parts)
    for parts in (
        ("ir", "builder.py"),
        ("ir", "source_location.py"),
        ("ops", "framework", "op.py"),
        ("ops", "framework", "op_families.py"),
        ("ops", "framework", "operator_overloads.py"),
    )
)


class _Own(dict[str, str | None]):
    """By file name, the kind of agc code in it: "operation" if it records a single operation, or "other".

    None for user code.
    """

    def __missing__(self, filename: str) -> str | None:
        # A system call for each part of a path takes longer than all else here.
        is_own = filename.startswith(_PACKAGES) and os.path.normpath(filename) == filename
        path = filename if is_own else os.path.realpath(filename)
        kind = "other" if path.startswith(_PACKAGES) else None
        self[filename] = "operation" if path in _DIRECT else kind
        return self[filename]


own_files = _Own()


def caller() -> Origin | None:
    """Return the line of the innermost frame of user code."""
    call = user_call()
    return None if call is None else call.origin


Site = tuple[CodeType, int]


def site() -> Site | None:
    """Return the code object and instruction of `caller()`, at little cost; `origin_at` returns its line."""
    frame: FrameType | None = sys._getframe(2)  # the caller, and its caller, are agc code
    while frame is not None:
        code = frame.f_code
        if own_files[code.co_filename] is None:
            return code, frame.f_lasti
        frame = frame.f_back
    return None


def origin_at(site: Site) -> Origin:
    code, at = site
    lines = (line for start, end, line in code.co_lines() if start <= at < end)
    return Origin(code.co_filename, next(lines, None) or code.co_firstlineno, code.co_name)


def raised_at(error: BaseException) -> Origin | None:
    """Return the innermost line of user code in the traceback of `error`."""
    found, entry = None, error.__traceback__
    while entry is not None:
        code = entry.tb_frame.f_code
        if own_files[code.co_filename] is None:
            found = Origin(code.co_filename, entry.tb_lineno, code.co_name)
        entry = entry.tb_next
    return found


def user_call() -> Call | None:
    """Return the innermost running call in user code."""
    frame: FrameType | None = sys._getframe(2)  # the caller is agc code
    while frame is not None and own_files[frame.f_code.co_filename] == "operation":
        frame = frame.f_back
    nearest = frame
    while frame is not None and own_files[frame.f_code.co_filename]:
        frame = frame.f_back
    if frame is None:
        return None
    code, at = frame.f_code, frame.f_lasti
    sites = _sites.get(id(code)) or _sites_of(code)
    origin, name = sites.known.get(at) or _known_of(sites, at, frame)
    return _call((origin, (id(frame), at), name, frame is nearest))


def _known_of(sites: _Sites, at: int, frame: FrameType) -> tuple[Origin, str | None]:
    """Return the line of a frame's current instruction, and the variable that its result is assigned to."""
    code = sites.code
    origin = Origin(code.co_filename, frame.f_lineno or code.co_firstlineno, code.co_name)
    known = origin, _assigned(code, sites.units, at)
    sites.known[at] = known
    return known


class _Sites(NamedTuple):
    """A cache of one code object's instructions. It keeps the code alive, so that its `id` stays unique."""

    code: CodeType
    units: bytes  # its instructions; `co_code` makes a copy at each access
    # By instruction: the line, which is slow to compute, and the variable that the result is assigned to.
    known: dict[int, tuple[Origin, str | None]]


_sites: dict[int, _Sites] = {}  # by `id`: to hash a code object takes time linear in its size
_KEPT = 512


def _sites_of(code: CodeType) -> _Sites:
    known = _sites.get(id(code))
    if known is None:
        if len(_sites) >= _KEPT:
            _sites.clear()
        known = _sites[id(code)] = _Sites(code, code.co_code, {})
    return known


def _assigned(code: CodeType, units: bytes, at: int) -> str | None:
    """Return the variable that the result of the instruction at an offset is stored in directly, if any."""
    argument = 0
    following = iter(units[at + 2 :])
    for number, low in zip(following, following, strict=True):
        if number in _FILLING:
            continue
        argument = argument << 8 | low
        if number != dis.EXTENDED_ARG:
            return _STORING[number](code, argument) if number in _STORING else None
    return None


def _of_frame(code: CodeType, argument: int) -> str:
    return str(code._varname_from_oparg(argument))  # type: ignore[attr-defined]


def _first_of_frame(code: CodeType, argument: int) -> str:
    """Return the variable that a superinstruction stores first."""
    return _of_frame(code, argument >> 4)


def _by_name(code: CodeType, argument: int) -> str:
    return code.co_names[argument]


_HOW = {
    "STORE_FAST": _of_frame,
    "STORE_DEREF": _of_frame,
    "STORE_FAST_STORE_FAST": _first_of_frame,
    "STORE_FAST_LOAD_FAST": _first_of_frame,
    "STORE_NAME": _by_name,
    "STORE_GLOBAL": _by_name,
}
_STORING = {dis.opmap[name]: how for name, how in _HOW.items() if name in dis.opmap}
_FILLING = frozenset({dis.opmap[name] for name in ("CACHE",) if name in dis.opmap})
"""Instructions without effect between others."""
