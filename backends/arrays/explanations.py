"""Say in the user's words why a function cannot be staged: errors of the library, and of autograph.

np.sin(x)        TracerArrayConversionError of JAX     ⇒   AGC233, with the line and the fix
x in a list …    AGC291, about tensors in a graph      ⇒   about arrays in a program
"""

from __future__ import annotations

import re

from agc.autograph import api
from agc.autograph.errors import Diagnostic, StagingError

from .library import Library

_ELSEWHERE = {
    r", or decide with tf\.\w+(?: or tf\.\w+)?": "",
    r"decide with tf\.\w+(?: or tf\.\w+)?": "decide in your own code",
    r"decorate the function that calls itself with tf\.function, or ": "",
    r"collect tensors in a tf\.TensorArray that the block assigns, or in a list": "collect values in a list",
    r"use a tensor that the block assigns, or a tf\.Variable": "use an array that the block assigns",
    r"tf\.function": "the compiled function",
}
"""Advice of autograph that is meant for programs of tensors."""


def explained(error: Exception, library: Library) -> Exception:
    """Return the error for the user; the same one if there is nothing to explain."""
    if isinstance(error, StagingError):
        return StagingError(_reworded(error.diagnostic, library))
    unknown = library.unknown_value(error)
    if unknown is None:
        return error
    calls = [call for call in api.calls_of(error) if not _is_machinery(call, library)]
    if not calls:
        return error
    found = api.unconverted(unknown.why, calls) if unknown.is_truth else None
    if found is not None:
        return StagingError(_reworded(found, library))
    inner = next(
        (call for call in calls if not api.is_library_file(call.code.co_filename, call.module)), calls[0]
    )
    return StagingError(
        Diagnostic("AGC233", unknown.title, inner.expression(), why=unknown.why, fix=unknown.fix)
    )


def _is_machinery(call: api.StackCall, library: Library) -> bool:
    return api.is_own_file(call.code.co_filename) or str(call.module).partition(".")[0] == library.package


def _reworded(diagnostic: Diagnostic, library: Library) -> Diagnostic:
    title, why, fix, label = (
        _in_words_of(library, text)
        for text in (diagnostic.title, diagnostic.why, diagnostic.fix, diagnostic.label)
    )
    notes = tuple(note._replace(label=_in_words_of(library, note.label)) for note in diagnostic.notes)
    return diagnostic._replace(title=title, why=why, fix=fix, label=label, notes=notes)


def _in_words_of(library: Library, text: str) -> str:
    for pattern, other in _ELSEWHERE.items():
        text = re.sub(pattern, other, text)
    text = re.sub(r"\bgraph\b", "program", text)
    text = re.sub(r"\ba tensor\b", f"{'an' if library.value[0] in 'aeiou' else 'a'} {library.value}", text)
    return re.sub(r"\btensor(s?)\b", rf"{library.value}\1", text)
