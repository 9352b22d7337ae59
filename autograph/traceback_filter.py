"""Filter tracebacks where an exception leaves a function of agc; a call that raises nothing pays nothing.

    def norm(x):            def norm(x):
        return ...    ⇒         try:
                                    return ...
                                except:
                                    _filter()      drop agc's frames from the traceback
                                    raise          which does not add them again

A wrapper would cost a call, and is one more object with another identity. The compiled handler is appended
to the bytecode of the function instead; the decorator `leaves_no_trace` does the same for operators. The
handler comes from Python's own compiler, so that it fits each version.
"""

from __future__ import annotations

import functools
import opcode
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from .errors import is_own_file, is_own_frame, keeps_frames, leave_no_trace, strip_frames

F = TypeVar("F", bound=Callable[..., Any])


class _Handler(NamedTuple):
    """The bytecode of `except: _filter(); raise`, where it names `_filter` and None, and its exception table."""

    code: bytes
    operand: int
    nones: tuple[int, ...]
    rows: tuple[tuple[int, int, int, int], ...]
    lines: bytes
    stack_size: int


def leaves_no_trace(function: F) -> F:
    """Let an exception that leaves an operator pass without an entry of agc at the head of its traceback.

    The function stays the same object, and its calls have no frame more. The traceback's other frames refer to the
    operator's frame (`f_back`), so the handler drops its variables: an exception keeps no values of the program alive.
    """
    if sys.version_info < _UNKNOWN:
        code = function.__code__
        count = code.co_argcount + code.co_kwonlyargcount if code.co_cellvars else code.co_nlocals
        function.__code__ = _with_handler(code, code.co_consts, _leave_no_trace, count)
    return function


def _leave_no_trace() -> None:
    error = sys.exc_info()[1]
    assert error is not None
    leave_no_trace(error)


def filter_tracebacks(package: str, loaded: str = "") -> None:
    """Let the functions and methods of the loaded modules of `package` filter the tracebacks that leave them.

    The module `loaded` counts as loaded, though its import has not ended yet.
    """
    if sys.version_info >= _UNKNOWN:
        return
    for name in sys.modules.keys() - _DONE:
        if name != package and (not name.startswith("agc.") or name.startswith(_COMPILER)):
            _DONE.add(name)  # a process may have thousands of these
        elif name == package or name.startswith(package + "."):
            module = sys.modules.get(name)  # another thread's import takes it away for a moment
            if module is None:
                continue
            if name == loaded or not getattr(getattr(module, "__spec__", None), "_initializing", False):
                _DONE.add(name)
                members = list(vars(module).items())
                if name.startswith(_INTERNAL):
                    members = [item for item in members if type(item[1]) is not types.FunctionType]
                _filter_members(members)


def filter_function(function: object) -> None:
    """Let a public function, or an operation, filter the tracebacks that leave it."""
    if sys.version_info < _UNKNOWN and not isinstance(function, type):
        _filter_members([("", function)])


def _is_function(constant: object) -> bool:
    return type(constant) is types.CodeType and not constant.co_name.startswith("<")


def _filter_members(members: Iterable[tuple[str, Any]]) -> None:
    for name, member in members:
        kind: Any = type(member)
        if kind is types.FunctionType:
            if not name.startswith("_") or name.endswith("__") or name in _CALLED_BY_C:
                _filter_function(member)
        elif issubclass(kind, type):
            if member not in _CLASSES:
                _CLASSES.add(member)
                if is_own_file(getattr(sys.modules.get(member.__module__), "__file__", None) or ""):
                    _filter_members(list(vars(member).items()))
        else:
            for part in _PARTS[kind]:
                _filter_members([(name, getattr(member, part))])


class _Parts(dict[type, tuple[str, ...]]):
    """The attributes in which the objects of each class hold functions."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        # Operators in C hold a function in a slot.
        is_operator = type(getattr(kind, "__func__", None)) is types.MemberDescriptorType
        self[kind] = ("__func__",) if is_operator else ()
        return self[kind]


def _filter_function(function: types.FunctionType) -> None:
    code = function.__code__
    if is_own_file(code.co_filename) and _filter not in code.co_consts:
        function.__code__ = _filtered(code)


def _filtered(code: types.CodeType) -> types.CodeType:
    """Return `code` with the handler for its whole body, and for the functions that it defines."""
    constants = code.co_consts
    if types.CodeType in map(type, constants):
        constants = tuple(_filtered(c) if _is_function(c) else c for c in constants)
    return _with_handler(code, constants, _filter)


def _with_handler(
    code: types.CodeType, constants: Sequence[Any], act: Callable[[], None], drops: int = 0
) -> types.CodeType:
    """Return `code` with these constants, and a handler for its whole body, which calls `act`.

    The handler sets the first `drops` variables to None.
    """
    if len(constants) + 1 > _LARGEST_OPERAND:
        return code.replace(co_consts=tuple(constants))
    body = code.co_code
    found = _compiled_handler(drops)
    handler = bytearray(found.code)
    handler[found.operand] = len(constants)
    for operand in found.nones:
        handler[operand] = len(constants) + 1
    return code.replace(
        co_code=body + handler,
        co_consts=(*constants, act, None) if drops else (*constants, act),
        co_exceptiontable=_table(code.co_exceptiontable, len(body) // 2, drops),
        co_linetable=code.co_linetable + found.lines,
        co_stacksize=max(code.co_stacksize, found.stack_size),
    )


def _filter() -> None:
    """Filter the traceback of the exception that leaves the caller, unless that was called by agc as well.

    Agc also calls itself by way of Python's library: threads of agc, in which no user's frame is, read tracebacks.
    """
    error = sys.exc_info()[1]
    if type(error) is GeneratorExit:  # ends a generator, and is seen by no one
        return
    caller = sys._getframe(1).f_back
    while caller is not None and _is_library(caller):
        caller = caller.f_back
    if error is not None and caller is not None and not is_own_frame(caller):
        strip_frames(error)
        leave_no_trace(error)
        if not keeps_frames() and _is_library_only(error.__traceback__):
            error.__traceback__ = None
        if error.__traceback__ is None:
            error.raised_in_agc = True  # type: ignore[attr-defined]


def _is_library_only(entry: types.TracebackType | None) -> bool:
    """Return whether all frames that are left are those of Python's library and NumPy, which agc called."""
    while entry is not None:
        if not _is_library(entry.tb_frame):
            return False
        entry = entry.tb_next
    return True


