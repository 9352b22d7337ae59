"""Diagnostic AGC281: why code that needs the value of a traced tensor was not converted.

@do_not_convert                        error[AGC281]: `sign` was not converted, and needs the value of a tensor
def sign(x):                ==>        why: `do_not_convert` marks it
    return 1 if x > 0 else 0           fix: …
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import CodeType

from .. import policy
from ..errors import ConversionError, Diagnostic, is_own_file
from ..introspection.calls import StackCall, running_calls
from ..introspection.code_objects import CodeMap
from .diagnose_python_only import undecided

_ELSEWHERE = "decide with tf.where or tf.cond"


def unconverted(
    label: str,
    is_made: Callable[[CodeType], bool],
    refused: CodeMap[ConversionError],
    calls: Sequence[StackCall] | None = None,
) -> Diagnostic | None:
    """Return the error for the running code, or for `calls`, the innermost first; None if none applies.

    `label` names the value that the code needs. `is_made` returns whether code is the result of a conversion.
    """
    calls = (
        [each for each in running_calls() if not is_own_file(each.code.co_filename)]
        if calls is None
        else calls
    )
    if not calls or calls[0].code.co_name == "<module>":
        return None
    call = calls[0]
    if is_made(call.code) or _is_printed(call):
        return undecided(call, label)
    name = call.code.co_qualname.rpartition("<locals>.")[2]
    why, fix = _reason(calls, is_made, refused)
    if _is_librarys(call):
        call = next((each for each in calls if not _is_librarys(each)), call)
    title = f"`{name}` was not converted, and needs the value of a traced tensor"
    return Diagnostic("AGC281", title, call.where(), why=f"{label}; {why}", fix=fix)


def _reason(
    calls: Sequence[StackCall], is_made: Callable[[CodeType], bool], refused: CodeMap[ConversionError]
) -> tuple[str, str]:
    code, module = calls[0].code, calls[0].module
    if policy.is_excluded(code):
        return "the function is decorated with `do_not_convert`", f"remove the decorator, or {_ELSEWHERE}"
    if policy.is_library_file(code.co_filename, module):
        package = str(module).partition(".")[0]
        return (
            f"it belongs to `{package}`, and this library is not converted",
            f"{_ELSEWHERE} instead, or convert the package: AGC_CONVERT={package} in the environment",
        )
    error = refused.get(code)
    if error is not None:
        title, where = error.diagnostic.title, error.diagnostic.where
        return f"it cannot be converted: {title}" + (f" ({where})" if where else ""), error.diagnostic.fix
    from ..syntax import source

    if source.file_of(code.co_filename, calls[0].variables) is None:
        return "its source cannot be found", "save it to a file and import it"
    if not any(is_made(outer.code) for outer in calls):
        return (
            "the traced function was not converted either (`autograph=False`)",
            f"convert it, or {_ELSEWHERE}",
        )
    return (
        "Python or a library calls it, and the traced function does not refer to it",
        "name it in the traced function, pass it to it as an argument, or wrap it in `autograph.convert`",
    )


def _is_printed(call: StackCall) -> bool:
    """Return whether a call's module was converted ahead of time: such a module imports the operators."""
    operators = sys.modules.get("agc.autograph.operators")
    is_known = any(value is operators for value in list(call.variables.values()))
    return is_known and not policy.is_excluded(call.code)


def _is_librarys(call: StackCall) -> bool:
    return policy.is_library_file(call.code.co_filename, call.module)