def _is_library(frame: types.FrameType) -> bool:
    """Return whether a frame is one of Python's library or NumPy; `__main__` is the user's."""
    return str(frame.f_globals.get("__name__")).partition(".")[0] in _LIBRARIES


@functools.cache
def _compiled_handler(drops: int) -> _Handler:
    names = [f"v{i}" for i in range(drops)]
    source = f"def f({','.join(names)}):\n  try: g()\n  except:\n    None()\n"
    source += "".join(f"    {name}=None\n" for name in names) + "    raise"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of calling None, the place of which `_filter` takes
        code: types.CodeType = compile(source, __file__, "exec").co_consts[0]
    operations = code.co_code[::2]
    units = operations.index(opcode.opmap["PUSH_EXC_INFO"])
    start = 2 * units
    loads = [
        2 * i + 1 - start for i, op in enumerate(operations) if op == opcode.opmap["LOAD_CONST"] and i > units
    ]
    rows = tuple(
        (first - units, length, handler - units, rest)
        for first, length, handler, rest in map(_numbers, _ROWS.findall(code.co_exceptiontable))
        if first >= units
    )
    size = len(code.co_code) // 2 - units
    # Each row of a line table covers at most eight units; these are at the line of what comes before them. An
    # error in the handler, as at the recursion limit, has that line in its traceback.
    lines = b"".join(bytes((0xE8 | min(8, size - done) - 1, 0)) for done in range(0, size, 8))
    return _Handler(code.co_code[start:], loads[0], tuple(loads[1:]), rows, lines, code.co_stacksize)


@functools.cache
def _table(table: bytes, size: int, drops: int) -> bytes:
    """Return an exception table for code of this size and the handler after it, which gets what has no other."""
    result = []
    position = 0
    for row in _ROWS.findall(table):
        start, length = _numbers(row)[:2]
        if start > position:
            result.append(_row(position, start - position, size, 0))
        result.append(row)
        position = start + length
    result.append(_row(position, size - position, size, 0))
    for start, length, handler, rest in _compiled_handler(drops).rows:
        result.append(_row(start + size, length, handler + size, rest))
    return b"".join(result)


def _numbers(row: bytes) -> list[int]:
    """Decode a row of an exception table: start, length, handler, and stack depth.

    Positions count units of two bytes. A byte holds six bits of a number, the most significant first; 0x40 says
    that more follow, 0x80 that a row begins.
    """
    numbers = [0]
    for byte in row:
        numbers[-1] = numbers[-1] << 6 | byte & 0x3F
        if not byte & 0x40:
            numbers.append(0)
    return numbers[:-1]


def _row(first: int, *others: int) -> bytes:
    """Encode a row of an exception table."""
    start, *rest = _encoded(first)
    return bytes((start | 0x80, *rest)) + b"".join(map(_encoded, others))


@functools.cache
def _encoded(number: int) -> bytes:
    digits = [number & 0x3F]
    while number := number >> 6:
        digits.append(number & 0x3F | 0x40)
    return bytes(reversed(digits))


_ROWS = re.compile(rb"[\x80-\xff][\x00-\x7f]*")
_LIBRARIES = sys.stdlib_module_names | {"numpy"}
_LARGEST_OPERAND = 255
_PARTS = _Parts(
    {
        staticmethod: ("__func__",),
        classmethod: ("__func__",),
        property: ("fget", "fset", "fdel"),
        functools.cached_property: ("func",),
        type(functools.cache(_encoded)): ("__wrapped__",),
    }
)
_CALLED_BY_C = {"_call", "_converted"}
"""The methods that the C function in the slot `__call__` of an operation runs."""
_COMPILER = tuple(
    f"agc.{package}."
    for package in (
        "autograph",
        "runtime.executors.llvm.codegen",
        "runtime.executors.llvm.lowering",
        "runtime.executors.plan.unboxing",
        "runtime.executors.xla.rules",
        "runtime.functionalize",
        "runtime.optimize",
    )
)
"""Modules whose functions only other modules of agc call, and those of autograph, which filters packages by name."""
_INTERNAL = tuple(
    f"agc.runtime.{package}."
    for package in (
        "autodiff",
        "composite",
        "control_flow",
        "core",
        "executors",
        "kernels",
        "ops",
        "python_semantics",
        "tracing",
    )
)
"""Modules whose public functions are declared with `@export`; programs call no others, but methods of all classes."""
_DONE: set[str] = set()
_CLASSES: set[type] = set()
_UNKNOWN = (3, 15)  # the first version that may have another form of bytecode; tracebacks stay whole there
